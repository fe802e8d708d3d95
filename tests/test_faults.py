"""The fault table row by row and in its order, products' rules, and arguments of wrong kinds."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

import openaclnn as oa

Array = NDArray[Any]

C_NAMES = {"silu_backward": "aclnnSiluBackward", "sigmoid_backward": "aclnnSigmoidBackward"}
SECOND = {"silu_backward": "self", "sigmoid_backward": "output"}
OPERATORS = pytest.mark.parametrize("operator", C_NAMES)
ROLES = pytest.mark.parametrize("role", ["grad_output", "second", "out"])

SERIES = {  # each series' SoC names, with a name for every pattern
    "Atlas inference": ["Ascend310P1", "Ascend310P3"],
    "Atlas training": ["Ascend910A", "Ascend910ProA", "Ascend910ProB", "Ascend910PremiumA"],
    "Atlas A2": ["Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4"],
    "Atlas A3": [f"Ascend910_{n}" for n in (9391, 9392, 9381, 9382, 9372, 9362)],
    "Ascend 950": ["Ascend950PR_9599", "Ascend950PR_957b", "Ascend950DT_95A1"],
}
SOC_NAMES = [name for names in SERIES.values() for name in names]
ASCEND_950 = SERIES["Ascend 950"]
ONE_OF_EACH = [names[0] for names in SERIES.values()]

DTYPES: dict[str, np.dtype[Any]] = {
    "FLOAT": np.dtype(np.float32),
    "FLOAT16": np.dtype(np.float16),
    "BFLOAT16": np.dtype(ml_dtypes.bfloat16),
    "DOUBLE": np.dtype(np.float64),
    "COMPLEX64": np.dtype(np.complex64),
    "COMPLEX128": np.dtype(np.complex128),
}
OTHER_DTYPES = {
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
}


def accepted_types(operator: str, soc: str) -> set[str]:
    """The table of the operators' documentation."""
    series = next(name for name, names in SERIES.items() if soc in names)
    short = {"FLOAT", "FLOAT16"}
    if series not in ("Atlas inference", "Atlas training"):
        short.add("BFLOAT16")
    if operator == "sigmoid_backward":
        return short | {"DOUBLE", "COMPLEX64", "COMPLEX128"}
    return set() if series == "Atlas inference" else short


SUPPORTED = [(op, soc) for op in C_NAMES for soc in SOC_NAMES if accepted_types(op, soc)]
BEFORE_ASCEND_950 = pytest.mark.parametrize(
    ("operator", "soc"), [(op, soc) for op, soc in SUPPORTED if soc not in ASCEND_950]
)


@dataclass(frozen=True)
class Call:
    """The arguments of one call, to be changed into faulty ones."""

    operator: str
    grad_output: Any
    second: Any
    out: Any
    product: str = "Ascend910B1"

    def argument(self, role: str) -> str:
        """The C interface's name of an argument."""
        names = {"grad_output": "gradOutput", "second": SECOND[self.operator], "out": "gradInput"}
        return names[role]

    def one_call(self) -> Any:
        with oa.product(self.product):
            function = getattr(oa, self.operator)
            return function(self.grad_output, self.second, out=self.out)

    def phase_one(self) -> Any:
        with oa.product(self.product):
            function = getattr(oa, f"{self.operator}_get_workspace_size")
            return function(self.grad_output, self.second, self.out)


def valid_call(operator: str, shape: tuple[int, ...] = (2, 3), dtype: Any = np.float32) -> Call:
    values = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape) / 8
    return Call(operator, np.ones(shape, dtype), values.astype(dtype), np.full(shape, 9, dtype))


def contents(array: Any) -> bytes:
    if isinstance(array, torch.Tensor):
        array = array.detach().resolve_conj().contiguous().view(torch.uint8).numpy()
    return bytes(np.array(array).tobytes())


def assert_refused(
    call: Call,
    status: int,
    argument: str,
    *texts: str,
    kind: type[oa.AclnnError] = oa.AclnnParameterError,
) -> None:
    """The same error from both ways to call; nothing written; nothing changed."""
    writable = isinstance(call.out, (np.ndarray, torch.Tensor))
    before = contents(call.out) if writable else b""
    state = oa.get_product(), oa.get_num_threads()
    # Without out, one call allocates the result: that is no fault.
    for way in [call.phase_one] if call.out is None else [call.phase_one, call.one_call]:
        with pytest.raises(oa.AclnnError) as caught:
            way()
        error = caught.value
        assert type(error) is kind
        assert (error.status, error.argument) == (status, argument)
        assert error.status_name == STATUS_NAMES[status]
        assert error.operator == C_NAMES[call.operator]
        for text in (C_NAMES[call.operator], argument, *texts):
            assert text in str(error)
        assert "\n" not in str(error)
    assert (oa.get_product(), oa.get_num_threads()) == state
    if writable:
        assert contents(call.out) == before


STATUS_NAMES = {
    161001: "ACLNN_ERR_PARAM_NULLPTR",
    161002: "ACLNN_ERR_PARAM_INVALID",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
    561103: "ACLNN_ERR_INNER_NULLPTR",
}


