// Kernels: derivatives over blocks of memory. They know neither tensors nor threads.
#pragma once

#include <cstdint>

#include "core/data_type.hpp"

namespace openaclnn {

// rows x columns elements; the strides count elements and are not negative.
struct Block {
    char* data;
    std::int64_t row_stride;
    std::int64_t column_stride;
};

// Result and inputs may be the very same elements; otherwise the result overlaps nothing. A result
// that is streamed goes past the caches: for results that would only push out what is needed.
using BinaryKernel = void (*)(Block result, Block first, Block second, std::int64_t rows,
                              std::int64_t columns, bool stream);

// The formulas that kernels compute; operator_table.cpp says which operator is which.
enum class Formula { silu_backward, sigmoid_backward };

// The instruction set level that the kernels use here: the best that the processor has, capped by
// the environment variable OPENACLNN_ISA.
const char* instruction_set();

// Null if the formula is not defined for the type.
BinaryKernel find_kernel(Formula formula, DataType type);

}  // namespace openaclnn
