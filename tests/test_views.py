"""Any strides, offsets and overlaps, on every argument, give what contiguous arrays give."""

from __future__ import annotations

import itertools
import math
import mmap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import psutil
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

import openaclnn as oa
from openaclnn import _native

Array = NDArray[Any]
Call = Callable[..., Any]

CALLS: dict[str, Call] = {"silu": oa.silu_backward, "sigmoid": oa.sigmoid_backward}
SILU_TYPES = [np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16)]
SIGMOID_TYPES = [*SILU_TYPES, *(np.dtype(t) for t in (np.float64, np.complex64, np.complex128))]
BOTH = pytest.mark.parametrize("operator", CALLS)
ASCEND_950 = "Ascend950PR_9599"
WITH_BFLOAT16 = ("Ascend910B1", "Ascend910_9391", ASCEND_950, "Ascend950DT_95A1")
WITHOUT_BFLOAT16 = ("Ascend910A", "Ascend910PremiumA")


def by_definition(operator: str, g: Any, second: Any) -> Array:
    """The formulas as they are written, in float64: good to 1e-12 for ordinary numbers."""
    g, v = np.asarray(g, np.float64), np.asarray(second, np.float64)
    if operator == "sigmoid":
        return g * v * (1 - v)
    sigma = 1 / (1 + np.exp(-v))
    return g * sigma * (1 + v - v * sigma)


def ordinary(shape: tuple[int, ...], seed: int, dtype: Any = np.float32) -> Array:
    """Numbers from 0.5 to 3, where both derivatives are far from their roots but for y = 1."""
    return np.random.default_rng(seed).uniform(0.5, 3, shape).astype(dtype)


def assert_as_defined(operator: str, result: Any, g: Any, second: Any) -> None:
    """Right up to the type's rounding; 1 - y near y = 1 gets an absolute allowance."""
    eps = float(ml_dtypes.finfo(np.asarray(result).dtype).eps)
    expected = by_definition(operator, g, second)
    actual = np.asarray(result).astype(np.float64)
    np.testing.assert_allclose(actual, expected, rtol=4 * eps, atol=4 * eps)


def assert_same_bits(actual: Any, expected: Any) -> None:
    actual, expected = np.ascontiguousarray(actual), np.ascontiguousarray(expected)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(
        actual.reshape(-1).view(np.uint8), expected.reshape(-1).view(np.uint8)
    )


def check(operator: str, g: Any, second: Any, out: Any = None) -> None:
    """Right by the definition, and the bits of contiguous copies."""
    values = np.array(g, order="C"), np.array(second, order="C")
    result = CALLS[operator](g, second, out=out)
    assert out is None or result is out
    assert_same_bits(result, CALLS[operator](*values))
    assert_as_defined(operator, result, *values)


def tensors(*arrays: Array) -> tuple[torch.Tensor, ...]:
    """PyTorch tensors on the same memory, with the same strides."""
    return tuple(torch.from_numpy(array) for array in arrays)


@BOTH
def test_column_halves_of_a_wide_matrix_as_inputs(operator: str) -> None:
    wide = ordinary((2, 500, 256), 1)
    check(operator, wide[..., :128], wide[..., 128:])


@BOTH
def test_column_halves_as_input_and_result_do_not_overlap(operator: str) -> None:
    wide = ordinary((2, 500, 256), 2)
    second = ordinary((2, 500, 128), 3)
    left = wide[..., :128].copy()
    check(operator, wide[..., :128], second, out=wide[..., 128:])
    np.testing.assert_array_equal(wide[..., :128], left)


@BOTH
def test_every_other_element_as_input_and_result_do_not_overlap(operator: str) -> None:
    both = ordinary((1000,), 4)
    even = both[::2].copy()
    check(operator, both[::2], ordinary((500,), 5), out=both[1::2])
    np.testing.assert_array_equal(both[::2], even)


@BOTH
@pytest.mark.parametrize("shape", [(300, 200), (7, 3, 5), (70_001,), ()], ids=str)
def test_gradient_expanded_from_one_element(operator: str, shape: tuple[int, ...]) -> None:
    second = ordinary(shape, 6)
    check(operator, np.broadcast_to(np.float32(1.75), shape), second)
    gradient = torch.tensor(1.75).expand(shape)
    result = CALLS[operator](gradient, torch.from_numpy(np.asarray(second)))
    assert_as_defined(operator, result.numpy(), 1.75, second)


def test_gradient_of_a_sum_needs_no_copy() -> None:
    x = torch.full((40, 30), 0.25, requires_grad=True)
    seen = []
    y = x.sigmoid()
    y.register_hook(seen.append)
    y.sum().backward()
    assert seen[0].stride() == (0, 0)
    torch.testing.assert_close(oa.sigmoid_backward(seen[0], y.detach()), x.grad)


@BOTH
def test_both_inputs_expanded(operator: str) -> None:
    check(operator, *(np.broadcast_to(np.float32(value), (50, 60)) for value in (2, 0.75)))
    row, column = ordinary((60,), 7), ordinary((50, 1), 8)
    check(operator, np.broadcast_to(row, (50, 60)), np.broadcast_to(column, (50, 60)))


