// The checker mode, OPENACLNN_CHECK=1: faults of a program that an NPU would not tell of, reported
// to standard error. Off, each function is one test of a constant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace openaclnn::checker {

// Read from the environment once.
bool enabled();

// The bytes that an operator's argument reaches.
struct Span {
    const char* argument;
    const char* begin;
    const char* end;
};

// An operator is being queued on a stream. The last span is the result's.
void queued(const char* operator_name, const std::array<Span, 3>& spans, std::int32_t stream);

// Memory is being read by the host, or freed.
void read(const char* function, const void* address, std::size_t bytes);
void freed(const char* function, const void* address);

// The host has waited for a stream; for an event, and so for what was queued before its record.
void synchronized(std::int32_t stream);
void synchronized_all();
void recorded(const void* event, std::int32_t stream);
void synchronized_event(const void* event);

// An account at the end of the program: one line each.
void report_leak(const std::string& what);

}  // namespace openaclnn::checker
