"""How far results are from the exact ones, by operator, type and instruction-set level."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exact
import openaclnn as oa
from exact import Array, assert_same_specials, assert_within, round_to

FLOAT16, FLOAT32, FLOAT64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SHORT_TYPES = [FLOAT16, BFLOAT16]
SILU_TYPES = [FLOAT32, FLOAT16, BFLOAT16]
REAL_TYPES = [*SILU_TYPES, FLOAT64]
COMPLEX_TYPES = [np.dtype(np.complex64), np.dtype(np.complex128)]

LIMITS = {  # the greatest error in ULP
    ("silu", FLOAT32): 4,
    ("silu", FLOAT16): 1,
    ("silu", BFLOAT16): 1,
    ("sigmoid", FLOAT32): 2,
    ("sigmoid", FLOAT16): 1,
    ("sigmoid", BFLOAT16): 1,
    ("sigmoid", FLOAT64): 2,
}
CORRECTLY_ROUNDED = 0.999  # the least share of 16-bit results
COMPLEX_LIMIT = 4  # in the type's epsilon, relative to |g| |y| |1 - y|

RESULT = {"silu": oa.silu_backward, "sigmoid": oa.sigmoid_backward}
EXACT: dict[str, Callable[[Array, Array], Array]] = {
    "silu": exact.silu,
    "sigmoid": exact.sigmoid,
}

wide = pytest.mark.skipif(
    not exact.EXTENDED_IS_WIDE, reason="float64 references need a wider long double"
)
real_cases = pytest.mark.parametrize(
    ("operator", "dtype"),
    [
        pytest.param(operator, dtype, marks=wide if dtype == FLOAT64 else [])
        for operator, dtype in LIMITS
    ],
    ids=str,
)
complex_types = pytest.mark.parametrize("dtype", COMPLEX_TYPES, ids=str)


def from_bits(bits: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers with these bit patterns."""
    result: Array = np.asarray(bits).astype(f"u{dtype.itemsize}").view(dtype)
    return result


def of_all_magnitudes(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """Finite numbers of both signs, every exponent as likely as any other."""
    greatest = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}")) - 1
    bits = rng.integers(0, greatest, count, np.uint64, endpoint=True)
    sign = rng.integers(0, 2, count, np.uint64) << np.uint64(8 * dtype.itemsize - 1)
    return from_bits(bits | sign, dtype)


def steps_around(center: float, count: int, stride: int = 1) -> Array:
    """float32 numbers count steps down to count steps up from center."""
    steps = np.arange(-count, count + 1, stride)
    return from_bits(int(np.float32(center).view(np.uint32)) + steps, FLOAT32)


def between(low: float, high: float, stride: int = 1) -> Array:
    """Every stride-th float32 number from low to high, both of the same sign."""
    first, last = sorted(int(np.float32(end).view(np.uint32)) for end in (low, high))
    return from_bits(np.arange(first, last + 1, stride), FLOAT32)


def check(operator: str, g: Array, second: Array, result: Array | None = None) -> float:
    """Results within the type's limit of the exact ones; the worst error in ULP."""
    if result is None:
        result = RESULT[operator](g, second)
    expected = EXACT[operator](g, second)
    return assert_within(result, expected, LIMITS[operator, second.dtype], g, second)


def same(actual: Array, expected: Array) -> Array:
    result: Array = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    return result


def share_correctly_rounded(operator: str, g: Array, second: Array, result: Array) -> float:
    return float(np.mean(same(result, round_to(EXACT[operator](g, second), second.dtype))))


def share_rounded_from_float32(operator: str, g: Array, second: Array, result: Array) -> float:
    """The share that is correctly rounded, or would be from a correctly rounded float32.

    For some gradients many exact results lie so near the middle of two 16-bit numbers that float32
    holds just the middle, as y - y**2 does for a y over 2**24.
    """
    expected = EXACT[operator](g, second)
    through_float32 = round_to(round_to(expected, FLOAT32).astype(np.float64), second.dtype)
    good = same(result, round_to(expected, second.dtype)) | same(result, through_float32)
    return float(np.mean(good))


