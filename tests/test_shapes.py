"""Results for many shapes, types and ranges of values against exact ones."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exact
import openaclnn as oa
from exact import Array

CASES = json.loads((Path(__file__).parent / "data" / "shape_cases.json").read_text())
DTYPES = {
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
}
CALLS = {"silu_backward": oa.silu_backward, "sigmoid_backward": oa.sigmoid_backward}
EXACT = {"silu_backward": exact.silu, "sigmoid_backward": exact.sigmoid}
LIMITS = {"fp16": 1, "bf16": 1, "fp32": 4, "fp64": 2}  # ULP
SIGMOID_FLOAT32_LIMIT = 2  # ULP
COMPLEX_LIMIT = 4  # in the type's epsilon, relative to |g| |y| |1 - y|
PIECE = 1 << 18  # elements that the references work on at once


def described(case: dict[str, Any]) -> str:
    shape = "x".join(map(str, case["shape"]))
    return f"{case['op']}-{case['dtype']}-{shape}"


def values(rng: np.random.Generator, content: list[Any], case: dict[str, Any]) -> Array:
    """Uniform numbers from [low, high], or one special value everywhere."""
    dtype, shape = DTYPES[case["dtype"]], tuple(case["shape"])
    if isinstance(content[0], str):
        return np.full(shape, float(content[0]), dtype)
    low, high = content
    real = np.float64 if dtype in (np.float64, np.complex128) else np.float32

    def uniform() -> Array:
        return rng.random(shape, real) * real(high - low) + real(low)

    if dtype.kind != "c":
        return uniform().astype(dtype)
    result = np.empty(shape, dtype)
    result.real, result.imag = uniform(), uniform()
    return result


def pieces(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, flat[0].size, PIECE):
        yield tuple(array[start : start + PIECE] for array in flat)


def check_real(case: dict[str, Any], g: Array, other: Array, result: Array) -> None:
    if case["dtype"] == "fp64" and not exact.EXTENDED_IS_WIDE:
        pytest.skip("float64 references need a wider long double")
    sigmoid_float32 = case["op"] == "sigmoid_backward" and case["dtype"] == "fp32"
    limit = SIGMOID_FLOAT32_LIMIT if sigmoid_float32 else LIMITS[case["dtype"]]
    for g_piece, other_piece, piece in pieces(g, other, result):
        expected = EXACT[case["op"]](g_piece, other_piece)
        exact.assert_within(piece, expected, limit, g_piece, other_piece)


def check_complex(g: Array, y: Array, result: Array) -> None:
    if not (np.isfinite(g).all() and np.isfinite(y).all()):
        assert not np.isfinite(result).any()
        return
    for g_piece, y_piece, piece in pieces(g, y, result):
        expected, size = exact.complex_sigmoid(g_piece, y_piece)
        allowed = COMPLEX_LIMIT * np.finfo(y.dtype).eps * size
        assert (np.abs(piece.real.astype(size.dtype) - expected.real) <= allowed).all()
        assert (np.abs(piece.imag.astype(size.dtype) - expected.imag) <= allowed).all()


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: described(CASES[n]))
def test_shape(number: int) -> None:
    case = CASES[number]
    rng = np.random.default_rng([70, number])
    g, other = (values(rng, case[role], case) for role in ("grad_output", "other"))
    result = CALLS[case["op"]](g, other)
    assert (result.shape, result.dtype) == (g.shape, g.dtype)
    if g.dtype.kind == "c":
        check_complex(g, other, result)
    else:
        check_real(case, g, other, result)


@pytest.mark.parametrize("operator", CALLS)
@pytest.mark.parametrize("name", DTYPES)
def test_every_length_up_to_many_vectors_is_filled(operator: str, name: str) -> None:
    if operator == "silu_backward" and name not in ("fp16", "bf16", "fp32"):
        pytest.skip("not among the types of silu_backward")
    dtype = DTYPES[name]
    for length in range(300):
        guarded = np.full(length + 2, 7, dtype)
        result = guarded[1:-1]
        CALLS[operator](np.ones(length, dtype), np.zeros(length, dtype), out=result)
        expected = 0.5 if operator == "silu_backward" else 0
        np.testing.assert_array_equal(result, np.full(length, expected, dtype))
        np.testing.assert_array_equal(guarded[[0, -1]], np.full(2, 7, dtype))


def test_cases_cover_every_rank_and_type() -> None:
    assert {len(case["shape"]) for case in CASES} >= set(range(1, 9))
    assert {case["dtype"] for case in CASES} == set(DTYPES)
    assert {case["op"] for case in CASES} == set(CALLS)
    assert max(math.prod(case["shape"]) for case in CASES) > 10_000_000
