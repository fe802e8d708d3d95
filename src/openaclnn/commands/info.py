"""`openaclnn info`: what runs here, and what it takes."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table

import openaclnn as oa
from openaclnn.commands.console import show


def info() -> None:
    """Show the product, the instruction set, the threads, and the operators with their types."""
    show(Group(_settings(), "", _operators()))


def _settings() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row("version", oa.__version__)
    table.add_row("product", oa.get_product())
    table.add_row("instruction set", oa.instruction_set())
    table.add_row("threads", str(oa.get_num_threads()))
    return table


def _operators() -> Table:
    table = Table(title="Operators and the types they take", title_justify="left", show_lines=True)
    table.add_column("products", overflow="fold")
    for operator in oa.operators():
        table.add_column(operator.name, overflow="fold")
    for series, names in oa.products().items():
        types = (", ".join(operator.types[series]) or "-" for operator in oa.operators())
        table.add_row(f"[bold]{series}[/bold]\n{', '.join(names)}", *types)
    return table