SILU_INPUTS: dict[str, Callable[[np.random.Generator], Array]] = {
    "all magnitudes": lambda _: from_bits(np.arange(0, 2**32, 509), FLOAT32),
    "ordinary": lambda rng: rng.uniform(-20, 20, 1_000_000).astype(FLOAT32),
    "steps from the root": lambda _: steps_around(-exact.ROOT_HIGH, 5000),
    "around the root": lambda _: between(-1.329, -1.228),
    "tiny results": lambda _: between(-110, -80),
    "beyond the tiny": lambda rng: rng.uniform(-260, -105, 200_000).astype(FLOAT32),
}


@pytest.mark.parametrize("name", SILU_INPUTS)
def test_silu_float32_of_unit_gradients(name: str) -> None:
    x = SILU_INPUTS[name](np.random.default_rng(10))
    check("silu", np.ones_like(x), x)


@pytest.mark.parametrize("name", SILU_INPUTS)
def test_silu_float32_of_gradients_of_all_magnitudes(name: str) -> None:
    rng = np.random.default_rng(11)
    x = SILU_INPUTS[name](rng)
    check("silu", of_all_magnitudes(rng, x.size, FLOAT32), x)


def test_silu_float32_of_huge_gradients_and_a_tiny_derivative() -> None:
    rng = np.random.default_rng(12)
    x = rng.uniform(-200, -85, 1_000_000).astype(FLOAT32)
    g = np.exp2(rng.uniform(60, 127.999, x.size)).astype(FLOAT32)
    g *= rng.choice(np.array([-1, 1], FLOAT32), x.size)
    check("silu", g, x)


def test_silu_float32_of_subnormal_results() -> None:
    rng = np.random.default_rng(13)
    x = np.concatenate([rng.uniform(-90, 30, 500_000), steps_around(-exact.ROOT_HIGH, 2000)])
    x = x.astype(FLOAT32)
    target = np.exp2(rng.uniform(-152, -125, x.size))
    with np.errstate(over="ignore"):
        g = (target / exact.silu_derivative(x)).astype(FLOAT32)
    check("silu", g, x)


def test_silu_float32_of_results_near_the_greatest_number() -> None:
    rng = np.random.default_rng(14)
    x = rng.uniform(-20, 20, 300_000).astype(FLOAT32)
    target = np.exp2(rng.uniform(127.9, 128.001, x.size))
    g = target / np.abs(exact.silu_derivative(x))
    check("silu", np.minimum(g, np.finfo(FLOAT32).max).astype(FLOAT32), x)


