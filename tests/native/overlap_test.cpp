// Whether views overlap, against brute force over their elements.
#include "core/overlap.hpp"

#include <random>
#include <set>
#include <vector>

#include "check.hpp"

using namespace openaclnn;

namespace {

struct Layout {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    std::int64_t offset;

    TensorView view(char* data) const {
        return {DataType::float16, {}, shape, strides, offset, data};
    }

    // The element numbers of all indices.
    std::multiset<std::int64_t> elements() const {
        std::multiset<std::int64_t> numbers = {offset};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            std::multiset<std::int64_t> next;
            for (const std::int64_t number : numbers) {
                for (std::int64_t at = 0; at < shape[i]; ++at) {
                    next.insert(number + at * strides[i]);
                }
            }
            numbers = std::move(next);
        }
        return numbers;
    }
};

Layout random_layout(std::mt19937& random) {
    const auto below = [&random](int bound) { return static_cast<std::int64_t>(random() % bound); };
    Layout layout;
    const std::int64_t rank = below(4);
    for (std::int64_t i = 0; i < rank; ++i) {
        layout.shape.push_back(below(5));
        layout.strides.push_back(below(14));
    }
    layout.offset = below(20);
    return layout;
}

bool has_twice(const std::multiset<std::int64_t>& numbers) {
    for (const std::int64_t number : numbers) {
        if (numbers.count(number) > 1) {
            return true;
        }
    }
    return false;
}

}  // namespace

int main() {
    std::mt19937 random(1);
    static char memory[4096];
    int overlapping = 0;
    for (int round = 0; round < 200'000; ++round) {
        const Layout first = random_layout(random);
        const Layout second = random_layout(random);
        const auto numbers = first.elements();
        CHECK((self_overlap(first.view(memory)) == Overlap::some) == has_twice(numbers));
        // The second view starts at any byte, so that elements overlap in parts too.
        const int bytes = static_cast<int>(random() % 40);
        bool shared = false;
        for (const std::int64_t number : second.elements()) {
            for (std::int64_t at = number * 2 + bytes - 1; at <= number * 2 + bytes + 1; ++at) {
                shared = shared || (at % 2 == 0 && numbers.contains(at / 2));
            }
        }
        const TensorView one = first.view(memory);
        const TensorView other = second.view(memory + bytes);
        CHECK((mutual_overlap(one, *byte_range(one), other, *byte_range(other)) == Overlap::some) ==
              shared);
        overlapping += shared ? 1 : 0;
    }
    CHECK(overlapping > 10'000 && overlapping < 190'000);
    std::puts("overlap_test: passed");
}
