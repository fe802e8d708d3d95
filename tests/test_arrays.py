"""The kinds of arrays that come in go out, on the memory that they share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import openaclnn as oa
from openaclnn import _native

Array = NDArray[Any]

CALLS: dict[str, Callable[..., Any]] = {
    "silu": oa.silu_backward,
    "sigmoid": oa.sigmoid_backward,
}
OPERATORS = pytest.mark.parametrize("operator", CALLS)
NUMPY_TYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
WIDE_TYPES = [np.float64, np.complex64, np.complex128]
TORCH_TYPES = {
    torch.float32: np.float32,
    torch.float16: np.float16,
    torch.float64: np.float64,
    torch.complex64: np.complex64,
    torch.complex128: np.complex128,
}


def sample(dtype: Any = np.float32, shape: tuple[int, ...] = (7, 11)) -> tuple[Array, Array]:
    """A gradient, and a second input between 0 and 1."""
    rng = np.random.default_rng(80)
    return rng.normal(size=shape).astype(dtype), rng.uniform(0, 1, shape).astype(dtype)


def expected(operator: str, g: Array, second: Array) -> Array:
    """The formula as it is written, in double precision."""
    wide = np.complex128 if g.dtype.kind == "c" else np.float64
    g, v = g.astype(wide), second.astype(wide)
    if operator == "sigmoid":
        return g * np.conj(v * (1 - v))
    sigma = 1 / (1 + np.exp(-v))
    return g * sigma * (1 + v - v * sigma)


def assert_right(operator: str, result: Array, g: Array, second: Array) -> None:
    eps = float(ml_dtypes.finfo(result.dtype).eps)
    wide = result.astype(np.complex128 if result.dtype.kind == "c" else np.float64)
    np.testing.assert_allclose(wide, expected(operator, g, second), rtol=4 * eps, atol=4 * eps)


class Exported:
    """An array that can do nothing but export DLPack, as its first version asked for it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.device: tuple[int, int] = array.__dlpack_device__()

    def __dlpack__(self, stream: None = None) -> Any:
        return self._array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class ExportedReadOnly(Exported):
    """One that passes on what a newer importer asks for, so that it may be read-only."""

    def __dlpack__(self, **asked: Any) -> Any:
        return self._array.__dlpack__(**asked)


# NumPy


@OPERATORS
@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=lambda t: t.__name__)
def test_numpy_arrays_give_numpy_arrays(operator: str, dtype: Any) -> None:
    g, second = sample(dtype)
    result = CALLS[operator](g, second)
    assert type(result) is np.ndarray
    assert (result.dtype, result.shape) == (np.dtype(dtype), (7, 11))
    assert result.flags.owndata
    assert result.flags.writeable
    assert_right(operator, result, g, second)


@pytest.mark.parametrize("dtype", WIDE_TYPES, ids=lambda t: t.__name__)
def test_sigmoid_of_wide_and_complex_numpy_arrays(dtype: Any) -> None:
    g, y = sample(dtype)
    y = y + (0.25j if y.dtype.kind == "c" else 0)
    result = oa.sigmoid_backward(g, y.astype(dtype))
    assert result.dtype == dtype
    assert_right("sigmoid", result, g, y)


@OPERATORS
def test_out_is_written_and_returned(operator: str) -> None:
    g, second = sample()
    out = np.full_like(g, 9)
    assert CALLS[operator](g, second, out=out) is out
    assert_right(operator, out, g, second)


@OPERATORS
def test_inputs_are_not_changed(operator: str) -> None:
    g, second = sample()
    before = g.copy(), second.copy()
    CALLS[operator](g, second)
    CALLS[operator](g, second, out=np.empty_like(g))
    np.testing.assert_array_equal(g, before[0])
    np.testing.assert_array_equal(second, before[1])


