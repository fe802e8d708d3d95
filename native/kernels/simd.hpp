// Vectors of one instruction set level: the widest of the level, as compiler vector types, and the
// few operations that plain arithmetic on those does not give. Included by level.cpp alone, once
// per level; the namespace keeps the levels apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace openaclnn::OPENACLNN_LEVEL {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

inline constexpr int kF32Lanes = kVectorBytes / 4;
inline constexpr int kF64Lanes = kVectorBytes / 8;

using F32 [[gnu::vector_size(kVectorBytes)]] = float;
using F64 [[gnu::vector_size(kVectorBytes)]] = double;
using I32 [[gnu::vector_size(kVectorBytes)]] = std::int32_t;
using I64 [[gnu::vector_size(kVectorBytes)]] = std::int64_t;
using U32 [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
using U16 [[gnu::vector_size(kVectorBytes / 2)]] = std::uint16_t;
// As many lanes as F32 has, for steps that need more range or bits.
using WideF64 [[gnu::vector_size(kVectorBytes * 2)]] = double;
using WideI64 [[gnu::vector_size(kVectorBytes * 2)]] = std::int64_t;

template <class V, class T>
[[gnu::always_inline]] inline V load_vector(const T* from) {
    V vector;
    std::memcpy(&vector, from, sizeof(V));
    return vector;
}

template <class V, class T>
[[gnu::always_inline]] inline void store_vector(T* to, V vector) {
    std::memcpy(to, &vector, sizeof(V));
}

template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From vector) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &vector, sizeof(To));
    return result;
}

// x - 0 is x for every x; x + 0 is not for -0.
[[gnu::always_inline]] inline F32 splat(float x) {
    return x - F32{};
}
[[gnu::always_inline]] inline F64 splat(double x) {
    return x - F64{};
}

[[gnu::always_inline]] inline F32 abs(F32 x) {
    return bits_as<F32>(bits_as<U32>(x) & 0x7fffffffu);
}

[[gnu::always_inline]] inline I32 magnitude_bits(F32 x) {
    return bits_as<I32>(x) & 0x7fffffff;
}
[[gnu::always_inline]] inline I64 magnitude_bits(F64 x) {
    return bits_as<I64>(x) & 0x7fffffffffffffff;
}

// Stores past the caches; to an address that is a multiple of the vector's size.
template <class V, class T>
[[gnu::always_inline]] inline void stream_vector(T* to, V vector) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), bits_as<__m512i>(vector));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), bits_as<__m256i>(vector));
#elif defined(__SSE2__)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), bits_as<__m128i>(vector));
#else
    store_vector(to, vector);
#endif
}

// To be called before others may read what was streamed.
[[gnu::always_inline]] inline void end_streaming() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

// Whether any lane of a comparison's result is set.
template <class Mask>
[[gnu::always_inline]] inline bool any(Mask mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask(bits_as<__m512i>(mask), bits_as<__m512i>(mask)) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps(bits_as<__m256>(mask)) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps(bits_as<__m128>(mask)) != 0;
#else
    using Halves [[gnu::vector_size(16)]] = std::uint64_t;
    const Halves halves = bits_as<Halves>(mask);
    return (halves[0] | halves[1]) != 0;
#endif
}

// a * b + c in one rounding. Without the instruction: in double, whose product of two floats is
// exact and whose sum is so close that a second rounding almost never shows.
[[gnu::always_inline]] inline F32 fma(F32 a, F32 b, F32 c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
    return F32(vfmaq_f32(float32x4_t(c), float32x4_t(a), float32x4_t(b)));
#else
    return __builtin_convertvector(
        __builtin_convertvector(a, WideF64) * __builtin_convertvector(b, WideF64) +
            __builtin_convertvector(c, WideF64),
        F32);
#endif
}

