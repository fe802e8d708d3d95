/* The mark of the operators' functions. */
#ifndef OPENACLNN_ACLNNOP_ACLNN_UTIL_H
#define OPENACLNN_ACLNNOP_ACLNN_UTIL_H

#include "acl/acl_base.h"

#define ACLNN_API ACL_FUNC_VISIBILITY

#endif
