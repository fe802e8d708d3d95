/* Tensors, scalars, arrays, lists and executors of the aclnn interface. */
#ifndef OPENACLNN_ACLNN_ACL_META_H
#define OPENACLNN_ACLNN_ACL_META_H

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t aclnnStatus;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

ACL_CONSTANT(ACLNN_SUCCESS, 0);
ACL_CONSTANT(ACLNN_ERR_PARAM_NULLPTR, 161001);
ACL_CONSTANT(ACLNN_ERR_PARAM_INVALID, 161002);
ACL_CONSTANT(ACLNN_ERR_RUNTIME_ERROR, 361001);
ACL_CONSTANT(ACLNN_ERR_INNER, 561000);
ACL_CONSTANT(ACLNN_ERR_INNER_INFERSHAPE_ERROR, 561001);
ACL_CONSTANT(ACLNN_ERR_INNER_TILING_ERROR, 561002);
ACL_CONSTANT(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, 561003);
ACL_CONSTANT(ACLNN_ERR_INNER_CREATE_EXECUTOR, 561101);
ACL_CONSTANT(ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR, 561102);
ACL_CONSTANT(ACLNN_ERR_INNER_NULLPTR, 561103);
ACL_CONSTANT(ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE, 561104);
ACL_CONSTANT(ACLNN_ERR_INNER_KEY_CONFLICT, 561105);
ACL_CONSTANT(ACLNN_ERR_INNER_INVALID_IMPL_MODE, 561106);
ACL_CONSTANT(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND, 561107);
ACL_CONSTANT(ACLNN_ERR_INNER_LOAD_JSON_FAILED, 561108);
ACL_CONSTANT(ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND, 561109);
ACL_CONSTANT(ACLNN_ERR_INNER_JSON_FORMAT_INVALID, 561110);
ACL_CONSTANT(ACLNN_ERR_INNER_JSON_DTYPE_INVALID, 561111);
ACL_CONSTANT(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND, 561112);
ACL_CONSTANT(ACLNN_ERR_INNER_OP_FILE_INVALID, 561113);
ACL_CONSTANT(ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND, 561114);
ACL_CONSTANT(ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH, 561115);
ACL_CONSTANT(ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE, 561116);
ACL_CONSTANT(ACLNN_ERR_INNER_INPUT_JSON_IS_NULL, 561117);
ACL_CONSTANT(ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID, 561118);
ACL_CONSTANT(ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID, 561119);

/* Tensors: a view of memory that belongs to the caller; strides and offset count elements. */
ACL_FUNC_VISIBILITY aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t *stride,
                                               int64_t offset, aclFormat format,
                                               const int64_t *storageDims, uint64_t storageDimsNum,
                                               void *tensorData);
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t *stride, int64_t offset,
                                              aclFormat format, const int64_t *storageDims,
                                              uint64_t storageDimsNum, void *tensorData);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor *tensor);

/* The arrays are the caller's to free with delete[]. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims,
                                                uint64_t *viewDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                                                   uint64_t *storageDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                                                  uint64_t *stridesNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType);
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr);

/* Scalars and arrays: copies of the caller's values. */
ACL_FUNC_VISIBILITY aclScalar *aclCreateScalar(void *value, aclDataType dataType);
ACL_FUNC_VISIBILITY aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size);
ACL_FUNC_VISIBILITY aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size);
ACL_FUNC_VISIBILITY aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar *scalar);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray *array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);

/* Lists own what they list: destroying one destroys that too. */
ACL_FUNC_VISIBILITY aclTensorList *aclCreateTensorList(const aclTensor *const *value,
                                                       uint64_t size);
ACL_FUNC_VISIBILITY aclScalarList *aclCreateScalarList(const aclScalar *const *value,
                                                       uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList *array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList *array);
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList,
                                                     uint64_t *size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList,
                                                     uint64_t *size);

/* Executors that run more than once, on other addresses if need be. */
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                      aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                       aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index,
                                                 aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor,
    size_t irIndex, const size_t relativeIndex, aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor,
    size_t irIndex, const size_t relativeIndex, aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                      aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                       aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index,
                                                 aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor,
    size_t irIndex, const size_t relativeIndex, aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor,
    size_t irIndex, const size_t relativeIndex, aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList *tensors, void *addr);

#ifdef __cplusplus
}
#endif

#endif
