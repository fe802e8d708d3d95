// Tensors, scalars, arrays, lists and repeatable executors.
#include "aclnn/acl_meta.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "capi/guard.hpp"
#include "capi/objects.hpp"
#include "runtime/handle_table.hpp"

using namespace openaclnn;
using capi::guarded_status;
using capi::refuse;
using capi::require_argument;
using capi::Tensor;

namespace {

std::vector<std::int64_t> numbers(const char* function, const char* name,
                                  const std::int64_t* values, std::uint64_t count) {
    constexpr std::uint64_t kMostDimensions = 1024;
    if (count > kMostDimensions || (count > 0 && values == nullptr)) {
        refuse(Status::parameter_invalid,
               std::string(function) + ": " + name + " has " + std::to_string(count) + " numbers" +
                   (values == nullptr ? " but is null" : ", far more than a rank"));
    }
    std::vector<std::int64_t> result(values, values + count);
    if (std::any_of(result.begin(), result.end(), [](std::int64_t n) { return n < 0; })) {
        refuse(Status::parameter_invalid,
               std::string(function) + ": " + name + " has a negative number");
    }
    return result;
}

Tensor describe(const char* function, const int64_t* viewDims, uint64_t viewDimsNum,
                aclDataType dataType, const int64_t* stride, int64_t offset, aclFormat format,
                const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
    Tensor tensor;
    tensor.type = dataType;
    tensor.format = format;
    tensor.dims = numbers(function, "viewDims", viewDims, viewDimsNum);
    tensor.strides = stride == nullptr ? contiguous_strides(tensor.dims)
                                       : numbers(function, "stride", stride, viewDimsNum);
    if (offset < 0) {
        refuse(Status::parameter_invalid, std::string(function) + ": offset is " +
                                              std::to_string(offset) +
                                              "; a number that is not negative is expected");
    }
    tensor.offset = offset;
    tensor.storage_dims = numbers(function, "storageDims", storageDims, storageDimsNum);
    tensor.data = tensorData;
    return tensor;
}

[[noreturn]] void refuse_tensor(const char* function) {
    refuse(
        Status::parameter_invalid,
        std::string(function) + ": tensor is not a live one; it may have been destroyed already");
}

std::shared_ptr<Tensor> tensor_or_refuse(const char* function, const aclTensor* handle) {
    require_argument(function, handle, "tensor");
    std::shared_ptr<Tensor> tensor = capi::find_tensor(handle);
    if (tensor == nullptr) {
        refuse_tensor(function);
    }
    return tensor;
}

void copy_out(const char* function, const std::vector<std::int64_t>& values, int64_t** array,
              uint64_t* count) {
    require_argument(function, array, "the array's address");
    require_argument(function, count, "the count's address");
    auto* copy = new std::int64_t[values.size()];
    std::copy(values.begin(), values.end(), copy);
    *array = copy;
    *count = values.size();
}

// Gives one property of a tensor to the client.
template <class Value, class Get>
aclnnStatus get(const char* function, const aclTensor* handle, Value* value, const Get& property) {
    return guarded_status(function, [&] {
        const std::shared_ptr<Tensor> tensor = tensor_or_refuse(function, handle);
        require_argument(function, value, "the value's address");
        *value = property(*tensor);
    });
}

void destroy_tensor(const char* function, const aclTensor* handle) {
    if (handle != nullptr && capi::remove_tensor(handle) == nullptr) {
        refuse_tensor(function);
    }
}

// The live objects of one kind. Never destroyed, like the other tables.
template <class Object>
HandleTable<Object>& live() {
    static auto* const table = new HandleTable<Object>;
    return *table;
}

// Makes an object of the client's values; null, with a recent error, if that can't be.
template <class Object, class Value>
Object* create_array(const char* function, const Value* values, std::uint64_t size) {
    void* handle = nullptr;
    guarded_status(function, [&] {
        if (size > 0) {
            require_argument(function, values, "value");
        }
        auto array = std::make_shared<Object>();
        array->values.assign(values, values + size);
        handle = live<Object>().insert(std::move(array));
    });
    return static_cast<Object*>(handle);
}

// The same for a list, of objects that must be live or null.
template <class List, class Object, class IsLive>
List* create_list(const char* function, const Object* const* values, std::uint64_t size,
                  const IsLive& is_live) {
    const aclnnStatus status = guarded_status(function, [&] {
        for (std::uint64_t i = 0; values != nullptr && i < size; ++i) {
            if (values[i] != nullptr && !is_live(values[i])) {
                refuse(Status::parameter_invalid, std::string(function) + ": value[" +
                                                      std::to_string(i) + "] is not a live object");
            }
        }
    });
    return status == ACLNN_SUCCESS ? create_array<List>(function, values, size) : nullptr;
}

[[noreturn]] void refuse_object(const char* function) {
    refuse(Status::parameter_invalid,
           std::string(function) +
               ": the object is not a live one; it may have been destroyed already");
}

// Ends an object and gives it; null if there was none to end.
template <class Object>
std::shared_ptr<Object> take(const char* function, const Object* handle) {
    if (handle == nullptr) {
        return nullptr;
    }
    std::shared_ptr<Object> object = live<Object>().remove(handle);
    if (object == nullptr) {
        refuse_object(function);
    }
    return object;
}

template <class Object>
aclnnStatus destroy(const char* function, const Object* handle) {
    return guarded_status(function, [&] { take(function, handle); });
}

// Destroys a list and what it holds: all of it, though some may be gone already.
template <class List, class Destroy>
aclnnStatus destroy_list(const char* function, const List* handle, const Destroy& destroy_one) {
    aclnnStatus first_fault = ACLNN_SUCCESS;
    const aclnnStatus status = guarded_status(function, [&] {
        const std::shared_ptr<List> list = take(function, handle);
        if (list == nullptr) {
            return;
        }
        for (const auto* element : list->values) {
            const aclnnStatus one = destroy_one(element);
            first_fault = first_fault == ACLNN_SUCCESS ? one : first_fault;
        }
    });
    return status == ACLNN_SUCCESS ? first_fault : status;
}

template <class Object>
aclnnStatus get_size(const char* function, const Object* handle, std::uint64_t* size) {
    return guarded_status(function, [&] {
        require_argument(function, handle, "array");
        require_argument(function, size, "size");
        const std::shared_ptr<Object> array = live<Object>().find(handle);
        if (array == nullptr) {
            refuse_object(function);
        }
        *size = array->values.size();
    });
}

enum class Role { input, output, any };

void set_address(const char* function, Role role, aclOpExecutor* handle, std::size_t index,
                 aclTensor* tensor_handle, void* address) {
    require_argument(function, handle, "executor", Status::inner_null);
    require_argument(function, tensor_handle, "tensor", Status::inner_null);
    const auto entry = capi::find_executor(handle);
    if (entry == nullptr) {
        capi::refuse_executor(function);
    }
    const std::shared_ptr<Tensor> tensor = tensor_or_refuse(function, tensor_handle);
    constexpr std::size_t kInputs = 2;
    const std::size_t count = role == Role::input ? kInputs : role == Role::output ? 1 : 3;
    if (index >= count) {
        refuse(Status::parameter_invalid, std::string(function) + ": index is " +
                                              std::to_string(index) + "; there are " +
                                              std::to_string(count) + ", counted from 0");
    }
    entry->set_address(role == Role::output ? kInputs : index, address);
    tensor->data = address;
}

aclnnStatus set_address_guarded(const char* function, Role role, aclOpExecutor* executor,
                                std::size_t index, aclTensor* tensor, void* address) {
    return guarded_status(function,
                          [&] { set_address(function, role, executor, index, tensor, address); });
}

aclnnStatus refuse_lists(const char* function, const aclOpExecutor* executor,
                         const aclTensorList* tensors) {
    return guarded_status(function, [&] {
        require_argument(function, executor, "executor", Status::inner_null);
        require_argument(function, tensors, "tensors", Status::inner_null);
        refuse(Status::parameter_invalid,
               std::string(function) +
                   ": no operator here takes tensor lists; use the function without Dynamic");
    });
}

}  // namespace

