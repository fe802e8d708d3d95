// The table of kernels that each instruction set level fills.
#pragma once

#include "kernels/kernel.hpp"

namespace openaclnn {

struct KernelRow {
    Formula formula;
    DataType type;
    BinaryKernel kernel;
};

struct KernelTable {
    const KernelRow* begin;
    const KernelRow* end;
};

#if defined(__x86_64__)
namespace x86_64_v2 {
extern const KernelTable kKernels;
}
namespace x86_64_v3 {
extern const KernelTable kKernels;
}
namespace x86_64_v4 {
extern const KernelTable kKernels;
}
#else
namespace baseline {
extern const KernelTable kKernels;
}
#endif

}  // namespace openaclnn