@OPERATORS
def test_result_is_laid_out_like_the_second_input(operator: str) -> None:
    g, second = sample(shape=(2, 3, 4, 5))
    channels_last = np.ascontiguousarray(second.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    result = CALLS[operator](g, channels_last)
    assert result.strides == channels_last.strides
    fortran = np.asfortranarray(second)
    assert CALLS[operator](g, fortran).flags.f_contiguous
    assert CALLS[operator](g, second[:, ::2].repeat(2, 1)[:, :3]).flags.c_contiguous


@OPERATORS
def test_result_of_an_expanded_input_has_memory_for_every_element(operator: str) -> None:
    g, _ = sample()
    second = np.broadcast_to(np.float32(0.25), g.shape)
    result = CALLS[operator](g, second)
    assert 0 not in result.strides
    assert_right(operator, result, g, second)


@OPERATORS
@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=lambda t: t.__name__)
def test_rank_zero_arrays_and_scalars(operator: str, dtype: Any) -> None:
    scalars = np.array(2, dtype)[()], np.array(0.25, dtype)[()]
    arrays = np.array(2, dtype), np.array(0.25, dtype)
    for inputs in (scalars, arrays, (scalars[0], arrays[1]), (arrays[0], scalars[1])):
        result = CALLS[operator](*inputs)
        assert result.shape == ()
        assert result.dtype == dtype
        assert_right(operator, result, *arrays)
    out = np.zeros((), dtype)
    assert CALLS[operator](*scalars, out=out) is out
    assert_right(operator, out, *arrays)


@OPERATORS
def test_read_only_inputs_are_fine(operator: str) -> None:
    g, second = sample()
    g.flags.writeable = second.flags.writeable = False
    result = CALLS[operator](g, second)
    assert result.flags.writeable
    assert_right(operator, result, g, second)


@OPERATORS
def test_numpy_subclasses_are_taken_as_arrays(operator: str) -> None:
    class Tagged(np.ndarray):
        pass

    g, second = sample()
    tagged = CALLS[operator](g.view(Tagged), second.view(Tagged))
    assert type(tagged) is np.ndarray
    assert_right(operator, tagged, g, second)
    out = np.zeros_like(g).view(Tagged)
    assert CALLS[operator](g, second, out=out) is out
    assert_right(operator, np.asarray(out), g, second)


def test_large_inputs_are_not_copied(run_python: Callable[..., str]) -> None:
    code = """
import resource
import numpy as np, torch, ml_dtypes
import openaclnn as oa
count = 60_000_000
arrays = [np.full(count, 0.25, ml_dtypes.bfloat16) for _ in range(3)]
tensors = [torch.from_numpy(a.view(np.uint16)).view(torch.bfloat16) for a in arrays]
oa.silu_backward(*(a[:100_000] for a in arrays[:2]))
oa.silu_backward(*(t[:100_000] for t in tensors[:2]))
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
oa.silu_backward(arrays[0], arrays[1], out=arrays[2])
oa.silu_backward(tensors[0], tensors[1], out=tensors[2])
_, executor = oa.silu_backward_get_workspace_size(*tensors)
executor.run()
print(peak() - before)
"""
    assert int(run_python(code)) < 60_000_000  # half of one array


@OPERATORS
def test_numpy_scalars_and_arrays_of_rank_zero_give_arrays(operator: str) -> None:
    result = CALLS[operator](np.float32(2), np.float32(0.25))
    assert type(result) is np.ndarray
    assert result.flags.writeable
    wide = oa.sigmoid_backward(np.float64(2), np.array(0.25))
    assert_right("sigmoid", wide, np.array(2.0), np.array(0.25))


@OPERATORS
def test_matrices_and_records_are_taken_as_arrays(operator: str) -> None:
    g, second = sample()
    records = np.rec.fromarrays([g, second], names="g,second")
    result = CALLS[operator](records.g, records.second)
    assert type(result) is np.ndarray
    assert_right(operator, result, g, second)