@BOTH
def test_channels_last_input_with_contiguous_gradient(operator: str) -> None:
    x = ordinary((4, 17, 19, 3), 9).transpose(0, 3, 1, 2)
    g = ordinary(x.shape, 10)
    check(operator, g, x)
    check(operator, x, g)
    last = torch.from_numpy(x.copy()).to(memory_format=torch.channels_last)
    result = CALLS[operator](torch.from_numpy(g), last)
    assert_same_bits(result.numpy(), CALLS[operator](g, x.copy()))


@pytest.mark.parametrize(
    ("shape", "strides", "offset"), [((6, 5), (10, 1), 22), ((4, 3), (20, 2), 22)]
)
@BOTH
def test_window_of_a_larger_storage(
    operator: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    stores = [ordinary((100,), seed) for seed in (11, 12, 13)]
    before = stores[2].copy()

    def window(store: Array) -> Array:
        return as_strided(store[offset:], shape, [4 * stride for stride in strides])

    check(operator, *(window(store) for store in stores))
    untouched = np.ones(100, bool)
    as_strided(untouched[offset:], shape, strides)[...] = False
    np.testing.assert_array_equal(stores[2][untouched], before[untouched])
    assert (stores[2][~untouched] != before[~untouched]).all()

    views = [torch.from_numpy(store).as_strided(shape, strides, offset) for store in stores]
    expected = CALLS[operator](*(view.numpy().copy() for view in views[:2]))
    assert CALLS[operator](views[0], views[1], out=views[2]) is views[2]
    assert_same_bits(window(stores[2]), expected)


@BOTH
def test_transposed_storages_on_all_three_arguments(operator: str) -> None:
    g, second, out = (ordinary((5, 2), seed).T for seed in (14, 15, 16))
    assert g.strides == (4, 8)
    check(operator, g, second, out)


@BOTH
@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (0, 0), (5, 0)], ids=str)
def test_empty_arrays_are_fine(operator: str, shape: tuple[int, ...]) -> None:
    g, second, out = (np.empty(shape, np.float32) for _ in range(3))
    assert CALLS[operator](g, second).shape == shape
    assert CALLS[operator](g, second, out=out) is out
    size, executor = oa.silu_backward_get_workspace_size(g, second, out)
    assert size == 0
    executor.run()
    assert CALLS[operator](*tensors(g, second)).shape == shape


@BOTH
def test_empty_view_of_real_memory_leaves_it_alone(operator: str) -> None:
    store = ordinary((10,), 17)
    before = store.copy()
    CALLS[operator](store[5:5], store[5:5], out=store[5:5])
    CALLS[operator](store[3:3], store[4:4], out=store[5:5])
    np.testing.assert_array_equal(store, before)


@BOTH
def test_rank_zero(operator: str) -> None:
    g, second = np.array(2, np.float32), np.array(0.75, np.float32)
    check(operator, g, second)
    out = np.zeros((), np.float32)
    check(operator, g, second, out)
    assert CALLS[operator](g, second).shape == ()


@BOTH
def test_rank_eight(operator: str) -> None:
    g = ordinary((2, 3, 1, 2, 2, 1, 3, 2), 18)
    check(operator, g.transpose(3, 1, 0, 7, 6, 5, 4, 2), ordinary((2, 3, 2, 2, 3, 1, 2, 1), 19))


@BOTH
@pytest.mark.parametrize("shape", [(1,) * 9, (2,) * 9, (1, 1, 1, 1, 5, 1, 1, 1, 1)], ids=str)
def test_rank_nine_is_refused(operator: str, shape: tuple[int, ...]) -> None:
    g = np.ones(shape, np.float32)
    with pytest.raises(oa.AclnnParameterError, match="rank 9") as caught:
        CALLS[operator](g, g.copy())
    assert caught.value.status == 161002


