"""The operators, each as one call, and the table that describes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from openaclnn import _native, device
from openaclnn.arrays import Adapter, Argument, adapter_for
from openaclnn.device.call import run

__all__ = ["Operator", "operators", "sigmoid_backward", "silu_backward"]

ArrayT = TypeVar("ArrayT")


@dataclass(frozen=True)
class Operator:
    """A row of the operator table.

    Attributes:
        name: The name in Python and on the command line, e.g. "silu_backward".
        c_name: The name in the C interface, e.g. "aclnnSiluBackward".
        arguments: The C interface's tensors: two inputs, then the result.
        python_arguments: The same, as Python's functions call them.
        types: The data types that are accepted, by product series; none if it is not supported.
        broadcasting: The series on which the inputs broadcast.
        mixed_types: The series on which the three data types may differ.

    Example:
        >>> import openaclnn as oa
        >>> oa.operators()[0].arguments
        ('gradOutput', 'self', 'gradInput')

    """

    name: str
    c_name: str
    arguments: tuple[str, str, str]
    python_arguments: tuple[str, str, str]
    types: dict[str, tuple[str, ...]]
    broadcasting: frozenset[str]
    mixed_types: frozenset[str]


@cache
def operators() -> tuple[Operator, ...]:
    """Give the operator table.

    Example:
        >>> import openaclnn as oa
        >>> for operator in oa.operators():
        ...     print(operator.c_name, *operator.types["Atlas training"])
        aclnnSiluBackward FLOAT16 FLOAT
        aclnnSigmoidBackward FLOAT FLOAT16 DOUBLE COMPLEX64 COMPLEX128

    """
    return tuple(
        Operator(
            name=name,
            c_name=c_name,
            arguments=arguments,
            python_arguments=("grad_output", arguments[1], "out"),
            types={series: types for series, types, _, _ in rows},
            broadcasting=frozenset(series for series, _, broadcast, _ in rows if broadcast),
            mixed_types=frozenset(series for series, _, _, mixed in rows if mixed),
        )
        for name, c_name, arguments, rows in _native.operators()
    )


@cache
def index_of(name: str) -> int:
    """Give the place of an operator in the table."""
    return [operator.name for operator in operators()].index(name)


@cache
def arguments_of(index: int) -> tuple[Argument, Argument, Argument]:
    """Give the arguments of an operator."""
    operator = operators()[index]
    first, second, result = operator.arguments
    return (
        Argument(operator.c_name, first),
        Argument(operator.c_name, second),
        Argument(operator.c_name, result),
    )


def _input(
    adapter: Adapter, array: Any, argument: Argument
) -> tuple[_native.TensorView | None, object]:
    return (None, None) if array is None else adapter.input_view(array, argument, may_copy=True)


def _adapted(index: int, first: Any, second: Any, out: Any) -> Any:
    """Call with arrays that the core can't take as they are, or without one for the result."""
    arguments = arguments_of(index)
    adapter = adapter_for((first, second, out), arguments)
    # Views hold no memory: the holders must live until the call is over.
    first_view, first_holder = _input(adapter, first, arguments[0])
    second_view, second_holder = _input(adapter, second, arguments[1])
    result = out
    if out is None:
        type_name, shape = _native.result_of(index, first_view, second_view)
        result = adapter.empty(second, type_name, tuple(shape))
    result_view, result_holder = adapter.output_view(result, arguments[2])
    library = device.current()
    if library is None:
        _native.call(index, first_view, second_view, result_view)
    else:
        run(library, arguments[0].operator, (first_view, second_view, result_view))
    adapter.written(result_holder)
    del first_holder, second_holder
    return adapter.finished(result, second) if out is None else out


def _call(index: int, first: Any, second: Any, out: Any) -> Any:
    if out is not None and device.current() is None and _native.call(index, first, second, out):
        return out
    return _adapted(index, first, second, out)


_SILU_BACKWARD = index_of("silu_backward")
_SIGMOID_BACKWARD = index_of("sigmoid_backward")


