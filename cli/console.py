"""Where output goes: coloured tables on a terminal, plain wide columns in a file or pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_PLAIN_WIDTH = 1000
"""Columns where nobody looks: wide enough that no row is broken in two."""

_GAP = 2
_HEAD_COLUMNS = 3
"""How many of a table's first columns tell its rows apart."""

Justify = Literal["left", "right", "center"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    justify: Justify = "left"


def output() -> Console:
    """Return the console for results, on standard output; NO_COLOR and pipes get no colours (rich's own rule)."""
    return Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH, highlight=False, soft_wrap=not sys.stdout.isatty())


def messages() -> Console:
    """Return the console for progress and complaints, on standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def table(console: Console, title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; without a terminal it has no frame and no line ends in blanks.

    On a terminal too narrow for it each row becomes a heading of its first cells and a paragraph of the others.
    """
    if title:
        console.print(Text(title, style="bold"))
    if not console.is_terminal:
        with console.capture() as captured:
            console.print(_drawn(columns, rows, framed=False))
        console.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    elif _width(columns, rows) > console.width:
        _print_paragraphs(console, columns, rows)
    else:
        console.print(_drawn(columns, rows, framed=True))


def usd(amount: float | None, *, is_estimate: bool = False) -> str:
    """Return an amount of US dollars, ``?`` when unknown and with a ``~`` before it when estimated."""
    if amount is None:
        return "?"
    return f"{'~' if is_estimate else ''}{amount:,.2f}"


def _drawn(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, framed: bool) -> Table:
    """Return a table as rich draws it, no cell broken."""
    drawn = Table(box=box.SIMPLE_HEAD if framed else None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in columns:
        drawn.add_column(column.title, justify=column.justify, no_wrap=True, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn


def _width(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """Return how wide a framed table is when no cell is broken."""
    titles = [column.title for column in columns]
    return sum(max(map(cell_len, cells)) + _GAP + 1 for cells in zip(titles, *rows, strict=True))


def _print_paragraphs(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as a heading and a paragraph of ``title value`` pairs."""
    for row in rows:
        console.print(Text(" ".join(cell for cell in row[:_HEAD_COLUMNS] if cell), style="bold"))
        pairs = zip(columns[_HEAD_COLUMNS:], row[_HEAD_COLUMNS:], strict=True)
        console.print(Padding(Text(", ".join(f"{column.title} {cell}" for column, cell in pairs if cell)), (0, 0, 0, 2)))
