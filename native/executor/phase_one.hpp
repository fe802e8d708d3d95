// Phase one: whether a call is allowed on the current product.
#pragma once

#include <optional>

#include "core/product.hpp"
#include "core/status.hpp"
#include "core/tensor_view.hpp"
#include "executor/operator_table.hpp"

namespace openaclnn {

// The arguments of one call, in the operator's order. Null ones are a fault.
struct Arguments {
    const TensorView* first;
    const TensorView* second;
    const TensorView* result;
};

// The first fault in the order of docs/operators.md; nothing if the call is right.
std::optional<Fault> check(const Operator& op, const Product& product, const Arguments& arguments);

// A call's result as its inputs decide it; nothing can be said of inputs with a fault.
DataType result_type(const Operator& op, const Product& product, DataType first, DataType second);

}  // namespace openaclnn
