#include "core/status.hpp"

namespace openaclnn {

const char* name_of(Status status) {
    switch (status) {
        case Status::success:
            return "ACLNN_SUCCESS";
        case Status::parameter_null:
            return "ACLNN_ERR_PARAM_NULLPTR";
        case Status::parameter_invalid:
            return "ACLNN_ERR_PARAM_INVALID";
        case Status::runtime_error:
            return "ACLNN_ERR_RUNTIME_ERROR";
        case Status::inner:
            return "ACLNN_ERR_INNER";
        case Status::find_kernel_error:
            return "ACLNN_ERR_INNER_FIND_KERNEL_ERROR";
        case Status::inner_null:
            return "ACLNN_ERR_INNER_NULLPTR";
    }
    return "ACLNN_ERR_INNER";
}

}  // namespace openaclnn
