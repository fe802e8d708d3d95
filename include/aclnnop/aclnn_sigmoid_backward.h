/* gradInput = gradOutput * output * (1 - output), conjugated in output for complex types. */
#ifndef OPENACLNN_ACLNNOP_ACLNN_SIGMOID_BACKWARD_H
#define OPENACLNN_ACLNNOP_ACLNN_SIGMOID_BACKWARD_H

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks the arguments; gives the size in bytes of the workspace that phase two needs,
   and the executor that it runs. */
ACLNN_API aclnnStatus aclnnSigmoidBackwardGetWorkspaceSize(const aclTensor *gradOutput,
                                                           const aclTensor *output,
                                                           aclTensor *gradInput,
                                                           uint64_t *workspaceSize,
                                                           aclOpExecutor **executor);

/* Phase two: queues the executor on the stream. */
ACLNN_API aclnnStatus aclnnSigmoidBackward(void *workspace, uint64_t workspaceSize,
                                           aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
