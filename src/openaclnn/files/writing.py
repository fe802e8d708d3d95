"""Arrays written to files, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from openaclnn.files.atomic import AtomicFile
from openaclnn.files.errors import os_errors_name
from openaclnn.files.mapping import MappedArray, map_output
from openaclnn.files.npy import npy_header
from openaclnn.files.pt import write_pt
from openaclnn.files.safetensors import safetensors_header
from openaclnn.files.spec import FileSpec, parse_spec


@contextmanager
def create_array(
    spec: str | os.PathLike[str],
    shape: Sequence[int],
    dtype: npt.DTypeLike,
    *,
    order: str = "C",
    replace: bool = False,
) -> Iterator[MappedArray]:
    """Make a file that holds an array, and give the array to be filled inside the block.

    The file appears under its name when the block ends well, complete and on the disk; after an
    exception, or when the process is killed, nothing is there.

    Args:
        spec: "file.npy", "file.safetensors:key" (the key is "grad_input" if left out), "file.bin"
            (elements in C order and nothing else), "file.pt" (a tensor) or "file.pt:key" (a
            dictionary of one tensor).
        shape: The array's shape.
        dtype: The element type; written in this machine's byte order.
        order: "F" for Fortran order, which only .npy files can express; others ignore it.
        replace: Whether an existing file is replaced, in one step.

    Yields:
        The array, zero until filled, mapped into memory. It belongs to the block.

    Raises:
        FileError: The file exists (and `replace` is false), cannot be made, has no room on the
            disk, or its format has no such type.

    Example:
        >>> import pathlib, tempfile, numpy as np
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = pathlib.Path(directory) / "ones.npy"
        ...     with create_array(path, (2, 3), "float32") as file:
        ...         file.array[...] = 1
        ...     np.load(path)
        array([[1., 1., 1.],
               [1., 1., 1.]], dtype=float32)

    """
    target = parse_spec(spec)
    native = np.dtype(dtype).newbyteorder("=")
    order = order if target.format == ".npy" else "C"
    header = _header(target, shape, native, order)
    with AtomicFile(target.path, replace=replace) as file:
        if target.format == ".pt":
            with write_pt(file, target.key, shape, native) as mapped:
                yield mapped
        else:
            file.reserve(len(header) + prod(shape) * native.itemsize)
            with os_errors_name(target.path):
                os.pwrite(file.descriptor, header, 0)
            yield map_output(target.path, file.descriptor, len(header), shape, native, order)


def _header(target: FileSpec, shape: Sequence[int], dtype: np.dtype[Any], order: str) -> bytes:
    if target.format == ".npy":
        return npy_header(shape, dtype, order)
    if target.format == ".safetensors":
        return safetensors_header(target.path, shape, dtype, target.key)
    return b""
