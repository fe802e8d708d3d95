/* aclnnSigmoidBackward in plain C, on the default stream. */
#include <math.h>
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_sigmoid_backward.h"

enum { COUNT = 16, BYTES = COUNT * sizeof(float) };

/* Tells of a status that is not success; whether it was one. */
static int succeeded(const char *what, int status) {
    if (status != ACL_SUCCESS) {
        const char *message = aclGetRecentErrMsg();
        fprintf(stderr, "%s gave %d: %s\n", what, status, message == NULL ? "" : message);
    }
    return status == ACL_SUCCESS;
}

static aclTensor *tensor_over(void *data) {
    const int64_t dims[1] = {COUNT};
    return aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, data);
}

/* Runs the operator on device memory. */
static int run(void *grad_output, void *output, void *grad_input) {
    aclTensor *tensors[3] = {tensor_over(grad_output), tensor_over(output),
                             tensor_over(grad_input)};
    uint64_t workspace_size = 0;
    aclOpExecutor *executor = NULL;
    void *workspace = NULL;
    int fine = succeeded("phase one",
                         aclnnSigmoidBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2],
                                                              &workspace_size, &executor));
    if (fine && workspace_size > 0) {
        fine = succeeded("aclrtMalloc",
                         aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    fine = fine && succeeded("phase two", aclnnSigmoidBackward(workspace, workspace_size, executor,
                                                               NULL));
    fine = fine && succeeded("aclrtSynchronizeStream", aclrtSynchronizeStream(NULL));
    if (workspace != NULL) {
        aclrtFree(workspace);
    }
    for (int i = 0; i < 3; ++i) {
        aclDestroyTensor(tensors[i]);
    }
    return fine;
}

int main(void) {
    float gradients[COUNT];
    float y[COUNT];
    float result[COUNT];
    void *memory[3] = {NULL, NULL, NULL};
    double worst = 0;
    int fine = succeeded("aclInit", aclInit(NULL)) && succeeded("aclrtSetDevice", aclrtSetDevice(0));
    for (int i = 0; i < COUNT; ++i) {
        gradients[i] = (float)(i - 7);
        y[i] = (float)i / COUNT;
    }
    for (int i = 0; i < 3; ++i) {
        fine = fine && succeeded("aclrtMalloc",
                                 aclrtMalloc(&memory[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    fine = fine &&
           succeeded("aclrtMemcpy", aclrtMemcpy(memory[0], BYTES, gradients, BYTES,
                                                ACL_MEMCPY_HOST_TO_DEVICE)) &&
           succeeded("aclrtMemcpy",
                     aclrtMemcpy(memory[1], BYTES, y, BYTES, ACL_MEMCPY_HOST_TO_DEVICE)) &&
           run(memory[0], memory[1], memory[2]) &&
           succeeded("aclrtMemcpy",
                     aclrtMemcpy(result, BYTES, memory[2], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; fine && i < COUNT; ++i) {
        worst = fmax(worst, fabs(result[i] - gradients[i] * (double)y[i] * (1 - (double)y[i])));
    }
    for (int i = 0; i < 3; ++i) {
        if (memory[i] != NULL) {
            fine = succeeded("aclrtFree", aclrtFree(memory[i])) && fine;
        }
    }
    fine = succeeded("aclrtResetDevice", aclrtResetDevice(0)) && fine;
    fine = succeeded("aclFinalize", aclFinalize()) && fine;
    printf("sigmoid_plain: %d elements, worst error %.1e\n", COUNT, worst);
    return fine && worst < 1e-6 ? 0 : 1;
}