# The rows of the table


@OPERATORS
@ROLES
def test_null_tensor(operator: str, role: str) -> None:
    call = replace(valid_call(operator), **{role: None})
    assert_refused(call, 161001, call.argument(role), "null", "Ascend910B1")


@OPERATORS
def test_null_input_of_a_call_that_allocates(operator: str) -> None:
    x = np.ones(3, np.float32)
    for arguments, name in [((None, x), "gradOutput"), ((x, None), SECOND[operator])]:
        with pytest.raises(oa.AclnnParameterError) as caught:
            getattr(oa, operator)(*arguments)
        assert (caught.value.status, caught.value.argument) == (161001, name)


@pytest.mark.parametrize("soc", SERIES["Atlas inference"])
def test_silu_is_not_supported_on_atlas_inference(soc: str) -> None:
    call = replace(valid_call("silu_backward"), product=soc)
    assert_refused(call, 561003, "", soc, "not supported", "Atlas A2", kind=oa.AclnnError)


@OPERATORS
@pytest.mark.parametrize("soc", SOC_NAMES)
@pytest.mark.parametrize("name", [*DTYPES, *OTHER_DTYPES])
def test_types_by_product(operator: str, soc: str, name: str) -> None:
    dtype = DTYPES.get(name, OTHER_DTYPES.get(name))
    call = replace(valid_call(operator, dtype=dtype), product=soc)
    accepted = accepted_types(operator, soc)
    if name in accepted:
        assert call.one_call() is call.out
        assert call.phase_one()[0] == 0
    elif not accepted:
        assert_refused(call, 561003, "", soc, kind=oa.AclnnError)
    else:
        texts = [f"DT_{name}", soc, *(f"DT_{other}" for other in accepted)]
        assert_refused(call, 161002, "gradOutput", *texts, kind=oa.AclnnTypeError)


@OPERATORS
@ROLES
@pytest.mark.parametrize("soc", [*ONE_OF_EACH[1:], ASCEND_950[2]])
def test_type_that_is_not_taken_on_each_argument(operator: str, role: str, soc: str) -> None:
    call = valid_call(operator)
    wrong = getattr(call, role).astype(np.int32)
    call = replace(call, product=soc, **{role: wrong})
    texts = ["DT_INT32", soc, "DT_FLOAT16"]
    assert_refused(call, 161002, call.argument(role), *texts, kind=oa.AclnnTypeError)


@pytest.mark.parametrize("soc", ["Ascend910A", "Ascend310P3"])
def test_bfloat16_on_older_products_names_type_product_and_what_is_taken(soc: str) -> None:
    tensor = torch.ones(3, dtype=torch.bfloat16)
    with oa.product(soc), pytest.raises(TypeError) as caught:
        oa.sigmoid_backward(tensor, tensor.clone())
    for text in ("DT_BFLOAT16", soc, "DT_FLOAT,", "DT_FLOAT16", "DT_COMPLEX128"):
        assert text in str(caught.value)


@BEFORE_ASCEND_950
@pytest.mark.parametrize("role", ["second", "out"])
def test_types_that_differ_are_refused_before_ascend_950(
    operator: str, soc: str, role: str
) -> None:
    call = valid_call(operator)
    call = replace(call, product=soc, **{role: getattr(call, role).astype(np.float16)})
    texts = ["DT_FLOAT16", "DT_FLOAT", soc]
    assert_refused(call, 161002, call.argument(role), *texts, kind=oa.AclnnTypeError)


@OPERATORS
@ROLES
@pytest.mark.parametrize("soc", [*ONE_OF_EACH[1:], ASCEND_950[2]])
def test_rank_over_eight(operator: str, role: str, soc: str) -> None:
    call = valid_call(operator, (1,) * 8)
    call = replace(call, product=soc, **{role: np.ones((1,) * 9, np.float32)})
    assert_refused(call, 161002, call.argument(role), "rank 9", "8", soc)


@BEFORE_ASCEND_950
@pytest.mark.parametrize("role", ["second", "out"])
@pytest.mark.parametrize(
    ("shape", "other"),
    [
        ((2, 3), (3, 2)),
        ((6,), (2, 3)),
        ((1,), ()),
        ((16, 16), (0,)),
        ((4, 1), (4, 5)),
        ((3,), (1,)),
    ],
    ids=str,
)
def test_shapes_that_differ(
    operator: str, soc: str, role: str, shape: tuple[int, ...], other: tuple[int, ...]
) -> None:
    call = valid_call(operator, shape)
    call = replace(call, product=soc, **{role: np.ones(other, np.float32)})
    texts = [str(list(shape)), str(list(other)), soc]
    assert_refused(call, 161002, call.argument(role), *texts)


@OPERATORS
@ROLES
def test_view_whose_extent_overflows(operator: str, role: str) -> None:
    call = valid_call(operator)
    far = as_strided(getattr(call, role), (2, 3), (4, 2**62))
    call = replace(call, **{role: far})
    with pytest.raises(oa.AclnnParameterError) as caught:
        call.phase_one()
    assert (caught.value.status, caught.value.argument) == (161002, call.argument(role))
    assert "[2, 3]" in str(caught.value)