struct aclScalar {
    std::vector<char> values;  // the bytes of one element
};
struct aclIntArray {
    std::vector<std::int64_t> values;
};
struct aclFloatArray {
    std::vector<float> values;
};
struct aclBoolArray {
    std::vector<bool> values;
};
struct aclTensorList {
    std::vector<const aclTensor*> values;
};
struct aclScalarList {
    std::vector<const aclScalar*> values;
};

extern "C" {

aclnnStatus aclnnInit(const char*) {
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnFinalize(void) {
    return ACLNN_SUCCESS;
}

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
    aclTensor* handle = nullptr;
    guarded_status("aclCreateTensor", [&] {
        handle = capi::insert_tensor(std::make_shared<Tensor>(
            describe("aclCreateTensor", viewDims, viewDimsNum, dataType, stride, offset, format,
                     storageDims, storageDimsNum, tensorData)));
    });
    return handle;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorData) {
    return guarded_status("aclInitTensor", [&] {
        const std::shared_ptr<Tensor> found = tensor_or_refuse("aclInitTensor", tensor);
        *found = describe("aclInitTensor", viewDims, viewDimsNum, dataType, stride, offset, format,
                          storageDims, storageDimsNum, tensorData);
    });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
    return guarded_status("aclDestroyTensor", [&] { destroy_tensor("aclDestroyTensor", tensor); });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
    return guarded_status("aclGetViewShape", [&] {
        copy_out("aclGetViewShape", tensor_or_refuse("aclGetViewShape", tensor)->dims, viewDims,
                 viewDimsNum);
    });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
    return guarded_status("aclGetStorageShape", [&] {
        copy_out("aclGetStorageShape", tensor_or_refuse("aclGetStorageShape", tensor)->storage_dims,
                 storageDims, storageDimsNum);
    });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
    return guarded_status("aclGetViewStrides", [&] {
        copy_out("aclGetViewStrides", tensor_or_refuse("aclGetViewStrides", tensor)->strides,
                 stridesValue, stridesNum);
    });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
    return get("aclGetViewOffset", tensor, offset, [](const Tensor& t) { return t.offset; });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    return get("aclGetFormat", tensor, format, [](const Tensor& t) { return t.format; });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
    return get("aclGetDataType", tensor, dataType, [](const Tensor& t) { return t.type; });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
    return get("aclGetRawTensorAddr", tensor, addr, [](const Tensor& t) { return t.data; });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
    return guarded_status("aclSetRawTensorAddr",
                          [&] { tensor_or_refuse("aclSetRawTensorAddr", tensor)->data = addr; });
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
    void* handle = nullptr;
    guarded_status("aclCreateScalar", [&] {
        require_argument("aclCreateScalar", value, "value");
        const char* bytes = static_cast<const char*>(value);
        auto scalar = std::make_shared<aclScalar>();
        scalar->values.assign(bytes, bytes + aclDataTypeSize(dataType));
        handle = live<aclScalar>().insert(std::move(scalar));
    });
    return static_cast<aclScalar*>(handle);
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
    return create_array<aclIntArray>("aclCreateIntArray", value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
    return create_array<aclFloatArray>("aclCreateFloatArray", value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
    return create_array<aclBoolArray>("aclCreateBoolArray", value, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
    return create_list<aclTensorList>(
        "aclCreateTensorList", value, size,
        [](const aclTensor* tensor) { return capi::find_tensor(tensor) != nullptr; });
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
    return create_list<aclScalarList>(
        "aclCreateScalarList", value, size,
        [](const aclScalar* scalar) { return live<aclScalar>().find(scalar) != nullptr; });
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
    return destroy("aclDestroyScalar", scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
    return destroy("aclDestroyIntArray", array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
    return destroy("aclDestroyFloatArray", array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
    return destroy("aclDestroyBoolArray", array);
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
    return destroy_list("aclDestroyTensorList", array, [](const aclTensor* tensor) {
        return guarded_status("aclDestroyTensorList",
                              [&] { destroy_tensor("aclDestroyTensorList", tensor); });
    });
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
    return destroy_list("aclDestroyScalarList", array, [](const aclScalar* scalar) {
        return destroy("aclDestroyScalarList", scalar);
    });
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
    return get_size("aclGetIntArraySize", array, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
    return get_size("aclGetFloatArraySize", array, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
    return get_size("aclGetBoolArraySize", array, size);
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
    return get_size("aclGetTensorListSize", tensorList, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
    return get_size("aclGetScalarListSize", scalarList, size);
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
    return guarded_status("aclSetAclOpExecutorRepeatable", [&] {
        require_argument("aclSetAclOpExecutorRepeatable", executor, "executor", Status::inner_null);
        const auto entry = capi::find_executor(executor);
        if (entry == nullptr) {
            capi::refuse_executor("aclSetAclOpExecutorRepeatable");
        }
        if (std::optional<Fault> fault = entry->executor.set_repeatable(true)) {
            throw capi::StatusFault{std::move(*fault)};
        }
    });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
    return guarded_status("aclDestroyAclOpExecutor", [&] {
        require_argument("aclDestroyAclOpExecutor", executor, "executor", Status::inner_null);
        if (capi::remove_executor(executor) == nullptr) {
            capi::refuse_executor("aclDestroyAclOpExecutor");
        }
    });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    return set_address_guarded("aclSetInputTensorAddr", Role::input, executor, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    return set_address_guarded("aclSetOutputTensorAddr", Role::output, executor, index, tensor,
                               addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
    return set_address_guarded("aclSetTensorAddr", Role::any, executor, index, tensor, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                         aclTensorList* tensors, void*) {
    return refuse_lists("aclSetDynamicInputTensorAddr", executor, tensors);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                          aclTensorList* tensors, void*) {
    return refuse_lists("aclSetDynamicOutputTensorAddr", executor, tensors);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                    aclTensorList* tensors, void*) {
    return refuse_lists("aclSetDynamicTensorAddr", executor, tensors);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    return set_address_guarded("AclSetInputTensorAddr", Role::input, executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    return set_address_guarded("AclSetOutputTensorAddr", Role::output, executor, index, tensor,
                               addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
    return set_address_guarded("AclSetTensorAddr", Role::any, executor, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                         aclTensorList* tensors, void*) {
    return refuse_lists("AclSetDynamicInputTensorAddr", executor, tensors);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                          aclTensorList* tensors, void*) {
    return refuse_lists("AclSetDynamicOutputTensorAddr", executor, tensors);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                    aclTensorList* tensors, void*) {
    return refuse_lists("AclSetDynamicTensorAddr", executor, tensors);
}

}  // extern "C"
