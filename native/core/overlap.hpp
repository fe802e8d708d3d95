// Whether views share elements: exact answers, found without touching memory.
#pragma once

#include "core/tensor_view.hpp"

namespace openaclnn {

enum class Overlap {
    none,
    some,
    // The search was cut off: layouts of many odd strides can take exponential time.
    undecided,
};

// Whether two different indices of one view lead to the same element. The view's byte_range must
// exist.
Overlap self_overlap(const TensorView& view);

// Whether the two views, of these byte_ranges, have a byte in common.
Overlap mutual_overlap(const TensorView& first, const ByteRange& first_range,
                       const TensorView& second, const ByteRange& second_range);

// Whether every index leads to the same element in both: same address, type size, shape, strides.
bool same_elements(const TensorView& first, const TensorView& second);

}  // namespace openaclnn
