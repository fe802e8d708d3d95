/* Types, data types, formats and statuses of the ACL interface. */
#ifndef OPENACLNN_ACL_ACL_BASE_H
#define OPENACLNN_ACL_ACL_BASE_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#if defined(__GNUC__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif

/* An integer constant that is one in C and in C++. */
#ifdef __cplusplus
#define ACL_CONSTANT(name, value) static const int name = value
#else
#define ACL_CONSTANT(name, value) enum { name = value }
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtContext;
typedef void *aclrtNotify;
typedef int aclError;
typedef uint16_t aclFloat16;
typedef struct aclDataBuffer aclDataBuffer;
typedef struct aclTensorDesc aclTensorDesc;

ACL_CONSTANT(ACL_SUCCESS, 0);

/* Faults of the caller. */
ACL_CONSTANT(ACL_ERROR_NONE, 0);
ACL_CONSTANT(ACL_ERROR_INVALID_PARAM, 100000);
ACL_CONSTANT(ACL_ERROR_UNINITIALIZE, 100001);
ACL_CONSTANT(ACL_ERROR_REPEAT_INITIALIZE, 100002);
ACL_CONSTANT(ACL_ERROR_STREAM_NOT_SUBSCRIBE, 100034);
ACL_CONSTANT(ACL_ERROR_THREAD_NOT_SUBSCRIBE, 100035);
ACL_CONSTANT(ACL_ERROR_WAIT_CALLBACK_TIMEOUT, 100036);
ACL_CONSTANT(ACL_ERROR_REPEAT_FINALIZE, 100037);
ACL_CONSTANT(ACL_ERROR_BAD_ALLOC, 200000);
ACL_CONSTANT(ACL_ERROR_API_NOT_SUPPORT, 200001);
ACL_CONSTANT(ACL_ERROR_INVALID_DEVICE, 200002);
ACL_CONSTANT(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, 200003);
ACL_CONSTANT(ACL_ERROR_RESOURCE_NOT_MATCH, 200004);
ACL_CONSTANT(ACL_ERROR_INVALID_RESOURCE_HANDLE, 200005);
ACL_CONSTANT(ACL_ERROR_FEATURE_UNSUPPORTED, 200006);
ACL_CONSTANT(ACL_ERROR_STORAGE_OVER_LIMIT, 300000);
ACL_CONSTANT(ACL_ERROR_INTERNAL_ERROR, 500000);
ACL_CONSTANT(ACL_ERROR_FAILURE, 500001);
ACL_CONSTANT(ACL_ERROR_RT_FAILURE, 500003);

/* Faults of the runtime. */
ACL_CONSTANT(ACL_ERROR_RT_PARAM_INVALID, 107000);
ACL_CONSTANT(ACL_ERROR_RT_INVALID_DEVICEID, 107001);
ACL_CONSTANT(ACL_ERROR_RT_CONTEXT_NULL, 107002);
ACL_CONSTANT(ACL_ERROR_RT_STREAM_CONTEXT, 107003);
ACL_CONSTANT(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, 107006);
ACL_CONSTANT(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, 107007);
ACL_CONSTANT(ACL_ERROR_RT_ADDR_UNALIGNED, 107008);
ACL_CONSTANT(ACL_ERROR_RT_STREAM_NO_CB_REG, 107015);
ACL_CONSTANT(ACL_ERROR_RT_INVALID_MEMORY_TYPE, 107016);
ACL_CONSTANT(ACL_ERROR_RT_INVALID_HANDLE, 107017);
ACL_CONSTANT(ACL_ERROR_RT_INVALID_MALLOC_TYPE, 107018);
ACL_CONSTANT(ACL_ERROR_RT_DEVICE_TASK_ABORT, 107022);
ACL_CONSTANT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, 207000);
ACL_CONSTANT(ACL_ERROR_RT_MEMORY_ALLOCATION, 207001);
ACL_CONSTANT(ACL_ERROR_RT_MEMORY_FREE, 207002);
ACL_CONSTANT(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, 207005);
ACL_CONSTANT(ACL_ERROR_RT_NO_EVENT_RESOURCE, 207007);
ACL_CONSTANT(ACL_ERROR_RT_NO_STREAM_RESOURCE, 207008);
ACL_CONSTANT(ACL_ERROR_RT_INTERNAL_ERROR, 507000);
ACL_CONSTANT(ACL_ERROR_RT_STREAM_NOT_COMPLETE, 507004);
ACL_CONSTANT(ACL_ERROR_RT_EVENT_NOT_COMPLETE, 507006);
ACL_CONSTANT(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, 507007);
ACL_CONSTANT(ACL_ERROR_RT_REPORT_TIMEOUT, 507012);
ACL_CONSTANT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, 507046);
ACL_CONSTANT(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, 507047);

typedef enum {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

typedef enum {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51
} aclFormat;

typedef enum {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

/* Bytes of one element; 0 for types that have no whole byte. */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/* Half precision as its bits; rounded to the nearest, ties to even. */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/* A block of memory that belongs to the caller, with its size in bytes. */
ACL_FUNC_VISIBILITY aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer);
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size);
ACL_FUNC_VISIBILITY void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer);
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer);

/* A tensor's data type, shape and format, without its elements. */
ACL_FUNC_VISIBILITY aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims,
                                                       const int64_t *dims, aclFormat format);
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc *desc);
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc *desc);
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescSize(const aclTensorDesc *desc);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescElementCount(const aclTensorDesc *desc);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc *desc);
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index,
                                                   int64_t *dimSize);

#ifdef __cplusplus
}
#endif

#endif
