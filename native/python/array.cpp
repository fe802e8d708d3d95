#include "python/array.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#include <numpy/arrayobject.h>

#include <stdexcept>
#include <utility>

namespace nb = nanobind;

namespace openaclnn::python {
namespace {

int bfloat16_type = -1;

DataType type_of(int type_number) {
    switch (type_number) {
        case NPY_FLOAT:
            return DataType::float32;
        case NPY_HALF:
            return DataType::float16;
        case NPY_DOUBLE:
            return DataType::float64;
        case NPY_CFLOAT:
            return DataType::complex64;
        case NPY_CDOUBLE:
            return DataType::complex128;
        default:
            return type_number == bfloat16_type ? DataType::bfloat16 : DataType::undefined;
    }
}

// The name of the type, or a description of one that has none here.
std::string name_of_type(nb::dlpack::dtype type) {
    using Code = nb::dlpack::dtype_code;
    constexpr std::pair<std::pair<Code, int>, DataType> kTypes[] = {
        {{Code::Float, 16}, DataType::float16},     {{Code::Float, 32}, DataType::float32},
        {{Code::Float, 64}, DataType::float64},     {{Code::Bfloat, 16}, DataType::bfloat16},
        {{Code::Complex, 64}, DataType::complex64}, {{Code::Complex, 128}, DataType::complex128},
        {{Code::Int, 8}, DataType::int8},           {{Code::Int, 16}, DataType::int16},
        {{Code::Int, 32}, DataType::int32},         {{Code::Int, 64}, DataType::int64},
        {{Code::UInt, 8}, DataType::uint8},         {{Code::UInt, 16}, DataType::uint16},
        {{Code::UInt, 32}, DataType::uint32},       {{Code::UInt, 64}, DataType::uint64},
        {{Code::Bool, 8}, DataType::boolean},
    };
    for (const auto& [description, known] : kTypes) {
        if (type.code == static_cast<std::uint8_t>(description.first) &&
            type.bits == description.second && type.lanes == 1) {
            return name_of(known);
        }
    }
    return "DLPack type (code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
           " bits, " + std::to_string(type.lanes) + " lanes)";
}

}  // namespace

void import_numpy(int bfloat16_type_number) {
    if (_import_array() < 0) {
        throw nb::python_error();
    }
    bfloat16_type = bfloat16_type_number;
}

bool NumpyView::take(nb::handle object) {
    if (!PyArray_CheckExact(object.ptr())) {
        return false;
    }
    auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
    view_.type = type_of(PyArray_TYPE(array));
    if (view_.type == DataType::undefined || !PyArray_ISALIGNED(array) ||
        !PyArray_ISNOTSWAPPED(array)) {
        return false;
    }
    const int rank = PyArray_NDIM(array);
    const npy_intp size = PyArray_ITEMSIZE(array);
    for (int i = 0; i < rank; ++i) {
        shape_[i] = PyArray_DIM(array, i);
        const npy_intp stride = shape_[i] > 1 ? PyArray_STRIDE(array, i) : 0;
        if (stride < 0 || stride % size != 0) {
            return false;
        }
        strides_[i] = stride / size;
    }
    view_.shape = {shape_, static_cast<std::size_t>(rank)};
    view_.strides = {strides_, static_cast<std::size_t>(rank)};
    view_.data = PyArray_DATA(array);
    writable_ = PyArray_ISWRITEABLE(array);
    return true;
}

OwnedView::OwnedView(std::uintptr_t address, std::string type, std::vector<std::int64_t> shape,
                     std::vector<std::int64_t> strides, std::int64_t offset)
    : type_name_(std::move(type)), shape_(std::move(shape)), strides_(std::move(strides)) {
    if (shape_.size() != strides_.size()) {
        throw std::invalid_argument("shape and strides differ in length");
    }
    for (const auto& numbers : {shape_, strides_, {offset}}) {
        for (const std::int64_t number : numbers) {
            if (number < 0) {
                throw std::invalid_argument("shape, strides and offset must not be negative");
            }
        }
    }
    view_ = {data_type_named(type_name_),     type_name_, shape_, strides_, offset,
             reinterpret_cast<void*>(address)};
}

std::unique_ptr<OwnedView> view_of_dlpack(nb::object capsule, bool writable) {
    if (!PyCapsule_IsValid(capsule.ptr(), "dltensor") &&
        !PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        return nullptr;
    }
    const auto view = [&](auto&& exported) -> std::unique_ptr<OwnedView> {
        if (!nb::try_cast(capsule, exported, false)) {
            return nullptr;
        }
        std::vector<std::int64_t> shape;
        std::vector<std::int64_t> strides;
        for (std::size_t i = 0; i < exported.ndim(); ++i) {
            shape.push_back(exported.shape(i));
            strides.push_back(exported.shape(i) > 1 ? exported.stride(i) : 0);
        }
        auto result = std::make_unique<OwnedView>(reinterpret_cast<std::uintptr_t>(exported.data()),
                                                  name_of_type(exported.dtype()), std::move(shape),
                                                  std::move(strides), 0);
        result->source = std::make_shared<std::decay_t<decltype(exported)>>(exported);
        return result;
    };
    return writable ? view(nb::ndarray<nb::device::cpu>())
                    : view(nb::ndarray<nb::ro, nb::device::cpu>());
}

}  // namespace openaclnn::python
