"""The operators' element types under the names people give them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)

_TYPES: dict[str, np.dtype[Any]] = {
    "FLOAT": np.dtype(np.float32),
    "FLOAT16": np.dtype(np.float16),
    "BFLOAT16": BFLOAT16,
    "DOUBLE": np.dtype(np.float64),
    "COMPLEX64": np.dtype(np.complex64),
    "COMPLEX128": np.dtype(np.complex128),
}
_BY_NAME = {
    **{name.lower(): dtype for name, dtype in _TYPES.items()},
    **{dtype.name: dtype for dtype in _TYPES.values()},
}


def element_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type for a type's name.

    Args:
        name: NumPy's and PyTorch's name ("float32", "bfloat16") or the interface's ("FLOAT",
            "DT_BF16" is spelled "DT_BFLOAT16"), in upper or lower case.

    Raises:
        ValueError: No element type has this name.

    Example:
        >>> element_type("float16"), element_type("DT_FLOAT")
        (dtype('float16'), dtype('float32'))

    """
    try:
        return _BY_NAME[name.lower().removeprefix("dt_")]
    except KeyError:
        known = ", ".join(dtype.name for dtype in _TYPES.values())
        raise ValueError(f"{name!r} is no element type; known are {known}") from None


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the interface's name of a NumPy type, or NumPy's where the interface has none.

    Example:
        >>> type_name(np.dtype("float32")), type_name(np.dtype("int32"))
        ('FLOAT', 'int32')

    """
    native = dtype.newbyteorder("=")
    return next((name for name, known in _TYPES.items() if known == native), dtype.name)


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Tell whether arrays of this type hold plain numbers, and nothing that refers to memory."""
    return dtype == BFLOAT16 or dtype.kind in "biufc"
