#include "executor/open_mp.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace openaclnn {
namespace {

// What compilers call for "#pragma omp parallel"; GCC's runtime and LLVM's both have it.
using Parallel = void (*)(void (*work)(void*), void* context, unsigned threads, unsigned flags);

// How often libraries have been loaded into the process so far.
std::uint64_t loads() {
    std::uint64_t count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            *static_cast<std::uint64_t*>(result) = info->dlpi_adds;
            return 1;
        },
        &count);
    return count;
}

Parallel find_runtime() {
    void* const symbol = dlsym(RTLD_DEFAULT, "GOMP_parallel");
    Dl_info where;
    // Loaded once more, for good: the threads' code must stay.
    if (symbol == nullptr || dladdr(symbol, &where) == 0 ||
        dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
        return nullptr;
    }
    return reinterpret_cast<Parallel>(symbol);
}

// Whether this process was forked and has executed no program since. Also true where the system
// does not say.
bool started_by_fork() {
    constexpr unsigned kForkedNotExecuted = 0x40;  // PF_FORKNOEXEC of the kernel's sched.h
    unsigned flags = kForkedNotExecuted;
    if (std::FILE* const file = std::fopen("/proc/self/stat", "re")) {
        // The name in parentheses may hold anything; the last one closes it.
        char text[512] = {};
        const std::size_t length = std::fread(text, 1, sizeof(text) - 1, file);
        std::fclose(file);
        std::size_t end = length;
        while (end > 0 && text[end] != ')') {
            --end;
        }
        if (std::sscanf(text + end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1) {
            flags = kForkedNotExecuted;
        }
    }
    return (flags & kForkedNotExecuted) != 0;
}

std::atomic<Parallel> runtime{nullptr};
std::atomic<std::uint64_t> loads_seen{0};

bool is_forked() {
    static std::atomic<bool> forked{[] {
        pthread_atfork(nullptr, nullptr, [] { forked = true; });
        return started_by_fork();
    }()};
    return forked;
}

}  // namespace

bool run_on_open_mp(int threads, void (*work)(void* context), void* context) {
    if (is_forked()) {
        return false;
    }
    Parallel parallel = runtime.load(std::memory_order_acquire);
    if (parallel == nullptr) {
        const std::uint64_t now = loads();
        if (now == loads_seen.load(std::memory_order_relaxed)) {
            return false;
        }
        parallel = find_runtime();
        runtime.store(parallel, std::memory_order_release);
        loads_seen.store(now, std::memory_order_relaxed);
        if (parallel == nullptr) {
            return false;
        }
    }
    parallel(work, context, static_cast<unsigned>(threads), 0);
    return true;
}

}  // namespace openaclnn
