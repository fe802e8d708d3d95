#include "executor/phase_one.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/overlap.hpp"

namespace openaclnn {
namespace {

constexpr std::size_t kMostDimensions = 8;

std::string type_text(DataType type) {
    return "DT_" + name_of(type);
}

std::string type_text(const TensorView& view) {
    const bool foreign = view.type == DataType::undefined && !view.foreign_type.empty();
    return foreign ? std::string(view.foreign_type) : type_text(view.type);
}

std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + "]";
}

std::string types_text(const TypeSet& types) {
    std::string text;
    for (DataType type : types) {
        text += (text.empty() ? "" : ", ") + type_text(type);
    }
    return text;
}

bool same_shape(const TensorView& a, const TensorView& b) {
    return std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end());
}

// The checks of one call; each returns the first fault of its row of the table.
class Check {
  public:
    Check(const Operator& op, const Product& product, const Arguments& arguments)
        : operator_(op),
          product_(product),
          rules_(op.rules_of(product.series)),
          views_{arguments.first, arguments.second, arguments.result} {}

    std::optional<Fault> run() {
        using Step = std::optional<Fault> (Check::*)();
        for (const Step step : {&Check::tensors, &Check::support, &Check::types, &Check::type_rule,
                                &Check::ranks, &Check::shapes, &Check::extents, &Check::overlaps}) {
            std::optional<Fault> fault = (this->*step)();
            if (fault.has_value()) {
                return fault;
            }
        }
        return std::nullopt;
    }

  private:
    std::string product_text() const {
        return product_.soc_name + " (" + describe(product_.series).name + ")";
    }

    const char* argument(std::size_t i) const { return operator_.arguments[i]; }

    // "aclnnSiluBackward on Ascend910B1 (Atlas A2): self ...". An index of 3 names no argument.
    Fault fault(Status status, std::size_t i, const std::string& text,
                Fault::Kind kind = Fault::Kind::other) const {
        const std::string name = i < 3 ? argument(i) : "";
        return {status, operator_.name, name,
                std::string(operator_.name) + " on " + product_text() + ": " + name + text, kind};
    }

    Fault invalid(std::size_t i, const std::string& text) const {
        return fault(Status::parameter_invalid, i, text);
    }

    Fault invalid_type(std::size_t i, const std::string& text) const {
        return fault(Status::parameter_invalid, i, text, Fault::Kind::type);
    }

    std::optional<Fault> tensors() {
        for (std::size_t i = 0; i < 3; ++i) {
            if (views_[i] == nullptr) {
                return fault(Status::parameter_null, i, " is null; a tensor is expected");
            }
        }
        return std::nullopt;
    }

    std::optional<Fault> support() {
        if (!rules_.types.empty()) {
            return std::nullopt;
        }
        std::string supported;
        for (const SeriesDescription& series : all_series()) {
            if (!operator_.rules_of(series.series).types.empty()) {
                supported += (supported.empty() ? "" : ", ") + std::string(series.name);
            }
        }
        return fault(Status::find_kernel_error, 3,
                     "the operator is not supported on this product; it is on " + supported);
    }

    std::optional<Fault> types() {
        for (std::size_t i = 0; i < 3; ++i) {
            if (!rules_.types.contains(views_[i]->type)) {
                return invalid_type(i, " has type " + type_text(*views_[i]) +
                                           ", which is not implemented; accepted are " +
                                           types_text(rules_.types));
            }
        }
        return std::nullopt;
    }

