#include "kernels/cast.hpp"

#include <bit>
#include <complex>
#include <type_traits>

namespace openaclnn {
namespace {

struct BFloat16 {
    std::uint16_t bits;
};

float widen(BFloat16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// Rounds toward zero but sets the last bit if that was not exact: a later rounding to fewer bits
// then gives what a single one would (Boldo and Melquiond, "When double rounding is odd", 2004).
float round_to_odd(double value) {
    const float nearest = static_cast<float>(value);
    std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
    const double back = nearest;
    if (back == value || back != back || (bits & 1) != 0) {
        return nearest;
    }
    const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
    return std::bit_cast<float>(away ? bits - 1 : bits + 1);
}

BFloat16 narrow(double value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(round_to_odd(value));
    if (value != value) {
        return {static_cast<std::uint16_t>((bits >> 16) | 0x40)};
    }
    return {static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<std::complex<T>> = true;

template <class To, class From>
To cast(From value) {
    if constexpr (std::is_same_v<From, BFloat16>) {
        return cast<To>(widen(value));
    } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
        return To(value);
    } else if constexpr (kIsComplex<To>) {
        return To(cast<typename To::value_type>(value));
    } else if constexpr (std::is_same_v<To, BFloat16>) {
        return narrow(static_cast<double>(value));
    } else {
        return static_cast<To>(value);
    }
}

template <class To, class From>
void cast_block(Block to, Block from, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t row = 0; row < rows; ++row) {
        To* target = reinterpret_cast<To*>(to.data) + row * to.row_stride;
        const From* source = reinterpret_cast<const From*>(from.data) + row * from.row_stride;
        for (std::int64_t column = 0; column < columns; ++column) {
            target[column * to.column_stride] = cast<To>(source[column * from.column_stride]);
        }
    }
}

template <class To, class From>
CastKernel cast_kernel() {
    if constexpr (kIsComplex<From> && !kIsComplex<To>) {
        return nullptr;
    } else {
        return cast_block<To, From>;
    }
}

template <class To>
CastKernel find_cast_to(DataType from) {
    switch (from) {
        case DataType::float32:
            return cast_kernel<To, float>();
        case DataType::float16:
            return cast_kernel<To, _Float16>();
        case DataType::bfloat16:
            return cast_kernel<To, BFloat16>();
        case DataType::float64:
            return cast_kernel<To, double>();
        case DataType::complex64:
            return cast_kernel<To, std::complex<float>>();
        case DataType::complex128:
            return cast_kernel<To, std::complex<double>>();
        default:
            return nullptr;
    }
}

}  // namespace

CastKernel find_cast(DataType to, DataType from) {
    switch (to) {
        case DataType::float32:
            return find_cast_to<float>(from);
        case DataType::float16:
            return find_cast_to<_Float16>(from);
        case DataType::bfloat16:
            return find_cast_to<BFloat16>(from);
        case DataType::float64:
            return find_cast_to<double>(from);
        case DataType::complex64:
            return find_cast_to<std::complex<float>>(from);
        case DataType::complex128:
            return find_cast_to<std::complex<double>>(from);
        default:
            return nullptr;
    }
}

}  // namespace openaclnn
