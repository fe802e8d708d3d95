// From C++ to the C interface: faults become codes and the calling thread's recent error.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "core/status.hpp"
#include "runtime/fault.hpp"
#include "runtime/recent_error.hpp"

namespace openaclnn::capi {

// A fault of the runtime interface, in words, as its code.
inline aclError fail(const char* function, RuntimeError error, const std::string& text) noexcept {
    try {
        set_recent_error(FaultFamily::runtime, std::string(function) + ": " + text);
    } catch (...) {
        set_recent_error(FaultFamily::runtime, "");
    }
    return static_cast<aclError>(error);
}

// Runs the body of a runtime function; what it throws becomes the code that is returned.
template <class Body>
aclError guarded(const char* function, const Body& body) noexcept {
    try {
        body();
        return ACL_SUCCESS;
    } catch (const RuntimeFault& fault) {
        return fail(function, fault.error, fault.text);
    } catch (const std::bad_alloc&) {
        return fail(function, RuntimeError::memory_allocation, "out of memory");
    } catch (const std::system_error& error) {
        return fail(function, RuntimeError::resource_allocation, error.what());
    } catch (const std::exception& error) {
        return fail(function, RuntimeError::internal, error.what());
    }
}

// For out-parameters and other pointers that must not be null.
inline void require(const void* pointer, const char* name,
                    RuntimeError error = RuntimeError::param_invalid) {
    if (pointer == nullptr) {
        throw RuntimeFault{error, std::string(name) + " is null; a valid pointer is expected"};
    }
}

inline aclnnStatus report(const Fault& fault) noexcept {
    const bool parameter =
        fault.status == Status::parameter_null || fault.status == Status::parameter_invalid;
    const bool runtime = fault.status == Status::runtime_error;
    set_recent_error(parameter ? FaultFamily::parameter
                     : runtime ? FaultFamily::runtime
                               : FaultFamily::inner,
                     fault.message);
    return static_cast<aclnnStatus>(fault.status);
}

// Thrown by the bodies of aclnn functions.
struct StatusFault {
    Fault fault;
};

[[noreturn]] inline void refuse(Status status, std::string message) {
    throw StatusFault{{status, "", "", std::move(message)}};
}

// The same for aclnn functions.
template <class Body>
aclnnStatus guarded_status(const char* function, const Body& body) noexcept {
    const auto inner = [function](Status status, const char* text) noexcept {
        try {
            return report({status, function, "", std::string(function) + ": " + text});
        } catch (...) {
            set_recent_error(FaultFamily::inner, "");
            return static_cast<aclnnStatus>(status);
        }
    };
    try {
        body();
        return ACLNN_SUCCESS;
    } catch (const StatusFault& thrown) {
        return report(thrown.fault);
    } catch (const RuntimeFault& fault) {
        return inner(Status::runtime_error, fault.text.c_str());
    } catch (const std::bad_alloc&) {
        return inner(Status::inner, "out of memory");
    } catch (const std::exception& error) {
        return inner(Status::runtime_error, error.what());
    }
}

inline void require_argument(const char* function, const void* pointer, const char* name,
                             Status status = Status::parameter_null) {
    if (pointer == nullptr) {
        refuse(status,
               std::string(function) + ": " + name + " is null; a valid pointer is expected");
    }
}

}  // namespace openaclnn::capi