def silu_backward(grad_output: ArrayT, self: ArrayT, *, out: ArrayT | None = None) -> ArrayT:
    """Compute the gradient of SiLU, s(x) = x * sigmoid(x), with respect to its input.

    The result is grad_output * s'(x) with s'(x) = sigmoid(x) * (1 + x - x * sigmoid(x)) and
    x = self. float32 results are within 4 ULP of the exact ones, and float16 and bfloat16
    results, computed in float32 and rounded once, within 1 ULP. s'(inf) = 1 and s'(-inf) = -0;
    NaN gives NaN; subnormal numbers are kept.

    Args:
        grad_output: The gradient with respect to the forward's output. A NumPy array, a PyTorch
            CPU tensor or any array that exports DLPack on CPU; of the types FLOAT16, FLOAT and,
            on most products, BFLOAT16; any strides; rank 0 to 8. NumPy arrays of another byte
            order, misaligned ones and those with negative strides are copied first.
        self: The forward's input x; of the same kind, type and shape (on Ascend 950 the types may
            differ and the shapes broadcast).
        out: An array of the same kind, type and shape to write the result to; `grad_output` or
            `self` themselves for in place. It must not overlap them in another way.

    Returns:
        `out`, or else a new array of the inputs' kind. For a kind that has neither a library known
        here nor an array namespace, that is a NumPy array.

    Raises:
        AclnnParameterError: An argument is not accepted; a ValueError too.
        AclnnTypeError: Its data type or its kind is not; a TypeError too.
        AclnnError: The product lacks the operator.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> x = np.array([-1.0, 0.0, 1.0], np.float32)
        >>> oa.silu_backward(np.ones_like(x), x).round(5)
        array([0.07233, 0.5    , 0.92767], dtype=float32)
        >>> out = np.empty_like(x)
        >>> oa.silu_backward(np.ones_like(x), x, out=out) is out
        True

    The formula is that of the aclnnSiluBackward operator's documentation.

    """
    result: ArrayT = _call(_SILU_BACKWARD, grad_output, self, out)
    return result


def sigmoid_backward(grad_output: ArrayT, output: ArrayT, *, out: ArrayT | None = None) -> ArrayT:
    """Compute the gradient of the sigmoid with respect to its input, from its output.

    The result is grad_output * y * (1 - y) with y = output, the forward's output sigmoid(x); for
    complex types it is grad_output * conj(y * (1 - y)). float32 and float64 results are within
    2 ULP of the exact ones, float16 and bfloat16 results within 1 ULP; complex ones follow the
    formula by components. What is finite stays finite: nothing overflows on the way.

    Args:
        grad_output: The gradient with respect to the forward's output. A NumPy array, a PyTorch
            CPU tensor or any array that exports DLPack on CPU; of the types FLOAT, FLOAT16,
            DOUBLE, COMPLEX64, COMPLEX128 and, on most products, BFLOAT16; any strides; rank 0
            to 8. NumPy arrays of another byte order, misaligned ones and those with negative
            strides are copied first.
        output: The forward's output y; of the same kind, type and shape (on Ascend 950 the types
            may differ and promote, and the shapes broadcast).
        out: An array of the same kind, type and shape to write the result to; `grad_output` or
            `output` themselves for in place. It must not overlap them in another way.

    Returns:
        `out`, or else a new array of the inputs' kind. For a kind that has neither a library known
        here nor an array namespace, that is a NumPy array.

    Raises:
        AclnnParameterError: An argument is not accepted; a ValueError too.
        AclnnTypeError: Its data type or its kind is not; a TypeError too.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> y = np.array([0.25, 0.5, 1.0])
        >>> oa.sigmoid_backward(np.ones_like(y), y)
        array([0.1875, 0.25  , 0.    ])

    The formula is that of the aclnnSigmoidBackward operator's documentation.

    """
    result: ArrayT = _call(_SIGMOID_BACKWARD, grad_output, output, out)
    return result
