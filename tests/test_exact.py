"""The references of the accuracy tests, checked against mpmath and exact fractions."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import exact
from exact import Array

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
WIDE = pytest.mark.skipif(not exact.EXTENDED_IS_WIDE, reason="long double is double here")


def steps_around(center: float, count: int) -> Array:
    """The float32 numbers up to count steps around center, as float32."""
    bits = np.float32(center).view(np.int32) + np.arange(-count, count + 1, dtype=np.int32)
    return bits.view(np.float32)


def relative_error(actual: np.floating, expected: object) -> float:
    numerator, denominator = actual.as_integer_ratio()
    return float(abs(exact.MP.mpf(numerator) / denominator / expected - 1))


def magnitudes(rng: np.random.Generator, count: int, least: float, greatest: float) -> Array:
    """Numbers of both signs whose binary logarithm is uniform in [least, greatest]."""
    return np.exp2(rng.uniform(least, greatest, count)) * rng.choice([-1.0, 1.0], count)


SILU_RANGES = {
    "steps around the root": lambda _rng: steps_around(-exact.ROOT_HIGH, 300),
    "around the root": lambda rng: -exact.ROOT_HIGH + rng.uniform(-0.05, 0.05, 500),
    "ordinary": lambda rng: rng.uniform(-12, 12, 1000),
    "tiny results": lambda rng: rng.uniform(-110, -80, 500),
    "far left": lambda rng: rng.uniform(-699, -110, 300),
    "all magnitudes": lambda rng: magnitudes(rng, 500, -149, 9.4),
}


@pytest.mark.parametrize("name", SILU_RANGES)
def test_silu_derivative_agrees_with_mpmath(name: str) -> None:
    x = np.asarray(SILU_RANGES[name](np.random.default_rng(1))).astype(np.float32)
    actual = exact.silu_derivative(x)
    worst = max(
        relative_error(value, exact.mp_silu_derivative(point))
        for value, point in zip(actual, x, strict=True)
    )
    assert worst < 2.0**-49


def test_root_of_the_silu_derivative_lies_between_its_neighbours() -> None:
    assert abs(exact.mp_silu_derivative(-exact.ROOT_HIGH)) < 1e-16
    x = steps_around(-exact.ROOT_HIGH, 3)
    signs = np.signbit(exact.silu_derivative(x))
    np.testing.assert_array_equal(signs, x.astype(np.float64) < -exact.ROOT_HIGH)


def test_silu_of_huge_gradients_keeps_what_the_derivative_alone_would_lose() -> None:
    for g, x in [(1e30, -95.0), (3e38, -150.5), (-3e38, -190.0), (1e-40, 3.5), (1e-45, -1.0)]:
        g, x = float(np.float32(g)), float(np.float32(x))
        value = exact.silu(np.array([g]), np.array([x]))[0]
        assert relative_error(value, exact.mp_silu(g, x)) < 2.0**-49


def test_silu_at_the_limits() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -1e30])
    actual = exact.silu(np.ones(7), x)
    np.testing.assert_array_equal(actual[[0, 2, 3, 4, 5]], [1, np.nan, 0.5, 0.5, 1])
    assert actual[1] == 0
    assert np.signbit(actual[1])
    assert -1e-290 < actual[6] < 0
    assert np.isnan(exact.silu(np.array([np.inf]), np.array([-np.inf])))[0]


@WIDE
def test_sigmoid_agrees_with_exact_fractions() -> None:
    rng = np.random.default_rng(2)
    for dtype, least, greatest, limit in [
        (np.float32, -149, 127.9, 2.0**-51),
        (np.float64, -1074, 1023.9, 2.0**-62),
    ]:
        g = magnitudes(rng, 600, least, greatest).astype(dtype)
        y = magnitudes(rng, 600, least, greatest).astype(dtype)
        y[:300] = rng.uniform(0, 1, 300)
        y[300:320] = np.nextafter(dtype(1), dtype(0))
        for value, left, right in zip(exact.sigmoid(g, y), g, y, strict=True):
            assert relative_error(value, exact.mp_sigmoid(left, right)) < limit
            if abs(right) < 2:
                point = Fraction(float(right))
                fraction = Fraction(float(left)) * point * (1 - point)
                assert abs(Fraction(*value.as_integer_ratio()) / fraction - 1) < limit


@WIDE
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_sigmoid_agrees_with_mpmath(dtype: type[np.complexfloating]) -> None:
    rng = np.random.default_rng(3)
    g = (rng.normal(size=300) + 1j * rng.normal(size=300)).astype(dtype)
    y = (rng.normal(size=300) + 1j * rng.normal(size=300)).astype(dtype)
    values, sizes = exact.complex_sigmoid(g, y)
    mp = exact.MP
    for left, right, value, size in zip(g, y, values, sizes, strict=True):
        point = mp.mpc(complex(right))
        expected = mp.mpc(complex(left)) * mp.conj(point * (1 - point))
        limit = 2.0**-50 if dtype is np.complex64 else 2.0**-52  # complex() drops the low bits
        assert abs(mp.mpc(complex(value)) - expected) <= limit * abs(expected)
        assert abs(mp.mpf(float(size)) - abs(expected)) <= 2.0**-50 * abs(expected)


def test_complex_sigmoid_is_conjugated() -> None:
    values, _ = exact.complex_sigmoid(np.ones(2, np.complex64), np.array([0.5 + 1j, 0.25 + 0.5j]))
    np.testing.assert_array_equal(values, [1.25 - 0j, 0.4375 - 0.25j])


@pytest.mark.parametrize(
    ("dtype", "value", "spacing"),
    [
        (np.float32, 1.0, 2.0**-23),
        (np.float32, np.nextafter(1.0, 0.0), 2.0**-24),
        (np.float32, -3.5, 2.0**-22),
        (np.float32, 0.0, 2.0**-149),
        (np.float32, 1e-200, 2.0**-149),
        (np.float32, 2.0**-126, 2.0**-149),
        (np.float32, 1e300, 2.0**104),
        (np.float16, 1.5, 2.0**-10),
        (np.float16, 1e-6, 2.0**-24),
        (BFLOAT16, 1.5, 2.0**-7),
        (BFLOAT16, 1e-40, 2.0**-133),
        (np.float64, 1.5, 2.0**-52),
        (np.float64, 1e-320, 5e-324),
    ],
)
def test_ulp_is_the_spacing_in_the_binade(dtype: object, value: float, spacing: float) -> None:
    assert exact.ulp(np.array([value]), dtype)[0] == spacing


def test_error_counts_units_of_the_result_type() -> None:
    def error(actual: float, value: float) -> float:
        return float(exact.ulp_error(np.array([actual], np.float32), np.array([value]))[0])

    assert error(1.0, 1.0) == 0
    assert error(np.nextafter(np.float32(1), np.float32(2)), 1.0) == 1
    assert error(1.0, 1.0 - 2.0**-25) == 0.5
    assert error(0.0, 2.0**-150) == 0.5
    assert error(2.0**-149, 0.0) == 1
    assert error(np.nan, np.nan) == 0
    assert error(np.nan, 1.0) == np.inf
    assert error(1.0, np.nan) == np.inf
    assert error(np.inf, np.inf) == 0
    assert error(np.inf, 1e300) == 0
    assert error(np.inf, -1e300) == 2.0**25
    assert error(np.finfo(np.float32).max, 1e300) == 1
    assert error(np.inf, float(np.finfo(np.float32).max)) == 1
    assert error(0.0, np.inf) == 2.0**24


@pytest.mark.parametrize("dtype", [np.float16, np.dtype(ml_dtypes.bfloat16), np.float32])
def test_rounding_is_to_nearest_ties_to_even(dtype: object) -> None:
    dtype = np.dtype(dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    last = int(np.array(np.inf, dtype).view(bits))  # infinity follows the greatest number
    low = np.unique(np.linspace(0, last - 2, 40000).astype(bits))
    lower, upper = (v.view(dtype).astype(np.float64) for v in (low, low + bits.type(1)))
    middle = (lower + upper) / 2
    even = np.where(low % 2 == 0, lower, upper)
    for value, rounded in [
        (lower, lower),
        (middle, even),
        (np.nextafter(middle, 0), lower),
        (np.nextafter(middle, np.inf), upper),
    ]:
        for sign in (1.0, -1.0):
            actual = exact.round_to(sign * value, dtype)
            assert actual.dtype == dtype
            np.testing.assert_array_equal(actual.astype(np.float64), sign * rounded)
            np.testing.assert_array_equal(np.signbit(actual), sign < 0)


def test_rounding_beyond_the_range_gives_infinity() -> None:
    halfway = 65520.0  # between the greatest float16 and 65536
    values = np.array([halfway, -halfway, np.nextafter(halfway, 0), np.inf, -np.inf, np.nan, -0.0])
    actual = exact.round_to(values, np.float16)
    expected = np.array([np.inf, -np.inf, 65504, np.inf, -np.inf, np.nan, -0.0])
    np.testing.assert_array_equal(actual.astype(np.float64), expected)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))


@pytest.mark.parametrize(
    ("actual", "value"),
    [(0.0, -0.0), (1.0, np.nan), (np.nan, 1.0), (np.inf, -np.inf), (3e38, np.inf), (1e-45, 0.0)],
)
def test_wrong_specials_are_noticed(actual: float, value: float) -> None:
    with pytest.raises(AssertionError):
        exact.assert_same_specials(np.array([actual], np.float32), np.array([value]))


def test_an_error_over_the_limit_is_reported_with_its_inputs() -> None:
    actual, x = np.array([1, 2], np.float32), np.array([7, 8], np.float32)
    with pytest.raises(AssertionError, match=r"4\.000 ULP at .*8\.0"):
        exact.assert_within(actual, np.array([1, 2 + 2.0**-20]), 3, x)
    assert exact.assert_within(actual, np.array([1, 2 + 2.0**-20]), 4, x) == 4