// Without the instruction: Dekker's exact product ("A floating-point technique for extending the
// available precision", 1971) and Knuth's exact sum. For |a|, |b| < 2^500.
[[gnu::always_inline]] inline F64 fma(F64 a, F64 b, F64 c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
    return F64(vfmaq_f64(float64x2_t(c), float64x2_t(a), float64x2_t(b)));
#else
    constexpr double kSplitter = 134217729.0;  // 2^27 + 1
    const F64 a_scaled = a * kSplitter;
    const F64 b_scaled = b * kSplitter;
    const F64 a_high = a_scaled - (a_scaled - a);
    const F64 b_high = b_scaled - (b_scaled - b);
    const F64 a_low = a - a_high;
    const F64 b_low = b - b_high;
    const F64 product = a * b;
    const F64 product_error =
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    const F64 sum = product + c;
    const F64 c_part = sum - product;
    const F64 sum_error = (product - (sum - c_part)) + (c - c_part);
    const F64 error = product_error + sum_error;
    // No error to add: -0 must stay, and so must an infinity, whose error is NaN.
    return (error < 0.0) | (error > 0.0) ? sum + error : sum;
#endif
}

// a * b + c in one rounding or in two, whichever is quick: for where it makes no difference.
template <class V>
[[gnu::always_inline]] inline V mul_add(V a, V b, V c) {
#if defined(__FMA__) || defined(__aarch64__)
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

[[gnu::always_inline]] inline F32 widen_half(U16 halves) {
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(bits_as<__m256i>(halves));
#elif defined(__F16C__)
    return _mm256_cvtph_ps(bits_as<__m128i>(halves));
#else
    const U32 bits = __builtin_convertvector(halves, U32);
    const U32 magnitude = bits & 0x7fffu;
    // The exponents' biases differ by 112; a multiplication also normalises subnormals.
    const F32 finite = bits_as<F32>(magnitude << 13) * 0x1p112f;
    const U32 beyond = U32(magnitude >= 0x7c00u) & 0x7f800000u;
    return bits_as<F32>(bits_as<U32>(finite) | beyond | ((bits & 0x8000u) << 16));
#endif
}

// To the nearest, ties to even; NaN stays NaN.
[[gnu::always_inline]] inline U16 narrow_to_half(F32 floats) {
#if defined(__AVX512F__)
    return bits_as<U16>(_mm512_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
    return bits_as<U16>(_mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
#else
    const U32 bits = bits_as<U32>(floats);
    const U32 magnitude = bits & 0x7fffffffu;
    // Normal results: round the 13 bits away, rebase the exponent by 112.
    const U32 normal = ((magnitude + 0xfffu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
    // Subnormal results are multiples of 2^-24, as the last bits of numbers from 0.5 to 1 are.
    const U32 subnormal = bits_as<U32>(bits_as<F32>(magnitude) + 0.5f) - 0x3f000000u;
    U32 half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x47800000u ? 0x7c00u - U32{} : half;
    half = magnitude > 0x7f800000u ? 0x7e00u - U32{} : half;
    return __builtin_convertvector(half | ((bits >> 16) & 0x8000u), U16);
#endif
}

// The elements 0, 2, 4 ... of twice as many bfloat16 as there are lanes, and the others.
[[gnu::always_inline]] inline F32 widen_even_bfloat16(U32 pairs) {
    return bits_as<F32>(pairs << 16);
}
[[gnu::always_inline]] inline F32 widen_odd_bfloat16(U32 pairs) {
    return bits_as<F32>(pairs & 0xffff0000u);
}

// To the nearest, ties to even. A NaN stays one if its lower 16 bits are 0.
[[gnu::always_inline]] inline U32 narrow_to_bfloat16(F32 even, F32 odd) {
    const auto rounded = [](F32 floats) {
        const U32 bits = bits_as<U32>(floats);
        return bits + (((bits >> 16) & 1u) + 0x7fffu);
    };
    return (rounded(even) >> 16) | (rounded(odd) & 0xffff0000u);
}

// A table of 32 rows of 8 numbers, each lane with an index of its own, of which the lowest 5 bits
// count.
using TableRows = float[32][8];

#if defined(__AVX512F__)
struct TableColumns {
    alignas(64) float at[8][32];
};

constexpr TableColumns columns_of(const TableRows& rows) {
    TableColumns columns{};
    for (int row = 0; row < 32; ++row) {
        for (int column = 0; column < 8; ++column) {
            columns.at[column][row] = rows[row][column];
        }
    }
    return columns;
}

template <const TableRows& kRows>
class Table {
  public:
    [[gnu::always_inline]] Table() {
        for (int i = 0; i < 8; ++i) {
            halves_[i][0] = load_vector<F32>(kColumns.at[i]);
            halves_[i][1] = load_vector<F32>(kColumns.at[i] + kF32Lanes);
        }
    }

    [[gnu::always_inline]] void look_up(F32 (&columns)[8], I32 index) const {
        for (int i = 0; i < 8; ++i) {
            columns[i] =
                _mm512_permutex2var_ps(halves_[i][0], bits_as<__m512i>(index), halves_[i][1]);
        }
    }

  private:
    static constexpr TableColumns kColumns = columns_of(kRows);
    F32 halves_[8][2];
};
#else
// Four lanes each: the lower halves of two vectors' quarters in turn, or the upper ones.
template <std::size_t kFrom, std::size_t... I>
[[gnu::always_inline]] inline F32 interleaved(F32 a, F32 b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b,
                                   (I / 4 * 4 + kFrom + I % 4 / 2 + (I % 2) * sizeof...(I))...);
}

// Of each quarter: the halves kHalf of both vectors, one after the other.
template <std::size_t kHalf, std::size_t... I>
[[gnu::always_inline]] inline F32 halves(F32 a, F32 b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b,
                                   (I / 4 * 4 + kHalf * 2 + I % 2 + (I % 4 / 2) * sizeof...(I))...);
}

template <const TableRows& kRows>
class Table {
  public:
    using Quarter [[gnu::vector_size(16)]] = float;

    // Loads the rows of all lanes and transposes them.
    [[gnu::always_inline]] void look_up(F32 (&columns)[8], I32 index) const {
        std::int32_t rows[kF32Lanes];
        store_vector(rows, index & 31);
        constexpr auto kLanes = std::make_index_sequence<kF32Lanes>{};
        for (int half = 0; half < 2; ++half) {
            F32 parts[4];
            for (int i = 0; i < 4; ++i) {
                const auto part = [&](int lane) {
                    return load_vector<Quarter>(kRows[rows[lane]] + half * 4);
                };
                if constexpr (kF32Lanes == 8) {
                    parts[i] =
                        __builtin_shufflevector(part(i), part(i + 4), 0, 1, 2, 3, 4, 5, 6, 7);
                } else {
                    parts[i] = part(i);
                }
            }
            const F32 low_01 = interleaved<0>(parts[0], parts[1], kLanes);
            const F32 low_23 = interleaved<0>(parts[2], parts[3], kLanes);
            const F32 high_01 = interleaved<2>(parts[0], parts[1], kLanes);
            const F32 high_23 = interleaved<2>(parts[2], parts[3], kLanes);
            columns[half * 4 + 0] = halves<0>(low_01, low_23, kLanes);
            columns[half * 4 + 1] = halves<1>(low_01, low_23, kLanes);
            columns[half * 4 + 2] = halves<0>(high_01, high_23, kLanes);
            columns[half * 4 + 3] = halves<1>(high_01, high_23, kLanes);
        }
    }
};
#endif

template <std::size_t... I>
[[gnu::always_inline]] inline auto joined(U16 first, U16 second, std::index_sequence<I...>) {
    return __builtin_shufflevector(first, second, I...);
}

// Lanes 0, 2, 4 ... of the two vectors in a row, and lanes 1, 3, 5 ...
template <class V, std::size_t... I>
[[gnu::always_inline]] inline V even_lanes(V first, V second, std::index_sequence<I...>) {
    return __builtin_shufflevector(first, second, (2 * I)...);
}

template <class V, std::size_t... I>
[[gnu::always_inline]] inline V odd_lanes(V first, V second, std::index_sequence<I...>) {
    return __builtin_shufflevector(first, second, (2 * I + 1)...);
}

// The first, or the second, half of the two vectors' lanes in turn.
template <std::size_t From, class V, std::size_t... I>
[[gnu::always_inline]] inline V alternated(V evens, V odds, std::index_sequence<I...>) {
    return __builtin_shufflevector(evens, odds, (From + I / 2 + (I % 2) * sizeof...(I))...);
}

}  // namespace openaclnn::OPENACLNN_LEVEL
