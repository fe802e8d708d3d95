// The operators: the only place that knows which there are and what each takes.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/data_type.hpp"
#include "core/product.hpp"
#include "kernels/kernel.hpp"

namespace openaclnn {

// How the types of the two inputs and the result go together.
enum class TypeRule {
    equal,          // all three are equal
    mixed_float32,  // equal inputs give their type, different ones float32
    promoted,       // the inputs promote; the result is cast to gradInput's type
};

struct ProductRules {
    TypeSet types;  // empty: the operator is not supported
    bool broadcast = false;
    TypeRule type_rule = TypeRule::equal;
};

// An operator of two inputs and one result, elementwise.
struct Operator {
    const char* name;                      // in the C interface
    const char* python_name;               // in Python and on the command line
    std::array<const char*, 3> arguments;  // first input, second input, result
    Formula formula;
    std::array<ProductRules, kSeriesCount> rules;  // in the order of Series

    const ProductRules& rules_of(Series series) const { return rules[static_cast<int>(series)]; }
};

std::span<const Operator> all_operators();

}  // namespace openaclnn
