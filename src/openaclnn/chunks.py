"""Large arrays worked through piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from openaclnn.files import MappedArray

CHUNK_BYTES = 4 << 20

Index: TypeAlias = tuple[slice | EllipsisType, ...]


def chunks(
    shape: Sequence[int], arrays: Sequence[MappedArray], chunk_bytes: int = CHUNK_BYTES
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Walk over arrays of one shape together, in pieces that share their place.

    Pieces follow the last array's layout in memory, and span the fast axis of every array, so
    that even arrays of different layouts are read a page or more at a time. Once the caller asks
    for the next piece, the memory under the last one is released.

    Args:
        shape: The common shape.
        arrays: The arrays; one of another shape is broadcast to it, read-only.
        chunk_bytes: About how large a piece of the widest array is.

    Yields:
        For each piece, its view into each array. None where the shape has no elements.

    Example:
        >>> x = MappedArray(np.arange(10, dtype=np.float32))
        >>> [view.tolist() for view, in chunks((10,), [x], chunk_bytes=16)]
        [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0]]

    """
    full = [_broadcast(mapped.array, tuple(shape)) for mapped in arrays]
    budget = max(1, chunk_bytes // max(array.itemsize for array in full))
    tile = _tile(shape, _axis_orders(full), budget)
    for index in _indices(shape, tile, _axes_inward(full[-1])):
        views = tuple(array[index] for array in full)
        yield views
        for mapped, view in zip(arrays, views, strict=True):
            mapped.release(view)


def _broadcast(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    # broadcast_to gives read-only views, and the output must stay writable.
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _axes_inward(array: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the axes from the slowest in memory to the fastest."""
    return tuple(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))


def _axis_orders(arrays: Sequence[npt.NDArray[Any]]) -> list[tuple[int, ...]]:
    """Return the arrays' different axis orders, fastest first, without those of small arrays."""
    orders = [_axes_inward(array)[::-1] for array in arrays if 0 not in array.strides]
    return list(dict.fromkeys(orders))


def _tile(shape: Sequence[int], orders: Sequence[tuple[int, ...]], budget: int) -> tuple[int, ...]:
    """Choose a tile's extents: at most `budget` elements, grown along each order in turn."""
    tile = [min(n, 1) for n in shape]
    growing = True
    while growing:
        growing = False
        for order in orders:
            axis = next((a for a in order if tile[a] < shape[a]), None)
            if axis is None or 2 * prod(tile) > budget:
                continue
            tile[axis] = min(2 * tile[axis], shape[axis])
            growing = True
    return tuple(_even(n, extent) for n, extent in zip(shape, tile, strict=True))


def _even(length: int, extent: int) -> int:
    """Shrink an extent so that the pieces of an axis are about equally long."""
    pieces = -(-length // extent) if length else 1
    return max(1, -(-length // pieces))


def _indices(
    shape: Sequence[int], tile: Sequence[int], axes_inward: Sequence[int]
) -> Iterator[Index]:
    starts = [range(0, shape[axis], tile[axis]) for axis in axes_inward]
    for corner in product(*starts):
        begin = dict(zip(axes_inward, corner, strict=True))
        slices = (slice(begin[a], begin[a] + tile[a]) for a in range(len(shape)))
        # The ellipsis keeps an array of rank 0 an array.
        yield (*slices, ...)
