"""Another library of the same interface in place of the built-in core: our own, loaded that way."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import openaclnn as oa

LIB = oa.toolkit.path() / "lib64"


@pytest.fixture(scope="module")
def copy_of_the_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second instance with a state of its own: another file, opened by its path."""
    path = tmp_path_factory.mktemp("device") / "libdevice.so"
    shutil.copy(LIB / "libopenaclnn.so", path)
    return path


@pytest.fixture
def device(copy_of_the_library: Path) -> Iterator[ctypes.CDLL]:
    oa.load_library(copy_of_the_library)
    yield ctypes.CDLL(str(copy_of_the_library))
    oa.load_library(None)


def free_memory(library: ctypes.CDLL) -> int:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert library.aclrtGetMemInfo(0, ctypes.byref(free), ctypes.byref(total)) == 0
    return free.value


def with_built_in_core(function: Callable[..., Any], *arrays: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("openaclnn.device._loaded", None)
        return function(*arrays)


TYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.complex64, np.complex128]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided", "expanded", "scalar"])
def test_results_are_those_of_the_built_in_core(
    device: ctypes.CDLL, dtype: Any, layout: str
) -> None:
    rng = np.random.default_rng(1)
    grad_output = rng.normal(size=(30, 20)).astype(dtype)
    second = rng.uniform(0, 1, (30, 20)).astype(dtype)
    if layout == "transposed":
        grad_output, second = grad_output.T.copy().T, second
    elif layout == "strided":
        grad_output, second = grad_output[::2, 1::3], second[::2, 1::3]
    elif layout == "expanded":
        grad_output = np.broadcast_to(grad_output[:1], (30, 20))
    elif layout == "scalar":
        grad_output, second = grad_output[0, 0], second[0, 0]
    before = free_memory(device)
    operators = [oa.sigmoid_backward]
    operators += [oa.silu_backward] if dtype in TYPES[:3] else []
    for function in operators:
        expected = with_built_in_core(function, grad_output, second)
        assert function(grad_output, second).tobytes() == expected.tobytes()
    assert free_memory(device) == before


@pytest.mark.usefixtures("device")
def test_it_is_the_loaded_library_that_computes() -> None:
    # Its product is its own: the built-in core's rules do not hold there.
    x = np.ones(3, ml_dtypes.bfloat16)
    with oa.product("Ascend910A"):
        assert oa.silu_backward(x, x, out=np.empty_like(x)).shape == (3,)


@pytest.mark.usefixtures("device")
def test_elements_between_those_of_out_are_kept() -> None:
    matrix = np.arange(60, dtype=np.float32).reshape(6, 10) / 60
    kept = matrix[:, 1::2].copy()
    expected = with_built_in_core(oa.sigmoid_backward, matrix[:, ::2].copy(), kept)
    # out and an input lie between each other's elements.
    oa.sigmoid_backward(matrix[:, ::2], matrix[:, 1::2], out=matrix[:, ::2])
    np.testing.assert_array_equal(matrix[:, 1::2], kept)
    np.testing.assert_array_equal(matrix[:, ::2], expected)


@pytest.mark.usefixtures("device")
def test_empty_arrays_and_torch_tensors() -> None:
    assert oa.silu_backward(np.ones((3, 0, 2), "f4"), np.ones((3, 0, 2), "f4")).shape == (3, 0, 2)
    x = torch.randn(4, 6, dtype=torch.bfloat16).T
    out = torch.empty(6, 4, dtype=torch.bfloat16)
    assert oa.silu_backward(torch.ones_like(x), x, out=out) is out
    expected = with_built_in_core(oa.silu_backward, torch.ones_like(x), x)
    assert torch.equal(out, expected)


def test_faults_carry_the_librarys_status_and_text_and_leak_nothing(device: ctypes.CDLL) -> None:
    before = free_memory(device)
    x = np.ones(3, np.float32)
    with pytest.raises(oa.AclnnParameterError, match=r"PID.*EZ1001.*gradInput") as caught:
        oa.silu_backward(x, x, out=np.ones(4, np.float32))
    assert caught.value.status == 161002
    assert caught.value.operator == "aclnnSiluBackward"
    with pytest.raises(oa.AclnnParameterError, match="EZ1001"):
        oa.silu_backward_get_workspace_size(x, None, x)
    assert free_memory(device) == before


@pytest.mark.usefixtures("device")
def test_executor_runs_once() -> None:
    y = np.full(4, 0.5)
    out = np.zeros(4)
    size, executor = oa.sigmoid_backward_get_workspace_size(np.ones(4), y, out)
    executor.run()
    assert size == 0
    assert out.tolist() == [0.25] * 4
    with pytest.raises(oa.AclnnError) as caught:
        executor.run()
    assert caught.value.status == 561103


def test_repeatable_executor_reads_the_arrays_at_each_run(device: ctypes.CDLL) -> None:
    before = free_memory(device)
    y = np.full(4, 0.5)
    out = np.zeros(4)
    _, executor = oa.sigmoid_backward_get_workspace_size(np.ones(4), y, out)
    executor.repeatable = True
    for value in (0.5, 0.25, 2.0):
        y[:] = value
        executor.run()
        assert out.tolist() == [value * (1 - value)] * 4
    del executor
    assert free_memory(device) == before


@pytest.mark.usefixtures("device")
def test_stream_gives_results_in_order() -> None:
    ones = np.ones(5)
    first, second = np.zeros(5), np.zeros(5)
    _, once = oa.sigmoid_backward_get_workspace_size(ones, np.full(5, 0.5), first)
    _, twice = oa.sigmoid_backward_get_workspace_size(first, np.full(5, 0.5), second)
    with oa.Stream() as stream:
        once.run(stream=stream)
        twice.run(stream=stream)
    assert second.tolist() == [0.0625] * 5


def test_prefix_is_loaded_by_the_names_of_its_libraries() -> None:
    oa.load_library(oa.toolkit.path())
    try:
        assert oa.silu_backward(np.ones(2, "f4"), np.zeros(2, "f4")).tolist() == [0.5, 0.5]
    finally:
        oa.load_library(None)


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        oa.load_library(tmp_path / "absent.so")
    with pytest.raises(OSError, match=r"lacks libascendcl\.so, libnnopbase\.so, libopapi\.so"):
        oa.load_library(tmp_path)
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(OSError, match="text"):
        oa.load_library(tmp_path / "text.so")
    source = tmp_path / "other.c"
    source.write_text("int something(void) { return 0; }\n")
    other = tmp_path / "other.so"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", other], check=True)
    with pytest.raises(OSError, match="has no function aclInit"):
        oa.load_library(other)
    assert oa.silu_backward(np.ones(1, "f4"), np.zeros(1, "f4")) == 0.5


ENVIRONMENT = """
import numpy as np, openaclnn as oa
oa.set_product("Ascend310P3")  # of the built-in core, which does not compute here
try:
    print(oa.silu_backward(np.ones(1, "f4"), np.zeros(1, "f4"), out=np.empty(1, "f4")))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_environment_names_the_library_and_the_device(
    copy_of_the_library: Path, run_python: Callable[..., str]
) -> None:
    named = run_python(ENVIRONMENT, OPENACLNN_LIBRARY=str(copy_of_the_library))
    assert "[0.5]" in named
    absent = run_python(ENVIRONMENT, OPENACLNN_LIBRARY="/absent.so")
    assert "OSError" in absent
    far = run_python(ENVIRONMENT, OPENACLNN_LIBRARY=str(copy_of_the_library), OPENACLNN_DEVICE="7")
    assert "there is no device 7" in far
