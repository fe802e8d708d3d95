/* Where older clients look for this header. */
#ifndef OPENACLNN_ACLNNOP_LEVEL2_ACLNN_SILU_BACKWARD_H
#define OPENACLNN_ACLNNOP_LEVEL2_ACLNN_SILU_BACKWARD_H

#include "../aclnn_silu_backward.h"

#endif
