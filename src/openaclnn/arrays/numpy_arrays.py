"""NumPy arrays, with ml_dtypes for the types that NumPy lacks."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from openaclnn._native import TensorView
from openaclnn.arrays.adapter import Argument

# The types that operators take, and those whose names errors should know.
_DTYPES: dict[str, Any] = {
    "FLOAT": np.float32,
    "FLOAT16": np.float16,
    "BFLOAT16": ml_dtypes.bfloat16,
    "DOUBLE": np.float64,
    "COMPLEX64": np.complex64,
    "COMPLEX128": np.complex128,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
    "FLOAT8_E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8_E4M3FN": ml_dtypes.float8_e4m3fn,
}
_TYPE_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


def numpy_dtype(type_name: str) -> np.dtype[Any]:
    """Give the NumPy data type of a type's name, e.g. ml_dtypes.bfloat16 for "BFLOAT16"."""
    dtype: np.dtype[Any] = np.dtype(_DTYPES[type_name])
    return dtype


class NumpyAdapter:
    """NumPy arrays and scalars. Types that have no name here are left to phase one to refuse."""

    def input_view(
        self, array: Any, argument: Argument, *, may_copy: bool
    ) -> tuple[TensorView, object]:
        """Copy only what can't be viewed: other byte orders, misalignment, negative strides."""
        plain = self._plain(array, argument)
        name = _TYPE_NAMES.get(plain.dtype.newbyteorder("="))
        if name is None:
            return self._view(plain, str(plain.dtype)), plain
        obstacle = self._obstacle(plain)
        if obstacle is not None:
            if not may_copy:
                argument.refuse(
                    f"{obstacle}, which phase one can't plan for; pass numpy.array(array, "
                    f"dtype={numpy_dtype(name)}, order='C') and keep it until phase two has run"
                )
            plain = np.array(plain, dtype=numpy_dtype(name), order="C")
        return self._view(plain, name), plain

    def output_view(self, array: Any, argument: Argument) -> tuple[TensorView, object]:
        """Refuse what can't be written where it lies."""
        if isinstance(array, np.generic):
            argument.refuse_type("is a NumPy scalar, which can't be written; pass an array")
        plain = self._plain(array, argument)
        name = _TYPE_NAMES.get(plain.dtype.newbyteorder("="))
        if name is None:
            return self._view(plain, str(plain.dtype)), plain
        if not plain.flags.writeable:
            argument.refuse("is read-only; pass an array that can be written")
        obstacle = self._obstacle(plain)
        if obstacle is not None:
            argument.refuse(f"{obstacle}; pass an aligned array of native byte order")
        return self._view(plain, name), plain

    def unmoved(self, holder: Any, view: TensorView) -> bool:
        """Compare all of the view: NumPy can give an array other memory, or a new shape."""
        now = self._view(holder, view.type)
        return (now.address, now.shape, now.strides) == (view.address, view.shape, view.strides)

    def written(self, holder: Any) -> None:
        """Do nothing: NumPy does not watch its arrays."""

    def empty(self, prototype: Any, type_name: str, shape: tuple[int, ...]) -> Any:
        """Make an array of the prototype's layout."""
        dtype = numpy_dtype(type_name)
        if np.shape(prototype) == shape:
            return np.empty_like(prototype, dtype=dtype, subok=False)
        return np.empty(shape, dtype)

    def finished(self, result: Any, prototype: Any) -> Any:  # noqa: ARG002
        """Give the result as it is."""
        return result

    @staticmethod
    def _plain(array: Any, argument: Argument) -> np.ndarray[Any, Any]:
        if isinstance(array, np.ma.MaskedArray):
            argument.refuse_type("is a masked array, whose mask would be lost; pass its .data")
        return np.asarray(array)

    @staticmethod
    def _obstacle(array: np.ndarray[Any, Any]) -> str | None:
        if not array.dtype.isnative:
            return "has a byte order that is not this machine's"
        if not array.flags.aligned:
            return "is not aligned to its elements' size"
        strides = [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
        if any(stride < 0 for stride in strides):
            return "has a negative stride"
        if any(stride % array.itemsize for stride in strides):
            return "has a stride that is no multiple of its elements' size"
        return None

    @staticmethod
    def _view(array: np.ndarray[Any, Any], name: str) -> TensorView:
        # Strides of an unknown type are never used.
        strides = [
            abs(stride) // max(array.itemsize, 1) if extent > 1 else 0
            for stride, extent in zip(array.strides, array.shape, strict=True)
        ]
        return TensorView(array.__array_interface__["data"][0], name, array.shape, strides)


ADAPTER = NumpyAdapter()
