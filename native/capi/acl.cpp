// Start, end and recent error of the ACL interface.
#include "acl/acl.h"

#include <atomic>

#include "capi/account.hpp"
#include "capi/guard.hpp"
#include "runtime/device.hpp"

using openaclnn::RuntimeError;
using openaclnn::RuntimeFault;
using openaclnn::capi::guarded;

namespace {

std::atomic<bool> initialized{false};

}  // namespace

extern "C" {

aclError aclInit(const char*) {
    return guarded("aclInit", [] {
        if (initialized.exchange(true)) {
            throw RuntimeFault{RuntimeError::repeat_initialize,
                               "the interface is initialised already"};
        }
    });
}

aclError aclFinalize(void) {
    return guarded("aclFinalize", [] {
        if (!initialized.exchange(false)) {
            throw RuntimeFault{RuntimeError::repeat_finalize,
                               "the interface is not initialised, or is finalised already"};
        }
        openaclnn::reset_all_devices();
        openaclnn::capi::report_leaks();
    });
}

const char* aclGetRecentErrMsg(void) {
    return openaclnn::take_recent_error();
}

}  // extern "C"
