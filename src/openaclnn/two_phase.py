"""The C interface's two phases, in Python's manner.

Phase one checks the arguments and gives the size of the workspace and an executor; phase two runs
the executor, on a stream if there is one.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from openaclnn import _native, device
from openaclnn.arrays import Argument, adapter_for
from openaclnn.device.call import DeviceCall
from openaclnn.operators import arguments_of, index_of
from openaclnn.stream import Stream

__all__ = [
    "Executor",
    "sigmoid_backward_get_workspace_size",
    "silu_backward_get_workspace_size",
]


class _Operands:
    """The arrays of a call, kept where phase one saw them, and their views."""

    def __init__(self, index: int, arrays: tuple[Any, Any, Any]) -> None:
        self._arguments = arguments_of(index)
        self._adapter = adapter_for(arrays, self._arguments)
        self.views: list[_native.TensorView | None] = []
        self._holders: list[object] = []
        for array, argument in zip(arrays, self._arguments, strict=True):
            view, holder = None, None
            if array is not None:
                view, holder = self._view(array, argument)
            self.views.append(view)
            self._holders.append(holder)

    def _view(self, array: Any, argument: Argument) -> tuple[_native.TensorView, object]:
        if argument is self._arguments[2]:
            return self._adapter.output_view(array, argument)
        return self._adapter.input_view(array, argument, may_copy=False)

    def check_unmoved(self) -> None:
        """Raise AclnnParameterError if an array has lost the memory that phase one saw."""
        for holder, view, argument in zip(self._holders, self.views, self._arguments, strict=True):
            if view is not None and not self._adapter.unmoved(holder, view):
                argument.refuse(
                    "has been resized, reshaped or given other memory since phase one; run phase "
                    "one again"
                )

    def written(self) -> None:
        """Note that the result was written."""
        self._adapter.written(self._holders[2])


class Executor:
    """A call that passed phase one. It keeps the memory of the call's arrays alive.

    It runs once, with what the arrays hold then. Made repeatable before its first run, it runs any
    number of times. Between phase one and the end of a run, the arrays must not be resized.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> y = np.array([0.5, 0.25])
        >>> out = np.empty_like(y)
        >>> size, executor = oa.sigmoid_backward_get_workspace_size(np.ones(2), y, out)
        >>> executor.repeatable = True
        >>> executor.run()
        >>> y[:] = 1.0
        >>> executor.run()
        >>> size, out
        (0, array([0., 0.]))

    """

    def __init__(
        self, executor: _native.Executor | DeviceCall, operator: str, operands: _Operands
    ) -> None:
        self._executor = executor
        self._operator = operator
        self._operands = operands

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Executor can't be copied or pickled; run phase one again")

    @property
    def repeatable(self) -> bool:
        """Whether it may run more than once; to be set before its first run."""
        return self._executor.repeatable

    @repeatable.setter
    def repeatable(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            Argument(self._operator, "repeatable").refuse_type(
                f"is {value!r}; True or False is accepted"
            )
        self._executor.repeatable = bool(value)

    def run(self, workspace: Any = None, stream: Stream | None = None) -> None:
        """Run phase two.

        Args:
            workspace: A writable buffer of at least the size that phase one gave, e.g. a NumPy
                array of bytes. These operators ask for 0 bytes: leave it away.
            stream: Where to queue the work; without one, this call does it and waits.

        Raises:
            AclnnParameterError: The workspace is too small or no writable buffer; the stream is
                none; an array has been resized since phase one.
            AclnnError: The executor has been run and is not repeatable: status 561103.
            RuntimeError: The stream belongs to a parent process.

        """
        self._check_workspace(workspace)
        if stream is not None and not isinstance(stream, Stream):
            Argument(self._operator, "stream").refuse_type(
                f"is a {type(stream).__qualname__}; an openaclnn.Stream or None is accepted"
            )
        self._operands.check_unmoved()
        if isinstance(self._executor, DeviceCall):
            self._run_on_device(self._executor, stream)
        elif stream is None:
            self._executor.run()
        else:
            stream.run(self._executor, self._operands)
        self._operands.written()

    @staticmethod
    def _run_on_device(call: DeviceCall, stream: Stream | None) -> None:
        if stream is None:
            call.run()
        else:
            stream.start(call.begin)

    def _check_workspace(self, workspace: Any) -> None:
        size = self._executor.workspace_size
        # A loaded library's workspace is allocated on its device by the call itself.
        if workspace is None and (size == 0 or isinstance(self._executor, DeviceCall)):
            return
        argument = Argument(self._operator, "workspace")
        try:
            view = memoryview(workspace)
        except TypeError:
            argument.refuse_type(
                f"is a {type(workspace).__qualname__}; a writable buffer of {size} bytes or more "
                "is accepted"
            )
        if view.readonly or view.nbytes < size:
            argument.refuse(
                f"has {view.nbytes} {'read-only ' if view.readonly else ''}bytes; a writable "
                f"buffer of {size} bytes or more is accepted"
            )


def _get_workspace_size(name: str, first: Any, second: Any, out: Any) -> tuple[int, Executor]:
    index = index_of(name)
    operands = _Operands(index, (first, second, out))
    operator = arguments_of(index)[0].operator
    library = device.current()
    executor: _native.Executor | DeviceCall = (
        _native.begin(index, *operands.views)
        if library is None
        else DeviceCall(library, operator, operands.views)
    )
    return executor.workspace_size, Executor(executor, operator, operands)


def silu_backward_get_workspace_size(grad_output: Any, self: Any, out: Any) -> tuple[int, Executor]:
    """Run phase one of aclnnSiluBackward.

    Args:
        grad_output: The gradient with respect to the forward's output.
        self: The forward's input x; of the same kind, type and shape (see `silu_backward`).
        out: The array for the result, of the same kind, type and shape.

    Returns:
        The size of the workspace in bytes, and the executor.

    Raises:
        AclnnParameterError: An argument is not accepted. Unlike in `silu_backward`, inputs that
            would have to be copied are not: phase two reads them where they lie.
        AclnnTypeError: Its data type or its kind is not; a TypeError too.
        AclnnError: The product lacks the operator: status 561003.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> x = np.zeros(2, np.float32)
        >>> out = np.empty_like(x)
        >>> size, executor = oa.silu_backward_get_workspace_size(np.ones_like(x), x, out)
        >>> executor.run()
        >>> out
        array([0.5, 0.5], dtype=float32)

    """
    return _get_workspace_size("silu_backward", grad_output, self, out)


def sigmoid_backward_get_workspace_size(
    grad_output: Any, output: Any, out: Any
) -> tuple[int, Executor]:
    """Run phase one of aclnnSigmoidBackward.

    Args:
        grad_output: The gradient with respect to the forward's output.
        output: The forward's output y; of the same kind, type and shape (see `sigmoid_backward`).
        out: The array for the result, of the same kind, type and shape.

    Returns:
        The size of the workspace in bytes, and the executor.

    Raises:
        AclnnParameterError: An argument is not accepted. Unlike in `sigmoid_backward`, inputs that
            would have to be copied are not: phase two reads them where they lie.
        AclnnTypeError: Its data type or its kind is not; a TypeError too.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> y = np.array([0.5, 0.25])
        >>> size, executor = oa.sigmoid_backward_get_workspace_size(np.ones_like(y), y, y)
        >>> executor.run()
        >>> y
        array([0.25  , 0.1875])

    """
    return _get_workspace_size("sigmoid_backward", grad_output, output, out)