def square_layouts(base: Array) -> dict[str, Array]:
    """Views on square memory, each laid out in its own way."""
    n = len(base)
    return {
        "contiguous": base,
        "transposed": base.T,
        "every other row": as_strided(base, (n // 2, n), (2 * base.strides[0], base.strides[1])),
        "inner window": base[1:-1, 1:-1],
    }


@BOTH
@pytest.mark.parametrize("layout", square_layouts(np.zeros((8, 8), np.float32)))
@pytest.mark.parametrize("role", ["gradient", "second", "both"])
@pytest.mark.parametrize("n", [8, 300])
def test_in_place(operator: str, layout: str, role: str, n: int) -> None:
    base = ordinary((n, n), 20)
    before = base.copy()
    out = square_layouts(base)[layout]
    other = ordinary(out.shape, 21)
    g = other if role == "second" else out
    second = other if role == "gradient" else out
    check(operator, g, second, out)
    untouched = np.ones((n, n), bool)
    square_layouts(untouched)[layout][...] = False
    np.testing.assert_array_equal(base[untouched], before[untouched])


@BOTH
def test_in_place_of_pytorch_tensors(operator: str) -> None:
    g, second = ordinary((30, 20), 22), ordinary((30, 20), 23)
    expected = CALLS[operator](g, second)
    gradient, point = tensors(g, second)
    assert CALLS[operator](gradient.T, point.T, out=gradient.T).data_ptr() == gradient.data_ptr()
    assert_same_bits(g, expected)


@BOTH
def test_inputs_may_overlap_each_other(operator: str) -> None:
    store = ordinary((101,), 24)
    check(operator, store[:-1], store[1:])
    check(operator, store[:100].reshape(10, 10), store[:100].reshape(10, 10).T)


def assert_overlap_refused(call: Call, g: Any, second: Any, out: Array) -> None:
    before = np.array(out)
    with pytest.raises(oa.AclnnParameterError, match="overlap") as caught:
        call(g, second, out=out)
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")
    np.testing.assert_array_equal(out, before)


OVERLAPS: dict[str, Callable[[Array], tuple[Array, Array]]] = {  # an input and the result
    "transposed": lambda store: (store.reshape(10, 10), store.reshape(10, 10).T),
    "one element later": lambda store: (store[:50], store[1:51]),
    "one element earlier": lambda store: (store[1:51], store[:50]),
    "first on last": lambda store: (store[49:99], store[:50]),
    "other stride": lambda store: (store[:80:2], store[:40]),
    "windows": lambda store: (store.reshape(10, 10)[:6, :6], store.reshape(10, 10)[4:, 4:]),
    "one repeated element": lambda store: (np.broadcast_to(store[7:8], (50,)), store[:50]),
}


@BOTH
@pytest.mark.parametrize("role", ["gradient", "second"])
@pytest.mark.parametrize("name", OVERLAPS)
def test_result_overlapping_an_input_otherwise_than_exactly_is_refused(
    operator: str, role: str, name: str
) -> None:
    shared, out = OVERLAPS[name](ordinary((100,), 25))
    other = ordinary(out.shape, 26)
    inputs = (shared, other) if role == "gradient" else (other, shared)
    assert_overlap_refused(CALLS[operator], *inputs, out)


@BOTH
def test_in_place_does_not_excuse_the_other_input(operator: str) -> None:
    square = ordinary((6, 6), 27)
    assert_overlap_refused(CALLS[operator], square, square.T, square)
    assert_overlap_refused(CALLS[operator], square.T, square, square)


@BOTH
def test_bytes_of_another_type_overlap_too(operator: str) -> None:
    store = ordinary((60,), 28)
    halves = store.view(np.float16)[:30]
    with oa.product(ASCEND_950):
        assert_overlap_refused(CALLS[operator], halves, ordinary((30,), 29), store[:30])
        apart = store.view(np.float16)[60:90]
        CALLS[operator](apart, ordinary((30,), 29), out=store[:30])


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((3,), (0,)),
        ((4, 3), (3, 0)),
        ((1, 3), (9, 0)),
        ((3, 3), (1, 1)),
        ((4, 4), (3, 2)),
        ((5, 4, 3), (6, 2, 4)),
        ((3, 5), (4, 1)),
    ],
    ids=str,
)
@BOTH
def test_result_overlapping_itself_is_refused(
    operator: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    out = as_strided(np.zeros(100, np.float32), shape, [4 * s for s in strides])
    g, second = ordinary(shape, 30), ordinary(shape, 31)
    assert_overlap_refused(CALLS[operator], g, second, out)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((1, 3), (0, 1)),
        ((3, 1, 2), (2, 0, 1)),
        ((4, 3), (3, 2)),  # interleaved: 0 2 4, 3 5 7, 6 8 10, 9 11 13
        ((2, 3), (3, 2)),
        ((2, 2, 2), (3, 5, 7)),
        ((0, 3), (0, 0)),
    ],
    ids=str,
)
@BOTH
def test_result_whose_elements_are_all_distinct_is_allowed(
    operator: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    out = as_strided(np.zeros(100, np.float32), shape, [4 * s for s in strides])
    check(operator, ordinary(shape, 32), ordinary(shape, 33), out)


def positions(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> list[int]:
    """Where each element lies, one by one."""
    return [
        offset + sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, shape))
    ]


SMALL_VIEW = st.integers(0, 4).flatmap(
    lambda rank: st.tuples(
        st.tuples(*[st.integers(1, 4)] * rank),
        st.tuples(*[st.integers(0, 14)] * rank),
        st.tuples(*[st.integers(0, 14)] * rank),
        st.integers(0, 24),
        st.integers(0, 24),
    )
)