@OPERATORS
def test_memory_mapped_file_that_is_read_only(operator: str, tmp_path: Path) -> None:
    g, second = sample()
    np.save(tmp_path / "g.npy", g)
    mapped = np.load(tmp_path / "g.npy", mmap_mode="r")
    assert_right(operator, CALLS[operator](mapped, second), g, second)
    with pytest.raises(oa.AclnnParameterError, match="read-only") as caught:
        CALLS[operator](g, second, out=mapped)
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")
    np.testing.assert_array_equal(np.load(tmp_path / "g.npy"), g)


@pytest.mark.parametrize(
    ("operator", "dtype"),
    [(operator, dtype) for operator in CALLS for dtype in NUMPY_TYPES]
    + [("sigmoid", dtype) for dtype in WIDE_TYPES],
)
def test_arrays_that_must_be_copied_are_right_as_inputs_and_refused_as_result(
    operator: str, dtype: Any
) -> None:
    g, second = sample(dtype)
    wanted = CALLS[operator](g, second)
    reversed_ = second[::-1, ::-1].copy()[::-1, ::-1]
    swapped = second.astype(np.dtype(dtype).newbyteorder())
    misaligned = np.zeros(g.nbytes + 1, np.uint8)[1:].view(dtype).reshape(g.shape)
    misaligned[...] = second
    records = np.zeros(g.shape, [("tag", "u1"), ("value", dtype)])  # of an odd size
    records["value"] = second
    for unusual in (reversed_, swapped, misaligned, records["value"]):
        np.testing.assert_array_equal(CALLS[operator](g, unusual), wanted, strict=True)
        with pytest.raises(oa.AclnnParameterError) as caught:
            CALLS[operator](g, second, out=unusual)
        assert (caught.value.status, caught.value.argument) == (161002, "gradInput")
        np.testing.assert_array_equal(unusual, second)


# PyTorch


@OPERATORS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_pytorch_tensors_give_pytorch_tensors(operator: str, dtype: torch.dtype) -> None:
    g, second = (torch.from_numpy(array).to(dtype) for array in sample())
    result = CALLS[operator](g, second)
    assert type(result) is torch.Tensor
    assert (result.dtype, result.shape) == (dtype, g.shape)
    eps = torch.finfo(dtype).eps
    wide = torch.from_numpy(expected(operator, g.double().numpy(), second.double().numpy()))
    torch.testing.assert_close(result.double(), wide, rtol=4 * eps, atol=4 * eps)


@pytest.mark.parametrize("dtype", TORCH_TYPES, ids=str)
def test_pytorch_and_numpy_give_the_same_bits(dtype: torch.dtype) -> None:
    g, y = sample(TORCH_TYPES[dtype])
    result = oa.sigmoid_backward(torch.from_numpy(g), torch.from_numpy(y))
    assert result.dtype == dtype
    np.testing.assert_array_equal(result.numpy(), oa.sigmoid_backward(g, y))


@OPERATORS
def test_bfloat16_of_pytorch_and_of_ml_dtypes_is_the_same(operator: str) -> None:
    g, second = sample(ml_dtypes.bfloat16, (100, 70))
    tensors = [torch.from_numpy(a.view(np.uint16)).view(torch.bfloat16) for a in (g, second)]
    result = CALLS[operator](*tensors)
    np.testing.assert_array_equal(
        result.view(torch.uint16).numpy(), CALLS[operator](g, second).view(np.uint16)
    )
    assert_right(operator, CALLS[operator](g, second), g, second)


@OPERATORS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_pytorch_result_is_written_where_it_lies(operator: str, dtype: torch.dtype) -> None:
    g, second = (torch.from_numpy(array).to(dtype) for array in sample())
    store = torch.full((20, 30), 9, dtype=dtype)
    out = store[3:10, 4:26:2]
    assert CALLS[operator](g, second, out=out) is out
    wanted = torch.full((20, 30), 9, dtype=dtype)
    wanted[3:10, 4:26:2] = CALLS[operator](g, second)
    assert torch.equal(store, wanted)


