"""The one error of the file layer."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class FileError(ValueError):
    """A file that cannot be read or written as an array.

    Args:
        path: The file as the caller named it.
        fault: What is wrong with it, as the end of a sentence.

    The text is always one line, whatever the file's name or content.

    Example:
        >>> print(FileError("x.npy", "is empty"))
        x.npy: is empty

    """

    def __init__(self, path: str | os.PathLike[str], fault: str) -> None:
        super().__init__(os.fspath(path), fault)

    @property
    def path(self) -> str:
        """The file as the caller named it."""
        return str(self.args[0])

    @property
    def fault(self) -> str:
        """What is wrong with the file."""
        return str(self.args[1])

    def __str__(self) -> str:
        return f"{printable(self.path)}: {printable(self.fault)}"


def printable(text: str, limit: int = 500) -> str:
    r"""Make a text of foreign origin safe to show on one line.

    Args:
        text: Any text, for example a file's name or a key found in a file.
        limit: The number of characters kept.

    Example:
        >>> printable("two\nlines")
        'two\\nlines'

    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


@contextmanager
def os_errors_name(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an operating system error inside the block into a `FileError` about `path`."""
    try:
        yield
    except OSError as error:
        raise FileError(path, error.strerror or str(error)) from error


@contextmanager
def no_warnings() -> Iterator[None]:
    """Keep libraries that look into a file from warning about what they find there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
