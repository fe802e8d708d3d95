/* Start and end of the aclnn interface; calling them is optional. */
#ifndef OPENACLNN_ACLNN_ACLNN_BASE_H
#define OPENACLNN_ACLNN_ACLNN_BASE_H

#include "acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char *configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