@OPERATORS
def test_result_that_overlaps_itself(operator: str) -> None:
    call = valid_call(operator, (3,))
    call = replace(call, out=as_strided(call.out, (3,), (0,)))
    assert_refused(call, 161002, "gradInput", "overlap", "[3]", "[0]", "Ascend910B1")


@OPERATORS
@pytest.mark.parametrize("role", ["grad_output", "second"])
def test_result_that_overlaps_an_input(operator: str, role: str) -> None:
    square = np.ones((4, 4), np.float32)
    call = replace(valid_call(operator, (4, 4)), **{role: square.T}, out=square)
    assert_refused(call, 161002, "gradInput", "overlap", call.argument(role), "Ascend910B1")


# The order of the rows


def with_null(call: Call) -> Call:
    return replace(call, grad_output=None)


def unsupported(call: Call) -> Call:
    return replace(call, product="Ascend310P3")


def with_wrong_type(call: Call) -> Call:
    return replace(call, second=call.second.astype(np.int32))


def with_other_type(call: Call) -> Call:
    return replace(call, second=call.second.astype(np.float16))


def with_high_rank(call: Call) -> Call:
    return replace(call, second=np.ones((1,) * 9, call.second.dtype))


def with_other_shape(call: Call) -> Call:
    return replace(call, second=np.ones((3, 2), call.second.dtype))


def overflowing(call: Call) -> Call:
    return replace(call, out=as_strided(call.out, (2, 3), (4, 2**62)))


def self_overlapping(call: Call) -> Call:
    return replace(call, out=as_strided(call.out, (2, 3), (4, 0)))


ROWS: list[tuple[Callable[[Call], Call], int, str, type[oa.AclnnError]]] = [
    (with_null, 161001, "gradOutput", oa.AclnnParameterError),
    (unsupported, 561003, "", oa.AclnnError),
    (with_wrong_type, 161002, "self", oa.AclnnTypeError),
    (with_other_type, 161002, "self", oa.AclnnTypeError),
    (with_high_rank, 161002, "self", oa.AclnnParameterError),
    (with_other_shape, 161002, "self", oa.AclnnParameterError),
    (overflowing, 161002, "gradInput", oa.AclnnParameterError),
    (self_overlapping, 161002, "gradInput", oa.AclnnParameterError),
]
SAME_ARGUMENT = [{with_wrong_type, with_other_type}, {with_high_rank, with_other_shape}]
SAME_ARGUMENT += [{overflowing, self_overlapping}]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        pair
        for pair in itertools.combinations(ROWS, 2)
        if {pair[0][0], pair[1][0]} not in SAME_ARGUMENT
    ],
    ids=lambda row: row[0].__name__,
)
def test_of_two_faults_the_earlier_row_decides(first: Any, later: Any) -> None:
    fault, status, argument, kind = first
    call = fault(later[0](valid_call("silu_backward")))
    with pytest.raises(oa.AclnnError) as caught:
        call.phase_one()
    assert (caught.value.status, caught.value.argument) == (status, argument)
    assert type(caught.value) is kind


def test_all_faults_at_once_report_the_first_row_that_is_left() -> None:
    for skipped in range(len(ROWS)):
        call = valid_call("silu_backward")
        # Later rows first, so that the earlier ones' changes to the same argument stand.
        for fault, *_ in reversed(ROWS[skipped:]):
            call = fault(call)
        with pytest.raises(oa.AclnnError) as caught:
            call.phase_one()
        _, status, argument, kind = ROWS[skipped]
        assert (caught.value.status, caught.value.argument) == (status, argument)
        assert type(caught.value) is kind


def test_null_is_found_before_an_unsupported_operator_in_every_place() -> None:
    for role in ("grad_output", "second", "out"):
        call = replace(valid_call("silu_backward"), product="Ascend310P3", **{role: None})
        assert_refused(call, 161001, call.argument(role), "Ascend310P3")


def test_type_of_a_later_argument_is_found_before_the_shape_of_an_earlier_one() -> None:
    call = valid_call("silu_backward")
    call = replace(call, second=np.ones((7,), np.float32), out=call.out.astype(np.float64))
    assert_refused(call, 161002, "gradInput", "DT_DOUBLE", kind=oa.AclnnTypeError)


def test_exceptions_are_of_the_builtin_kinds_that_fit() -> None:
    assert issubclass(oa.AclnnParameterError, ValueError)
    assert issubclass(oa.AclnnTypeError, TypeError)
    assert issubclass(oa.AclnnTypeError, oa.AclnnParameterError)
    assert not issubclass(oa.AclnnError, (ValueError, TypeError))
    assert not issubclass(oa.AclnnParameterError, TypeError)


