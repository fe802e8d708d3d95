// A view of elements in memory that belongs to somebody else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/data_type.hpp"

namespace openaclnn {

// Shape, strides and offset count elements. Strides and offset are not negative.
struct TensorView {
    DataType type = DataType::undefined;
    // What the caller calls an undefined type, for messages.
    std::string_view foreign_type;
    std::span<const std::int64_t> shape;
    std::span<const std::int64_t> strides;
    std::int64_t offset = 0;
    void* data = nullptr;  // the storage's first byte: the offset is not yet added
};

// The number of elements; nothing if it overflows int64. A zero extent makes it 0.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

// The strides of elements that lie in a row, the last dimension's next to each other. Those that
// would overflow are INT64_MAX: a view with them and any elements has no byte_range.
std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> shape);

// The shape that both broadcast to; nothing if they do not.
std::optional<std::vector<std::int64_t>> broadcast_shape(std::span<const std::int64_t> first,
                                                         std::span<const std::int64_t> second);

// The bytes from `data` that a view's elements lie in; nothing if that overflows int64.
struct ByteRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
std::optional<ByteRange> byte_range(const TensorView& view);

// The address of the element whose indices are all 0.
inline char* first_element(const TensorView& view) {
    return static_cast<char*>(view.data) + view.offset * size_of(view.type);
}

}  // namespace openaclnn
