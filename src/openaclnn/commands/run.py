"""`openaclnn run`: one operator on files of any size."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

import openaclnn as oa
from openaclnn.chunks import chunks
from openaclnn.commands.console import progress, show
from openaclnn.commands.operands import find_operator, open_operands, with_operand_options
from openaclnn.commands.result import result_of
from openaclnn.files import MappedArray, create_array, printable, type_name


@with_operand_options
def run(
    operator: Annotated[
        str, typer.Argument(metavar="OPERATOR", help="The operator, for example silu_backward.")
    ],
    *,
    out: Annotated[
        str,
        typer.Option("--out", metavar="FILE", help="The file of the result, and of nothing else."),
    ],
    dtype: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Element type of .bin inputs.")
    ] = None,
    shape: Annotated[
        str | None, typer.Option(metavar="SHAPE", help="Shape of .bin inputs, such as 3,4.")
    ] = None,
    product: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose rules hold; see 'openaclnn info'.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="The most threads to use.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither progress nor summary.")] = (
        False
    ),
    **operands: str | None,
) -> None:
    """Run an operator on files and write the result to a new file.

    Files are .npy, .safetensors:KEY, .bin (with --dtype and --shape), or .pt:KEY if PyTorch is
    installed. They may be larger than the memory. The result appears when it is complete.
    """
    row = find_operator(operator)
    with ExitStack() as stack:
        if product is not None:
            stack.enter_context(oa.product(product))
        if threads is not None:
            stack.callback(oa.set_num_threads, oa.get_num_threads())
            oa.set_num_threads(threads)
        first, second = open_operands(row, operands, dtype, shape)
        summary = _compute(row, first, second, out, replace=force, quiet=quiet)
    if not quiet:
        show(summary)


def _compute(
    operator: oa.Operator,
    first: MappedArray,
    second: MappedArray,
    out: str,
    *,
    replace: bool,
    quiet: bool,
) -> Table:
    shape, dtype = result_of(operator, first.array, second.array)
    order = "F" if _is_fortran(first.array) and _is_fortran(second.array) else "C"
    with create_array(out, shape, dtype, order=order, replace=replace) as result:
        start = time.perf_counter()
        _fill(operator, (first, second, result), quiet=quiet)
        computed = time.perf_counter()
    written = time.perf_counter()
    moved = first.array.nbytes + second.array.nbytes + result.array.nbytes
    return _summary(operator, result.array, out, moved, (computed - start, written - computed))


def _fill(operator: oa.Operator, arrays: tuple[MappedArray, ...], *, quiet: bool) -> None:
    compute = getattr(oa, operator.name)
    target = arrays[-1].array
    with progress(operator.name, target.nbytes, quiet=quiet) as advance:
        for grad_output, saved, result in chunks(target.shape, arrays):
            compute(grad_output, saved, out=result)
            advance(result.nbytes)


def _is_fortran(array: np.ndarray) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _summary(
    operator: oa.Operator,
    result: np.ndarray,
    out: str,
    moved: int,
    seconds: tuple[float, float],
) -> Table:
    computing, writing = seconds
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    table.add_row("operator", operator.name)
    table.add_row("product", oa.get_product())
    table.add_row("shape", str(result.shape))
    table.add_row("type", type_name(result.dtype))
    table.add_row("elements", f"{result.size:,}")
    table.add_row("seconds", f"{computing:.3f} computing, {writing:.3f} to the disk")
    table.add_row("GB/s", f"{moved / computing / 1e9:.2f}")
    table.add_row("output", Text(printable(out)))
    return table
