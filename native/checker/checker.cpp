#include "checker/checker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/memory.hpp"

namespace openaclnn::checker {
namespace {

// An operator that the host has not waited for yet.
struct Pending {
    std::uint64_t number;
    const char* operator_name;
    std::array<Span, 3> spans;
    std::int32_t stream;
};

// Where an event was recorded: all work of the stream up to that number is before it.
struct Mark {
    std::int32_t stream;
    std::uint64_t number;
};

// A program that never synchronises must not fill the memory: the oldest are forgotten.
constexpr std::size_t kMostPending = 10'000;

struct State {
    std::mutex mutex;
    std::uint64_t last_number = 0;
    std::deque<Pending> pending;
    std::map<const void*, Mark> marks;
};

State& state() {
    static State* const instance = new State;
    return *instance;
}

std::string text_of(const void* address) {
    char text[32];
    std::snprintf(text, sizeof(text), "%p", address);
    return text;
}

std::string text_of(const Span& span) {
    return std::string(span.argument) + " at [" + text_of(span.begin) + ", " + text_of(span.end) +
           ")";
}

void say(const std::string& text) {
    std::fprintf(stderr, "OpenACLNN check: %s\n", text.c_str());
}

std::string allocation_text(const Allocation& allocation) {
    return "[" + text_of(allocation.begin) + ", " + text_of(allocation.end()) + ")";
}

void check_span(const char* operator_name, const Span& span) {
    if (span.begin == span.end) {
        return;
    }
    const std::string subject = std::string(operator_name) + ": " + text_of(span);
    const std::optional<Allocation> live = find_allocation(span.begin);
    if (!live.has_value()) {
        const std::optional<Allocation> freed = find_freed(span.begin);
        say(subject + (freed.has_value()
                           ? " is in device memory that was freed: " + allocation_text(*freed)
                           : " is not device memory: it was not allocated with aclrtMalloc"));
    } else if (live->kind == MemoryKind::host) {
        say(subject + " is host memory: it was allocated with aclrtMallocHost");
    } else if (span.end > live->end()) {
        say(subject + " reaches " + std::to_string(span.end - live->end()) +
            " bytes past its allocation " + allocation_text(*live));
    }
}

bool overlaps(const Span& span, const char* begin, const char* end) {
    return span.begin < end && begin < span.end;
}

void forget(std::int32_t stream, std::uint64_t up_to) {
    std::erase_if(state().pending, [&](const Pending& pending) {
        return pending.stream == stream && pending.number <= up_to;
    });
}

}  // namespace

bool enabled() {
    static const bool on = [] {
        const char* value = std::getenv("OPENACLNN_CHECK");
        return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
    }();
    return on;
}

void queued(const char* operator_name, const std::array<Span, 3>& spans, std::int32_t stream) {
    if (!enabled()) {
        return;
    }
    for (const Span& span : spans) {
        check_span(operator_name, span);
    }
    const std::lock_guard lock(state().mutex);
    if (state().pending.size() == kMostPending) {
        state().pending.pop_front();
    }
    state().pending.push_back({++state().last_number, operator_name, spans, stream});
}

void read(const char* function, const void* address, std::size_t bytes) {
    if (!enabled()) {
        return;
    }
    const char* begin = static_cast<const char*>(address);
    const std::lock_guard lock(state().mutex);
    for (const Pending& pending : state().pending) {
        const Span& result = pending.spans.back();
        if (overlaps(result, begin, begin + bytes)) {
            say(std::string(function) + " reads " + text_of(result) + ", the result of " +
                pending.operator_name +
                ", but its stream has not been synchronised with since it was queued");
        }
    }
}

void freed(const char* function, const void* address) {
    if (!enabled()) {
        return;
    }
    const std::optional<Allocation> allocation = find_allocation(address);
    if (!allocation.has_value()) {
        return;
    }
    const std::lock_guard lock(state().mutex);
    for (const Pending& pending : state().pending) {
        for (const Span& span : pending.spans) {
            if (overlaps(span, allocation->begin, allocation->end())) {
                say(std::string(function) + " frees " + text_of(span) + " of " +
                    pending.operator_name +
                    ", but its stream has not been synchronised with since it was queued");
            }
        }
    }
}

void synchronized(std::int32_t stream) {
    if (!enabled()) {
        return;
    }
    const std::lock_guard lock(state().mutex);
    forget(stream, UINT64_MAX);
}

void synchronized_all() {
    if (!enabled()) {
        return;
    }
    const std::lock_guard lock(state().mutex);
    state().pending.clear();
}

void recorded(const void* event, std::int32_t stream) {
    if (!enabled()) {
        return;
    }
    const std::lock_guard lock(state().mutex);
    state().marks[event] = {stream, state().last_number};
}

void synchronized_event(const void* event) {
    if (!enabled()) {
        return;
    }
    const std::lock_guard lock(state().mutex);
    if (const auto found = state().marks.find(event); found != state().marks.end()) {
        forget(found->second.stream, found->second.number);
    }
}

void report_leak(const std::string& what) {
    if (enabled()) {
        say("at aclFinalize: " + what);
    }
}

}  // namespace openaclnn::checker
