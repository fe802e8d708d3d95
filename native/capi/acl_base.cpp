// Data types, half precision, data buffers and tensor descriptions.
#include "acl/acl_base.h"

#include <vector>

#include "capi/guard.hpp"
#include "core/data_type.hpp"
#include "core/tensor_view.hpp"

using openaclnn::DataType;
using openaclnn::RuntimeError;
using openaclnn::capi::guarded;
using openaclnn::capi::require;

struct aclDataBuffer {
    void* data;
    size_t size;
};

struct aclTensorDesc {
    aclDataType type;
    std::vector<int64_t> dims;
    aclFormat format;
};

extern "C" {

size_t aclDataTypeSize(aclDataType dataType) {
    return static_cast<size_t>(openaclnn::size_of(static_cast<DataType>(dataType)));
}

float aclFloat16ToFloat(aclFloat16 value) {
    return static_cast<float>(__builtin_bit_cast(_Float16, value));
}

aclFloat16 aclFloatToFloat16(float value) {
    return __builtin_bit_cast(aclFloat16, static_cast<_Float16>(value));
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
    return new (std::nothrow) aclDataBuffer{data, size};
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
    return guarded("aclDestroyDataBuffer", [&] {
        require(dataBuffer, "dataBuffer", RuntimeError::invalid_param);
        delete dataBuffer;
    });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
    return guarded("aclUpdateDataBuffer", [&] {
        require(dataBuffer, "dataBuffer", RuntimeError::invalid_param);
        *dataBuffer = {data, size};
    });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
    return dataBuffer == nullptr ? nullptr : dataBuffer->data;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
    return dataBuffer == nullptr ? 0 : dataBuffer->size;
}

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
    aclTensorDesc* desc = nullptr;
    guarded("aclCreateTensorDesc", [&] {
        if (numDims < 0 || (numDims > 0 && dims == nullptr)) {
            throw openaclnn::RuntimeFault{RuntimeError::invalid_param,
                                          "numDims is negative, or dims is null"};
        }
        desc = new aclTensorDesc{dataType, {dims, dims + numDims}, format};
    });
    return desc;
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
    delete desc;
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
    return desc == nullptr ? ACL_DT_UNDEFINED : desc->type;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
    return desc == nullptr ? ACL_FORMAT_UNDEFINED : desc->format;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
    return desc == nullptr ? 0
                           : static_cast<size_t>(openaclnn::element_count(desc->dims).value_or(0));
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
    return desc == nullptr ? 0 : aclGetTensorDescElementCount(desc) * aclDataTypeSize(desc->type);
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
    return desc == nullptr ? 0 : desc->dims.size();
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
    return guarded("aclGetTensorDescDimV2", [&] {
        require(desc, "desc", RuntimeError::invalid_param);
        require(dimSize, "dimSize", RuntimeError::invalid_param);
        if (index >= desc->dims.size()) {
            throw openaclnn::RuntimeFault{RuntimeError::invalid_param,
                                          "index is " + std::to_string(index) + "; there are " +
                                              std::to_string(desc->dims.size()) +
                                              " dimensions, counted from 0"};
        }
        *dimSize = desc->dims[index];
    });
}

}  // extern "C"