@OPERATORS
def test_pytorch_result_on_numpy_memory(operator: str) -> None:
    g, second = sample()
    memory = np.zeros_like(g)
    CALLS[operator](*map(torch.from_numpy, (g, second)), out=torch.from_numpy(memory))
    assert_right(operator, memory, g, second)


@OPERATORS
def test_pytorch_result_keeps_the_memory_format(operator: str) -> None:
    g, second = (torch.from_numpy(array) for array in sample(shape=(2, 3, 4, 5)))
    last = second.to(memory_format=torch.channels_last)
    result = CALLS[operator](g, last)
    assert result.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(result, CALLS[operator](g, second))
    expanded = CALLS[operator](g, second[:1].expand(2, 3, 4, 5))
    assert 0 not in expanded.stride()


@OPERATORS
def test_pytorch_rank_zero(operator: str) -> None:
    result = CALLS[operator](torch.tensor(2.0), torch.tensor(0.25))
    assert result.shape == ()
    assert_right(operator, result.numpy(), np.array(2.0), np.array(0.25))


@OPERATORS
def test_pytorch_views_with_an_offset(operator: str) -> None:
    g, second = (torch.from_numpy(array) for array in sample(shape=(100,)))
    result = CALLS[operator](g[37:], second[11:74])
    assert torch.equal(result, CALLS[operator](g[37:].clone(), second[11:74].clone()))


def test_gradients_of_autograd_agree_with_pytorch() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(50, 40, generator=generator, dtype=torch.float32, requires_grad=True)
    g = torch.randn(50, 40, generator=generator)
    torch.nn.functional.silu(x).backward(g)
    torch.testing.assert_close(oa.silu_backward(g, x.detach()), x.grad)
    x.grad = None
    y = torch.sigmoid(x)
    y.backward(g)
    torch.testing.assert_close(oa.sigmoid_backward(g, y.detach()), x.grad)


def test_pytorch_is_not_imported_for_numpy_arrays(run_python: Callable[..., str]) -> None:
    code = """
import sys
import numpy as np, openaclnn as oa
x = np.ones((3, 4), np.float32)
oa.silu_backward(x, x[::-1])
oa.silu_backward(x, x.T.copy().T, out=np.empty_like(x))
print("torch" in sys.modules or "jax" in sys.modules)
"""
    assert run_python(code) == "False"


@OPERATORS
def test_pytorch_result_shares_the_storage(operator: str) -> None:
    g, second = (torch.from_numpy(array) for array in sample())
    store = torch.zeros(200)
    out = store[50:127].view(7, 11)
    result = CALLS[operator](g, second, out=out)
    assert result.untyped_storage().data_ptr() == store.untyped_storage().data_ptr()
    assert result.data_ptr() == store.data_ptr() + 200
    assert torch.equal(store[50:127].view(7, 11), CALLS[operator](g, second))