@settings(max_examples=400)
@given(SMALL_VIEW)
def test_overlap_is_refused_exactly_when_elements_are_shared(case: Any) -> None:
    shape, out_strides, in_strides, out_offset, in_offset = case
    store = ordinary((300,), 34)
    before = store.copy()
    out, shared = (
        as_strided(store[offset:], shape, [4 * s for s in strides])
        for offset, strides in ((out_offset, out_strides), (in_offset, in_strides))
    )
    target = positions(shape, out_strides, out_offset)
    source = positions(shape, in_strides, in_offset)
    distinct = len(set(target)) == len(target)
    allowed = distinct and (target == source or not set(target) & set(source))
    other = ordinary(shape, 35)
    expected = CALLS["silu"](np.array(shared), other)
    if not allowed:
        assert_overlap_refused(CALLS["silu"], shared, other, out)
        np.testing.assert_array_equal(store, before)
        return
    CALLS["silu"](shared, other, out=out)
    assert_same_bits(out, expected)
    untouched = np.setdiff1d(np.arange(300), target)
    np.testing.assert_array_equal(store[untouched], before[untouched])


@dataclass
class Layout:
    """Where an argument's elements lie in a backing store, in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    store: Array = field(init=False)

    def on_new_store(self, dtype: np.dtype[Any], fill: int) -> Array:
        """A view of this layout on bytes that all hold fill."""
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True) if n > 0)
        count = self.offset + max(reach, 0) + 4
        self.store = np.full(count * dtype.itemsize, fill, np.uint8).view(dtype)
        byte_strides = [s * dtype.itemsize for s in self.strides]
        view: Array = as_strided(self.store[self.offset :], self.shape, byte_strides)
        return view


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    rank = draw(st.integers(0, 8))
    extents: list[int] = []
    for _ in range(rank):
        room = 600 // max(math.prod(extents), 1)
        extents.append(draw(st.integers(0, 1) | st.integers(1, min(room, 40))))
    return tuple(draw(st.permutations(extents)))


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...], *, expandable: bool) -> Layout:
    """Dimensions in any order with any gaps; an input's may repeat one element."""
    strides = [0] * len(shape)
    stride = 1
    for i in draw(st.permutations(range(len(shape)))):
        stride *= draw(st.sampled_from([1, 1, 1, 2, 3]))
        strides[i] = stride
        stride *= max(shape[i], 1)
    if expandable and shape and draw(st.booleans()):
        for i in draw(st.sets(st.integers(0, len(shape) - 1))):
            strides[i] = 0
    return Layout(shape, tuple(strides), draw(st.integers(0, 70)))


@st.composite
def operands(draw: st.DrawFn) -> tuple[str, np.dtype[Any], str]:
    """An operator, one of its types, and a product that takes it."""
    operator = draw(st.sampled_from(list(CALLS)))
    dtype = draw(st.sampled_from(SILU_TYPES if operator == "silu" else SIGMOID_TYPES))
    products = list(WITH_BFLOAT16)
    if dtype != ml_dtypes.bfloat16:
        products += WITHOUT_BFLOAT16
        products += ["Ascend310P3"] if operator == "sigmoid" else []
    return operator, dtype, draw(st.sampled_from(products))


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers of all sizes, infinities among them."""
    with np.errstate(over="ignore"):
        values = rng.normal(size=shape) * np.exp2(rng.integers(-30, 12, shape))
        if dtype.kind == "c":
            values = values + 1j * rng.normal(size=shape)
        else:
            values = np.where(rng.random(shape) < 0.02, np.inf, values)
        return np.asarray(values).astype(dtype)


UNTOUCHED = 0xA5


def assert_only_view_written(layout: Layout, expected: Array) -> None:
    """The whole backing store is as it was, but for the view's elements."""
    reference = Layout(layout.shape, layout.strides, layout.offset)
    reference.on_new_store(expected.dtype, UNTOUCHED)[...] = expected
    np.testing.assert_array_equal(layout.store.view(np.uint8), reference.store.view(np.uint8))


@settings(max_examples=400)
@given(st.data(), operands(), shapes(), st.integers(0, 2**32 - 1), st.booleans())
def test_any_layout_gives_the_bits_of_contiguous_arrays(
    data: st.DataObject,
    operands: tuple[str, np.dtype[Any], str],
    shape: tuple[int, ...],
    seed: int,
    two_phase: bool,
) -> None:
    operator, dtype, product = operands
    rng = np.random.default_rng(seed)
    inputs = []
    for _ in range(2):
        layout = data.draw(layouts(shape, expandable=True))
        view = layout.on_new_store(dtype, UNTOUCHED)
        view[...] = numbers(rng, shape, dtype)
        inputs.append(view)
    place = data.draw(layouts(shape, expandable=False))
    out = place.on_new_store(dtype, UNTOUCHED)
    with oa.product(product):
        expected = CALLS[operator](*(np.array(view, order="C") for view in inputs))
        if two_phase:
            begin = getattr(oa, f"{operator}_backward_get_workspace_size")
            begin(*inputs, out)[1].run()
        else:
            assert CALLS[operator](*inputs, out=out) is out
    assert_same_bits(out, expected)
    assert_only_view_written(place, expected)


