// Faults of the runtime, thrown; the C interface turns them into its error codes.
#pragma once

#include <string>

namespace openaclnn {

// The numbers are the C interface's.
enum class RuntimeError : int {
    invalid_param = 100000,
    repeat_initialize = 100002,
    repeat_finalize = 100037,
    internal = 500000,
    param_invalid = 107000,
    invalid_device = 107001,
    context_null = 107002,
    event_timestamp_invalid = 107006,
    event_timestamp_reversal = 107007,
    stream_no_callback = 107015,
    invalid_handle = 107017,
    memory_allocation = 207001,
    resource_allocation = 207005,
    report_timeout = 507012,
    stream_sync_timeout = 507046,
    event_sync_timeout = 507047,
};

struct RuntimeFault {
    RuntimeError error;
    std::string text;  // what came and what would be accepted, after the function's name
};

}  // namespace openaclnn