@OPERATORS
@pytest.mark.parametrize(
    "shape_and_order",
    [((2, 3, 4), (2, 0, 1)), ((2, 3, 4, 5, 6), (0, 2, 3, 4, 1)), ((5, 4), (1, 0))],
    ids=str,
)
def test_pytorch_result_is_laid_out_like_the_second_input(
    operator: str, shape_and_order: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    shape, order = shape_and_order
    g, second = (torch.from_numpy(array) for array in sample(shape=shape))
    back = tuple(np.argsort(order))
    permuted = second.permute(order).contiguous().permute(back)
    result = CALLS[operator](g, permuted)
    assert result.stride() == permuted.stride()
    assert torch.equal(result, CALLS[operator](g, second))


@OPERATORS
def test_parameter_is_updated_in_place_without_grad(operator: str) -> None:
    g, second = (torch.from_numpy(array) for array in sample())
    wanted = CALLS[operator](g, second)
    parameter = torch.nn.Parameter(second.clone())
    address = parameter.data_ptr()
    with torch.no_grad():
        assert CALLS[operator](g, parameter, out=parameter) is parameter
    assert parameter.data_ptr() == address
    assert torch.equal(parameter.detach(), wanted)


@OPERATORS
def test_pytorch_tensor_that_is_not_aligned(operator: str) -> None:
    g, second = sample(shape=(100,))
    memory = bytearray(401)
    np.frombuffer(memory, np.uint8)[1:] = second.view(np.uint8)
    odd = torch.frombuffer(memory, dtype=torch.float32, offset=1, count=100)
    assert odd.data_ptr() % 4
    result = CALLS[operator](torch.from_numpy(g), odd)
    np.testing.assert_array_equal(result.numpy(), CALLS[operator](g, second))


WITHOUT_MEMORY = {
    "storage freed": "x = torch.ones(5000); x.untyped_storage().resize_(0)",
    "fake": """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    x = torch.ones(5000)
""",
}


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_pytorch_tensors_without_memory_are_refused(
    name: str, run_python: Callable[..., str]
) -> None:
    code = f"""
import torch
import openaclnn as oa
{WITHOUT_MEMORY[name]}
one = torch.ones(5000)
for arguments in ((x, one, one), (one, x, one), (one, one, x)):
    try:
        oa.silu_backward(arguments[0], arguments[1], out=arguments[2])
    except oa.AclnnError as error:
        print(error.status, error.argument)
"""
    assert run_python(code) == "161002 gradOutput\n161002 self\n161002 gradInput"


def test_pytorch_zeros_without_memory_are_refused_or_read_as_zeros(
    run_python: Callable[..., str],
) -> None:
    # Derivatives forward are full of such tensors.
    code = """
import torch
import openaclnn as oa
x, one, zero = torch._efficientzerotensor(5000), torch.ones(5000), torch.zeros(5000)
for lazy, plain in (((x, one), (zero, one)), ((one, x), (one, zero))):
    try:
        print(torch.equal(oa.silu_backward(*lazy), oa.silu_backward(*plain)))
    except oa.AclnnError as error:
        print(error.status == 161002)
try:
    oa.silu_backward(one, one, out=x)
except oa.AclnnError as error:
    print(error.status, error.argument)
"""
    assert run_python(code) == "True\nTrue\n161002 gradInput"


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_pytorch_tensors_are_refused() -> None:
    nested = torch.nested.nested_tensor([torch.ones(3), torch.ones(2)])
    with pytest.raises(oa.AclnnError) as caught:
        oa.silu_backward(nested, nested)
    assert (caught.value.status, caught.value.argument) == (161002, "gradOutput")


# DLPack


@OPERATORS
def test_arrays_that_only_export_dlpack(operator: str) -> None:
    g, second = sample()
    result = CALLS[operator](Exported(g), Exported(second))
    assert_right(operator, np.asarray(result), g, second)


@OPERATORS
def test_dlpack_result_is_written_where_it_lies(operator: str) -> None:
    g, second = sample()
    memory = np.zeros((11, 7), np.float32)
    out = Exported(memory.T)
    assert CALLS[operator](Exported(g), Exported(second), out=out) is out
    assert_right(operator, memory.T, g, second)


@OPERATORS
def test_dlpack_strides_and_offsets(operator: str) -> None:
    g, second = sample(shape=(20, 30))
    views = [Exported(g[::2, 1::3]), Exported(second[5:15, 20:30])]
    result = CALLS[operator](*views)
    assert_right(operator, np.asarray(result), g[::2, 1::3], second[5:15, 20:30])


@OPERATORS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_dlpack_of_short_types(operator: str, dtype: torch.dtype) -> None:
    g, second = (torch.from_numpy(array).to(dtype) for array in sample())
    out = torch.zeros_like(g)
    CALLS[operator](Exported(g), Exported(second), out=Exported(out))
    assert torch.equal(out, CALLS[operator](g, second))


@OPERATORS
def test_read_only_dlpack_inputs_are_fine_and_results_refused(operator: str) -> None:
    g, second = sample()
    fixed = g.copy()
    fixed.flags.writeable = False
    result = CALLS[operator](ExportedReadOnly(fixed), ExportedReadOnly(second))
    assert_right(operator, np.asarray(result), g, second)
    with pytest.raises(oa.AclnnParameterError) as caught:
        CALLS[operator](ExportedReadOnly(g), ExportedReadOnly(second), out=ExportedReadOnly(fixed))
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")
    np.testing.assert_array_equal(fixed, g)


@OPERATORS
def test_dlpack_executor_keeps_the_memory(operator: str) -> None:
    g, second = sample(shape=(300, 200))
    wanted = CALLS[operator](g, second)
    out = np.zeros_like(g)
    begin = getattr(oa, f"{operator}_backward_get_workspace_size")
    exported = Exported(g.copy()), Exported(second.copy()), Exported(out)
    _, executor = begin(*exported)
    del exported
    rubble = [np.full_like(g, np.nan) for _ in range(8)]
    executor.run()
    np.testing.assert_array_equal(out, wanted)
    del rubble


@pytest.mark.parametrize(
    ("place", "name"), [(0, "gradOutput"), (1, "self"), (2, "gradInput")], ids=str
)
def test_dlpack_array_on_another_device_is_refused(place: int, name: str) -> None:
    arrays = [Exported(array) for array in (*sample(), np.zeros((7, 11), np.float32))]
    arrays[place].device = (2, 0)  # a GPU
    with pytest.raises(oa.AclnnTypeError, match="CPU") as caught:
        oa.silu_backward(arrays[0], arrays[1], out=arrays[2])
    assert (caught.value.status, caught.value.argument) == (161002, name)


def test_dlpack_type_that_is_not_taken_is_refused() -> None:
    integers = Exported(np.ones(3, np.int32))
    with pytest.raises(oa.AclnnTypeError, match="DT_INT32") as caught:
        oa.silu_backward(integers, integers)
    assert caught.value.status == 161002


def test_dlpack_export_that_fails_is_reported() -> None:
    class Broken(Exported):
        def __dlpack__(self, stream: None = None) -> Any:
            raise BufferError("nothing to export")

    g, second = sample()
    with pytest.raises(oa.AclnnTypeError, match="DLPack") as caught:
        oa.silu_backward(Broken(g), Broken(second))
    assert caught.value.argument == "gradOutput"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, MemoryError, TypeError])
