"""What the user sees: results on standard output, faults and progress on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import RenderableType

from openaclnn.files import printable

# Less than about half a second of work needs no progress bar.
_LONG_WORK_BYTES = 1 << 30


class Advance(Protocol):
    """A function to call with each number of bytes that is done."""

    def __call__(self, done: int) -> None:
        """Report that `done` more bytes are worked through."""


def show(content: RenderableType) -> None:
    """Print a table or text on standard output.

    A reader that has left, and an output that was closed from the start, are no faults.

    Raises:
        OSError: The output cannot be written, for example because the disk is full.

    """
    from rich.console import Console

    if sys.stdout is None:
        return
    console = Console(file=sys.stdout)
    with console.capture() as capture:
        console.print(content)
    _write(capture.get())


def show_plain(text: str) -> None:
    """Print text on standard output as it is: for other programs to read.

    Raises:
        OSError: The output cannot be written, for example because the disk is full.

    """
    if sys.stdout is not None:
        _write(text + "\n")


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        forget_output()
    except OSError:
        forget_output()
        raise


def forget_output() -> None:
    """Send what is still to be written on standard output nowhere."""
    # Python would otherwise try to write it once more at its end, and complain.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_fault(text: str) -> None:
    """Print the one line that says what went wrong, on standard error."""
    line = printable(" ".join(text.split()), limit=2000)
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"openaclnn: error: {line}", file=sys.stderr, flush=True)


@contextmanager
def progress(title: str, total: int, *, quiet: bool) -> Iterator[Advance]:
    """Show a progress bar on standard error, if it is a terminal and the work is long.

    Args:
        title: What is being done.
        total: The work in bytes.
        quiet: Whether nothing is shown in any case.

    """
    if quiet or total < _LONG_WORK_BYTES or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)