@settings(max_examples=200)
@given(st.data())
def test_any_mix_of_faults_is_refused_without_a_trace(data: st.DataObject) -> None:
    operator = data.draw(st.sampled_from(list(C_NAMES)))
    soc = data.draw(st.sampled_from(SOC_NAMES))
    types = [data.draw(st.sampled_from([*DTYPES, "INT32"])) for _ in range(3)]
    extents = st.lists(st.integers(0, 3), max_size=9).map(tuple)
    shape = data.draw(extents)
    shapes = [data.draw(st.just(shape) | extents) for _ in range(3)]
    dtypes = [DTYPES.get(name, np.dtype(np.int32)) for name in types]
    arrays = [np.full(s, 1, d) for s, d in zip(shapes, dtypes, strict=True)]
    call = Call(operator, *arrays, product=soc)
    accepted = accepted_types(operator, soc)
    broken = (
        not accepted
        or not set(types) <= accepted
        or max(map(len, shapes)) > 8
        or (soc not in ASCEND_950 and (len(set(types)) > 1 or len(set(shapes)) > 1))
    )
    if not broken and soc in ASCEND_950:
        broken = not ascend_950_takes(operator, types, shapes)
    before = contents(call.out)
    if broken:
        with pytest.raises(oa.AclnnError):
            call.one_call()
        assert contents(call.out) == before
    else:
        assert call.one_call() is call.out


def ascend_950_takes(operator: str, types: list[str], shapes: list[tuple[int, ...]]) -> bool:
    """Ascend 950's own rules for types and shapes that are accepted as such."""
    try:
        fits = np.broadcast_shapes(*shapes[:2]) == shapes[2]
    except ValueError:
        return False
    first, second, out = types
    if operator == "silu_backward":
        return fits and out == (first if first == second else "FLOAT")
    is_complex = "COMPLEX64" in types[:2] or "COMPLEX128" in types[:2]
    return fits and (not is_complex or out.startswith("COMPLEX"))


# Ascend 950: broadcasting and mixed types


@OPERATORS
@pytest.mark.parametrize("soc", ASCEND_950)
@pytest.mark.parametrize(
    ("first", "second"),
    [((3, 1), (1, 4)), ((4,), (3, 4)), ((), (2, 2)), ((2, 1, 3), (5, 1)), ((1,), (0,))],
    ids=str,
)
def test_inputs_broadcast_on_ascend_950(
    operator: str, soc: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    shape = np.broadcast_shapes(first, second)
    g, v = valid_call(operator, first).second, valid_call(operator, second).second
    out = np.zeros(shape, np.float32)
    full = [np.broadcast_to(array, shape).copy() for array in (g, v)]
    expected = getattr(oa, operator)(*full)
    with oa.product(soc):
        result = getattr(oa, operator)(g, v)
        getattr(oa, operator)(g, v, out=out)
    np.testing.assert_array_equal(result, expected, strict=True)
    np.testing.assert_array_equal(out, expected, strict=True)


@OPERATORS
@pytest.mark.parametrize("soc", ASCEND_950)
def test_shapes_that_do_not_broadcast_are_refused_on_ascend_950(operator: str, soc: str) -> None:
    call = replace(valid_call(operator), product=soc)
    second = np.ones((2, 4), np.float32)
    texts = ["[2, 3]", "[2, 4]", "broadcast", soc]
    assert_refused(replace(call, second=second), 161002, SECOND[operator], *texts)
    for shape in [(1, 2, 3), (3,), (2, 1), (2, 3, 1)]:
        out = np.zeros(shape, np.float32)
        texts = [str(list(shape)), "[2, 3]", soc]
        assert_refused(replace(call, out=out), 161002, "gradInput", *texts)


@pytest.mark.parametrize("soc", ASCEND_950)
@pytest.mark.parametrize(
    ("first", "second"),
    list(itertools.permutations(["FLOAT", "FLOAT16", "BFLOAT16"], 2)),
    ids=str,
)
def test_silu_of_mixed_types_gives_float_on_ascend_950(soc: str, first: str, second: str) -> None:
    values = np.linspace(-5, 5, 67)
    g, x = values.astype(DTYPES[first]), values[::-1].astype(DTYPES[second])
    expected = oa.silu_backward(g.astype(np.float32), x.astype(np.float32))
    with oa.product(soc):
        np.testing.assert_array_equal(oa.silu_backward(g, x), expected, strict=True)
    for wrong in ("FLOAT16", "BFLOAT16"):
        call = Call("silu_backward", g, x, np.zeros(67, DTYPES[wrong]), soc)
        texts = [f"DT_{wrong}", "DT_FLOAT", soc]
        assert_refused(call, 161002, "gradInput", *texts, kind=oa.AclnnTypeError)


def promoted(first: str, second: str) -> str:
    """The smallest type that holds both."""
    if first == second:
        return first
    wide = {"DOUBLE", "COMPLEX128"} & {first, second}
    if {"COMPLEX64", "COMPLEX128"} & {first, second}:
        return "COMPLEX128" if wide else "COMPLEX64"
    return "DOUBLE" if wide else "FLOAT"


@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("second", DTYPES)
def test_sigmoid_promotes_and_casts_on_ascend_950(first: str, second: str) -> None:
    values = np.linspace(-2, 2, 67)
    g, y = values.astype(DTYPES[first]), (values[::-1] / 2).astype(DTYPES[second])
    wide = promoted(first, second)
    expected = oa.sigmoid_backward(g.astype(DTYPES[wide]), y.astype(DTYPES[wide]))
    with oa.product(ASCEND_950[0]):
        np.testing.assert_array_equal(oa.sigmoid_backward(g, y), expected, strict=True)
    for name, dtype in DTYPES.items():
        call = Call("sigmoid_backward", g, y, np.zeros(67, dtype), ASCEND_950[0])
        if wide.startswith("COMPLEX") and not name.startswith("COMPLEX"):
            texts = [f"DT_{name}", f"DT_{wide}", "DT_COMPLEX64", ASCEND_950[0]]
            assert_refused(call, 161002, "gradInput", *texts, kind=oa.AclnnTypeError)
            continue
        call.one_call()
        if name == "BFLOAT16":  # NumPy's cast from float64 rounds twice
            eps = 2.0**-8
            np.testing.assert_allclose(
                call.out.astype(float), expected.astype(float), rtol=eps, atol=1e-45
            )
        else:
            np.testing.assert_array_equal(call.out, expected.astype(dtype), strict=True)


def test_cast_to_bfloat16_rounds_once() -> None:
    # y = 2 gives g * -2; between two bfloat16 numbers, just beside the middle.
    g = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-45])
    out = np.zeros(3, ml_dtypes.bfloat16)
    with oa.product(ASCEND_950[0]):
        oa.sigmoid_backward(g, np.full(3, 2.0), out=out)
    expected = [-2 - 2.0**-6, -2, -2 - 2.0**-6]
    np.testing.assert_array_equal(out.astype(float), expected)