def test_what_an_export_raises_is_not_lost(error: type[BaseException]) -> None:
    class Raising(Exported):
        def __dlpack__(self, stream: None = None) -> Any:
            raise error("on the way")

    arrays = [Raising(array) for array in sample()]
    if issubclass(error, Exception):
        with pytest.raises(oa.AclnnTypeError, match="on the way") as caught:
            oa.silu_backward(*arrays)
        assert isinstance(caught.value.__cause__, error)
    else:
        with pytest.raises(error):
            oa.silu_backward(*arrays)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_dlpack_export_of_anything_but_a_live_capsule_is_refused(place: int) -> None:
    class Given(Exported):
        given: Any

        def __dlpack__(self, stream: None = None) -> Any:
            return self.given

    g, second = sample()
    consumed = g.__dlpack__()
    giver = Given(g)
    giver.given = consumed
    torch.from_dlpack(giver)
    for given in (consumed, None, 3, g, "dltensor"):
        arrays = [Given(g), Given(second), Given(g.copy())]
        for i, (array, source) in enumerate(zip(arrays, (g, second, g.copy()), strict=True)):
            array.given = given if i == place else source.__dlpack__()
        with pytest.raises(oa.AclnnTypeError, match="no live DLPack capsule"):
            oa.silu_backward(arrays[0], arrays[1], out=arrays[2])


