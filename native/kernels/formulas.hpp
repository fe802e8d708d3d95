// The derivatives, each written once for all instruction sets. Included by level.cpp alone.
#pragma once

#include "kernels/silu_table.hpp"
#include "kernels/simd.hpp"

namespace openaclnn::OPENACLNN_LEVEL {

template <class V>
struct Complex {
    V real;
    V imaginary;
};

// Of two NaN factors either may become the product, as the compiler arranges the operands: one NaN
// for all keeps results from depending on that.
template <class V>
[[gnu::always_inline]] inline V with_one_nan(V values) {
    using Lane = decltype(values[0] + 0);
    return values == values ? values : static_cast<Lane>(__builtin_nan("")) - V{};
}

// A formula's apply() serves all but a few inputs: those where the magnitude of exposed() is
// kRareFrom or more, or NaN. apply_rare() serves them.

// gradOutput * s'(x), s(x) = x sigma(x).
//
// s'(x) + s'(-x) = 1, so that s' need only be known at -z for z = |x|, where it is at most 1/2.
class SiluBackward {
  public:
    static constexpr float kRareFrom = kSiluTableEnd;

    // By the table of silu_table.py: a polynomial on each segment of z.
    [[gnu::always_inline]] F32 apply(F32 grad_output, F32 x) const {
        const F32 z = abs(x);
        F32 row[8];
        table_.look_up(row, bits_as<I32>(z + 1.0f) >> 20);
        const F32 t = z - row[0];
        F32 slope = row[7];
        for (int i = 6; i >= 2; --i) {
            slope = mul_add(slope, t, row[i]);
        }
        const I32 positive = x >= 0.0f;
        const F32 base = positive ? 1.0f - row[1] : row[1];
        return grad_output * fma(slope, positive ? -t : t, base);
    }

    [[gnu::always_inline]] static F32 exposed(F32, F32 x, F32) { return x; }

    // With u = exp(-z), s'(-z) = u (1 - z + u) / (1 + u)^2. From the table's end on, u is so small
    // that this is u (1 - z) (1 - 2 u). With z = k ln(2) + r, u = 2^-k exp(-r). From u on, all is
    // in double, for its range. The constants come from constants.py.
    [[gnu::noinline]] static F32 apply_rare(F32 grad_output, F32 x) {
        constexpr float kVanished = 250.0f;     // any float times s' is 0 from here on
        constexpr float kRounder = 0x1.8p+23f;  // adding it rounds to an integer
        const F32 z = abs(x);
        const F32 bounded = z > kVanished ? splat(kVanished) : z;
        const F32 rounded = bounded * 0x1.715476p+0f + kRounder;
        const I32 k = bits_as<I32>(rounded) - bits_as<I32>(splat(kRounder));
        const F32 k_float = rounded - kRounder;
        // The first product is exact: its factors have few bits.
        const F32 r = (bounded - k_float * 0x1.62ep-1f) - k_float * 0x1.0bfbe8p-15f;
        F32 q = splat(0x1.6d1156p-10f);
        q = mul_add(q, r, splat(-0x1.120bbcp-7f));
        q = mul_add(q, r, splat(0x1.55551ap-5f));
        q = mul_add(q, r, splat(-0x1.5554dcp-3f));
        q = mul_add(q, r, splat(0.5f));
        const F32 expm1 = mul_add(r * r, q, -r);  // exp(-r) - 1

        const WideI64 power = (1023 - __builtin_convertvector(k, WideI64)) << 52;
        const WideF64 u = (1.0 + widen(expm1)) * bits_as<WideF64>(power);
        const WideF64 negative = u * (1.0 - widen(bounded)) * (1.0 - 2.0 * u);
        const WideF64 derivative = widen(x) > 0.0 ? 1.0 - negative : negative;
        const F32 result = __builtin_convertvector(widen(grad_output) * derivative, F32);
        return with_one_nan(x == -__builtin_inff() ? grad_output * -0.0f : result);
    }

  private:
    [[gnu::always_inline]] static WideF64 widen(F32 x) {
        return __builtin_convertvector(x, WideF64);
    }

    Table<kSiluTable> table_;
};

// gradOutput * y (1 - y), y = sigma(x); for complex y gradOutput * conj(y (1 - y)).
struct SigmoidBackward {
    static constexpr float kRareFrom = __builtin_inff();

    // y - y^2 is rounded once. It can only overflow for a huge |y|: then the result does too, or is
    // NaN.
    template <class V>
    [[gnu::always_inline]] static V apply(V grad_output, V y) {
        return grad_output * fma(-y, y, y);
    }

    template <class V>
    [[gnu::always_inline]] static V exposed(V, V, V result) {
        return result;
    }

    // For a huge |y|, 1 - y is -y; the products are taken in an order that overflows only if the
    // result does.
    template <class V>
    [[gnu::noinline]] static V apply_rare(V grad_output, V y) {
        const auto huge = (y > kHuge<V>) | (y < -kHuge<V>);
        const V factor = huge ? -y : fma(-y, y, y);
        return with_one_nan((huge ? grad_output * y : grad_output) * factor);
    }

    // y (1 - y) by components: with y = a + bi, a - a^2 + b^2 and b - 2ab.
    template <class V>
    [[gnu::always_inline]] static Complex<V> apply(Complex<V> grad_output, Complex<V> y) {
        const V real = mul_add(y.imaginary, y.imaginary, fma(-y.real, y.real, y.real));
        const V imaginary =
            y.imaginary * mul_add(splat_like(y.real, -2), y.real, splat_like(y.real, 1));
        return {
            with_one_nan(mul_add(grad_output.imaginary, imaginary, grad_output.real * real)),
            with_one_nan(mul_add(grad_output.imaginary, real, -(grad_output.real * imaginary)))};
    }

  private:
    template <class V>
    static constexpr auto kHuge = sizeof(V{}[0]) == 4 ? 0x1p60f : 0x1p500;

    [[gnu::always_inline]] static F32 splat_like(F32, float x) { return splat(x); }
    [[gnu::always_inline]] static F64 splat_like(F64, double x) { return splat(x); }
};

}  // namespace openaclnn::OPENACLNN_LEVEL
