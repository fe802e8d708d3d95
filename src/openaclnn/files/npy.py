"""NumPy's .npy files.

NumPy has no bfloat16 of its own and writes such an array's type as two bytes of anything ("V2");
a file of that type is read as bfloat16, and bfloat16 is written the same way, so that
`numpy.load(path).view(ml_dtypes.bfloat16)` reads it.

The layout: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import ast
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openaclnn.files.element_types import BFLOAT16, is_numeric
from openaclnn.files.errors import FileError, no_warnings
from openaclnn.files.mapping import MappedArray, OpenFile, fortran_strides, is_shape, map_input

_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}
# An honest header of a plain array takes about a hundred bytes.
_HEADER_LIMIT = 16_384


def read_npy(file: OpenFile) -> MappedArray:
    """Map the array of a .npy file."""
    header, start = _read_header(file)
    dtype = _dtype(file.path, header["descr"])
    shape = header["shape"]
    strides = fortran_strides(shape, dtype.itemsize) if header["fortran_order"] else None
    mapped = map_input(file, start, shape, dtype, strides=strides)
    excess = file.size - start - mapped.array.nbytes
    if excess:
        raise FileError(
            file.path, f"has {excess} bytes after the array of shape {shape} its header describes"
        )
    return mapped


def npy_header(shape: Sequence[int], dtype: np.dtype[Any], order: str) -> bytes:
    """Return all that comes before the elements in a .npy file."""
    buffer = io.BytesIO()
    description = {
        "descr": "<V2" if dtype == BFLOAT16 else np.lib.format.dtype_to_descr(dtype),
        "fortran_order": order == "F",
        "shape": tuple(shape),
    }
    np.lib.format.write_array_header_1_0(buffer, description)
    return buffer.getvalue()


def _read_header(file: OpenFile) -> tuple[dict[str, Any], int]:
    prefix = file.read(12, 0)
    if not prefix.startswith(_MAGIC):
        raise FileError(file.path, "is not a .npy file: it does not begin with NumPy's mark")
    if len(prefix) < 12:
        raise FileError(file.path, f"is truncated: it ends at byte {file.size}, in its header")
    major, minor = prefix[6], prefix[7]
    if major not in _LENGTH_BYTES or minor != 0:
        raise FileError(file.path, f"is of .npy version {major}.{minor}, which is not known")
    start = 8 + _LENGTH_BYTES[major]
    length = int.from_bytes(prefix[8:start], "little")
    if length > _HEADER_LIMIT:
        raise FileError(
            file.path, f"claims a header of {length} bytes; more than {_HEADER_LIMIT} is not taken"
        )
    if start + length > file.size:
        raise FileError(file.path, f"is truncated: it ends at byte {file.size}, in its header")
    return _parse_header(file.path, file.read(length, start)), start + length


def _parse_header(path: Path, content: bytes) -> dict[str, Any]:
    try:
        with no_warnings():  # Odd literals are warned of.
            header = ast.literal_eval(content.decode("utf-8").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise FileError(path, "has a header that is not a plain Python dictionary") from error
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise FileError(path, "has a header without exactly descr, fortran_order and shape")
    if not isinstance(header["fortran_order"], bool):
        raise FileError(path, "has a header whose fortran_order is neither True nor False")
    shape = header["shape"]
    if not isinstance(shape, tuple) or not is_shape(shape):
        raise FileError(path, f"has a header whose shape is {shape!r}")
    return header


def _dtype(path: Path, description: object) -> np.dtype[Any]:
    if isinstance(description, str) and description in ("<V2", "|V2", ">V2"):
        return BFLOAT16
    if not isinstance(description, str):
        raise FileError(path, "holds records, not numbers")
    try:
        with no_warnings():  # Outdated type codes are warned of.
            dtype = np.dtype(description)
    except (TypeError, ValueError, SyntaxError) as error:
        raise FileError(path, f"has a header whose type {description!r} is none") from error
    if dtype.hasobject:
        raise FileError(path, "holds pickled Python objects, and those are never loaded")
    if not is_numeric(dtype):
        raise FileError(path, f"holds elements of type {description!r}, not numbers")
    return dtype
