"""How a file, and an array within it, is named."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from openaclnn.files.errors import FileError

_KEYED = re.compile(r"(?P<path>.+?\.(?:safetensors|pt)):(?P<key>.*)\Z", re.IGNORECASE | re.DOTALL)
_FORMATS = (".npy", ".safetensors", ".bin", ".pt")


@dataclass(frozen=True)
class FileSpec:
    """One array in one file.

    Attributes:
        path: The file.
        format: The file's format as its lower-case suffix, for example ".npy".
        key: The array's name within the file; None where it is left to the format.

    """

    path: Path
    format: str
    key: str | None = None


def parse_spec(text: str | os.PathLike[str]) -> FileSpec:
    """Read "file.npy", "file.safetensors:key" and the like.

    The first ".safetensors:" or ".pt:" ends the path; all after it is the key.

    Raises:
        FileError: The suffix names no known format, or the key is empty.

    Example:
        >>> parse_spec("step7.safetensors:layer.0:grad").key
        'layer.0:grad'

    """
    name = os.fspath(text)
    match = _KEYED.match(name)
    path = Path(match["path"] if match else name)
    key = match["key"] if match else None
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise FileError(name, f"has none of the known suffixes {', '.join(_FORMATS)}")
    if key == "":
        raise FileError(name, "has nothing after the colon, where an array's key belongs")
    return FileSpec(path, suffix, key)
