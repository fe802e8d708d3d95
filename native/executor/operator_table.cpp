#include "executor/operator_table.hpp"

namespace openaclnn {
namespace {

using enum DataType;

constexpr TypeSet kHalfAndFloat = {float16, float32};
constexpr TypeSet kBFloatToo = {bfloat16, float16, float32};
constexpr TypeSet kRealAndComplex = {float32, float16, float64, complex64, complex128};
constexpr TypeSet kAllSix = {float32, float16, float64, complex64, complex128, bfloat16};

// Products and types as in the operators' public documentation; see docs/operators.md.
constexpr Operator kOperators[] = {
    {
        .name = "aclnnSiluBackward",
        .python_name = "silu_backward",
        .arguments = {"gradOutput", "self", "gradInput"},
        .formula = Formula::silu_backward,
        .rules = {{
            {},
            {.types = kHalfAndFloat},
            {.types = kBFloatToo},
            {.types = kBFloatToo},
            {.types = kBFloatToo, .broadcast = true, .type_rule = TypeRule::mixed_float32},
        }},
    },
    {
        .name = "aclnnSigmoidBackward",
        .python_name = "sigmoid_backward",
        .arguments = {"gradOutput", "output", "gradInput"},
        .formula = Formula::sigmoid_backward,
        .rules = {{
            {.types = kRealAndComplex},
            {.types = kRealAndComplex},
            {.types = kAllSix},
            {.types = kAllSix},
            {.types = kAllSix, .broadcast = true, .type_rule = TypeRule::promoted},
        }},
    },
};

}  // namespace

std::span<const Operator> all_operators() {
    return kOperators;
}

}  // namespace openaclnn
