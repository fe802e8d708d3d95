// The derivatives, each written once for all instruction sets. Included by level.cpp alone.
#pragma once

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
template <class V>
[[gnu::always_inline]] inline Complex<V> with_one_nan(Complex<V> values) {
    return {with_one_nan(values.real), with_one_nan(values.imaginary)};
}

// gradOutput * s'(x), s(x) = x sigma(x).
//
// s'(x) + s'(-x) = 1, so one formula in z = |x| serves both signs, and is only ever used where it
// is at most 1/2. With u = exp(-z):
//
//     s'(-z) = u (1 - z + u) / (1 + u)^2
//
// The sum 1 - z + u cancels near the root z = z0, where 1 + exp(-z0) = z0. Reducing the exponent
// around z0, z = z0 + k ln(2) + r, gives u = exp(-z0) 2^-k exp(-r) with r = 0 at the root, and
// (1 - z + exp(-z0) 2^-k) + exp(-z0) 2^-k (exp(-r) - 1) has no cancellation that is not exact.
//
// The constants come from constants.py.
struct SiluBackward {
    [[gnu::always_inline]] static F32 apply(F32 grad_output, F32 x) {
        const F32 z = abs(x);
        const auto [high, low] = at_negative(z > kTail ? splat(kTail) : z);
        const I32 negative = x < 0.0f;
        // For x >= 0 the derivative is 1 - high - low: 1 - high is rounded, and what it lost is
        // exact.
        const F32 rest = 1.0f - high;
        const F32 lost = (1.0f - rest) - high;
        const F32 derivative = negative ? high + low : rest + (lost - low);
        return grad_output * derivative;
    }

    // Where apply() does not hold, and what holds there.
    [[gnu::always_inline]] static I32 is_rare(F32, F32 x) { return x < -kTail; }
    static F32 apply_rare(F32 grad_output, F32 x) { return in_tail(grad_output, abs(x)); }

  private:
    // Beyond, u nears the subnormal numbers, and 1 + u is 1.
    static constexpr float kTail = 80.0f;

    static constexpr float kLog2E = 0x1.715476p+0f;
    static constexpr float kBias = -0x1.d82cdcp+0f;  // -z0 / ln(2)
    static constexpr float kLn2High = 0x1.62ep-1f;
    static constexpr float kLn2Low = 0x1.0bfbe8p-15f;
    static constexpr float kRootHigh = 0x1.474p+0f;
    static constexpr float kRootLow = 0x1.2e7908p-13f;
    static constexpr float kRootLowest = 0x1.20b7e4p-40f;
    static constexpr float kExpHigh = 0x1.1d25dp-2f;  // exp(-z0)
    static constexpr float kExpLow = -0x1.bdf6fap-27f;
    static constexpr float kRounder = 0x1.8p+23f;  // adding it rounds to an integer

    // z = z0 + k ln(2) + r, |r| <= ln(2) / 2.
    struct Reduced {
        I32 k;
        F32 expm1;  // exp(-r) - 1
    };

    [[gnu::always_inline]] static Reduced reduce(F32 z) {
        const F32 rounded = mul_add(z, splat(kLog2E), splat(kBias)) + kRounder;
        const F32 k = rounded - kRounder;
        // Exact: k ln2_high + root_high has few bits, and z is near it.
        const F32 r_high = z - mul_add(k, splat(kLn2High), splat(kRootHigh));
        const F32 r = (r_high - mul_add(k, splat(kLn2Low), splat(kRootLow))) - kRootLowest;
        F32 q = splat(0x1.6d1156p-10f);
        q = mul_add(q, r, splat(-0x1.120bbcp-7f));
        q = mul_add(q, r, splat(0x1.55551ap-5f));
        q = mul_add(q, r, splat(-0x1.5554dcp-3f));
        q = mul_add(q, r, splat(0.5f));
        return {bits_as<I32>(rounded) - bits_as<I32>(splat(kRounder)), mul_add(r * r, q, -r)};
    }

    // The sum of the two, the second far smaller.
    struct Sum {
        F32 high;
        F32 low;
    };