@pytest.mark.parametrize("device", [None, (), 1, ("cpu", 0)], ids=str)
def test_dlpack_device_that_is_none_is_refused(device: Any) -> None:
    array = Exported(sample()[0])
    array.device = device
    with pytest.raises(oa.AclnnTypeError, match="__dlpack_device__") as caught:
        oa.silu_backward(array, array)
    assert caught.value.argument == "gradOutput"


def test_read_only_dlpack_result_is_called_so() -> None:
    g, second = sample()
    fixed = g.copy()
    fixed.flags.writeable = False
    with pytest.raises(oa.AclnnParameterError, match="read-only"):
        oa.silu_backward(ExportedReadOnly(g), ExportedReadOnly(second), out=ExportedReadOnly(fixed))


@OPERATORS
def test_misaligned_tensors_and_exports(operator: str) -> None:
    g, second = sample()
    store = bytearray(b"\0" + second.tobytes())
    tensor = torch.frombuffer(store, dtype=torch.float32, offset=1).reshape(g.shape)
    assert tensor.data_ptr() % 4 != 0
    result = CALLS[operator](torch.from_numpy(g), tensor)
    assert_right(operator, result.numpy(), g, second)
    begin = getattr(oa, f"{operator}_backward_get_workspace_size")
    right, misaligned = torch.from_numpy(g), np.frombuffer(store, np.float32, offset=1)
    exported, out = Exported(g), Exported(misaligned.reshape(g.shape))
    for function, first, saved, written in (
        (CALLS[operator], right, right, tensor),
        (begin, right, tensor, right),
        (CALLS[operator], exported, exported, out),
        (CALLS[operator], exported, out, exported),
    ):
        with pytest.raises(oa.AclnnParameterError, match="not aligned") as caught:
            function(first, saved, out=written)
        assert caught.value.status == 161002
    assert store == b"\0" + second.tobytes()


def test_dlpack_kinds_must_not_mix_with_numpy() -> None:
    g, second = sample()
    with pytest.raises(oa.AclnnTypeError, match="one kind") as caught:
        oa.silu_backward(g, Exported(second))
    assert caught.value.argument == "self"


def test_dlpack_views_lie_on_the_exported_memory() -> None:
    g, second = sample()
    for array, address in (
        (g[1:, 2:], g[1:, 2:].ctypes.data),
        (torch.from_numpy(second)[3:], second[3:].ctypes.data),
    ):
        for writable in (False, True):
            view = _native.view_of_dlpack(array.__dlpack__(), writable)
            assert view is not None
            assert view.address == address


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1), (2,) * 8], ids=str)
@OPERATORS
def test_dlpack_of_any_rank(operator: str, shape: tuple[int, ...]) -> None:
    g, second = sample(shape=shape)
    out = np.full_like(g, 9)
    CALLS[operator](Exported(g), Exported(second), out=Exported(out))
    assert_right(operator, out, g, second)
    assert CALLS[operator](Exported(g), Exported(second)).shape == shape


@pytest.mark.parametrize("dtype", WIDE_TYPES, ids=lambda t: t.__name__)
def test_dlpack_of_wide_and_complex_types(dtype: Any) -> None:
    g, y = sample(dtype)
    result = oa.sigmoid_backward(Exported(g), Exported(y))
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, oa.sigmoid_backward(g, y))


@pytest.mark.parametrize(
    ("place", "name"), [(0, "gradOutput"), (1, "self"), (2, "gradInput")], ids=str
)
def test_dlpack_array_with_a_negative_stride_is_refused(place: int, name: str) -> None:
    arrays = [*sample(shape=(9,)), np.full(9, 7, np.float32)]
    arrays[place] = arrays[place][::-1]
    exported = [Exported(array) for array in arrays]
    with pytest.raises(oa.AclnnParameterError, match="negative") as caught:
        oa.silu_backward(exported[0], exported[1], out=exported[2])
    assert (caught.value.status, caught.value.argument) == (161002, name)
    assert (arrays[2] == 7).all()


