// How elements of each data type become vectors and back. Included by level.cpp alone.
//
// A format names its Element (as it lies in memory), its Values (what formulas take), how many
// elements one step handles, and loads and stores them; stores go the way of a Store.
#pragma once

#include "kernels/formulas.hpp"
#include "kernels/simd.hpp"

namespace openaclnn::OPENACLNN_LEVEL {

struct Cached {
    template <class V, class T>
    [[gnu::always_inline]] void operator()(T* to, V vector) const {
        store_vector(to, vector);
    }
};

struct Streamed {
    template <class V, class T>
    [[gnu::always_inline]] void operator()(T* to, V vector) const {
        stream_vector(to, vector);
    }
};

struct Float32 {
    using Element = float;
    using Values = F32;
    static constexpr int kStep = kF32Lanes;

    [[gnu::always_inline]] static Values load(const Element* from) {
        return load_vector<F32>(from);
    }
    template <class Store>
    [[gnu::always_inline]] static void store(Element* to, Values values, Store store) {
        store(to, values);
    }
};

struct Float64 {
    using Element = double;
    using Values = F64;
    static constexpr int kStep = kF64Lanes;

    [[gnu::always_inline]] static Values load(const Element* from) {
        return load_vector<F64>(from);
    }
    template <class Store>
    [[gnu::always_inline]] static void store(Element* to, Values values, Store store) {
        store(to, values);
    }
};

// Twice as many elements as lanes, in two vectors.
struct Pair {
    F32 first;
    F32 second;
};

// Neighbours lie in one vector.
struct Float16 {
    using Element = std::uint16_t;
    using Values = Pair;
    static constexpr int kStep = 2 * kF32Lanes;

    [[gnu::always_inline]] static Values load(const Element* from) {
        return {widen_half(load_vector<U16>(from)), widen_half(load_vector<U16>(from + kF32Lanes))};
    }
    template <class Store>
    [[gnu::always_inline]] static void store(Element* to, Values values, Store store) {
        store(to, joined(narrow_to_half(values.first), narrow_to_half(values.second),
                         std::make_index_sequence<kStep>{}));
    }
};

// Elements of even places lie in one vector, those of odd places in the other.
struct BFloat16 {
    using Element = std::uint16_t;
    using Values = Pair;
    static constexpr int kStep = 2 * kF32Lanes;

    [[gnu::always_inline]] static Values load(const Element* from) {
        const U32 pairs = load_vector<U32>(from);
        return {widen_even_bfloat16(pairs), widen_odd_bfloat16(pairs)};
    }
    template <class Store>
    [[gnu::always_inline]] static void store(Element* to, Values values, Store store) {
        store(to, narrow_to_bfloat16(values.first, values.second));
    }
};

// Real and imaginary parts lie in turn; a step takes two vectors of them.
template <class V, class Part, int kLanes>
struct ComplexFormat {
    struct Element {
        Part real;
        Part imaginary;
    };
    using Values = Complex<V>;
    using Lanes = std::make_index_sequence<kLanes>;
    static constexpr int kStep = kLanes;

    [[gnu::always_inline]] static Values load(const Element* from) {
        const V first = load_vector<V>(from);
        const V second = load_vector<V>(from + kLanes / 2);
        return {even_lanes(first, second, Lanes{}), odd_lanes(first, second, Lanes{})};
    }
    template <class Store>
    [[gnu::always_inline]] static void store(Element* to, Values values, Store store) {
        store(to, alternated<0>(values.real, values.imaginary, Lanes{}));
        store(to + kLanes / 2, alternated<kLanes / 2>(values.real, values.imaginary, Lanes{}));
    }
};

using Complex64 = ComplexFormat<F32, float, kF32Lanes>;
using Complex128 = ComplexFormat<F64, double, kF64Lanes>;

// A step of one element again and again.
template <class Format>
[[gnu::always_inline]] inline typename Format::Values repeated(
    const typename Format::Element& element) {
    typename Format::Element elements[Format::kStep];
    for (auto& copy : elements) {
        copy = element;
    }
    return Format::load(elements);
}

// Fewer elements than a step, through memory of a step's size.
template <class Format>
[[gnu::always_inline]] inline typename Format::Values load_some(
    const typename Format::Element* from, std::int64_t count) {
    typename Format::Element elements[Format::kStep] = {};
    std::memcpy(elements, from, count * sizeof(*from));
    return Format::load(elements);
}

template <class Format>
[[gnu::always_inline]] inline void store_some(typename Format::Element* to,
                                              typename Format::Values values, std::int64_t count) {
    typename Format::Element elements[Format::kStep];
    Format::store(elements, values, Cached{});
    std::memcpy(to, elements, count * sizeof(*to));
}

}  // namespace openaclnn::OPENACLNN_LEVEL
