#include "capi/account.hpp"

#include <cstdio>
#include <string>

#include "capi/objects.hpp"
#include "checker/checker.hpp"
#include "runtime/device.hpp"
#include "runtime/memory.hpp"

namespace openaclnn::capi {
namespace {

std::string text_of(const void* address) {
    char text[32];
    std::snprintf(text, sizeof(text), "%p", address);
    return text;
}

void report_count(std::size_t count, const char* what) {
    if (count > 0) {
        checker::report_leak(std::to_string(count) + " " + what);
    }
}

}  // namespace

void report_leaks() {
    if (!checker::enabled()) {
        return;
    }
    for (const auto& [handle, entry] : live_executors()) {
        const std::string name = entry->executor.operator_name();
        checker::report_leak(
            "executor " + text_of(handle) + " of " + name +
            (entry->executor.used() ? " was never destroyed" : " was never run, nor destroyed"));
    }
    for (const Allocation& allocation : live_allocations()) {
        checker::report_leak(std::to_string(allocation.size) + " bytes of " +
                             (allocation.kind == MemoryKind::device ? "device" : "host") +
                             " memory at " + text_of(allocation.begin) + " were never freed");
    }
    report_count(live_tensor_count(), "tensors were never destroyed");
    report_count(live_streams().size(), "streams were never destroyed");
    report_count(live_contexts().size(), "contexts were never destroyed");
    report_count(live_event_count(), "events were never destroyed");
}

}  // namespace openaclnn::capi
