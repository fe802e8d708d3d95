"""Plain .bin files: elements in C order, little-endian, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from openaclnn.files.errors import FileError
from openaclnn.files.mapping import MappedArray, OpenFile, map_input


def read_binary(
    file: OpenFile, shape: Sequence[int] | None, dtype: np.dtype[Any] | None
) -> MappedArray:
    """Map the elements of a .bin file, whose type and shape only the caller knows."""
    if shape is None or dtype is None:
        raise FileError(
            file.path, "says nothing about its elements, so --dtype and --shape must be given"
        )
    needed = prod(shape) * dtype.itemsize
    if needed != file.size:
        raise FileError(
            file.path,
            f"is {file.size} bytes long, and shape {tuple(shape)} of {dtype.name} "
            f"makes {needed} bytes",
        )
    return map_input(file, 0, shape, dtype)