    std::optional<Fault> type_rule() {
        const DataType first = views_[0]->type;
        const DataType second = views_[1]->type;
        const DataType result = views_[2]->type;
        switch (rules_.type_rule) {
            case TypeRule::equal:
                if (second != first) {
                    return different_types(1);
                }
                return result != first ? std::optional(different_types(2)) : std::nullopt;
            case TypeRule::mixed_float32: {
                const DataType wanted = result_type(operator_, product_, first, second);
                if (result != wanted) {
                    return invalid_type(2, " has type " + type_text(result) + "; inputs of types " +
                                               type_text(first) + " and " + type_text(second) +
                                               " give " + type_text(wanted));
                }
                return std::nullopt;
            }
            case TypeRule::promoted: {
                const DataType promoted = result_type(operator_, product_, first, second);
                if (is_complex(promoted) && !is_complex(result)) {
                    return invalid_type(2, " has type " + type_text(result) +
                                               ", to which the inputs' promoted type " +
                                               type_text(promoted) +
                                               " can't be cast; accepted are DT_COMPLEX64, "
                                               "DT_COMPLEX128");
                }
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

    Fault different_types(std::size_t i) const {
        return invalid_type(i, " has type " + type_text(views_[i]->type) + " but " + argument(0) +
                                   " has " + type_text(views_[0]->type) +
                                   "; the types of all three tensors must be equal, one of " +
                                   types_text(rules_.types));
    }

    std::optional<Fault> ranks() {
        for (std::size_t i = 0; i < 3; ++i) {
            if (views_[i]->shape.size() > kMostDimensions) {
                return invalid(i, " has shape " + shape_text(views_[i]->shape) + " of rank " +
                                      std::to_string(views_[i]->shape.size()) +
                                      "; a rank from 0 to 8 is accepted");
            }
        }
        return std::nullopt;
    }

    std::optional<Fault> shapes() { return rules_.broadcast ? broadcast_shapes() : equal_shapes(); }

    std::optional<Fault> equal_shapes() {
        for (std::size_t i = 1; i < 3; ++i) {
            if (!same_shape(*views_[i], *views_[0])) {
                return invalid(i, " has shape " + shape_text(views_[i]->shape) + " but " +
                                      argument(0) + " has " + shape_text(views_[0]->shape) +
                                      "; the shapes of all three tensors must be equal");
            }
        }
        return std::nullopt;
    }

    std::optional<Fault> broadcast_shapes() {
        const auto& first = views_[0]->shape;
        const auto& second = views_[1]->shape;
        const std::optional<std::vector<std::int64_t>> shape = broadcast_shape(first, second);
        if (!shape.has_value()) {
            return invalid(1, " has shape " + shape_text(second) +
                                  ", which does not broadcast with " + argument(0) + "'s shape " +
                                  shape_text(first) +
                                  "; from the last on, extents must be equal or 1");
        }
        const auto& result = views_[2]->shape;
        if (!std::equal(shape->begin(), shape->end(), result.begin(), result.end())) {
            return invalid(2, " has shape " + shape_text(result) + "; the inputs' shapes " +
                                  shape_text(first) + " and " + shape_text(second) +
                                  " broadcast to " + shape_text(*shape) + ", which is expected");
        }
        return std::nullopt;
    }

    std::optional<Fault> extents() {
        for (std::size_t i = 0; i < 3; ++i) {
            const std::optional<ByteRange> range = byte_range(*views_[i]);
            if (!range.has_value()) {
                return invalid(i, " with shape " + shape_text(views_[i]->shape) + ", strides " +
                                      shape_text(views_[i]->strides) + " and offset " +
                                      std::to_string(views_[i]->offset) +
                                      " reaches past what 64-bit offsets can hold; "
                                      "smaller extents, strides or offset are expected");
            }
            ranges_[i] = *range;
        }
        return std::nullopt;
    }

    std::optional<Fault> overlaps() {
        const TensorView& result = *views_[2];
        const Overlap own = self_overlap(result);
        if (own != Overlap::none) {
            return invalid(2, " with shape " + shape_text(result.shape) + " and strides " +
                                  shape_text(result.strides) + certainty(own) +
                                  " with itself; every index must lead to an element of its own");
        }
        for (std::size_t i = 0; i < 2; ++i) {
            const bool unset = result.data == nullptr || views_[i]->data == nullptr;
            if (unset || same_elements(result, *views_[i])) {
                continue;
            }
            const Overlap shared = mutual_overlap(result, ranges_[2], *views_[i], ranges_[i]);
            if (shared != Overlap::none) {
                return invalid(2, certainty(shared) + " with " + argument(i) +
                                      " but is not exactly the same view; use memory of its own, "
                                      "or the same address, shape and strides for in place");
            }
        }
        return std::nullopt;
    }

    static std::string certainty(Overlap overlap) {
        return overlap == Overlap::some ? " overlaps" : " can't be shown not to overlap";
    }

    const Operator& operator_;
    const Product& product_;
    const ProductRules& rules_;
    std::array<const TensorView*, 3> views_;
    std::array<ByteRange, 3> ranges_;  // known after extents()
};

}  // namespace

std::optional<Fault> check(const Operator& op, const Product& product, const Arguments& arguments) {
    return Check(op, product, arguments).run();
}

DataType result_type(const Operator& op, const Product& product, DataType first, DataType second) {
    switch (op.rules_of(product.series).type_rule) {
        case TypeRule::equal:
            return first;
        case TypeRule::mixed_float32:
            return first == second ? first : DataType::float32;
        case TypeRule::promoted:
            return promote(first, second);
    }
    return first;
}

}  // namespace openaclnn
