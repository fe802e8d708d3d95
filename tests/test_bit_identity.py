"""The same operands give the same bits, wherever they lie and however the work is divided."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import openaclnn as oa

Array = NDArray[Any]

CALLS: dict[str, Callable[..., Any]] = {"silu": oa.silu_backward, "sigmoid": oa.sigmoid_backward}
SHORT_AND_FLOAT = [np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16)]
WIDE = [np.dtype(t) for t in (np.float64, np.complex64, np.complex128)]
CASES = [("silu", dtype) for dtype in SHORT_AND_FLOAT]
CASES += [("sigmoid", dtype) for dtype in SHORT_AND_FLOAT + WIDE]
ALL_CASES = pytest.mark.parametrize(("operator", "dtype"), CASES, ids=str)

COUNT = 4096  # a multiple of every vector length
LONGEST = 257


def operands(dtype: np.dtype[Any], count: int = COUNT) -> tuple[Array, Array]:
    """Any bits at all: NaN of any payload, infinities and subnormal numbers among them.

    Every other pair holds ordinary numbers.
    """
    rng = np.random.default_rng(90)
    pair = []
    for _ in range(2):
        bits: Array = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)
        ordinary = rng.normal(size=count) * 4
        if dtype.kind == "c":
            ordinary = ordinary + 1j * rng.normal(size=count)
        bits[::2] = ordinary.astype(dtype)[::2]
        pair.append(bits)
    return pair[0], pair[1]


def raw(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def assert_same_bits(actual: Array, expected: Array) -> None:
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(raw(actual), raw(expected))


def placed(array: Array, offset: int) -> Array:
    """A copy that begins offset bytes after a multiple of 64."""
    store = np.zeros(array.nbytes + 128, np.uint8)
    start = -store.ctypes.data % 64 + offset
    copy: Array = store[start : start + array.nbytes].view(array.dtype)
    copy[...] = array
    assert copy.ctypes.data % 64 == offset
    return copy


@ALL_CASES
def test_bits_do_not_depend_on_the_alignment(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype, 1003)
    expected = CALLS[operator](g, second)
    for offset in range(64):
        other = (offset * 7 + 5) % 64
        inputs = placed(g, offset), placed(second, other)
        assert_same_bits(CALLS[operator](*inputs), expected)
        if offset % dtype.alignment == 0:
            out = placed(np.zeros_like(g), offset)
            CALLS[operator](*inputs, out=out)
            assert_same_bits(out, expected)


@ALL_CASES
def test_bits_do_not_depend_on_length_and_place(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype)
    expected = CALLS[operator](g, second)
    starts = np.random.default_rng(91).integers(0, COUNT - LONGEST, LONGEST + 1)
    for length in range(1, LONGEST + 1):
        for start in (0, int(starts[length]), COUNT - length):
            part = slice(start, start + length)
            assert_same_bits(CALLS[operator](g[part], second[part]), expected[part])


@ALL_CASES
def test_writes_end_where_the_result_does(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype)
    store = np.empty(LONGEST + 130, dtype)
    for length in range(LONGEST + 1):
        raw(store)[:] = 0x5A
        CALLS[operator](g[:length], second[:length], out=store[64 : 64 + length])
        assert (raw(store[:64]) == 0x5A).all()
        assert (raw(store[64 + length :]) == 0x5A).all()


@ALL_CASES
def test_bits_do_not_depend_on_the_number_of_threads(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype, 400_003)
    oa.set_num_threads(1)
    expected = CALLS[operator](g, second)
    for count in (2, 3, 4):
        oa.set_num_threads(count)
        for _ in range(3):
            assert_same_bits(CALLS[operator](g, second), expected)
        strided = np.zeros((g.size, 2), dtype)[:, 0]
        CALLS[operator](g, second, out=strided)
        assert_same_bits(strided, expected)


def layouts(array: Array) -> Iterator[tuple[str, Array]]:
    """The same elements by index, in other places."""
    yield "strided", np.repeat(array, 3, axis=-1)[..., ::3]
    yield "rows apart", np.concatenate([array, array], axis=-1)[..., : array.shape[-1]]
    yield "transposed", np.ascontiguousarray(array.transpose()).transpose()
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)
    yield "channels last", last
    yield "reversed", array[..., ::-1].copy()[..., ::-1]
    yield "byte-swapped", array.astype(array.dtype.newbyteorder())


@ALL_CASES
def test_bits_do_not_depend_on_the_layout(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = (array.reshape(4, 8, 16, 8) for array in operands(dtype))
    expected = CALLS[operator](g, second)
    for _, first in layouts(g):
        for name, other in layouts(second):
            assert_same_bits(CALLS[operator](first, other), expected)
            if name in ("reversed", "byte-swapped"):
                continue
            out = dict(layouts(np.zeros_like(g)))[name]
            CALLS[operator](first, other, out=out)
            assert_same_bits(out, expected)


@ALL_CASES
@pytest.mark.parametrize("role", ["gradient", "second", "both"])
def test_bits_do_not_depend_on_expansion(operator: str, dtype: np.dtype[Any], role: str) -> None:
    g, second = (array[:96].reshape(8, 12) for array in operands(dtype))
    shape = (5, 8, 12)
    for part in (np.s_[:, :], np.s_[:1, :], np.s_[:, :1], np.s_[3:4, 7:8], np.s_[2:3, 4:5]):
        inputs = [
            np.broadcast_to(array[part] if role in (name, "both") else array, shape)
            for name, array in (("gradient", g), ("second", second))
        ]
        expected = CALLS[operator](*(np.array(array, order="C") for array in inputs))
        assert_same_bits(CALLS[operator](*inputs), expected)


@ALL_CASES
@pytest.mark.parametrize("role", ["gradient", "second", "both"])
def test_bits_do_not_depend_on_working_in_place(
    operator: str, dtype: np.dtype[Any], role: str
) -> None:
    for count in (1, 31, 1003, 70_001):
        g, second = operands(dtype, count)
        if role == "both":
            second = g
        expected = CALLS[operator](g, second)
        for step in (1, 2):
            out = np.repeat(second if role == "second" else g, step)[::step]
            inputs = {"gradient": (out, second), "second": (g, out), "both": (out, out)}[role]
            CALLS[operator](*inputs, out=out)
            assert_same_bits(out, expected)


@ALL_CASES
def test_bits_do_not_depend_on_phases_and_streams(operator: str, dtype: np.dtype[Any]) -> None:
    begin = getattr(oa, f"{operator}_backward_get_workspace_size")
    for count in (17, 5000, 100_003):
        g, second = operands(dtype, count)
        expected = CALLS[operator](g, second)
        out, streamed = np.zeros_like(g), np.zeros_like(g)
        begin(g, second, out)[1].run()
        with oa.Stream() as stream:
            begin(g, second, streamed)[1].run(stream=stream)
        assert_same_bits(out, expected)
        assert_same_bits(streamed, expected)


@ALL_CASES
def test_bits_do_not_depend_on_the_product(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype)
    expected = CALLS[operator](g, second)
    for soc in ("Ascend910_9391", "Ascend950PR_9599"):
        with oa.product(soc):
            assert_same_bits(CALLS[operator](g, second), expected)


@pytest.mark.skipif("OPENACLNN_ISA" in os.environ, reason="one level is asked for already")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_every_instruction_set_level_gives_the_same_bits_everywhere(
    level: str, run_python: Callable[..., str]
) -> None:
    environment = {"OPENACLNN_ISA": level}
    chosen = run_python("import openaclnn as oa; print(oa.instruction_set())", **environment)
    if chosen != level:
        pytest.skip(f"this processor has {chosen} at most")
    # All other tests of this file, in a process of that level.
    child = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            __file__,
        ],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.returncode == 0, child.stdout[-3000:]
