"""Arrays of any other library that exports DLPack, such as JAX's.

The exchange is described at https://dmlc.github.io/dlpack/latest/python_spec.html.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openaclnn._native import TensorView, view_of_dlpack
from openaclnn.arrays.adapter import Argument
from openaclnn.arrays.numpy_arrays import ADAPTER as NUMPY
from openaclnn.arrays.numpy_arrays import numpy_dtype

_CPU = 1  # kDLCPU


class DlpackAdapter:
    """Arrays in CPU memory; a result is a NumPy array until it is finished."""

    def input_view(
        self,
        array: Any,
        argument: Argument,
        *,
        may_copy: bool,  # noqa: ARG002
    ) -> tuple[TensorView, object]:
        """Never copy: what DLPack exports can be viewed."""
        return self._view(array, argument, writable=False), array

    def output_view(self, array: Any, argument: Argument) -> tuple[TensorView, object]:
        """Refuse arrays that their library promises never to change."""
        if isinstance(array, np.ndarray):  # made by `empty`
            return NUMPY.output_view(array, argument)
        if type(array).__module__.partition(".")[0] in ("jax", "jaxlib"):
            argument.refuse("is a JAX array, which can't be written; call without it")
        return self._view(array, argument, writable=True), array

    def empty(self, prototype: Any, type_name: str, shape: tuple[int, ...]) -> Any:  # noqa: ARG002
        """Make a NumPy array."""
        return np.empty(shape, numpy_dtype(type_name))

    def finished(self, result: Any, prototype: Any) -> Any:
        """Give the result to the prototype's array namespace, if it has one."""
        namespace = getattr(prototype, "__array_namespace__", None)
        return result if namespace is None else namespace().asarray(result)

    @staticmethod
    def _view(array: Any, argument: Argument, *, writable: bool) -> TensorView:
        device = array.__dlpack_device__()
        if device[0] != _CPU:
            argument.refuse_type(
                f"is on a device of DLPack type {int(device[0])}; pass an array in CPU memory"
            )
        try:
            return view_of_dlpack(array, writable)
        except (TypeError, RuntimeError, BufferError, ValueError) as error:
            access = "written" if writable else "read"
            argument.refuse_type(
                f"is a {type(array).__qualname__} that can't be {access} through DLPack ({error}); "
                "pass a NumPy array instead"
            )


ADAPTER = DlpackAdapter()