def test_mixed_types_with_strides_broadcast_and_cast() -> None:
    g = np.linspace(-2, 2, 400).astype(np.float16).reshape(20, 20)[::2, 1::3]
    y = np.linspace(0, 1, 30).astype(ml_dtypes.bfloat16)[::3][:, None]
    out = np.zeros((7, 10)).T
    expected = oa.sigmoid_backward(
        np.array(g, np.float32), np.broadcast_to(y, g.shape).astype(np.float32)
    )
    with oa.product("Ascend950DT_95A1"):
        oa.sigmoid_backward(g, y, out=out)
    np.testing.assert_array_equal(out, expected.astype(np.float64))


# Products


def test_table_of_operators_is_that_of_the_documentation() -> None:
    assert [(op.name, op.c_name) for op in oa.operators()] == list(C_NAMES.items())
    for op in oa.operators():
        second = SECOND[op.name]
        assert op.arguments == ("gradOutput", second, "gradInput")
        assert op.python_arguments == ("grad_output", second, "out")
        assert list(op.types) == list(SERIES)
        for series, names in SERIES.items():
            assert set(op.types[series]) == accepted_types(op.name, names[0])
        assert op.broadcasting == op.mixed_types == {"Ascend 950"}


def test_products_lists_every_name() -> None:
    patterns = ("Ascend950PR_*", "Ascend950DT_*")
    expected = {series: tuple(names) for series, names in SERIES.items()}
    assert oa.products() == expected | {"Ascend 950": patterns}


@pytest.mark.parametrize("soc", SOC_NAMES)
def test_product_is_set_and_put_back(soc: str) -> None:
    before = oa.get_product()
    with oa.product(soc):
        assert oa.get_product() == soc
        with oa.product("Ascend910A"):
            assert oa.get_product() == "Ascend910A"
        assert oa.get_product() == soc
    assert oa.get_product() == before
    oa.set_product(soc)
    assert oa.get_product() == soc


def test_product_is_put_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), oa.product("Ascend310P1"):
        raise ZeroDivisionError
    assert oa.get_product() == "Ascend910B1"


@pytest.mark.parametrize(
    "name",
    ["Ascend910", "ascend910b1", "Ascend910B5", "Ascend910B1 ", "Ascend950PR", "Ascend950XX_1", ""],
)
def test_unknown_product_is_refused_with_the_known_ones(name: str) -> None:
    for call in (oa.set_product, lambda name: oa.product(name).__enter__()):
        with pytest.raises(ValueError, match="product") as caught:
            call(name)
        for known in ("Ascend310P3", "Ascend910PremiumA", "Ascend910_9362", "Ascend950PR_*"):
            assert known in str(caught.value)
    assert oa.get_product() == "Ascend910B1"


def test_product_from_the_environment(run_python: Callable[..., str]) -> None:
    code = "import openaclnn as oa; print(oa.get_product())"
    assert run_python(code, OPENACLNN_SOC="Ascend910_9391") == "Ascend910_9391"
    assert run_python(code, OPENACLNN_SOC="") == "Ascend910B1"


def test_unknown_product_in_the_environment_is_named_with_its_variable(
    run_python: Callable[..., str],
) -> None:
    code = """
import numpy as np
import openaclnn as oa
x = np.ones(3, np.float32)
for call in (oa.get_product, lambda: oa.silu_backward(x, x)):
    try:
        call()
    except ValueError as error:
        assert "OPENACLNN_SOC" in str(error) and "Ascend1" in str(error), error
        assert "Ascend910B1" in str(error), error
    else:
        raise SystemExit("accepted")
oa.set_product("Ascend910A")
oa.silu_backward(x, x)
"""
    run_python(code, OPENACLNN_SOC="Ascend1")


