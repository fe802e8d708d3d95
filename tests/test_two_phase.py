"""Executors in Python: the memory that they work on, and what they can't be used for."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import openaclnn as oa

SIZE = 50_000


def begin(*arrays: Any) -> oa.Executor:
    executor = oa.sigmoid_backward_get_workspace_size(*arrays)[1]
    executor.repeatable = True
    return executor


def tensors() -> list[torch.Tensor]:
    return [torch.full((SIZE,), value) for value in (2.0, 0.25, 9.0)]


def rubble() -> list[torch.Tensor]:
    """Take the place of memory that was given back."""
    gc.collect()
    return [torch.full((SIZE,), torch.nan) for _ in range(8)]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("on_stream", [False, True])
@pytest.mark.parametrize("how", ["data", "set_"])
def test_executor_works_on_the_memory_of_phase_one(place: int, on_stream: bool, how: str) -> None:
    arrays = tensors()
    memory = arrays[2].numpy()
    executor = begin(*arrays)
    if how == "data":
        arrays[place].data = torch.zeros(3)
    else:
        arrays[place].set_(torch.zeros(3))
    kept = rubble()
    if on_stream:
        with oa.Stream() as stream:
            executor.run(stream=stream)
    else:
        executor.run()
    assert (memory == 0.375).all()
    del kept


@pytest.mark.parametrize(
    ("place", "name"), [(0, "gradOutput"), (1, "output"), (2, "gradInput")], ids=str
)
@pytest.mark.parametrize("size", [0, 10 * SIZE])
@pytest.mark.parametrize("on_stream", [False, True])
def test_resized_storage_is_refused(place: int, name: str, size: int, on_stream: bool) -> None:
    arrays = tensors()
    executor = begin(*arrays)
    arrays[place].untyped_storage().resize_(size * 4)
    kept = rubble()
    with oa.Stream() as stream, pytest.raises(oa.AclnnParameterError, match="since phase") as error:
        executor.run(stream=stream if on_stream else None)
    assert (error.value.status, error.value.argument) == (161002, name)
    del kept


@pytest.mark.parametrize(
    ("place", "name"), [(0, "gradOutput"), (1, "output"), (2, "gradInput")], ids=str
)
def test_resized_numpy_array_is_refused(place: int, name: str) -> None:
    arrays = [np.full(SIZE, value) for value in (2.0, 0.25, 9.0)]
    executor = begin(*arrays)
    arrays[place].resize(3, refcheck=False)
    with pytest.raises(oa.AclnnParameterError, match="since phase one") as caught:
        executor.run()
    assert caught.value.argument == name


def test_numpy_scalars_live_as_long_as_the_executor() -> None:
    out = np.zeros(())
    executor = begin(np.float64(2), np.float64(0.25), out)
    kept = [np.float64(i) for i in range(1000)], [np.zeros(()) for _ in range(1000)]
    executor.run()
    assert out == 0.375
    del kept


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_executors_and_streams_are_not_copied(duplicate: Callable[[Any], Any]) -> None:
    for original in (begin(*tensors()), oa.Stream()):
        with pytest.raises(TypeError, match="can't be copied or pickled"):
            duplicate(original)


@pytest.mark.parametrize("value", ["yes", 1, None, [True]], ids=str)
def test_repeatable_is_true_or_false(value: Any) -> None:
    executor = oa.sigmoid_backward_get_workspace_size(*tensors())[1]
    with pytest.raises(oa.AclnnTypeError, match="True or False"):
        executor.repeatable = value
    assert not executor.repeatable


# Autograd


def one_call(out: torch.Tensor) -> None:
    oa.sigmoid_backward(torch.ones_like(out), torch.ones_like(out), out=out)


def two_phases(out: torch.Tensor) -> None:
    begin(torch.ones_like(out), torch.ones_like(out), out).run()


def on_a_stream(out: torch.Tensor) -> None:
    with oa.Stream() as stream:
        begin(torch.ones_like(out), torch.ones_like(out), out).run(stream=stream)


@pytest.mark.parametrize("write", [one_call, two_phases, on_a_stream])
@pytest.mark.parametrize("part", [slice(None), slice(3)], ids=["whole", "view"])
def test_autograd_notices_that_saved_values_are_gone(
    write: Callable[[torch.Tensor], None], part: slice
) -> None:
    factor = torch.full((5,), 3.0)
    x = torch.ones(5, requires_grad=True)
    product = x * factor
    write(factor[part])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_inference_tensors_may_be_written() -> None:
    with torch.inference_mode():
        out = torch.zeros(5)
    one_call(out)
    two_phases(out)


def test_inputs_keep_their_version() -> None:
    arrays = tensors()
    oa.sigmoid_backward(arrays[0], arrays[1], out=arrays[2])
    assert [array._version for array in arrays] == [0, 0, 1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tracing_is_refused() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return oa.silu_backward(torch.ones_like(x), x)

    with pytest.raises(oa.AclnnParameterError, match=r"torch\.jit\.trace"):
        torch.jit.trace(function, torch.ones(3))
