/* Where older clients look for this header. */
#ifndef OPENACLNN_ACLNNOP_LEVEL2_ACLNN_SIGMOID_BACKWARD_H
#define OPENACLNN_ACLNNOP_LEVEL2_ACLNN_SIGMOID_BACKWARD_H

#include "../aclnn_sigmoid_backward.h"

#endif