    // s'(-z) for 0 <= z <= kTail. What each rounding loses is kept until the remainder of a rough
    // quotient takes it in: the sum is within a few hundredths of an ULP.
    [[gnu::always_inline]] static Sum at_negative(F32 z) {
        const auto [k, expm1] = reduce(z);
        const F32 scale = bits_as<F32>((127 - k) << 23);  // 2^-k
        const F32 u_high = scale * kExpHigh;
        const F32 u_low = scale * mul_add(expm1, splat(kExpHigh), splat(kExpLow));
        const F32 u = u_high + u_low;
        const F32 u_error = (u_high - u) + u_low;

        const F32 one_minus_z = 1.0f - z;
        const F32 rough_sum = one_minus_z + u;
        const F32 rough_error = (one_minus_z - (rough_sum - u)) + u_error;
        // Next to the root the error is as large as the sum.
        const F32 sum = rough_sum + rough_error;
        const F32 sum_error = rough_error - (sum - rough_sum);
        const F32 numerator = u * sum;
        const F32 numerator_error =
            mul_add(sum, u_error, mul_add(u, sum_error, fma(u, sum, -numerator)));

        const F32 root = 1.0f + u;
        const F32 root_error = (u - (root - 1.0f)) + u_error;
        const F32 denominator = root * root;
        const F32 denominator_error =
            mul_add(root + root, root_error, fma(root, root, -denominator));

        const F32 reciprocal = rough_reciprocal(denominator);
        const F32 quotient = numerator * reciprocal;
        const F32 remainder = mul_add(-quotient, denominator_error,
                                      fma(-quotient, denominator, numerator) + numerator_error);
        return {quotient, remainder * reciprocal};
    }

    // gradOutput * s'(-z) for z > kTail: u (1 - z), with 2^-k applied last and in double, so that
    // neither a subnormal u nor the product's range costs a bit.
    [[gnu::noinline]] static F32 in_tail(F32 grad_output, F32 z) {
        constexpr float kVanished = 250.0f;  // any float times s' is 0 from here on
        const F32 bounded = z > kVanished ? splat(kVanished) : z;
        const auto [k, expm1] = reduce(bounded);
        const F32 u_low = mul_add(expm1, splat(kExpHigh), splat(kExpLow));
        const WideF64 u = __builtin_convertvector(u_low, WideF64) + double{kExpHigh};
        const WideI64 exponent = (1023 - __builtin_convertvector(k, WideI64)) << 52;
        const WideF64 derivative =
            u * __builtin_convertvector(1.0f - bounded, WideF64) * bits_as<WideF64>(exponent);
        const F32 result = __builtin_convertvector(
            __builtin_convertvector(grad_output, WideF64) * derivative, F32);
        return z == __builtin_inff() ? grad_output * -0.0f : result;
    }
};

// gradOutput * y (1 - y), y = sigma(x); for complex y gradOutput * conj(y (1 - y)).
struct SigmoidBackward {
    // y - y^2 is rounded once and can only overflow for a huge |y|, where 1 - y is -y; there the
    // products are taken in an order that overflows only if the result does.
    template <class V>
    [[gnu::always_inline]] static V apply(V grad_output, V y) {
        const auto huge = (y > kHuge<V>) | (y < -kHuge<V>);
        const V factor = huge ? -y : fma(-y, y, y);
        return (huge ? grad_output * y : grad_output) * factor;
    }

    // y (1 - y) by components: with y = a + bi, a - a^2 + b^2 and b - 2ab.
    template <class V>
    [[gnu::always_inline]] static Complex<V> apply(Complex<V> grad_output, Complex<V> y) {
        const V real = mul_add(y.imaginary, y.imaginary, fma(-y.real, y.real, y.real));
        const V imaginary =
            y.imaginary * mul_add(splat_like(y.real, -2), y.real, splat_like(y.real, 1));
        return {mul_add(grad_output.imaginary, imaginary, grad_output.real * real),
                mul_add(grad_output.imaginary, real, -(grad_output.real * imaginary))};
    }

  private:
    template <class V>
    static constexpr auto kHuge = sizeof(V{}[0]) == 4 ? 0x1p60f : 0x1p500;

    [[gnu::always_inline]] static F32 splat_like(F32, float x) { return splat(x); }
    [[gnu::always_inline]] static F64 splat_like(F64, double x) { return splat(x); }
};

}  // namespace openaclnn::OPENACLNN_LEVEL