def test_product_at_phase_one_decides() -> None:
    call = valid_call("silu_backward")
    _, executor = call.phase_one()
    with oa.product("Ascend310P3"):
        executor.run()
    assert (call.out != 9).all()


# Executors


@OPERATORS
def test_executor_runs_once(operator: str) -> None:
    call = valid_call(operator)
    size, executor = call.phase_one()
    assert size == 0
    assert not executor.repeatable
    assert (call.out == 9).all()
    executor.run()
    expected = call.out.copy()
    call.out[...] = 9
    for _ in range(2):
        with pytest.raises(oa.AclnnError) as caught:
            executor.run()
        assert type(caught.value) is oa.AclnnError
        assert (caught.value.status, caught.value.operator) == (561103, C_NAMES[operator])
        assert caught.value.status_name == STATUS_NAMES[561103]
        assert (call.out == 9).all()
    with oa.Stream() as stream, pytest.raises(oa.AclnnError) as caught:
        executor.run(stream=stream)
    assert caught.value.status == 561103
    assert call.one_call() is call.out
    np.testing.assert_array_equal(call.out, expected)


def test_executor_queued_on_a_stream_is_used() -> None:
    _, executor = valid_call("silu_backward").phase_one()
    with oa.Stream() as stream:
        executor.run(stream=stream)
        with pytest.raises(oa.AclnnError) as caught:
            executor.run()
    assert caught.value.status == 561103


@OPERATORS
def test_repeatable_executor_runs_with_what_the_arrays_hold_then(operator: str) -> None:
    call = valid_call(operator)
    _, executor = call.phase_one()
    executor.repeatable = True
    assert executor.repeatable
    for factor in (1, 2, -4):
        call.grad_output[...] = factor
        executor.run()
        expected = getattr(oa, operator)(call.grad_output, call.second)
        np.testing.assert_array_equal(call.out, expected)


def test_executor_made_repeatable_after_its_run_stays_used() -> None:
    call = valid_call("silu_backward")
    _, executor = call.phase_one()
    executor.run()
    call.out[...] = 9

    def run_again() -> None:
        executor.repeatable = True
        executor.run()

    with pytest.raises(oa.AclnnError) as caught:
        run_again()
    assert caught.value.status == 561103
    assert (call.out == 9).all()


@OPERATORS
def test_executor_keeps_deleted_arrays_alive(operator: str) -> None:
    shape = (300, 1000)
    values = np.linspace(0.1, 0.9, 300_000, dtype=np.float32).reshape(shape)
    expected = getattr(oa, operator)(values, values[::-1].copy())
    for make in (np.array, lambda array: torch.from_numpy(array.copy())):
        g, second, out = make(values), make(values[::-1].copy()), make(np.zeros_like(values))
        _, executor = getattr(oa, f"{operator}_get_workspace_size")(g, second, out)
        del g, second
        gc.collect()
        rubble = [np.full(shape, np.nan, np.float32) for _ in range(8)]
        executor.run()
        np.testing.assert_array_equal(np.asarray(out), expected)
        del rubble


def test_executor_runs_although_nothing_else_knows_its_arrays() -> None:
    calls = [valid_call("silu_backward", (1000, 70)) for _ in range(5)]
    executors = [call.phase_one()[1] for call in calls]
    del calls
    gc.collect()
    for executor in executors:
        executor.run()


def test_executors_that_never_run_are_harmless() -> None:
    for _ in range(1000):
        valid_call("sigmoid_backward").phase_one()


def test_workspace_may_be_a_writable_buffer_only() -> None:
    for workspace in (np.zeros(16, np.uint8), bytearray(4), None):
        valid_call("silu_backward").phase_one()[1].run(workspace=workspace)
    _, executor = valid_call("silu_backward").phase_one()
    for workspace in (3, b"1234", "abc"):
        with pytest.raises(oa.AclnnParameterError) as caught:
            executor.run(workspace=workspace)
        assert caught.value.argument == "workspace"
    executor.run()


# Arguments that are no arrays, or arrays that can't be taken as they are


