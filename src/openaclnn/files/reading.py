"""Arrays read from files, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from openaclnn.files.binary import read_binary
from openaclnn.files.errors import FileError
from openaclnn.files.mapping import MappedArray, open_file
from openaclnn.files.npy import read_npy
from openaclnn.files.pt import read_pt
from openaclnn.files.safetensors import read_safetensors
from openaclnn.files.spec import parse_spec


def open_array(
    spec: str | os.PathLike[str],
    *,
    dtype: npt.DTypeLike | None = None,
    shape: Sequence[int] | None = None,
) -> MappedArray:
    """Map an array in a file into memory, for reading only.

    Nothing is read until it is used, nothing in a file is trusted, and nothing is unpickled. A
    file must not be made shorter while its array is in use.

    Args:
        spec: "file.npy", "file.safetensors:key", "file.bin" or "file.pt:key". The key may be
            left out where a file holds exactly one tensor.
        dtype: The element type of a .bin file. Other files say it themselves.
        shape: The shape of a .bin file's array. Other files say it themselves.

    Returns:
        The array, with the type, shape and byte order of the file. bfloat16 is
        `ml_dtypes.bfloat16`; a .npy file of two-byte voids ("V2"), which is what NumPy writes for
        bfloat16, is read as bfloat16.

    Raises:
        FileError: The file is missing, damaged, or holds something else than one such array.

    Example:
        >>> import tempfile, numpy as np
        >>> with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        ...     np.save(file, np.float32([[1, 2, 3]]))
        ...     file.flush()
        ...     open_array(file.name).array
        array([[1., 2., 3.]], dtype=float32)

    """
    source = parse_spec(spec)
    with open_file(source.path) as file:
        if source.format == ".bin":
            return read_binary(file, shape, _plain(dtype))
        if file.size == 0:
            raise FileError(source.path, "is empty")
        if source.format == ".npy":
            return read_npy(file)
        if source.format == ".safetensors":
            return read_safetensors(file, source.key)
        return read_pt(file, source.key)


def _plain(dtype: npt.DTypeLike | None) -> np.dtype[Any] | None:
    return None if dtype is None else np.dtype(dtype)