@pytest.mark.parametrize("dtype", [FLOAT32, pytest.param(FLOAT64, marks=wide)], ids=str)
def test_sigmoid_of_all_magnitudes(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(20)
    count = 1_500_000 if dtype == FLOAT32 else 500_000
    g, y = (of_all_magnitudes(rng, count, dtype) for _ in range(2))
    check("sigmoid", g, y)
    check("sigmoid", np.ones_like(y), y)


@pytest.mark.parametrize("dtype", [FLOAT32, pytest.param(FLOAT64, marks=wide)], ids=str)
@pytest.mark.parametrize("ends", [(0, 1), (-3, 3), (0.999, 1.001)], ids=str)
def test_sigmoid_of_ordinary_outputs(dtype: np.dtype[Any], ends: tuple[float, float]) -> None:
    rng = np.random.default_rng(21)
    y = rng.uniform(*ends, 500_000).astype(dtype)
    check("sigmoid", rng.normal(size=y.size).astype(dtype), y)
    check("sigmoid", of_all_magnitudes(rng, y.size, dtype), y)


@pytest.mark.parametrize("dtype", [FLOAT32, pytest.param(FLOAT64, marks=wide)], ids=str)
def test_sigmoid_beside_one(dtype: np.dtype[Any]) -> None:
    one = int(np.array(1, dtype).view(f"u{dtype.itemsize}"))
    y = from_bits(one + np.arange(-20_000, 20_001), dtype)
    check("sigmoid", np.random.default_rng(22).normal(size=y.size).astype(dtype), y)


@pytest.mark.parametrize("dtype", [FLOAT32, pytest.param(FLOAT64, marks=wide)], ids=str)
@pytest.mark.parametrize("near", ["least", "greatest"])
def test_sigmoid_of_results_at_the_ends_of_the_range(dtype: np.dtype[Any], near: str) -> None:
    rng = np.random.default_rng(23)
    y = of_all_magnitudes(rng, 400_000, dtype)
    least, greatest = (-152, 128) if dtype == FLOAT32 else (-1077, 1024)
    ends = (least, least + 26) if near == "least" else (greatest - 2, greatest + 0.01)
    target = np.exp2(rng.uniform(*ends, y.size).astype(np.longdouble))
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        wide_y = y.astype(np.longdouble)
        g = (target / (wide_y * (1 - wide_y))).astype(dtype)
    kept = np.isfinite(g)
    assert kept.sum() > 50_000
    check("sigmoid", g[kept], y[kept])


@pytest.mark.parametrize("operator", RESULT)
@pytest.mark.parametrize("dtype", SHORT_TYPES, ids=str)
@pytest.mark.parametrize("g", [1, -1, 0.3, 7.7, -1e-3, 300, "random", "any bits"], ids=str)
def test_every_16_bit_input(operator: str, dtype: np.dtype[Any], g: float | str) -> None:
    rng = np.random.default_rng(30)
    second = from_bits(np.arange(2**16), dtype)
    if g == "random":
        gradients = rng.normal(size=second.size).astype(dtype)
    elif g == "any bits":
        gradients = from_bits(rng.permutation(2**16), dtype)
    else:
        gradients = np.full(second.size, g, dtype)
    result = RESULT[operator](gradients, second)
    check(operator, gradients, second, result)
    assert share_rounded_from_float32(operator, gradients, second, result) >= CORRECTLY_ROUNDED


@pytest.mark.parametrize("operator", RESULT)
@pytest.mark.parametrize("dtype", SHORT_TYPES, ids=str)
def test_random_pairs_of_16_bit_inputs(operator: str, dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(31)
    g, second = (from_bits(rng.integers(0, 2**16, 2_000_000), dtype) for _ in range(2))
    result = RESULT[operator](g, second)
    check(operator, g, second, result)
    assert share_correctly_rounded(operator, g, second, result) >= CORRECTLY_ROUNDED


def check_complex(g: Array, y: Array, result: Array | None = None) -> float:
    """Components within COMPLEX_LIMIT; the worst error in the type's epsilon."""
    if result is None:
        result = oa.sigmoid_backward(g, y)
    expected, size = exact.complex_sigmoid(g, y)
    info = np.finfo(y.dtype)
    allowed = size * info.eps + info.smallest_subnormal
    worst = max(
        float(np.max(np.abs(actual.astype(size.dtype) - value) / allowed))
        for actual, value in [(result.real, expected.real), (result.imag, expected.imag)]
    )
    assert worst <= COMPLEX_LIMIT
    return worst


def complex_numbers(rng: np.random.Generator, parts: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers whose real and imaginary parts are parts, each in another order."""
    result = np.empty(parts.size, dtype)
    result.real, result.imag = parts, rng.permutation(parts)
    return result


@complex_types
@pytest.mark.parametrize("spread", [0, 3, 30], ids=lambda spread: f"2**{spread}")
def test_complex_sigmoid_follows_the_component_formula(dtype: np.dtype[Any], spread: int) -> None:
    rng = np.random.default_rng(40)
    count = 300_000 if dtype.itemsize == 8 else 150_000
    scale = np.exp2(rng.uniform(-spread, spread / 2, (2, count)))
    g, y = (complex_numbers(rng, rng.normal(size=count) * s, dtype) for s in scale)
    check_complex(g, y)


@complex_types
def test_complex_sigmoid_near_zero_and_one(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(41)
    near = complex_numbers(rng, rng.normal(size=100_000) * 1e-4, dtype)
    g = complex_numbers(rng, rng.normal(size=near.size), dtype)
    check_complex(g, near)
    check_complex(g, near + dtype.type(1))


@complex_types
def test_complex_sigmoid_is_the_conjugate(dtype: np.dtype[Any]) -> None:
    y = np.array([0.5 + 1j, 0.3 + 0.4j, 0.25 + 0.5j], dtype)
    actual = oa.sigmoid_backward(np.ones_like(y), y)
    np.testing.assert_allclose(
        actual, [1.25 - 0j, 0.37 - 0.16j, 0.4375 - 0.25j], rtol=4 * np.finfo(dtype).eps
    )
    assert actual[0] == 1.25
    below_zero = oa.sigmoid_backward(np.array([complex(1, -0.0)], dtype), y[:1])
    assert below_zero[0] == 1.25
    assert np.signbit(below_zero.imag[0])
    # i times the conjugate, not the conjugate of i times the factor
    turned = oa.sigmoid_backward(np.full_like(y, 1j), y)
    np.testing.assert_allclose(turned, 1j * actual, rtol=4 * np.finfo(dtype).eps)


@complex_types
def test_complex_sigmoid_of_real_numbers_is_that_of_the_real_type(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(42)
    g, y = rng.normal(size=(2, 1000)).astype(dtype)
    real = oa.sigmoid_backward(g.real.copy(), y.real.copy())
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(oa.sigmoid_backward(g, y).real, real, rtol=2 * eps)


@complex_types
def test_complex_sigmoid_of_nan_and_infinity_is_not_finite(dtype: np.dtype[Any]) -> None:
    for special in (np.nan, np.inf, -np.inf):
        for value in (complex(special, 0.5), complex(0.5, special), complex(special, special)):
            for g, y in [(value, 0.3 + 0.4j), (0.3 + 0.4j, value), (value, value)]:
                pair = np.array([g], dtype), np.array([y], dtype)
                actual = oa.sigmoid_backward(*pair)[0]
                if np.isnan(special):
                    assert np.isnan(actual.real), (g, y)
                    assert np.isnan(actual.imag), (g, y)
                assert not np.isfinite(actual), (g, y)


SILU_POINTS = [  # g, x, the bits of the result rounded correctly
    (1, -88.0, 0x83333E6E),  # normal, though exp(88) squared overflows
    (1, -95.0, 0x8005A6B6),  # subnormal
    (1, -201.7132, 0x80000000),
    (1, -548.3162, 0x80000000),
    (1, -1.2784645557403564, 0xB14245CF),  # beside the root
    (1, 16.635498046875, 0x3F800008),
    (1, 0.0, 0x3F000000),
    (1, -0.0, 0x3F000000),
    (1, 2.0**-149, 0x3F000000),
    (1, np.inf, 0x3F800000),
    (1, -np.inf, 0x80000000),
    (-2.5, np.inf, 0xC0200000),
    (-2.5, -np.inf, 0x00000000),
]


@pytest.mark.parametrize(("g", "x", "bits"), SILU_POINTS)
def test_silu_float32_at_known_points(g: float, x: float, bits: int) -> None:
    gradient, point = (np.array([value], np.float32) for value in (g, x))
    expected = from_bits(np.array([bits]), FLOAT32)
    rounded = round_to(exact.silu(gradient, point), FLOAT32)
    assert rounded.tobytes() == expected.tobytes()
    actual = oa.silu_backward(gradient, point)
    assert abs(int(actual.view(np.int32)[0]) - int(expected.view(np.int32)[0])) <= 4
    check("silu", gradient, point, actual)


def test_silu_of_a_huge_gradient_does_not_inherit_the_few_bits_of_a_subnormal_derivative() -> None:
    actual = oa.silu_backward(np.array([1e30], np.float32), np.array([-95.0], np.float32))
    np.testing.assert_allclose(actual, [-5.1898174e-10], rtol=4 * 2.0**-24)


@pytest.mark.parametrize("dtype", SILU_TYPES, ids=str)
def test_silu_at_zero_is_half_the_gradient(dtype: np.dtype[Any]) -> None:
    x = np.concatenate([np.array([0.0, -0.0], dtype), from_bits(np.array([1]), dtype)])
    for g in (1.0, -3.0):
        np.testing.assert_array_equal(oa.silu_backward(np.full(3, g, dtype), x), [g / 2] * 3)


def test_silu_bfloat16_keeps_normal_results_of_far_negative_inputs() -> None:
    actual = oa.silu_backward(np.ones(1, BFLOAT16), np.array([-90.0], BFLOAT16))
    assert actual[0] == np.array([-7.292671e-38], BFLOAT16)[0]
    assert actual[0] != 0


def test_silu_float16_is_rounded_once() -> None:
    x = np.array([0.00732421875, 8.546875], np.float16)
    actual = oa.silu_backward(np.ones(2, np.float16), x)
    np.testing.assert_array_equal(actual, np.array([0.50341796875, 1.0009765625], np.float16))


@pytest.mark.parametrize(
    ("g", "y", "expected"), [(3e38, 0.5, 7.5e37), (1e-38, 1e-3, 9.99e-42), (3e38, 2.0, -np.inf)]
)
def test_sigmoid_float32_at_the_ends_of_the_range(g: float, y: float, expected: float) -> None:
    gradient, output = np.array([g], np.float32), np.array([y], np.float32)
    check("sigmoid", gradient, output)
    np.testing.assert_allclose(oa.sigmoid_backward(gradient, output), [expected], rtol=1e-3)


@pytest.mark.parametrize(
    ("dtype", "g", "y"),
    [
        (FLOAT32, 1e-30, 1e30),  # y * (1 - y) alone overflows
        (FLOAT32, -1e-38, 1.8e38),
        (FLOAT32, 1e-45, -3e38),
        (FLOAT32, 2.0**-100, -(2.0**100)),
        (FLOAT64, 1e-300, 1e300),
        (FLOAT64, 5e-324, -1e308),
        (FLOAT32, 3e38, 1e-38),  # g * y alone would do; y * y underflows
        (FLOAT32, 3e38, 1e-45),
        (BFLOAT16, 1e-40, 3e38),
        (BFLOAT16, 3e38, 0.5),
        (FLOAT16, 60000.0, 0.5),
        (FLOAT16, 0.001, 3000.0),  # y * (1 - y) exceeds float16
    ],
    ids=str,
)
def test_sigmoid_depends_on_no_overflow_on_the_way(
    dtype: np.dtype[Any], g: float, y: float
) -> None:
    gradient, output = np.array([g], dtype), np.array([y], dtype)
    assert np.isfinite(oa.sigmoid_backward(gradient, output)).all()
    check("sigmoid", gradient, output)


@pytest.mark.parametrize("dtype", REAL_TYPES, ids=str)
def test_sigmoid_at_zero_one_and_two(dtype: np.dtype[Any]) -> None:
    g = np.array([3.0, -3.0, 3.0, -3.0, 3.0, -3.0, 3.0], dtype)
    y = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0, -1.0], dtype)
    actual = oa.sigmoid_backward(g, y)
    np.testing.assert_array_equal(actual, np.array([0, 0, 0, 0, -6, 6, -6], dtype))
    np.testing.assert_array_equal(np.signbit(actual), [False, True, False, True, True, False, True])


SPECIALS = [0.0, 1.0, 0.5, 2.0, 1.5, 80.0, 89.0, 95.0, 110.0, 201.7132, 1000.0, 3e4, np.inf]


def special_pairs(dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Special values and the ends of the range, each with each."""
    greatest = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}")) - 1
    ends = from_bits(np.array([1, 2, 3, greatest - 1, greatest], np.uint64), dtype)
    positive = np.concatenate([np.array(SPECIALS, dtype), ends])
    values = np.concatenate([positive, -positive, np.array([np.nan], dtype)])
    g, second = np.meshgrid(values, values)
    return g.reshape(-1).copy(), second.reshape(-1).copy()


@real_cases
def test_special_values_in_every_combination(operator: str, dtype: np.dtype[Any]) -> None:
    check(operator, *special_pairs(dtype))


@real_cases
def test_nan_of_any_payload_stays_nan(operator: str, dtype: np.dtype[Any]) -> None:
    infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
    digits = exact.FORMATS[dtype].precision - 1
    payloads = np.array([infinity | (1 << bit) for bit in range(digits)], np.uint64)
    sign = np.uint64(1 << (8 * dtype.itemsize - 1))
    nan = from_bits(np.concatenate([payloads, payloads | sign]), dtype)
    one = np.ones_like(nan)
    assert np.isnan(RESULT[operator](nan, one)).all()
    assert np.isnan(RESULT[operator](one, nan)).all()


@pytest.mark.parametrize("source", [FLOAT32, FLOAT16], ids=str)
def test_nan_with_only_low_bits_is_not_cut_to_infinity_in_bfloat16(source: np.dtype[Any]) -> None:
    # In float32 all these payloads lie in the 16 bits that bfloat16 drops.
    first = 0x7F80 << 16 if source == FLOAT32 else 0x7C00
    count = 16 if source == FLOAT32 else 3
    bits = np.array([first | (1 << bit) for bit in range(count)])
    nan = from_bits(np.concatenate([bits, bits | (1 << (8 * source.itemsize - 1))]), source)
    one, result = np.ones_like(nan), np.zeros(nan.shape, BFLOAT16)
    with oa.product("Ascend950PR_9599"):
        for g, y in [(nan, one), (one, nan)]:
            result[:] = 0
            oa.sigmoid_backward(g, y, out=result)
            assert np.isnan(result).all()


def samples() -> dict[str, tuple[Array, Array]]:
    """Inputs by "operator/type" that reach every branch, small enough for many processes."""
    rng = np.random.default_rng(50)
    pairs: dict[str, tuple[Array, Array]] = {}
    x = np.concatenate([SILU_INPUTS[name](rng)[::29] for name in SILU_INPUTS])
    x = np.concatenate([x, steps_around(-exact.ROOT_HIGH, 5000)])
    g = of_all_magnitudes(rng, x.size, FLOAT32)
    pairs["silu/float32"] = np.concatenate([np.ones_like(x), g]), np.concatenate([x, x])
    for dtype in (FLOAT32, FLOAT64):
        y = np.concatenate(
            [rng.uniform(-1, 2, 100_000).astype(dtype), of_all_magnitudes(rng, 100_000, dtype)]
        )
        pairs[f"sigmoid/{dtype}"] = of_all_magnitudes(rng, y.size, dtype), y
    g, y = pairs["sigmoid/float64"]
    g[:10_000] *= 2.0**-1000
    y[-10_000:] *= 2.0**-1000
    for dtype in SHORT_TYPES:
        every = from_bits(np.arange(2**16), dtype)
        second = np.concatenate([every, every])
        g = np.concatenate([np.ones_like(every), rng.permutation(every)])
        pairs[f"silu/{dtype}"] = pairs[f"sigmoid/{dtype}"] = g, second
    for name, pair in pairs.items():
        special = special_pairs(pair[0].dtype)
        pairs[name] = (np.append(pair[0], special[0]), np.append(pair[1], special[1]))
    for dtype in COMPLEX_TYPES:
        scale = np.exp2(rng.uniform(-30, 15, 40_000))
        g = complex_numbers(rng, rng.normal(size=scale.size), dtype)
        y = complex_numbers(rng, rng.normal(size=scale.size) * scale, dtype)
        y[::2] = complex_numbers(rng, rng.normal(size=scale.size // 2), dtype)
        y[::3] = 1 + y[::3] * dtype.type(1e-4)
        pairs[f"sigmoid/{dtype}"] = g, y
    return pairs


def check_samples(results: dict[str, Array]) -> dict[str, float]:
    """Every result within its limits; the worst errors."""
    worst = {}
    for name, (g, second) in samples().items():
        operator = name.split("/")[0]
        if second.dtype in COMPLEX_TYPES:
            worst[name] = check_complex(g, second, results[name])
            continue
        if second.dtype == FLOAT64 and not exact.EXTENDED_IS_WIDE:
            continue
        worst[name] = check(operator, g, second, results[name])
        if second.dtype in SHORT_TYPES:
            share = share_rounded_from_float32(operator, g, second, results[name])
            assert share >= CORRECTLY_ROUNDED, name
    return worst


CHILD = """
import sys
import ml_dtypes
import numpy as np
import openaclnn as oa

source, target, flush, tile = sys.argv[1:]
inputs = {name: array for name, array in np.load(source).items()}
results = {}
if flush == "flush":
    import torch
    if not torch.set_flush_denormal(True):
        sys.exit("cannot flush")
for name in sorted({name.rpartition("/")[0] for name in inputs}):
    operator, dtype = name.split("/")
    call = oa.silu_backward if operator == "silu" else oa.sigmoid_backward
    g, second = (inputs[f"{name}/{role}"].view(dtype) for role in ("g", "second"))
    size = int(tile) or g.size
    parts = [call(g[i : i + size], second[i : i + size]) for i in range(0, g.size, size)]
    results[name] = np.concatenate(parts).view(np.uint8)
if flush == "flush":
    least = torch.tensor([1e-40])
    assert (least * 1).item() == 0, "the thread's own mode was not put back"
    torch.set_flush_denormal(False)
np.savez(target, **results)
print(oa.instruction_set())
"""


def results_of_child(
    directory: Path,
    pairs: dict[str, tuple[Array, Array]],
    *,
    flush: bool = False,
    tile: int = 0,
    **environment: str,
) -> tuple[dict[str, Array], str]:
    """The results of pairs in another process, tile elements per call, and its level."""
    source, target = directory / "inputs.npz", directory / "results.npz"
    arrays = {}
    for name, (g, second) in pairs.items():
        arrays[f"{name}/g"], arrays[f"{name}/second"] = g.view(np.uint8), second.view(np.uint8)
    np.savez(source, **arrays)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, source, target, "flush" if flush else "keep", str(tile)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if "cannot flush" in child.stderr:
        pytest.skip("this processor does not flush subnormals")
    assert child.returncode == 0, child.stderr
    results = {name: array.view(pairs[name][1].dtype) for name, array in np.load(target).items()}
    return results, child.stdout.strip()


def every_level(test: Callable[..., None]) -> Callable[..., None]:
    """test for each level that this kind of processor may have."""
    x86 = platform.machine() in ("x86_64", "AMD64")
    levels = ["x86-64-v2", "x86-64-v3", "x86-64-v4"] if x86 else [oa.instruction_set()]
    return pytest.mark.parametrize("level", levels)(test)


@every_level
def test_every_instruction_set_level_meets_the_limits(level: str, tmp_path: Path) -> None:
    results, chosen = results_of_child(tmp_path, samples(), OPENACLNN_ISA=level)
    if chosen != level:
        pytest.skip(f"this processor has {chosen} at most")
    check_samples(results)


@pytest.mark.parametrize("tile", [0, 1000], ids=["all at once", "small calls"])
def test_subnormals_are_kept_where_the_calling_thread_flushes_them(
    tmp_path: Path, tile: int
) -> None:
    pairs = samples()
    results, _ = results_of_child(tmp_path, pairs, flush=True, tile=tile)
    for name, (g, second) in pairs.items():
        expected = RESULT[name.split("/")[0]](g, second)
        np.testing.assert_array_equal(results[name], expected, err_msg=name)
    check_samples(results)


@every_level
def test_bits_do_not_depend_on_how_inputs_are_cut(level: str, tmp_path: Path) -> None:
    pairs = samples()
    whole, chosen = results_of_child(tmp_path, pairs, OPENACLNN_ISA=level)
    if chosen != level:
        pytest.skip(f"this processor has {chosen} at most")
    cut, _ = results_of_child(tmp_path, pairs, tile=1009, OPENACLNN_ISA=level)
    for name in pairs:
        number = ~np.isnan(whole[name])
        assert cut[name][number].tobytes() == whole[name][number].tobytes(), name


@real_cases
def test_bits_of_nan_do_not_depend_on_the_length(operator: str, dtype: np.dtype[Any]) -> None:
    infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
    quiet = 1 << (exact.FORMATS[dtype].precision - 2)
    sign = 1 << (8 * dtype.itemsize - 1)
    bits = [infinity | quiet | 3, sign | infinity | quiet | 2, infinity | 1, infinity, 0]
    for g_bits in bits:
        for second_bits in bits:
            g, second = (from_bits(np.full(300, b), dtype) for b in (g_bits, second_bits))
            unsigned = f"u{dtype.itemsize}"
            seen = {
                int(b)
                for n in range(1, 300, 7)
                for b in RESULT[operator](g[:n], second[:n]).view(unsigned)
            }
            assert len(seen) == 1, [hex(b) for b in (g_bits, second_bits, *seen)]


def test_samples_hold_subnormal_inputs_and_results() -> None:
    for name, (g, second) in samples().items():
        if second.dtype in COMPLEX_TYPES:
            continue
        least = np.ldexp(1.0, exact.FORMATS[second.dtype].least_exponent)
        expected = EXACT[name.split("/")[0]](g, second)
        for values in (g, second, expected):
            size = np.abs(exact.widened(values, np.longdouble))
            assert np.sum((size > 0) & (size < least)) > 50, name


def test_signs_of_zero_results_follow_the_exact_ones() -> None:
    rng = np.random.default_rng(60)
    g = np.concatenate([of_all_magnitudes(rng, 1000, FLOAT32), np.zeros(500, FLOAT32)])
    g[1250:] *= -1
    second = of_all_magnitudes(rng, g.size, FLOAT32)
    second[::3] = -200
    second[1::3] = np.float32(2.0**-149)
    for operator, call in RESULT.items():
        actual = call(g, second)
        assert np.sum(actual == 0) > 500
        assert_same_specials(actual, EXACT[operator](g, second))