@settings(max_examples=150)
@given(st.data(), operands(), shapes(), st.integers(0, 2**32 - 1), st.sampled_from(["g", "second"]))
def test_any_layout_in_place_gives_the_bits_of_contiguous_arrays(
    data: st.DataObject,
    operands: tuple[str, np.dtype[Any], str],
    shape: tuple[int, ...],
    seed: int,
    role: str,
) -> None:
    operator, dtype, product = operands
    rng = np.random.default_rng(seed)
    place = data.draw(layouts(shape, expandable=False))
    out = place.on_new_store(dtype, UNTOUCHED)
    out[...] = numbers(rng, shape, dtype)
    other = numbers(rng, shape, dtype)
    inputs = (out, other) if role == "g" else (other, out)
    with oa.product(product):
        expected = CALLS[operator](*(np.array(view, order="C") for view in inputs))
        CALLS[operator](*inputs, out=out)
    assert_only_view_written(place, expected)


TORCH_TYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float64": torch.float64,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}


@settings(max_examples=150)
@given(st.data(), operands(), shapes(), st.integers(0, 2**32 - 1))
def test_any_layout_of_pytorch_tensors_gives_the_bits_of_contiguous_arrays(
    data: st.DataObject,
    operands: tuple[str, np.dtype[Any], str],
    shape: tuple[int, ...],
    seed: int,
) -> None:
    operator, dtype, product = operands
    rng = np.random.default_rng(seed)

    def tensor(layout: Layout) -> torch.Tensor:
        store = torch.from_numpy(layout.store.view(np.uint8)).view(TORCH_TYPES[dtype.name])
        return store.as_strided(shape, layout.strides, layout.offset)

    inputs, copies = [], []
    for _ in range(2):
        layout = data.draw(layouts(shape, expandable=True))
        view = layout.on_new_store(dtype, UNTOUCHED)
        view[...] = numbers(rng, shape, dtype)
        copies.append(np.array(view, order="C"))
        inputs.append(tensor(layout))
    place = data.draw(layouts(shape, expandable=False))
    place.on_new_store(dtype, UNTOUCHED)
    with oa.product(product):
        expected = CALLS[operator](*copies)
        CALLS[operator](*inputs, out=tensor(place))
    assert_only_view_written(place, expected)


@st.composite
def broadcasting_shapes(draw: st.DrawFn) -> tuple[tuple[int, ...], ...]:
    """Two shapes that broadcast, and the one that they broadcast to."""
    full = draw(shapes().filter(lambda shape: 0 not in shape))
    parts = []
    for _ in range(2):
        ones = draw(st.sets(st.integers(0, 7)))
        part = tuple(1 if i in ones else n for i, n in enumerate(full))
        leading = next((i for i, n in enumerate(part) if n != 1), len(part))
        parts.append(part[draw(st.integers(0, leading)) :])
    return parts[0], parts[1], np.broadcast_shapes(*parts)


@settings(max_examples=200)
@given(st.data(), operands(), broadcasting_shapes(), st.integers(0, 2**32 - 1))
def test_any_layout_broadcasts_on_ascend_950(
    data: st.DataObject,
    operands: tuple[str, np.dtype[Any], str],
    shapes: tuple[tuple[int, ...], ...],
    seed: int,
) -> None:
    operator, dtype, _ = operands
    rng = np.random.default_rng(seed)
    inputs = []
    for shape in shapes[:2]:
        view = data.draw(layouts(shape, expandable=True)).on_new_store(dtype, UNTOUCHED)
        view[...] = numbers(rng, shape, dtype)
        inputs.append(view)
    place = data.draw(layouts(shapes[2], expandable=False))
    out = place.on_new_store(dtype, UNTOUCHED)
    full = [np.broadcast_to(view, shapes[2]).copy() for view in inputs]
    with oa.product(ASCEND_950):
        expected = CALLS[operator](*full)
        CALLS[operator](*inputs, out=out)
        assert_same_bits(CALLS[operator](*inputs), expected)
    assert_only_view_written(place, expected)


