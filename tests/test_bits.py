"""Work that is divided among threads gives the bits of one thread, in every layout and kind.

Sizes here lie where dividing begins and above; small arrays are test_bit_identity.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import openaclnn as oa

Array = NDArray[Any]

CALLS: dict[str, Callable[..., Any]] = {"silu": oa.silu_backward, "sigmoid": oa.sigmoid_backward}
BEGINS: dict[str, Callable[..., tuple[int, oa.Executor]]] = {
    "silu": oa.silu_backward_get_workspace_size,
    "sigmoid": oa.sigmoid_backward_get_workspace_size,
}
SHORT_AND_FLOAT = [np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16)]
WIDE = [np.dtype(t) for t in (np.float64, np.complex64, np.complex128)]
CASES = [("silu", dtype) for dtype in SHORT_AND_FLOAT]
CASES += [("sigmoid", dtype) for dtype in SHORT_AND_FLOAT + WIDE]
ALL_CASES = pytest.mark.parametrize(("operator", "dtype"), CASES, ids=str)
TORCH_TYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float64": torch.float64,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}

# Around 100,000 elements, and around multiples of the blocks that threads take.
SIZES = (65_535, 65_537, 98_304, 99_999, 100_000, 100_001, 131_071, 147_457, 262_145)
SHAPE = (6, 35, 48, 31)  # 312,480 elements, in no dimension a multiple of a block


def operands(dtype: np.dtype[Any], count: int) -> tuple[Array, Array]:
    """Any bits at all in every other pair, ordinary numbers in the others."""
    rng = np.random.default_rng(95)
    pair = []
    for _ in range(2):
        bits: Array = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)
        ordinary = rng.normal(size=(count + 1) // 2) * 4
        if dtype.kind == "c":
            ordinary = ordinary + 1j * rng.normal(size=ordinary.size)
        bits[::2] = ordinary.astype(dtype)
        pair.append(bits)
    return pair[0], pair[1]


def raw(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def assert_same_bits(actual: Array, expected: Array) -> None:
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(raw(actual), raw(expected))


def tensor(array: Array) -> torch.Tensor:
    """A PyTorch tensor on the array's memory, with its strides."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def bits_of(result: torch.Tensor, like: Array) -> Array:
    if result.dtype == torch.bfloat16:
        return result.view(torch.int16).numpy().view(like.dtype)
    array: Array = result.numpy()
    return array


def layouts(array: Array) -> Iterator[tuple[str, Array]]:
    """The same elements by index, in other places."""
    yield "contiguous", array.copy()
    yield "strided", np.repeat(array, 2, axis=-1)[..., ::2]
    yield "columns", np.concatenate([array, array], axis=-1)[..., : array.shape[-1]]
    yield "transposed", np.ascontiguousarray(array.transpose()).transpose()
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)
    yield "channels last", last
    yield "swapped", np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    yield "off a cache line", np.concatenate([array.ravel()[:1], array.ravel()])[1:].reshape(SHAPE)


@ALL_CASES
@pytest.mark.parametrize("size", SIZES)
def test_any_number_of_threads(operator: str, dtype: np.dtype[Any], size: int) -> None:
    g, second = operands(dtype, size)
    oa.set_num_threads(1)
    expected = CALLS[operator](g, second)
    for threads in (2, 3, 4):
        oa.set_num_threads(threads)
        assert_same_bits(CALLS[operator](g, second), expected)


@ALL_CASES
def test_parts_of_a_large_array_are_as_the_whole(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype, 200_003)
    oa.set_num_threads(4)
    expected = CALLS[operator](g, second)
    for start in (1, 3, 15, 16, 17, 63, 64):
        part = slice(start, start + 150_001)
        assert_same_bits(CALLS[operator](g[part], second[part]), expected[part])
    oa.set_num_threads(1)
    for start in range(0, 200_003, 30_011):
        part = slice(start, start + 30_011)
        assert_same_bits(CALLS[operator](g[part], second[part]), expected[part])


@ALL_CASES
@pytest.mark.parametrize("threads", [1, 3, 4])
def test_any_layout_on_any_number_of_threads(
    operator: str, dtype: np.dtype[Any], threads: int
) -> None:
    g, second = (array.reshape(SHAPE) for array in operands(dtype, int(np.prod(SHAPE))))
    oa.set_num_threads(1)
    expected = CALLS[operator](g, second)
    oa.set_num_threads(threads)
    outs = dict(layouts(np.zeros_like(g)))
    for name, first in layouts(g):
        assert_same_bits(CALLS[operator](first, second), expected)
        CALLS[operator](first, second, out=outs[name])
        assert_same_bits(outs[name], expected)
    for name, other in layouts(second):
        CALLS[operator](g, other, out=outs["channels last"])
        assert_same_bits(outs["channels last"], expected)
        CALLS[operator](g, other, out=other)
        assert_same_bits(other, expected)
        outs[name][...] = g
        CALLS[operator](outs[name], second, out=outs[name])
        assert_same_bits(outs[name], expected)


