// Plans: what phase two does, worked out in phase one.
#pragma once

#include <array>
#include <cstdint>

#include "core/data_type.hpp"
#include "executor/operator_table.hpp"
#include "executor/phase_one.hpp"
#include "kernels/cast.hpp"
#include "kernels/kernel.hpp"

namespace openaclnn {

// Holds no reference to the views that it was made from. Operands are in the order of Arguments.
struct Plan {
    static constexpr int kOperands = 3;
    static constexpr int kMostDimensions = 8;

    BinaryKernel kernel = nullptr;
    // Set if the types differ: inputs are cast to the kernel's type, the result from it.
    std::array<CastKernel, kOperands> casts{};
    std::int64_t kernel_element_size = 0;
    std::array<std::int64_t, kOperands> element_sizes{};
    std::array<char*, kOperands> data{};

    // Outer dimensions first, then the rows and columns that kernels take: always at least two.
    int rank = 0;
    std::array<std::int64_t, kMostDimensions> shape{};
    std::array<std::array<std::int64_t, kMostDimensions>, kOperands> strides{};
    std::int64_t element_count = 0;

    bool casts_types() const { return casts[0] != nullptr; }
};

// For arguments that passed the checks.
Plan make_plan(const Operator& op, const Product& product, const Arguments& arguments);

// Runs the plan, on several threads if it is long. Returns when it is done.
void execute(const Plan& plan);

}  // namespace openaclnn