@BOTH
@pytest.mark.parametrize("shape", [(700, 900), (1000, 33, 40), (64, 56, 56, 7)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=["float32", "float16"])
def test_large_permuted_views_give_the_bits_of_contiguous_arrays(
    operator: str, shape: tuple[int, ...], dtype: Any
) -> None:
    orders = list(itertools.permutations(range(len(shape))))
    g, second = ordinary(shape, 36, dtype), ordinary(shape, 37, dtype)
    expected = CALLS[operator](g, second)
    for order in orders[1 :: max(len(orders) // 4, 1)]:
        back = np.argsort(order)

        def permuted(array: Array, order: Any = order, back: Any = back) -> Array:
            return np.ascontiguousarray(array.transpose(order)).transpose(back)

        out = permuted(np.zeros(shape, dtype))
        CALLS[operator](permuted(g), second, out=out)
        assert_same_bits(out, expected)
        assert_same_bits(CALLS[operator](g, permuted(second)), expected)


GIGABYTE = 2**30


@pytest.mark.skipif(
    psutil.virtual_memory().available < 6 * GIGABYTE, reason="needs 4.3 GB of memory"
)
def test_more_than_2_to_the_31_elements() -> None:
    """In place on x, whose value tells where it came from; the gradient has stride 0."""
    pattern = np.arange(65536, dtype=np.uint16).view(np.float16)
    pattern = np.where(np.isfinite(pattern), pattern, np.float16(1))
    gradient = np.broadcast_to(np.float16(1), pattern.shape)
    expected = oa.silu_backward(np.ones_like(pattern), pattern)
    count = 2**31 + 65536 + 77
    x = np.empty(count, np.float16)
    for start in range(0, count, pattern.size):
        x[start : start + pattern.size] = pattern[: count - start]
    gradient = np.broadcast_to(np.float16(1), (count,))
    oa.silu_backward(gradient, x, out=x)
    wanted = expected.view(np.uint16)
    bits = x.view(np.uint16)
    whole = count // pattern.size
    for start in range(0, whole, 1024):
        rows = bits[start * pattern.size : min(start + 1024, whole) * pattern.size]
        assert (rows.reshape(-1, pattern.size) == wanted).all()
    np.testing.assert_array_equal(bits[whole * pattern.size :], wanted[: count % pattern.size])


@pytest.mark.parametrize("stride", [2**31 - 1, 2**31, 2**32 + 5])
def test_strides_beyond_32_bits(stride: int) -> None:
    """In address space that is reserved but, for a few pages, never touched."""
    size = 2 * (2 * stride + 8)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    store = np.frombuffer(mmap.mmap(-1, size, flags=flags), np.float16)
    views = [as_strided(store[i:], (3,), (2 * stride,)) for i in range(3)]
    views[0][...] = [1, 2, 4]
    views[1][...] = [0.5, 0.25, 2]
    oa.sigmoid_backward(views[0], views[1], out=views[2])
    np.testing.assert_array_equal(views[2], np.float16([0.25, 0.375, -8]))
    assert store[3] == 0


def test_view_past_64_bit_offsets_is_refused() -> None:
    x = np.ones(4, np.float32)
    far = as_strided(x, (3,), (2**62,))
    for inputs, name in [((far, x[:3]), "gradOutput"), ((x[:3], far), "self")]:
        with pytest.raises(oa.AclnnParameterError, match="64-bit") as caught:
            oa.silu_backward(*inputs, out=np.ones(3, np.float32))
        assert (caught.value.status, caught.value.argument) == (161002, name)
    with pytest.raises(oa.AclnnParameterError, match="64-bit") as caught:
        oa.silu_backward(x[:3], x[:3], out=far)
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")


def test_memory_mapped_arrays(tmp_path: Path) -> None:
    g, out = (
        np.memmap(tmp_path / name, np.float32, "w+", shape=(1000, 30)) for name in ("g", "out")
    )
    g[...] = ordinary((1000, 30), 38)
    second = ordinary((30, 1000), 39).T
    check("silu", g, second, out)
    reread = np.fromfile(tmp_path / "out", np.float32).reshape(1000, 30)
    assert_same_bits(reread, CALLS["silu"](np.array(g), np.array(second, order="C")))


@BOTH
@pytest.mark.parametrize(
    "formats", [*itertools.product(["contiguous", "last"], repeat=3)], ids="-".join
)
@pytest.mark.parametrize("shape", [(3, 5, 7, 4), (2, 3, 4, 5, 6)], ids=str)
def test_every_mix_of_contiguous_and_channels_last(
    operator: str, formats: tuple[str, ...], shape: tuple[int, ...]
) -> None:
    def in_format(array: Array, name: str) -> Array:
        if name == "contiguous":
            return array.copy()
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)

    values = ordinary(shape, 40), ordinary(shape, 41), np.zeros(shape, np.float32)
    expected = CALLS[operator](*values[:2])
    arrays = [in_format(*pair) for pair in zip(values, formats, strict=True)]
    check(operator, *arrays)
    arrays[2][...] = 0
    memory_format = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    views = tensors(*arrays)
    for view, name in zip(views, formats, strict=True):
        assert view.is_contiguous(memory_format=memory_format) == (name == "last")
    assert CALLS[operator](views[0], views[1], out=views[2]) is views[2]
    assert_same_bits(arrays[2], expected)


def test_in_place_over_an_input_of_another_type_of_the_same_size() -> None:
    y = ordinary((70_001,), 42, ml_dtypes.bfloat16)
    g = ordinary(y.shape, 43, np.float16)
    wide = g.astype(np.float64)
    complex_y = ordinary(y.shape, 44).astype(np.complex64) + 1j
    with oa.product(ASCEND_950):
        expected = oa.sigmoid_backward(g, y, out=np.zeros_like(y))
        assert oa.sigmoid_backward(g, y, out=y) is y
        assert_same_bits(y, expected)
        expected = oa.sigmoid_backward(wide, complex_y, out=np.zeros_like(complex_y))
        oa.sigmoid_backward(wide, complex_y, out=wide.view(np.complex64))
        assert_same_bits(wide.view(np.complex64), expected)


@dataclass(frozen=True)
class Placed:
    """A view on a buffer, described in bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def on(self, buffer: Array) -> Array:
        view: Array = np.ndarray(self.shape, self.dtype, buffer, self.offset, self.strides)
        return view

    def starts(self) -> list[int]:
        """The first byte of each element, one by one."""
        return positions(self.shape, self.strides, self.offset)

    def bytes(self) -> set[int]:
        return {start + i for start in self.starts() for i in range(self.dtype.itemsize)}

    def overlaps_itself(self) -> bool:
        return len(set(self.starts())) < len(self.starts())

    def is_same_view(self, other: Placed) -> bool:
        same_form = (self.shape, self.dtype.itemsize) == (other.shape, other.dtype.itemsize)
        return same_form and self.starts() == other.starts()

    def overlaps(self, other: Placed) -> bool:
        return not self.is_same_view(other) and bool(self.bytes() & other.bytes())


BUFFER_BYTES = 10_000  # more than 2**3 * 4**3 elements of 16 bytes, and the offset


class CallsInOneBuffer:
    """Makes calls whose three views lie near each other on one buffer.

    Hypothesis only picks the seed: its own choices favour views of few elements.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def operator(self) -> str:
        return str(self._rng.choice(list(CALLS)))

    def product(self) -> str:
        return str(self._rng.choice(["Ascend910B1", ASCEND_950]))

    def types(self, operator: str, product: str) -> list[np.dtype[Any]]:
        """Three types that the product takes together."""
        types = SILU_TYPES if operator == "silu" else SIGMOID_TYPES
        first = self._one_of(types)
        if product != ASCEND_950 or self._chance(0.5):
            return [first] * 3
        second = self._one_of(types)
        if operator == "silu":
            return [first, second, first if first == second else np.dtype(np.float32)]
        is_complex = "c" in (first.kind, second.kind)
        return [first, second, self._one_of([d for d in types if d.kind == "c" or not is_complex])]

    def views(self, types: list[np.dtype[Any]], product: str) -> list[Placed]:
        shape = tuple(int(n) for n in self._rng.integers(1, 5, self._rng.integers(0, 4)))
        result = self._result(types[2], shape)
        views = [self._input(dtype, shape, result) for dtype in types[:2]]
        expanded = int(self._rng.integers(0, 2))
        if product == ASCEND_950 and shape and self._chance(0.3):
            view = views[expanded]
            views[expanded] = Placed(view.dtype, (1, *shape[1:]), view.strides, view.offset)
        return [*views, result]

    def _chance(self, probability: float) -> bool:
        return bool(self._rng.random() < probability)

    def _one_of(self, types: list[np.dtype[Any]]) -> np.dtype[Any]:
        return types[self._rng.integers(len(types))]

    def _offset(self, dtype: np.dtype[Any]) -> int:
        """What NumPy calls aligned: for complex numbers at half an element too."""
        return dtype.alignment * int(self._rng.integers(0, self._rng.choice([4, 12, 40])))

    def _result(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Placed:
        """Most often one whose dimensions are nested in any order, with gaps."""
        strides = self._rng.integers(0, 9, len(shape))
        if self._chance(0.8):
            stride = 1
            for i in self._rng.permutation(len(shape)):
                stride *= int(self._rng.integers(1, 3))
                strides[i] = stride
                stride *= shape[i]
        return self._placed(dtype, shape, strides)

    def _input(self, dtype: np.dtype[Any], shape: tuple[int, ...], result: Placed) -> Placed:
        """At times the result's very view, or its layout elsewhere."""
        if dtype.itemsize == result.dtype.itemsize and self._chance(0.3):
            offset = result.offset if self._chance(0.5) else self._offset(dtype)
            return Placed(dtype, shape, result.strides, offset)
        return self._placed(dtype, shape, self._rng.integers(0, 9, len(shape)))

    def _placed(self, dtype: np.dtype[Any], shape: tuple[int, ...], strides: Array) -> Placed:
        offset = self._offset(dtype)
        return Placed(dtype, shape, tuple(int(s) * dtype.itemsize for s in strides), offset)


@settings(max_examples=1500)
@given(st.integers(0, 2**32 - 1))
def test_three_views_of_one_buffer_are_refused_exactly_when_bytes_are_shared(seed: int) -> None:
    calls = CallsInOneBuffer(seed)
    operator, product = calls.operator(), calls.product()
    places = calls.views(calls.types(operator, product), product)
    buffer = np.random.default_rng(seed).integers(0, 256, BUFFER_BYTES, np.uint8)
    before = buffer.copy()
    g, second, out = (place.on(buffer) for place in places)
    result = places[2]
    refused = result.overlaps_itself() or any(result.overlaps(place) for place in places[:2])
    with oa.product(product):
        if refused:
            with pytest.raises(oa.AclnnParameterError, match="overlaps") as caught:
                CALLS[operator](g, second, out=out)
            assert (caught.value.status, caught.value.argument) == (161002, "gradInput")
            np.testing.assert_array_equal(buffer, before)
            return
        expected = np.empty(out.shape, out.dtype)
        CALLS[operator](g.copy(order="C"), second.copy(order="C"), out=expected)
        CALLS[operator](g, second, out=out)
    assert_same_bits(out, expected)
    untouched = np.setdiff1d(np.arange(BUFFER_BYTES), list(result.bytes()))
    np.testing.assert_array_equal(buffer[untouched], before[untouched])


# Phase one only looks at numbers: views below need no memory behind them.

NOWHERE = 1 << 44
TYPE_SIZES = {"FLOAT": 4, "FLOAT16": 2, "BFLOAT16": 2, "DOUBLE": 8, "COMPLEX64": 8}
SIGMOID = [operator.name for operator in oa.operators()].index("sigmoid_backward")


def described(
    place: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int = 0,
    type_name: str = "FLOAT",
) -> _native.TensorView:
    return _native.TensorView(NOWHERE * (place + 1), type_name, shape, strides, offset)


def packed(place: int, shape: tuple[int, ...], type_name: str = "FLOAT") -> _native.TensorView:
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return described(place, shape, tuple(strides), 0, type_name)


@settings(max_examples=1500)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 60)), max_size=5),
    st.sampled_from(list(TYPE_SIZES)),
    st.sampled_from([1, 2**20, 2**40]),
)
def test_result_overlaps_itself_exactly_when_an_element_has_two_indices(
    dimensions: list[tuple[int, int]], type_name: str, unit: int
) -> None:
    shape = tuple(n for n, _ in dimensions)
    strides = tuple(unit * stride for _, stride in dimensions)
    places = positions(shape, strides, 0)
    views = packed(0, shape, type_name), packed(1, shape, type_name)
    result = described(2, shape, strides, 5, type_name)
    if len(set(places)) == len(places):
        assert _native.begin(SIGMOID, *views, result).workspace_size == 0
        return
    with pytest.raises(oa.AclnnParameterError, match="overlaps with itself") as caught:
        _native.begin(SIGMOID, *views, result)
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")


