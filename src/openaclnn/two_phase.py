"""The C interface's two phases, in Python's manner.

Phase one checks the arguments and gives the size of the workspace and an executor; phase two runs
the executor, on a stream if there is one.
"""

from __future__ import annotations

from typing import Any

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


class Executor:
    """A call that passed phase one. It keeps the call's arrays alive.

    It runs once, with what the arrays hold then. Made repeatable before its first run, it runs any
    number of times.

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
        self, executor: _native.Executor | DeviceCall, operator: str, holder: object
    ) -> None:
        self._executor = executor
        self._operator = operator
        self._holder = holder

    @property
    def repeatable(self) -> bool:
        """Whether it may run more than once; to be set before its first run."""
        return self._executor.repeatable

    @repeatable.setter
    def repeatable(self, value: bool) -> None:
        self._executor.repeatable = value

    def run(self, workspace: Any = None, stream: Stream | None = None) -> None:
        """Run phase two.

        Args:
            workspace: A writable buffer of at least the size that phase one gave, e.g. a NumPy
                array of bytes. These operators ask for 0 bytes: leave it away.
            stream: Where to queue the work; without one, this call does it and waits.

        Raises:
            AclnnParameterError: The workspace is too small or no writable buffer; the stream is
                none.
            AclnnError: The executor has been run and is not repeatable: status 561103.
            RuntimeError: The stream belongs to a parent process.

        """
        self._check_workspace(workspace)
        if stream is not None and not isinstance(stream, Stream):
            Argument(self._operator, "stream").refuse_type(
                f"is a {type(stream).__qualname__}; an openaclnn.Stream or None is accepted"
            )
        if isinstance(self._executor, DeviceCall):
            self._run_on_device(self._executor, stream)
        elif stream is None:
            self._executor.run()
        else:
            stream.run(self._executor, self._holder)

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
    arguments = arguments_of(index)
    arrays = (first, second, out)
    adapter = adapter_for(arrays, arguments)
    views: list[_native.TensorView | None] = []
    for array, argument in zip(arrays, arguments, strict=True):
        if array is None:
            views.append(None)
        elif argument is arguments[2]:
            views.append(adapter.output_view(array, argument)[0])
        else:
            views.append(adapter.input_view(array, argument, may_copy=False)[0])
    library = device.current()
    executor: _native.Executor | DeviceCall = (
        _native.begin(index, *views)
        if library is None
        else DeviceCall(library, arguments[0].operator, views)
    )
    # The views hold what they need of exported arrays, the arrays hold the memory.
    holder = (views, arrays)
    return executor.workspace_size, Executor(executor, arguments[0].operator, holder)


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
