#include "core/tensor_view.hpp"

#include <algorithm>

namespace openaclnn {

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        return 0;
    }
    std::int64_t count = 1;
    for (std::int64_t extent : shape) {
        if (__builtin_mul_overflow(count, extent, &count)) {
            return std::nullopt;
        }
    }
    return count;
}

std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(shape[i], 1), &stride)) {
            stride = INT64_MAX;
        }
    }
    return strides;
}

std::optional<std::vector<std::int64_t>> broadcast_shape(std::span<const std::int64_t> first,
                                                         std::span<const std::int64_t> second) {
    std::vector<std::int64_t> shape(std::max(first.size(), second.size()));
    for (std::size_t i = 1; i <= shape.size(); ++i) {
        const std::int64_t a = i <= first.size() ? first[first.size() - i] : 1;
        const std::int64_t b = i <= second.size() ? second[second.size() - i] : 1;
        if (a != b && a != 1 && b != 1) {
            return std::nullopt;
        }
        shape[shape.size() - i] = a == 1 ? b : a;
    }
    return shape;
}

std::optional<ByteRange> byte_range(const TensorView& view) {
    const std::optional<std::int64_t> count = element_count(view.shape);
    if (!count.has_value()) {
        return std::nullopt;
    }
    if (*count == 0) {
        return ByteRange{};
    }
    std::int64_t last = view.offset;
    for (std::size_t i = 0; i < view.shape.size(); ++i) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(view.shape[i] - 1, view.strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last)) {
            return std::nullopt;
        }
    }
    const std::int64_t size = size_of(view.type);
    ByteRange range;
    std::int64_t end = 0;
    if (__builtin_mul_overflow(*count, size, &end) ||
        __builtin_mul_overflow(view.offset, size, &range.begin) ||
        __builtin_add_overflow(last, std::int64_t{1}, &end) ||
        __builtin_mul_overflow(end, size, &range.end)) {
        return std::nullopt;
    }
    return range;
}

}  // namespace openaclnn
