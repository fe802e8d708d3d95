"""The .safetensors files of machine learning: named tensors after a JSON header.

Read and written here rather than by the safetensors library, because that can neither map
bfloat16 into NumPy nor write a tensor piece by piece.

The layout: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from openaclnn.files.element_types import BFLOAT16, type_name
from openaclnn.files.errors import FileError
from openaclnn.files.mapping import MappedArray, OpenFile, is_shape, map_input

DEFAULT_KEY = "grad_input"

_TYPES: dict[str, np.dtype[Any]] = {
    "F16": np.dtype("<f2"),
    "BF16": BFLOAT16,
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "C64": np.dtype("<c8"),
    "BOOL": np.dtype("?"),
    **{f"I{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)},
}
# Enough for tens of thousands of tensors, and little enough that parsing cannot eat the memory.
_HEADER_LIMIT = 8 << 20
_ALIGNMENT = 64
_KEYS_SHOWN = 8


@dataclass(frozen=True)
class _Entry:
    """A tensor as the header describes it; `begin` and `end` count from the header's end."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_safetensors(file: OpenFile, key: str | None) -> MappedArray:
    """Map one tensor of a .safetensors file; without a key, the only one there is."""
    entries, start = _read_header(file)
    entry = entries[choose_key(file.path, entries, key)]
    if entry.dtype not in _TYPES:
        raise FileError(file.path, f"holds elements of type {entry.dtype}, which are not taken")
    return map_input(file, start + entry.begin, entry.shape, _TYPES[entry.dtype])


def safetensors_header(
    path: Path, shape: Sequence[int], dtype: np.dtype[Any], key: str | None
) -> bytes:
    """Return all that comes before the elements in a .safetensors file of one tensor."""
    name = next((name for name, known in _TYPES.items() if known == dtype), None)
    if name is None:
        raise FileError(path, f"cannot hold {type_name(dtype)}: .safetensors has no such type")
    end = prod(shape) * dtype.itemsize
    entry = {"dtype": name, "shape": list(shape), "data_offsets": [0, end]}
    text = json.dumps({key or DEFAULT_KEY: entry}, separators=(",", ":")).encode()
    padded = text + b" " * (-(len(text) + 8) % _ALIGNMENT)
    return len(padded).to_bytes(8, "little") + padded


def choose_key(path: Path, keys: Sequence[str] | dict[str, Any], key: str | None) -> str:
    """Find the tensor that was asked for among a file's keys.

    Raises:
        FileError: No tensor has this key, or none was given and there is not exactly one.

    """
    shown = ", ".join(list(keys)[:_KEYS_SHOWN]) + (", ..." if len(keys) > _KEYS_SHOWN else "")
    if not keys:
        raise FileError(path, "holds no tensor")
    if key is None and len(keys) == 1:
        return next(iter(keys))
    if key is None:
        raise FileError(path, f"holds {len(keys)} tensors; name one as {path.name}:KEY ({shown})")
    if key not in keys:
        raise FileError(path, f"has no tensor {key!r}; it holds {shown}")
    return key


def _read_header(file: OpenFile) -> tuple[dict[str, _Entry], int]:
    if file.size < 8:
        raise FileError(file.path, f"is truncated: {file.size} bytes are too few for a header")
    length = int.from_bytes(file.read(8, 0), "little")
    start = 8 + length
    if start > file.size:
        raise FileError(
            file.path, f"claims a header of {length} bytes, but is only {file.size} bytes long"
        )
    if length > _HEADER_LIMIT:
        raise FileError(
            file.path, f"claims a header of {length} bytes; more than {_HEADER_LIMIT} is not taken"
        )
    header = _parse_json(file.path, file.read(length, 8))
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise FileError(file.path, "has a header whose __metadata__ is not an object")
    entries = {key: _entry(file.path, key, value) for key, value in header.items()}
    _check_cover(file.path, entries, file.size - start)
    return entries, start


def _parse_json(path: Path, content: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key is there twice")
        return dict(pairs)

    try:
        header = json.loads(content.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"has a header that is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise FileError(path, "has a header that is not a JSON object")
    return header


def _entry(path: Path, key: str, value: object) -> _Entry:
    def refuse(what: str) -> NoReturn:
        raise FileError(path, f"has a header whose tensor {key!r} has {what}")

    def are_sizes(values: object) -> bool:
        return isinstance(values, list) and is_shape(values)

    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        refuse("not exactly dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str):
        refuse("a type that is not a text")
    if not are_sizes(shape):
        refuse(f"the shape {shape!r}")
    if not are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        refuse(f"the offsets {offsets!r}")
    begin, end = offsets
    if dtype in _TYPES and prod(shape) * _TYPES[dtype].itemsize != end - begin:
        refuse(f"{end - begin} bytes, which shape {shape} of {dtype} does not fill exactly")
    return _Entry(dtype, tuple(shape), begin, end)


def _check_cover(path: Path, entries: dict[str, _Entry], length: int) -> None:
    """Refuse tensors that overlap, leave holes, or reach past the end of the file."""
    reached = 0
    for key, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.end > length:
            raise FileError(
                path,
                f"is truncated: tensor {key!r} ends at byte {entry.end} of the data, "
                f"and there are {length}",
            )
        if entry.begin != reached:
            fault = "overlaps another" if entry.begin < reached else "leaves a hole before it"
            raise FileError(path, f"has a header whose tensor {key!r} {fault}")
        reached = entry.end
    if reached != length:
        raise FileError(path, f"has {length - reached} bytes that belong to no tensor")
