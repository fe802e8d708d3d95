// Arrays of Python as tensor views.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor_view.hpp"

namespace openaclnn::python {

// To be called once, before any other function here.
void import_numpy(int bfloat16_type_number);

// The view of a NumPy array, in memory of its own: NumPy counts strides in bytes.
class NumpyView {
  public:
    // False if the array is not one whose elements can be taken as they lie: a subclass, another
    // byte order, misaligned, a negative stride, a type that no operator takes.
    bool take(nanobind::handle object);

    bool writable() const { return writable_; }
    const TensorView& view() const { return view_; }

  private:
    static constexpr int kMostDimensions = 64;

    TensorView view_;
    bool writable_ = false;
    std::int64_t shape_[kMostDimensions];
    std::int64_t strides_[kMostDimensions];
};

// A view that Python code describes: the memory must stay alive as long as it is used.
class OwnedView {
  public:
    // A type of a name that the interface does not know is undefined, and keeps the name.
    OwnedView(std::uintptr_t address, std::string type, std::vector<std::int64_t> shape,
              std::vector<std::int64_t> strides, std::int64_t offset);

    const TensorView& view() const { return view_; }

    // The export, which lives as long as this view; none for described views.
    std::shared_ptr<const void> source;

  private:
    std::string type_name_;
    std::vector<std::int64_t> shape_;
    std::vector<std::int64_t> strides_;
    TensorView view_;
};

// The view of what a DLPack capsule holds, which it takes over. Null if the object is no capsule or
// one that was taken before, not of CPU memory, or read-only when it should be written.
std::unique_ptr<OwnedView> view_of_dlpack(nanobind::object capsule, bool writable);

}  // namespace openaclnn::python
