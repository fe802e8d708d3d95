"""The operators' inputs as options, straight from the operator table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

import openaclnn as oa
from openaclnn.commands.usage import UsageError
from openaclnn.files import MappedArray, element_type, open_array
from openaclnn.files.spec import parse_spec


def find_operator(name: str) -> oa.Operator:
    """Find an operator by its name.

    Raises:
        UsageError: There is none; the text lists those that there are.

    """
    for operator in oa.operators():
        if operator.name == name:
            return operator
    known = ", ".join(operator.name for operator in oa.operators())
    raise UsageError(f"there is no operator {name!r}; there are {known}")


def with_operand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one file option for each input that any operator has.

    Args:
        command: A function for Typer whose `**operands` takes the options, by input name; those
            not given are None. Its own options are keyword-only.

    """
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    positional = [p for p in own if p.kind is not p.KEYWORD_ONLY]
    keywords = [p for p in own if p.kind is p.KEYWORD_ONLY]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                str | None,
                typer.Option(option(name), metavar="FILE", help=f"{name} of {', '.join(users)}."),
            ],
        )
        for name, users in _users_of_inputs().items()
    ]
    parameters = [*positional, *added, *keywords]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return command


def open_operands(
    operator: oa.Operator,
    files: Mapping[str, str | None],
    dtype: str | None,
    shape: str | None,
) -> tuple[MappedArray, MappedArray]:
    """Open the files that were given for an operator's two inputs.

    Args:
        operator: The operator.
        files: The files by input name, of all operators' inputs; those not given are None.
        dtype: The name of the element type of .bin files.
        shape: The shape of .bin files, for example "3,4".

    Raises:
        UsageError: An input is missing, or is none of this operator's.
        FileError: A file cannot be read.

    """
    _check_names(operator, files)
    names = operator.python_arguments[:2]
    if (dtype or shape) and not any(parse_spec(str(files[n])).format == ".bin" for n in names):
        raise UsageError("--dtype and --shape describe .bin files, and none is given")
    try:
        plain_type = None if dtype is None else element_type(dtype)
    except ValueError as error:
        raise UsageError(f"--dtype: {error}") from error
    plain_shape = None if shape is None else parse_shape(shape)
    first, second = (
        open_array(str(files[name]), dtype=plain_type, shape=plain_shape) for name in names
    )
    return first, second


def option(name: str) -> str:
    """Return the option for an input's name.

    Example:
        >>> option("grad_output")
        '--grad-output'

    """
    return "--" + name.replace("_", "-")


def parse_shape(text: str) -> tuple[int, ...]:
    """Read a shape such as "3,4", "3x4", "(3, 4)", or "()" for a single element.

    Raises:
        UsageError: It is none.

    Example:
        >>> parse_shape("3x4"), parse_shape("()")
        ((3, 4), ())

    """
    inner = re.sub(r"\A\((.*?),?\)\Z", r"\1", text.strip()).strip()
    sizes = [] if inner == "" and text.strip() else re.split(r"\s*[,x]\s*", inner)
    if not all(re.fullmatch(r"[0-9]{1,18}", size) for size in sizes):
        raise UsageError(f"--shape: {text!r} is no shape such as 3,4")
    return tuple(int(size) for size in sizes)


def _users_of_inputs() -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for operator in oa.operators():
        for name in operator.python_arguments[:2]:
            users.setdefault(name, []).append(operator.name)
    return users


def _check_names(operator: oa.Operator, files: Mapping[str, Any]) -> None:
    own = operator.python_arguments[:2]
    missing = [option(name) for name in own if files[name] is None]
    foreign = [option(name) for name, file in files.items() if file is not None and name not in own]
    taken = " and ".join(option(name) for name in own)
    if foreign:
        raise UsageError(f"{operator.name} takes {taken}, not {' or '.join(foreign)}")
    if missing:
        raise UsageError(f"{operator.name} takes {taken}; {' and '.join(missing)} is missing")
