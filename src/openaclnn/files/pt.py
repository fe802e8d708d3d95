"""PyTorch's .pt files, if PyTorch is installed.

Only its zip format is taken, and only weights: nothing that a file could bring along is run.
PyTorch says where a tensor lies in the file; the bytes are then mapped as for any other format.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from openaclnn.files.atomic import AtomicFile, reserve
from openaclnn.files.element_types import BFLOAT16
from openaclnn.files.errors import FileError, no_warnings, os_errors_name
from openaclnn.files.mapping import MappedArray, OpenFile, map_input, map_output
from openaclnn.files.safetensors import choose_key

if TYPE_CHECKING:
    from torch import Tensor

# The pickled part of a file holds names and shapes only; tensors lie beside it.
_PICKLE_LIMIT = 64 << 20


def read_pt(file: OpenFile, key: str | None) -> MappedArray:
    """Map one tensor of a .pt file that holds a tensor, or a dictionary of them."""
    torch = _torch(file.path)
    _check_archive(file.path)
    try:
        with no_warnings():
            content = torch.load(file.path, map_location="cpu", mmap=True, weights_only=True)
    except pickle.UnpicklingError as error:  # Its text advises to load the file unsafely.
        raise FileError(
            file.path, "holds more than tensors and plain containers of them, or is damaged"
        ) from error
    except Exception as error:  # A hostile file can make the unpickler raise anything.
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise FileError(file.path, f"is damaged: {reason[:160]}") from error
    tensor = _choose_tensor(file.path, content, key)
    return _map_tensor(file, tensor)


@contextmanager
def write_pt(
    file: AtomicFile, key: str | None, shape: Sequence[int], dtype: np.dtype[Any]
) -> Iterator[MappedArray]:
    """Give an array to fill, and save it as a tensor (or, with a key, a dictionary) at the end.

    PyTorch can only save a whole tensor, so it is collected in a mapped, unnamed file first.
    """
    torch = _torch(file.path)
    size = prod(shape) * dtype.itemsize
    with os_errors_name(file.path):
        scratch = tempfile.TemporaryFile(dir=file.path.absolute().parent)  # noqa: SIM115
    with scratch:
        file.reserve(size)
        reserve(file.path, scratch.fileno(), size)
        mapped = map_output(file.path, scratch.fileno(), 0, shape, dtype)
        yield mapped
        tensor = _as_tensor(torch, mapped)
        _save(torch, file, tensor if key is None else {key: tensor})


def _torch(path: Path) -> ModuleType:
    try:
        import torch
    except ImportError as error:
        raise FileError(
            path, "needs PyTorch, which is not installed: pip install 'openaclnn[torch]'"
        ) from error
    return torch


def _check_archive(path: Path) -> None:
    """Refuse an archive that torch.load would unpack into more memory than the file takes."""
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                _check_entry(path, entry)
                if entry.filename.endswith("/byteorder"):
                    _check_byte_order(path, archive.read(entry))
    except FileError:
        raise
    except Exception as error:  # A damaged archive makes zipfile raise many kinds of error.
        raise FileError(path, "is no PyTorch file in the zip format, or is truncated") from error


def _check_entry(path: Path, entry: zipfile.ZipInfo) -> None:
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise FileError(path, f"has the compressed part {entry.filename}; PyTorch writes none")
    if not entry.filename.rpartition("/")[0].endswith("/data") and entry.file_size > _PICKLE_LIMIT:
        raise FileError(path, f"has a part {entry.filename} of {entry.file_size} bytes")


def _check_byte_order(path: Path, content: bytes) -> None:
    # PyTorch would swap a foreign file's bytes in memory, all of them at once.
    if content != sys.byteorder.encode():
        raise FileError(path, f"is not of this machine's byte order, {sys.byteorder}-endian")


def _choose_tensor(path: Path, content: Any, key: str | None) -> Tensor:
    torch = _torch(path)
    if isinstance(content, dict):
        tensors: dict[str, Tensor] = {
            str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)
        }
        return tensors[choose_key(path, tensors, key)]
    if not isinstance(content, torch.Tensor):
        raise FileError(path, f"holds a {type(content).__name__}, not a tensor or a dictionary")
    if key is not None:
        raise FileError(path, f"holds a single tensor, which has no key such as {key!r}")
    tensor: Tensor = content
    return tensor


def _map_tensor(file: OpenFile, tensor: Tensor) -> MappedArray:
    view = _as_array(file.path, tensor)
    offset = _file_offset(file, view.__array_interface__["data"][0]) if view.size else None
    if offset is None:
        view.flags.writeable = False
        return MappedArray(view)
    return map_input(file, offset, view.shape, view.dtype, strides=view.strides)


def _as_array(path: Path, tensor: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    torch = _torch(path)
    try:
        if tensor.dtype == torch.bfloat16:
            array: np.ndarray[Any, np.dtype[Any]] = tensor.detach().view(torch.int16).numpy()
            return array.view(BFLOAT16)
        array = tensor.detach().numpy()
    except (TypeError, RuntimeError, NotImplementedError) as error:
        kind = f"{tensor.layout}, {tensor.dtype}"
        raise FileError(path, f"holds a tensor that is no plain array ({kind})") from error
    return array


def _file_offset(file: OpenFile, address: int) -> int | None:
    """Find which byte of the file PyTorch has mapped at an address; None if it cannot be told."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        for line in maps:
            span, _, offset, _, inode = line.split(maxsplit=5)[:5]
            first, last = (int(bound, 16) for bound in span.split("-"))
            if first <= address < last and int(inode) == os.fstat(file.descriptor).st_ino:
                return int(offset, 16) + address - first
    return None


def _as_tensor(torch: ModuleType, mapped: MappedArray) -> Tensor:
    if mapped.array.dtype == BFLOAT16:
        tensor: Tensor = torch.from_numpy(mapped.array.view(np.int16)).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(mapped.array)
    return tensor


def _save(torch: ModuleType, file: AtomicFile, content: Any) -> None:
    try:
        with os.fdopen(os.dup(file.descriptor), "wb") as stream:
            torch.save(content, stream)
            stream.truncate()  # The size reserved was an estimate.
    except (OSError, RuntimeError) as error:  # PyTorch hides a full disk in a RuntimeError.
        reason = str(error).strip().partition("\n")[0]
        raise FileError(file.path, f"cannot be written by PyTorch: {reason[:160]}") from error
