#include "runtime/process.hpp"

#include <pthread.h>

#include <atomic>

namespace openaclnn {
namespace {

std::atomic<std::uint64_t> generation{0};

[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

std::uint64_t process_generation() {
    return generation.load(std::memory_order_relaxed);
}

}  // namespace openaclnn
