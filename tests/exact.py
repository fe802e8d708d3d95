"""Independent references for both operators, and the measure of a result's error in ULP.

Everything here is computed from the definitions in higher precision; nothing of the library under
test is used. Scalars come from mpmath (400 bits). Arrays come from wider NumPy types, with these
bounds on the relative error, which test_exact.py confirms against mpmath:

* silu_derivative and silu (float64): 2**-49, that is 2**-25 of a float32's half ULP.
* sigmoid of float32 and narrower inputs (float64): 2**-51.
* sigmoid of float64 inputs (long double of at least 64 bits): 2**-62.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MP = mpmath.mp.clone()
MP.prec = 400

EXTENDED_IS_WIDE = np.finfo(np.longdouble).nmant >= 63
"""Whether long double is wider than double here (x86: 64 bits, aarch64 Linux: 113)."""


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: precision in bits, exponents of its normal numbers."""

    precision: int
    least_exponent: int
    greatest_exponent: int


FORMATS = {
    np.dtype(np.float16): Format(11, -14, 15),
    np.dtype(ml_dtypes.bfloat16): Format(8, -126, 127),
    np.dtype(np.float32): Format(24, -126, 127),
    np.dtype(np.float64): Format(53, -1022, 1023),
}

# The root of s' is -ROOT, and ROOT = 1 + exp(-ROOT). ROOT as the sum of two doubles.
ROOT = MP.findroot(lambda z: 1 - z + MP.exp(-z), MP.mpf("1.2784645427610738"))
ROOT_HIGH = float(ROOT)
ROOT_LOW = float(ROOT - MP.mpf(ROOT_HIGH))
EXP_AT_ROOT = float(ROOT - 1)

# Below -700, s' times the greatest float32 is far under half the least float32, and exp(-700) is
# still a normal double.
FARTHEST = 700.0


def mp_silu_derivative(x: float) -> Any:
    """s'(x) of a finite x as a 400-bit mpmath number."""
    x = MP.mpf(float(x))
    sigma = 1 / (1 + MP.exp(-x))
    return sigma * (1 + x - x * sigma)


def mp_silu(g: float, x: float) -> Any:
    """The exact g * s'(x) of finite g and x as an mpmath number."""
    return MP.mpf(float(g)) * mp_silu_derivative(x)


def mp_sigmoid(g: float, y: float) -> Any:
    """The exact g * y * (1 - y) of finite g and y as an mpmath number."""
    return MP.mpf(float(g)) * MP.mpf(float(y)) * (1 - MP.mpf(float(y)))


def widened(values: Array, dtype: Any) -> Array:
    """values in a wider type; a signalling NaN is as good as a quiet one."""
    with np.errstate(invalid="ignore"):
        result: Array = np.asarray(values).astype(dtype)
    return result


def silu_derivative(x: Array) -> Array:
    """s'(x) in float64, everywhere with a small relative error.

    With z = |x| and u = exp(-z), s'(-z) = u * (1 - z + u) / (1 + u)**2. The middle factor is 0 at
    the root; with d = z - ROOT it is -(d - EXP_AT_ROOT * expm1(-d)), a sum of two terms of the
    same sign, so that nothing cancels. s'(z) = 1 - s'(-z), where s'(-z) <= 1/2.
    """
    x = widened(x, np.float64)
    z = np.minimum(np.abs(x), FARTHEST)
    u = np.exp(-z)
    d = (z - ROOT_HIGH) - ROOT_LOW
    left = u * (EXP_AT_ROOT * np.expm1(-d) - d) / np.square(1 + u)
    left = np.where(z < 2.0**-54, 0.5, left)  # exactly, as g / 2 may be halfway between results
    result: Array = np.where(np.signbit(x), left, 1 - left)
    return np.where(np.isneginf(x), -0.0, result)


def silu(g: Array, x: Array) -> Array:
    """The exact g * s'(x) in float64, for inputs of float32 or narrower."""
    with np.errstate(invalid="ignore"):
        result: Array = widened(g, np.float64) * silu_derivative(x)
    return result


def sigmoid(g: Array, y: Array) -> Array:
    """The exact g * y * (1 - y): in float64, or in long double for float64 inputs.

    The exponents of the wider type hold every product, so that nothing overflows or underflows.
    """
    y = np.asarray(y)
    wide = np.longdouble if y.dtype == np.float64 else np.float64
    g, y = widened(g, wide), widened(y, wide)
    with np.errstate(invalid="ignore"):
        result: Array = g * (y * (1 - y))
    return result