def test_dlpack_overlap_and_in_place() -> None:
    store = np.linspace(-2, 2, 101, dtype=np.float32)
    g = np.ones(100, np.float32)
    before = store.copy()
    with pytest.raises(oa.AclnnParameterError, match="overlap"):
        oa.silu_backward(Exported(g), Exported(store[1:]), out=Exported(store[:-1]))
    np.testing.assert_array_equal(store, before)
    wanted = oa.silu_backward(g, store[1:])
    oa.silu_backward(Exported(g), Exported(store[1:]), out=Exported(store[1:]))
    np.testing.assert_array_equal(store[1:], wanted)
    assert store[0] == before[0]


# JAX


@pytest.fixture(scope="module")
def jnp() -> Any:
    return pytest.importorskip("jax.numpy")


@OPERATORS
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_jax_arrays_give_jax_arrays(operator: str, name: str, jnp: Any) -> None:
    g, second = sample(np.dtype(getattr(ml_dtypes, name, name)))
    arrays = jnp.asarray(g), jnp.asarray(second)
    result = CALLS[operator](*arrays)
    assert type(result) is type(arrays[0])
    assert (result.dtype, result.shape) == (g.dtype, g.shape)
    np.testing.assert_array_equal(np.asarray(result), CALLS[operator](g, second))
    np.testing.assert_array_equal(np.asarray(arrays[0]), g)


def test_jax_result_can_not_be_written(jnp: Any) -> None:
    arrays = [jnp.ones(3) for _ in range(3)]
    with pytest.raises(oa.AclnnParameterError, match="JAX") as caught:
        oa.silu_backward(arrays[0], arrays[1], out=arrays[2])
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")
    np.testing.assert_array_equal(np.asarray(arrays[2]), 1)


def test_jax_arrays_are_not_copied(jnp: Any) -> None:
    array = jnp.arange(1000, dtype=jnp.bfloat16)
    view = _native.view_of_dlpack(array.__dlpack__(), False)
    assert view is not None
    assert view.address == array.unsafe_buffer_pointer()
    assert (view.type, view.shape) == ("BFLOAT16", [1000])


@OPERATORS
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2,) * 8], ids=str)
def test_jax_arrays_of_any_rank(operator: str, shape: tuple[int, ...], jnp: Any) -> None:
    g, second = sample(shape=shape)
    result = CALLS[operator](jnp.asarray(g), jnp.asarray(second))
    assert result.shape == shape
    np.testing.assert_array_equal(np.asarray(result), CALLS[operator](g, second))


def test_jax_complex_arrays(jnp: Any) -> None:
    g, y = sample(np.complex64)
    result = oa.sigmoid_backward(jnp.asarray(g), jnp.asarray(y))
    np.testing.assert_array_equal(np.asarray(result), oa.sigmoid_backward(g, y))


def test_jax_arrays_broadcast_and_mix_on_ascend_950(jnp: Any) -> None:
    g, x = jnp.linspace(-1, 1, 4).reshape(4, 1), jnp.linspace(-3, 3, 5, dtype=jnp.bfloat16)
    with oa.product("Ascend950PR_9599"):
        result = oa.silu_backward(g, x)
        assert (result.shape, result.dtype) == ((4, 5), jnp.float32)
        expected = oa.silu_backward(np.asarray(g), np.asarray(x))
    np.testing.assert_array_equal(np.asarray(result), expected)


def test_jax_arrays_do_not_mix_with_others(jnp: Any) -> None:
    g, second = sample()
    for other in (second, torch.from_numpy(second), Exported(second)):
        with pytest.raises(oa.AclnnTypeError, match="one kind") as caught:
            oa.silu_backward(jnp.asarray(g), other)
        assert (caught.value.status, caught.value.argument) == (161002, "self")


def test_jax_arrays_that_are_traced_are_refused(jnp: Any) -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(oa.AclnnTypeError, match="Tracer") as caught:
        jax.jit(oa.silu_backward)(jnp.ones(3), jnp.ones(3))
    assert (caught.value.status, caught.value.argument) == (161002, "gradOutput")
