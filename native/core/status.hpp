// Statuses of operators, and the fault that carries one with its explanation.
#pragma once

#include <cstdint>
#include <string>

namespace openaclnn {

enum class Status : std::int32_t {
    success = 0,
    parameter_null = 161001,
    parameter_invalid = 161002,
    runtime_error = 361001,
    inner = 561000,
    find_kernel_error = 561003,
    inner_null = 561103,
};

// The status's name in the C interface, e.g. "ACLNN_ERR_PARAM_INVALID".
const char* name_of(Status status);

// What is wrong with a call, in the terms of the caller.
struct Fault {
    enum class Kind { other, type };

    Status status;
    std::string operator_name;  // e.g. "aclnnSiluBackward"
    std::string argument;       // e.g. "gradOutput"; empty if no argument is at fault
    std::string message;        // one line: operator, argument, what came, what is accepted
    Kind kind = Kind::other;
};

}  // namespace openaclnn