def complex_sigmoid(g: Array, y: Array) -> tuple[Array, Array]:
    """The exact g * conj(y * (1 - y)) by components in a wider type, and |g| |y| |1 - y|."""
    real = np.longdouble if y.dtype == np.complex128 else np.float64
    a, b = y.real.astype(real), y.imag.astype(real)
    p, q = g.real.astype(real), g.imag.astype(real)
    with np.errstate(invalid="ignore", over="ignore"):
        c, d = a * (1 - a) + b * b, -(b * (1 - 2 * a))
        result = np.empty(y.shape, np.result_type(real, np.complex64))
        result.real, result.imag = p * c - q * d, p * d + q * c
        size = np.hypot(p, q) * np.hypot(a, b) * np.hypot(1 - a, b)
    return result, size


def ulp(exact: Array, dtype: Any) -> Array:
    """The distance of dtype's numbers in the binade of exact (among its subnormals the least)."""
    fmt = FORMATS[np.dtype(dtype)]
    exponent = np.frexp(exact)[1] - 1
    exponent = np.clip(exponent, fmt.least_exponent, fmt.greatest_exponent)
    exponent = np.where(exact == 0, fmt.least_exponent, exponent)
    result: Array = np.ldexp(exact.dtype.type(1), exponent - (fmt.precision - 1))
    return result


def ulp_error(actual: Array, exact: Array, dtype: Any | None = None) -> Array:
    """|actual - exact| in ULP of dtype (actual's own if None) at exact.

    Infinity stands at twice the greatest power of two, where rounding puts it. An unexpected NaN
    or a missing one is an infinite error; a NaN where one is due is no error.
    """
    dtype = np.dtype(actual.dtype if dtype is None else dtype)
    infinity = np.ldexp(exact.dtype.type(1), FORMATS[dtype].greatest_exponent + 1)
    clipped = np.clip(exact, -infinity, infinity)
    wide = widened(actual, exact.dtype)
    spacing = ulp(np.where(np.isnan(exact), 0, clipped), dtype)
    error = np.abs(np.clip(wide, -infinity, infinity) - clipped) / spacing
    missed = np.isnan(wide) != np.isnan(exact)
    result: Array = np.where(missed, np.inf, np.where(np.isnan(exact), 0, error))
    return result


def round_to(exact: Array, dtype: Any) -> Array:
    """exact, rounded once to dtype: to nearest, ties to even, too large ones to infinity."""
    fmt = FORMATS[np.dtype(dtype)]
    with np.errstate(invalid="ignore"):
        finite = np.where(np.isfinite(exact), exact, 0)
        spacing = ulp(finite, dtype)
        rounded = np.rint(finite / spacing) * spacing
        too_large = np.abs(rounded) >= np.ldexp(exact.dtype.type(1), fmt.greatest_exponent + 1)
        rounded = np.where(too_large, np.copysign(np.inf, finite), rounded)
        result: Array = np.where(np.isfinite(exact), np.copysign(rounded, exact), exact)
        return result.astype(np.dtype(dtype))


def assert_same_specials(actual: Array, exact: Array) -> None:
    """NaN exactly where exact is NaN, infinity where it is infinite, and every sign the same."""
    wide = widened(actual, exact.dtype)
    nan = np.isnan(exact)
    np.testing.assert_array_equal(np.isnan(wide), nan)
    infinite = np.isinf(exact)
    np.testing.assert_array_equal(wide[infinite], exact[infinite])
    zero = exact == 0
    np.testing.assert_array_equal(wide[zero], 0)
    np.testing.assert_array_equal(np.signbit(wide)[~nan], np.signbit(exact)[~nan])


def assert_within(actual: Array, exact: Array, limit: float, *inputs: Array) -> float:
    """At most limit ULP of actual's type everywhere, and the specials right; the worst error."""
    error = ulp_error(actual, exact)
    if error.size == 0:
        return 0.0
    worst = int(np.argmax(error))
    described = [repr(value.reshape(-1)[worst]) for value in inputs]
    assert error.reshape(-1)[worst] <= limit, (
        f"{float(error.reshape(-1)[worst]):.3f} ULP at {described}: "
        f"{actual.reshape(-1)[worst]!r}, exactly {exact.reshape(-1)[worst]!r}"
    )
    assert_same_specials(actual, exact)
    return float(error.reshape(-1)[worst])