@pytest.mark.parametrize("role", [0, 1, 2])
@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((3,), (2**62,), 0),
        ((3,), (2**61,), 0),
        ((3,), (1,), 2**63 - 2),
        ((3,), (1,), 2**61),
        ((2**61 + 1,), (1,), 0),
        ((2, 2, 2), (2**60, 2**60, 2**60), 0),
    ],
    ids=str,
)
def test_bytes_past_64_bits_are_refused(
    role: int, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    views = [described(place, shape, (0,) * len(shape)) for place in range(3)]
    views[role] = described(role, shape, strides, offset)
    with pytest.raises(oa.AclnnParameterError) as caught:
        _native.begin(SIGMOID, *views)
    assert caught.value.status == 161002
    if math.prod(shape) < 2**61:  # or expanded views have too many elements as well
        assert caught.value.argument == ("gradOutput", "output", "gradInput")[role]
        assert "64-bit" in str(caught.value)


def test_more_elements_than_64_bits_count_are_refused() -> None:
    views = [described(place, (2**32, 2**32), (0, 0)) for place in range(3)]
    with pytest.raises(oa.AclnnParameterError, match="64-bit") as caught:
        _native.begin(SIGMOID, *views)
    assert (caught.value.status, caught.value.argument) == (161002, "gradOutput")


@pytest.mark.parametrize("shape", [(2**62, 2**62, 0), (0, 2**63 - 1), (2**40, 0, 2**40)], ids=str)
def test_empty_views_of_any_extents_are_fine(shape: tuple[int, ...]) -> None:
    views = [described(place, shape, (2**62,) * len(shape)) for place in range(3)]
    _native.begin(SIGMOID, *views).run()


def test_strides_of_single_elements_do_not_count() -> None:
    memory = [np.full(4, value, np.float32) for value in (2, 0.25, 9)]
    shape, strides = (1, 2, 1), (2**63 - 1, 1, 0)
    views = [_native.TensorView(m.ctypes.data, "FLOAT", shape, strides, 1) for m in memory]
    _native.begin(SIGMOID, *views).run()
    np.testing.assert_array_equal(memory[2], np.float32([9, 0.375, 0.375, 9]))


LONG = 1 << 25


@pytest.mark.parametrize(
    ("shape", "out_strides", "in_strides", "offset"),
    [
        ((LONG,), (2,), (2,), 1),
        ((4000, 4000), (8000, 1), (1, 8000), 4000),
        ((4000, 4000), (8000, 2), (2, 8000), 1),
        ((32, 64, 100, 100), (1280000, 1, 12800, 128), (1280000, 1, 12800, 128), 64),
        ((LONG,), (4,), (2,), 1),
        ((LONG,), (6,), (3,), 1),
        ((1000, 1000, 20), (120000, 120, 6), (60000, 60, 3), 1),
    ],
    ids=str,
)
def test_long_views_between_each_others_elements_are_allowed(
    shape: tuple[int, ...], out_strides: tuple[int, ...], in_strides: tuple[int, ...], offset: int
) -> None:
    result = described(0, shape, out_strides)
    shared = described(0, shape, in_strides, offset)
    other = packed(1, shape)
    _native.begin(SIGMOID, shared, other, result)
    _native.begin(SIGMOID, other, shared, result)
