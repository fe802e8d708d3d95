/* gradInput = gradOutput * s'(self), s(x) = x / (1 + exp(-x)). */
#ifndef OPENACLNN_ACLNNOP_ACLNN_SILU_BACKWARD_H
#define OPENACLNN_ACLNNOP_ACLNN_SILU_BACKWARD_H

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks the arguments; gives the size in bytes of the workspace that phase two needs,
   and the executor that it runs. */
ACLNN_API aclnnStatus aclnnSiluBackwardGetWorkspaceSize(const aclTensor *gradOutput,
                                                        const aclTensor *self,
                                                        aclTensor *gradInput,
                                                        uint64_t *workspaceSize,
                                                        aclOpExecutor **executor);

/* Phase two: queues the executor on the stream. */
ACLNN_API aclnnStatus aclnnSiluBackward(void *workspace, uint64_t workspaceSize,
                                        aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
