"""What an operator would make of two inputs, found out before any work is done."""

from __future__ import annotations

import mmap
import os
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

import openaclnn as oa


def result_of(
    operator: oa.Operator, first: npt.NDArray[Any], second: npt.NDArray[Any]
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type of an operator's result, after all of phase one's checks.

    The checks are the library's own. They see stand-ins that take no memory, so that inputs which
    the operator would first have to copy are not copied here.

    Raises:
        AclnnError: The operator does not take such inputs.
        MemoryError: The result is larger than the process may map.

    """
    none_of_each = (np.empty(0, _native(array)) for array in (first, second))
    dtype = getattr(oa, operator.name)(*none_of_each).dtype
    try:
        shape = np.broadcast_shapes(first.shape, second.shape)
    except ValueError:  # Phase one is about to say so, and better.
        shape = first.shape
    phase_one = getattr(oa, f"{operator.name}_get_workspace_size")
    phase_one(_repeated(first), _repeated(second), _address_space(shape, dtype))
    return shape, dtype


def _native(array: npt.NDArray[Any]) -> np.dtype[Any]:
    return array.dtype.newbyteorder("=")


def _repeated(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.broadcast_to(np.zeros((), _native(array)), array.shape)


def _address_space(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return a writable array that takes addresses but, until it is touched, no memory."""
    size = prod(shape) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    descriptor = os.memfd_create("openaclnn")
    try:
        os.truncate(descriptor, size)
        return np.ndarray(shape, dtype, mmap.mmap(descriptor, size))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "no file is that long"
        raise MemoryError(f"cannot map a result of {size} bytes: {reason}") from error
    finally:
        os.close(descriptor)
