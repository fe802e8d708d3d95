/* Start and end of the ACL interface, and all of its runtime. */
#ifndef OPENACLNN_ACL_ACL_H
#define OPENACLNN_ACL_ACL_H

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The configuration's path may be null; what it holds is not looked at. */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/* What the calling thread's last fault was, in one line; null if there was none since the last
   call. The text is valid until the thread's next call of this function. */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
