"""Arrays that live in a file, mapped into memory."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from openaclnn.files.errors import FileError, os_errors_name


@dataclass(frozen=True)
class MappedArray:
    """An array over a file's bytes.

    Attributes:
        array: The array; read-only unless the file was made by `create_array`.

    """

    array: npt.NDArray[Any]
    _map: mmap.mmap | None = field(default=None, repr=False)

    def release(self, view: npt.NDArray[Any]) -> None:
        """Let go of the memory that holds a part of the array.

        The bytes stay in the file: a later access reads them again. Without this, every page
        once touched would count as the process's own until memory gets short.

        Args:
            view: A part of `array`, such as a slice.

        """
        if self._map is None or view.size == 0:
            return
        first, last = _byte_bounds(view)
        base = np.frombuffer(self._map, np.uint8).__array_interface__["data"][0]
        start = (first - base) // mmap.PAGESIZE * mmap.PAGESIZE
        stop = min(last - base, len(self._map))
        if 0 <= start < stop:
            self._map.madvise(mmap.MADV_DONTNEED, start, stop - start)


@dataclass(frozen=True)
class OpenFile:
    """A regular file opened for reading: its descriptor and its size in bytes."""

    path: Path
    descriptor: int
    size: int

    def read(self, count: int, offset: int) -> bytes:
        """Read up to `count` bytes at `offset`."""
        with os_errors_name(self.path):
            return os.pread(self.descriptor, count, offset)


@contextmanager
def open_file(path: Path) -> Iterator[OpenFile]:
    """Open a regular file for reading.

    Raises:
        FileError: There is no such file, it is of another kind, or may not be read.

    """
    # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
    with os_errors_name(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise FileError(path, "is a directory, not a file")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(path, "is not a regular file, so it cannot be mapped into memory")
        yield OpenFile(path, descriptor, status.st_size)
    finally:
        os.close(descriptor)


def map_input(
    file: OpenFile,
    offset: int,
    shape: Sequence[int],
    dtype: np.dtype[Any],
    *,
    strides: Sequence[int] | None = None,
) -> MappedArray:
    """Map an array that starts at a byte offset of a file, for reading only.

    Args:
        file: The file.
        offset: Where the array's first element is, in bytes.
        shape: The array's shape.
        dtype: The element type.
        strides: Non-negative strides in bytes; C order if left out.

    Raises:
        FileError: The file ends before the array does, or there can be no such array.

    """
    extent = _extent(shape, dtype.itemsize, strides)
    if offset + extent > file.size:
        raise FileError(
            file.path,
            f"is truncated: shape {tuple(shape)} of {dtype.name} needs {extent} bytes from "
            f"byte {offset} on, and the file ends at byte {file.size}",
        )
    return _map(file.path, file.descriptor, offset, extent, shape, dtype, strides)


def map_output(
    path: Path,
    descriptor: int,
    offset: int,
    shape: Sequence[int],
    dtype: np.dtype[Any],
    order: str = "C",
) -> MappedArray:
    """Map an array for writing into a file that is already long enough.

    Args:
        path: The file's name, for messages.
        descriptor: The file, open for reading and writing.
        offset: Where the array's first element goes, in bytes.
        shape: The array's shape.
        dtype: The element type.
        order: "C" or "F" (Fortran).

    """
    strides = fortran_strides(shape, dtype.itemsize) if order == "F" else None
    extent = _extent(shape, dtype.itemsize, strides)
    return _map(path, descriptor, offset, extent, shape, dtype, strides, writable=True)


def is_shape(values: Sequence[object]) -> bool:
    """Tell whether values that a file claims to be a shape can be one.

    The bounds are NumPy's; they also keep products of the values short enough to be shown.
    """
    return len(values) <= 64 and all(type(n) is int and 0 <= n < 2**63 for n in values)


def fortran_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return the byte strides of an array whose first axis varies fastest.

    Example:
        >>> fortran_strides((2, 3, 4), 4)
        (4, 8, 24)

    """
    return tuple(itemsize * prod(shape[:axis]) for axis in range(len(shape)))


def _map(
    path: Path,
    descriptor: int,
    offset: int,
    extent: int,
    shape: Sequence[int],
    dtype: np.dtype[Any],
    strides: Sequence[int] | None,
    *,
    writable: bool = False,
) -> MappedArray:
    skipped = offset % mmap.ALLOCATIONGRANULARITY
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    try:
        if extent == 0:  # Nothing to map, and mmap refuses to map it.
            empty = np.empty(shape, dtype)
            empty.flags.writeable = writable
            return MappedArray(empty)
        with os_errors_name(path):
            mapped = mmap.mmap(
                descriptor, skipped + extent, prot=protection, offset=offset - skipped
            )
        array = np.ndarray(tuple(shape), dtype, mapped, skipped, strides)
    except (ValueError, OverflowError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"shape {tuple(shape)} is no array's: {error}") from error
    return MappedArray(array, mapped)


def _extent(shape: Sequence[int], itemsize: int, strides: Sequence[int] | None) -> int:
    if 0 in shape:
        return 0
    if strides is None:
        return prod(shape) * itemsize
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + itemsize


def _byte_bounds(view: npt.NDArray[Any]) -> tuple[int, int]:
    spans = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
    address = view.__array_interface__["data"][0]
    first = address + sum(span for span in spans if span < 0)
    last = address + sum(span for span in spans if span > 0) + view.itemsize
    return first, last
