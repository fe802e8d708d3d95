// Casts between the types that the operators take.
#pragma once

#include "kernels/kernel.hpp"

namespace openaclnn {

using CastKernel = void (*)(Block to, Block from, std::int64_t rows, std::int64_t columns);

// Each value is rounded once, to the nearest, ties to even. Null for complex to real.
CastKernel find_cast(DataType to, DataType from);

}  // namespace openaclnn
