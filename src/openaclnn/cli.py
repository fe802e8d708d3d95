"""The command line: puts the commands together, and turns every fault into one line.

Exit status: 0 fine, 1 a verdict that is a fail, 2 wrong usage or input, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import openaclnn as oa
from openaclnn.commands.console import forget_output, show, show_fault
from openaclnn.commands.info import info
from openaclnn.commands.run import run
from openaclnn.commands.toolkit import toolkit

_FAULT = 2
_INTERRUPTED = 130

app = typer.Typer(name="openaclnn", add_completion=False, rich_markup_mode=None)
app.command()(info)
app.command()(run)
app.command()(toolkit)


def _version(wanted: bool) -> None:
    if wanted:
        show(f"openaclnn {oa.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _openaclnn(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Run the Ascend aclnn operators SiluBackward and SigmoidBackward on any CPU."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What follows the program's name; the process's own arguments if left out.

    Returns:
        The exit status.

    """
    _occupy_standard_descriptors()
    command = typer.main.get_command(app)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = command.main(given, prog_name="openaclnn", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    except SystemExit:  # Typer's answer to a reader of the help that has left.
        forget_output()
        return 0
    except Exception as error:  # Whatever went wrong, the user gets one line.
        show_fault(_describe(error))
        return _FAULT
    if status == _INTERRUPTED:  # Typer has a way of its own to say so, without a word.
        show_fault("interrupted")
    return status if isinstance(status, int) else 0


def _describe(error: Exception) -> str:
    if hasattr(error, "format_message"):  # Typer's own usage errors.
        return f"{error.format_message()} (see 'openaclnn --help')"
    if isinstance(error, MemoryError):
        return str(error) or "out of memory"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _occupy_standard_descriptors() -> None:
    """Keep files from being opened under the numbers of closed standard streams."""
    # The system gives out the lowest free number.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
