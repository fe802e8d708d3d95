#include "core/overlap.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace openaclnn {
namespace {

// coefficient * x with 0 <= x <= bound: one term of a sum over the integers.
struct Term {
    std::int64_t coefficient;
    std::int64_t bound;
};

// Sums are kept in 128 bits: terms of two views that each fit int64 may not fit together.
__extension__ using Wide = __int128;

// Decides whether sum(coefficient_i * x_i) = target has a solution: a depth-first search over the
// terms, largest coefficient first, that follows only values from which the rest can still reach
// the target and is divisible by the rest's greatest common divisor.
class BoundedSum {
  public:
    explicit BoundedSum(std::vector<Term> terms) : terms_(merged(std::move(terms))) {
        reach_.assign(terms_.size() + 1, 0);
        divisor_.assign(terms_.size() + 1, 0);
        for (std::size_t i = terms_.size(); i-- > 0;) {
            reach_[i] = reach_[i + 1] + Wide{terms_[i].coefficient} * terms_[i].bound;
            divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].coefficient);
        }
    }

    Overlap reaches(Wide target) {
        if (target < 0 || target > reach_[0]) {
            return Overlap::none;
        }
        // Where the smaller terms together stay below the larger ones' divisor, what they have to
        // give is the target's remainder, and the two groups can be looked at one by one.
        std::int64_t larger = 0;
        for (std::size_t i = 1; i < terms_.size(); ++i) {
            larger = std::gcd(larger, terms_[i - 1].coefficient);
            if (reach_[i] < larger) {
                const Wide remainder = target % larger;
                const auto middle = terms_.begin() + static_cast<std::ptrdiff_t>(i);
                const Overlap small = BoundedSum({middle, terms_.end()}).reaches(remainder);
                if (small != Overlap::some) {
                    return small;
                }
                return BoundedSum({terms_.begin(), middle}).reaches(target - remainder);
            }
        }
        steps_left_ = kMostSteps;
        return search(0, target);
    }

  private:
    static constexpr int kMostSteps = 1'000'000;

    static std::vector<Term> merged(std::vector<Term> terms) {
        std::erase_if(terms, [](const Term& t) { return t.coefficient == 0 || t.bound == 0; });
        std::sort(terms.begin(), terms.end(),
                  [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
        std::vector<Term> result;
        for (const Term& term : terms) {
            if (!result.empty() && result.back().coefficient == term.coefficient) {
                result.back().bound += term.bound;
            } else {
                result.push_back(term);
            }
        }
        return result;
    }

    Overlap search(std::size_t level, Wide target) {
        if (target == 0) {
            return Overlap::some;
        }
        if (target < 0 || target > reach_[level] || target % divisor_[level] != 0) {
            return Overlap::none;
        }
        const auto [coefficient, bound] = terms_[level];
        const Wide rest = reach_[level + 1];
        const Wide least = target > rest ? (target - rest + coefficient - 1) / coefficient : 0;
        const Wide most = std::min<Wide>(bound, target / coefficient);
        for (Wide x = most; x >= least; --x) {
            if (--steps_left_ < 0) {
                return Overlap::undecided;
            }
            const Overlap found = search(level + 1, target - x * coefficient);
            if (found != Overlap::none) {
                return found;
            }
        }
        return Overlap::none;
    }

    std::vector<Term> terms_;
    std::vector<Wide> reach_;
    std::vector<std::int64_t> divisor_;
    int steps_left_ = 0;
};

std::vector<Term> terms_of(const TensorView& view, std::int64_t unit) {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < view.shape.size(); ++i) {
        if (view.shape[i] > 1) {
            terms.push_back({view.strides[i] * unit, view.shape[i] - 1});
        }
    }
    return terms;
}

bool is_empty(const TensorView& view) {
    return std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end();
}

// Whether each stride steps over all that the later dimensions reach, as in most layouts.
bool is_nested(const TensorView& view) {
    std::int64_t reach = 0;
    for (std::size_t i = view.shape.size(); i-- > 0;) {
        if (view.shape[i] == 1) {
            continue;
        }
        if (view.strides[i] <= reach) {
            return false;
        }
        reach += view.strides[i] * (view.shape[i] - 1);
    }
    return true;
}

}  // namespace

Overlap self_overlap(const TensorView& view) {
    if (is_empty(view) || is_nested(view)) {
        return Overlap::none;
    }
    std::vector<Term> dimensions = terms_of(view, 1);
    std::sort(dimensions.begin(), dimensions.end(),
              [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
    std::int64_t reach = 0;
    bool nested = true;  // each stride steps over all that the smaller ones reach
    for (const Term& dimension : dimensions) {
        if (dimension.coefficient == 0) {
            return Overlap::some;
        }
        nested = nested && dimension.coefficient > reach;
        reach += dimension.coefficient * dimension.bound;
    }
    if (nested) {
        return Overlap::none;
    }
    // Two indices meet if their difference d has sum(stride_i * d_i) = 0. Let the first d that is
    // not 0 be positive, d_i = 1 + x; the later ones are shifted to start at 0.
    while (!dimensions.empty()) {
        const Term first = dimensions.back();
        dimensions.pop_back();
        std::vector<Term> terms = {{first.coefficient, first.bound - 1}};
        Wide target = -Wide{first.coefficient};
        for (const Term& other : dimensions) {
            terms.push_back({other.coefficient, 2 * other.bound});
            target += Wide{other.coefficient} * other.bound;
        }
        const Overlap found = target < 0 ? Overlap::none : BoundedSum(terms).reaches(target);
        if (found != Overlap::none) {
            return found;
        }
    }
    return Overlap::none;
}

Overlap mutual_overlap(const TensorView& first, const ByteRange& first_range,
                       const TensorView& second, const ByteRange& second_range) {
    if (is_empty(first) || is_empty(second)) {
        return Overlap::none;
    }
    const auto address = [](const TensorView& view) {
        return Wide{reinterpret_cast<std::intptr_t>(view.data)};
    };
    if (address(first) + first_range.end <= address(second) + second_range.begin ||
        address(second) + second_range.end <= address(first) + first_range.begin) {
        return Overlap::none;
    }
    // A byte of each meets if begin_1 + terms_1 + byte_1 = begin_2 + terms_2 + byte_2; the second
    // side is counted down from its end, so that all terms are added.
    std::vector<Term> terms = terms_of(first, size_of(first.type));
    const std::vector<Term> others = terms_of(second, size_of(second.type));
    terms.insert(terms.end(), others.begin(), others.end());
    terms.push_back({1, size_of(first.type) - 1});
    terms.push_back({1, size_of(second.type) - 1});
    const Wide target =
        (address(second) + second_range.end - 1) - (address(first) + first_range.begin);
    return BoundedSum(std::move(terms)).reaches(target);
}

bool same_elements(const TensorView& first, const TensorView& second) {
    if (first_element(first) != first_element(second) ||
        size_of(first.type) != size_of(second.type) ||
        !std::equal(first.shape.begin(), first.shape.end(), second.shape.begin(),
                    second.shape.end())) {
        return false;
    }
    for (std::size_t i = 0; i < first.shape.size(); ++i) {
        if (first.shape[i] > 1 && first.strides[i] != second.strides[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace openaclnn