@OPERATORS
@ROLES
@pytest.mark.parametrize(
    "value",
    [[[1.0] * 3] * 2, 1.5, 2, "abc", {"a": 1}, object(), memoryview(bytes(24)), bytearray(24)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_array_is_refused(operator: str, role: str, value: Any) -> None:
    call = replace(valid_call(operator), **{role: value})
    texts = [type(value).__name__, "NumPy array"]
    assert_refused(call, 161002, call.argument(role), *texts, kind=oa.AclnnTypeError)


@OPERATORS
@pytest.mark.parametrize("role", ["second", "out"])
def test_kinds_must_not_mix(operator: str, role: str) -> None:
    call = valid_call(operator)
    mixed = replace(call, **{role: torch.from_numpy(getattr(call, role))})
    texts = ["PyTorch tensor", "NumPy array", "one kind"]
    assert_refused(mixed, 161002, call.argument(role), *texts, kind=oa.AclnnTypeError)
    tensors = {r: torch.from_numpy(getattr(call, r)) for r in ("grad_output", "second", "out")}
    mixed = replace(call, **(tensors | {role: getattr(call, role)}))
    assert_refused(mixed, 161002, call.argument(role), *texts, kind=oa.AclnnTypeError)


def negative(array: Array) -> Array:
    return array[::-1].copy()[::-1]


def swapped(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder())


def misaligned(array: Array) -> Array:
    store = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    store[...] = array
    assert not store.flags.aligned
    return store


def packed_field(array: Array) -> Array:
    """A field of records of 5 bytes more than its own."""
    records = np.zeros(array.shape, [("value", array.dtype), ("rest", "V5")])
    records["value"] = array
    return records["value"]


def aligned_field(array: Array) -> Array:
    records = np.zeros(array.shape, [("value", array.dtype), ("next", array.dtype)])
    records["value"] = array
    return records["value"]


def read_only(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


COPIED = {f.__name__: f for f in (negative, swapped, misaligned, packed_field)}
UNWRITABLE = {**COPIED, "read_only": read_only}


@OPERATORS
@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=["float32", "float16"])
@pytest.mark.parametrize("name", [*UNWRITABLE, "aligned_field"])
def test_unusual_numpy_inputs_are_fine(operator: str, dtype: Any, name: str) -> None:
    layout = {**UNWRITABLE, "aligned_field": aligned_field}[name]
    call = valid_call(operator, (40, 30), dtype)
    g, second = call.grad_output * dtype(1.5), call.second / dtype(100)
    expected = getattr(oa, operator)(g, second)
    for inputs in ((layout(g), second), (g, layout(second)), (layout(g), layout(second))):
        before = [contents(array) for array in inputs]
        result = getattr(oa, operator)(*inputs)
        np.testing.assert_array_equal(result, expected, strict=True)
        assert result.dtype.isnative
        assert result.flags.aligned
        assert result.flags.writeable
        assert [contents(array) for array in inputs] == before
        out = np.zeros_like(g)
        assert getattr(oa, operator)(*inputs, out=out) is out
        np.testing.assert_array_equal(out, expected)


@OPERATORS
@pytest.mark.parametrize("name", UNWRITABLE)
def test_results_that_can_not_be_written_where_they_lie(operator: str, name: str) -> None:
    call = valid_call(operator)
    call = replace(call, out=UNWRITABLE[name](call.out))
    words = {
        "negative": "negative stride",
        "swapped": "byte order",
        "misaligned": "aligned",
        "packed_field": "aligned",
        "read_only": "read-only",
    }
    assert_refused(call, 161002, "gradInput", words[name])


@OPERATORS
def test_aligned_field_as_result_leaves_the_other_field_alone(operator: str) -> None:
    call = valid_call(operator, (7, 5))
    records = np.full((7, 5), 3, [("value", np.float32), ("next", np.float32)])
    expected = call.one_call().copy()
    getattr(oa, operator)(call.grad_output, call.second, out=records["value"])
    np.testing.assert_array_equal(records["value"], expected)
    assert (records["next"] == 3).all()


@pytest.mark.parametrize("name", COPIED)
@pytest.mark.parametrize("role", ["grad_output", "second"])
def test_phase_one_refuses_inputs_that_would_be_copied(name: str, role: str) -> None:
    call = valid_call("silu_backward")
    call = replace(call, **{role: COPIED[name](getattr(call, role))})
    with pytest.raises(oa.AclnnParameterError) as caught:
        call.phase_one()
    assert (caught.value.status, caught.value.argument) == (161002, call.argument(role))


def test_copied_input_that_shares_memory_with_the_result_is_read_first() -> None:
    x = np.linspace(-3, 3, 1001, dtype=np.float32)
    expected = oa.silu_backward(np.ones_like(x), x[::-1].copy())
    oa.silu_backward(np.ones_like(x), x[::-1], out=x)
    np.testing.assert_array_equal(x, expected)


@OPERATORS
@ROLES
@pytest.mark.parametrize(
    "dtype", ["O", "U4", "S4", "M8[s]", "g", "V3", "f4,i4", ml_dtypes.float8_e4m3fn], ids=str
)
def test_data_types_that_operators_know_nothing_of(operator: str, role: str, dtype: Any) -> None:
    call = valid_call(operator)
    call = replace(call, **{role: np.zeros((2, 3), dtype)})
    texts = ["Ascend910B1", "DT_FLOAT16", "DT_BFLOAT16"]
    assert_refused(call, 161002, call.argument(role), *texts, kind=oa.AclnnTypeError)


@pytest.mark.parametrize("dtype", ["O", "g"])
def test_unknown_data_type_keeps_its_row_of_the_table(dtype: str) -> None:
    call = valid_call("silu_backward")
    call = replace(call, second=call.second.astype(dtype))
    assert_refused(with_null(call), 161001, "gradOutput", "null")
    assert_refused(unsupported(call), 561003, "", "Ascend310P3", kind=oa.AclnnError)


@OPERATORS
@ROLES
def test_masked_arrays_are_refused(operator: str, role: str) -> None:
    call = valid_call(operator)
    call = replace(call, **{role: np.ma.masked_equal(getattr(call, role), 1)})
    assert_refused(call, 161002, call.argument(role), "mask", ".data", kind=oa.AclnnTypeError)


def test_numpy_scalar_as_result_is_refused() -> None:
    call = valid_call("silu_backward", ())
    call = replace(call, out=np.float32(3))
    with pytest.raises(oa.AclnnTypeError, match="scalar") as caught:
        call.one_call()
    assert (caught.value.status, caught.value.argument) == (161002, "gradInput")


# PyTorch tensors that can't be taken as they are


def torch_call(operator: str, dtype: torch.dtype = torch.float32) -> Call:
    return Call(
        operator,
        torch.full((2, 3), 1.5).to(dtype),
        torch.arange(6).reshape(2, 3).to(dtype) / 4,
        torch.full((2, 3), 9.0).to(dtype),
    )


@OPERATORS
@ROLES
def test_tensor_that_requires_grad_is_refused_with_the_way_out(operator: str, role: str) -> None:
    call = torch_call(operator)
    expected = getattr(oa, operator)(call.grad_output, call.second)
    call = replace(call, **{role: getattr(call, role).clone().requires_grad_()})
    assert_refused(call, 161002, call.argument(role), "detach()", "no_grad()")
    with torch.no_grad():
        torch.testing.assert_close(call.one_call(), expected, rtol=0, atol=0)
    with torch.inference_mode():
        result = getattr(oa, operator)(call.grad_output, call.second)
    assert not result.requires_grad
    torch.testing.assert_close(result, expected, rtol=0, atol=0)


def test_result_without_out_requires_no_grad() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    with torch.no_grad():
        result = oa.silu_backward(torch.ones(3), parameter)
    assert not result.requires_grad
    assert type(result) is torch.Tensor


@OPERATORS
@ROLES
@pytest.mark.parametrize(
    ("change", "way_out"),
    [
        (lambda tensor: tensor.to("meta"), "meta"),
        (lambda tensor: tensor.to_sparse(), "to_dense()"),
        (lambda tensor: tensor.to_sparse_csr(), "to_dense()"),
    ],
    ids=["meta", "sparse", "sparse rows"],
)
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
@pytest.mark.filterwarnings("ignore:Sparse invariant checks are implicitly disabled")
def test_tensors_without_plain_memory_are_refused(
    operator: str, role: str, change: Callable[[torch.Tensor], torch.Tensor], way_out: str
) -> None:
    call = torch_call(operator)
    call = replace(call, **{role: change(getattr(call, role))})
    names = {"grad_output": "gradOutput", "second": SECOND[operator], "out": "gradInput"}
    for way in (call.one_call, call.phase_one):
        with pytest.raises(oa.AclnnTypeError, match=way_out.replace("()", "")) as caught:
            way()
        assert (caught.value.status, caught.value.argument) == (161002, names[role])


def test_tensors_of_vmap_are_refused() -> None:
    with pytest.raises(oa.AclnnError) as caught:
        torch.func.vmap(oa.silu_backward)(torch.ones(4, 3), torch.ones(4, 3))
    assert caught.value.operator == "aclnnSiluBackward"


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("role", ["grad_output", "second"])
def test_lazily_conjugated_inputs_are_conjugated(dtype: torch.dtype, role: str) -> None:
    call = torch_call("sigmoid_backward", dtype)
    value = getattr(call, role) * (1 + 2j)
    lazy = replace(call, **{role: value.conj()})
    assert getattr(lazy, role).is_conj()
    plain = replace(call, **{role: value.conj().resolve_conj()}, out=call.out.clone())
    torch.testing.assert_close(lazy.one_call(), plain.one_call(), rtol=0, atol=0)
    with pytest.raises(oa.AclnnParameterError, match="resolve_conj"):
        lazy.phase_one()


def test_lazily_negated_inputs_are_negated() -> None:
    value = torch.full((3,), 1 + 2j)
    negated = value.conj().imag
    assert negated.is_neg()
    result = oa.sigmoid_backward(torch.ones(3), negated)
    np.testing.assert_array_equal(result.numpy(), [-6, -6, -6])


def test_lazily_conjugated_result_is_refused() -> None:
    call = torch_call("sigmoid_backward", torch.complex64)
    call = replace(call, out=call.out.conj())
    assert_refused(call, 161002, "gradInput", "conjugated")


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.complex32, torch.uint8], ids=str)
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_pytorch_types_that_are_not_taken(dtype: torch.dtype) -> None:
    value = torch.zeros(3, dtype=dtype)
    with pytest.raises(oa.AclnnTypeError) as caught:
        oa.sigmoid_backward(value, value.clone())
    assert (caught.value.status, caught.value.argument) == (161002, "gradOutput")
