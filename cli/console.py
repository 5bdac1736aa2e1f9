"""Where output goes: coloured tables on a terminal, plain wide columns in a file or pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PLAIN_WIDTH = 240
"""Columns where nobody looks: wide enough that no row is broken in two."""

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
    """Print a table; without a terminal it has no frame and no line ends in blanks."""
    frame = box.SIMPLE_HEAD if console.is_terminal else None
    drawn = Table(box=frame, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        drawn.add_column(column.title, justify=column.justify, no_wrap=not console.is_terminal, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    if title:
        console.print(Text(title, style="bold"))
    if console.is_terminal:
        console.print(drawn)
        return
    with console.capture() as captured:
        console.print(drawn)
    console.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def usd(amount: float | None, *, is_estimate: bool = False) -> str:
    """Return an amount of US dollars, ``?`` when unknown and with a ``~`` before it when estimated."""
    if amount is None:
        return "?"
    return f"{'~' if is_estimate else ''}{amount:,.2f}"
