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
_VERSION = (1, 0)  # the first whose exports say whether they are read-only


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

    def unmoved(self, holder: Any, view: TensorView) -> bool:  # noqa: ARG002
        """Trust the exporter: the view keeps the export, which keeps the memory."""
        return True

    def written(self, holder: Any) -> None:
        """Do nothing: DLPack has no word for it."""

    def empty(self, prototype: Any, type_name: str, shape: tuple[int, ...]) -> Any:  # noqa: ARG002
        """Make a NumPy array."""
        return np.empty(shape, numpy_dtype(type_name))

    def finished(self, result: Any, prototype: Any) -> Any:
        """Give the result to the prototype's array namespace, if it has one."""
        namespace = getattr(prototype, "__array_namespace__", None)
        return result if namespace is None else namespace().asarray(result)

    def _view(self, array: Any, argument: Argument, *, writable: bool) -> TensorView:
        self._check_device(array, argument)
        view = self._import(array, argument, writable=writable)
        if view is None and writable and self._import(array, argument, writable=False) is not None:
            argument.refuse("is read-only; pass an array that can be written")
        if view is None:
            argument.refuse_type(
                f"is a {type(array).__qualname__} whose __dlpack__ gives no live DLPack capsule of "
                "CPU memory; pass a NumPy array instead"
            )
        # Complex numbers are aligned like their parts.
        size = view.element_size // (2 if view.type.startswith("COMPLEX") else 1)
        if size > 0 and view.address % size != 0:
            argument.refuse("is not aligned to its elements' size; pass an aligned copy")
        return view

    def _import(self, array: Any, argument: Argument, *, writable: bool) -> TensorView | None:
        capsule = self._export(array, argument)
        try:
            return view_of_dlpack(capsule, writable)
        except ValueError:
            argument.refuse("has a negative stride; pass a copy without one, or a NumPy array")

    @staticmethod
    def _check_device(array: Any, argument: Argument) -> None:
        device: Any = None
        try:
            device = array.__dlpack_device__()
            device_type = int(device[0])
        except (TypeError, ValueError, LookupError, RuntimeError, BufferError) as error:
            raise argument.type_error(
                f"has a __dlpack_device__ that gives no pair of numbers but {device!r}; pass a "
                "NumPy array instead"
            ) from error
        if device_type != _CPU:
            argument.refuse_type(
                f"is on a device of DLPack type {device_type}; pass an array in CPU memory"
            )

    @staticmethod
    def _export(array: Any, argument: Argument) -> object:
        try:
            try:
                capsule: object = array.__dlpack__(max_version=_VERSION)
            except TypeError:  # from before the version could be asked for
                capsule = array.__dlpack__()
        except Exception as error:
            raise argument.type_error(
                f"is a {type(array).__qualname__} that can't be exported through DLPack ({error}); "
                "pass a NumPy array instead"
            ) from error
        return capsule


ADAPTER = DlpackAdapter()