@ALL_CASES
@pytest.mark.parametrize("threads", [1, 4])
def test_expanded_inputs_on_any_number_of_threads(
    operator: str, dtype: np.dtype[Any], threads: int
) -> None:
    g, second = (array.reshape(350, 500) for array in operands(dtype, 175_000))
    for part in (np.s_[:1, :1], np.s_[:1, :], np.s_[:, 1:2]):
        row = np.broadcast_to(g[part], g.shape)
        column = np.broadcast_to(second[part].copy(), g.shape)
        for inputs in ((row, second), (g, column), (row, column)):
            oa.set_num_threads(1)
            expected = CALLS[operator](*(np.array(array, order="C") for array in inputs))
            oa.set_num_threads(threads)
            assert_same_bits(CALLS[operator](*inputs), expected)
            out = np.zeros(g.shape[::-1], dtype).T
            CALLS[operator](*inputs, out=out)
            assert_same_bits(out, expected)


@ALL_CASES
@pytest.mark.parametrize("count", [257, 100_001])
def test_any_layout_through_a_stream(operator: str, dtype: np.dtype[Any], count: int) -> None:
    g, second = operands(dtype, count)
    oa.set_num_threads(1)
    expected = CALLS[operator](g, second)
    oa.set_num_threads(4)
    rows = np.zeros((count, 2), dtype)
    out, in_place = rows[:, 1], np.repeat(g, 3)[::3]
    again = np.zeros_like(g)
    with oa.Stream() as stream:
        BEGINS[operator](g, second, out)[1].run(stream=stream)
        BEGINS[operator](in_place, second, in_place)[1].run(stream=stream)
        BEGINS[operator](tensor(g), tensor(second), tensor(again))[1].run(stream=stream)
    assert_same_bits(out, expected)
    assert_same_bits(in_place, expected)
    assert_same_bits(again, expected)
    assert (raw(rows[:, 0]) == 0).all()


@ALL_CASES
def test_pytorch_tensors_in_any_layout(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = (array.reshape(SHAPE) for array in operands(dtype, int(np.prod(SHAPE))))
    expected = CALLS[operator](g, second)
    outs = dict(layouts(np.zeros_like(g)))
    for name, other in layouts(second):
        result = CALLS[operator](tensor(g), tensor(other))
        assert result.dtype == TORCH_TYPES[dtype.name]
        assert_same_bits(bits_of(result, g), expected)
        out = tensor(outs[name])
        assert CALLS[operator](tensor(other), tensor(g), out=out) is out
        assert_same_bits(outs[name], CALLS[operator](second, g))
        CALLS[operator](tensor(g), tensor(other), out=tensor(other))
        assert_same_bits(other, expected)


@ALL_CASES
def test_pytorch_tensors_of_any_alignment(operator: str, dtype: np.dtype[Any]) -> None:
    g, second = operands(dtype, 1200)
    for length in (1, 2, 7, 64, 255, 257, 1003):
        expected = CALLS[operator](g[:length].copy(), second[:length].copy())
        for offset in range(64 // dtype.itemsize):
            stores = [np.zeros(length + offset, dtype) for _ in range(3)]
            views = [tensor(store).narrow(0, offset, length) for store in stores]
            stores[0][offset:], stores[1][offset:] = g[:length], second[:length]
            CALLS[operator](views[0], views[1], out=views[2])
            assert_same_bits(stores[2][offset:], expected)
            assert (raw(stores[2][:offset]) == 0).all()


@pytest.mark.parametrize("threads", [2, 4])
def test_types_that_are_cast_on_any_number_of_threads(threads: int) -> None:
    g, _ = operands(np.dtype(np.float16), 150_001)
    y, _ = operands(np.dtype(ml_dtypes.bfloat16), 150_001)
    with oa.product("Ascend950PR_9599"):
        oa.set_num_threads(1)
        silu, sigmoid = oa.silu_backward(g, y), oa.sigmoid_backward(g, y)
        narrow = oa.sigmoid_backward(g, y, out=np.zeros_like(y))
        oa.set_num_threads(threads)
        assert_same_bits(oa.silu_backward(g, y), silu)
        rows = np.zeros((150_001, 3), np.float32)
        oa.sigmoid_backward(g, np.repeat(y, 2)[::2], out=rows[:, 2])
        assert_same_bits(rows[:, 2], sigmoid)
        oa.sigmoid_backward(g, y, out=y)
        assert_same_bits(y, narrow)
