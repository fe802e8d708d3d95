#include "kernels/kernel.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "kernels/level.hpp"

namespace openaclnn {
namespace {

struct Level {
    const char* name;
    bool supported;
    const KernelTable* kernels;
};

// The best level that is supported and not above the one that OPENACLNN_ISA names.
Level choose_level() {
#if defined(__x86_64__)
    const Level levels[] = {
        {"x86-64-v4", __builtin_cpu_supports("x86-64-v4") != 0, &x86_64_v4::kKernels},
        {"x86-64-v3", __builtin_cpu_supports("x86-64-v3") != 0, &x86_64_v3::kKernels},
        {"x86-64-v2", __builtin_cpu_supports("x86-64-v2") != 0, &x86_64_v2::kKernels},
    };
#else
    const Level levels[] = {{"baseline", true, &baseline::kKernels}};
#endif
    const char* cap = std::getenv("OPENACLNN_ISA");
    bool capped = cap != nullptr && *cap != '\0';
    std::string names;
    for (const Level& level : levels) {
        names += names.empty() ? level.name : std::string(", ") + level.name;
        capped = capped && level.name != std::string(cap);
        if (!capped && level.supported) {
            return level;
        }
    }
    if (capped) {
        throw std::invalid_argument("OPENACLNN_ISA is '" + std::string(cap) +
                                    "'; it can be one of: " + names);
    }
    throw std::runtime_error("OpenACLNN needs a processor with at least x86-64-v2 (SSE4.2)");
}

const Level& level() {
    static const Level chosen = choose_level();
    return chosen;
}

}  // namespace

const char* instruction_set() {
    return level().name;
}

BinaryKernel find_kernel(Formula formula, DataType type) {
    const KernelTable& kernels = *level().kernels;
    for (const KernelRow* row = kernels.begin; row != kernels.end; ++row) {
        if (row->formula == formula && row->type == type) {
            return row->kernel;
        }
    }
    return nullptr;
}

}  // namespace openaclnn
