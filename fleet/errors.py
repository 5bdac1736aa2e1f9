"""What people are told when their input cannot be used: every mistake at once, each with place, reason and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_TOLD = 500
"""Mistakes that a message spells out; nobody reads on after so many, and the rest is counted."""

_VALUE_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """One thing wrong with what a person wrote.

    Attributes:
        file: The file it stands in, as the person named it; empty when the input was not a file.
        line: Line in that file, from 1; 0 when unknown.
        path: Where in the document, such as ``clusters.google.gke-a.gpus[2].card``; empty for the whole document.
        value: The offending value as written, None when a value is missing.
        reason: Why it cannot be used.
        remedy: What would be right, or what to do next.
    """

    path: str
    reason: str
    remedy: str
    value: object = None
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return ``file:line: path = value: reason. Remedy.`` on one line."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        where = ": ".join(part for part in (place, self.path) if part)
        shown = "" if self.value is None else f" = {_shorten(self.value)}"
        reason = self.reason.rstrip(".")
        return f"{where}{shown}: {reason}. {self.remedy}".strip(": ")


class FleetErrors(Exception):  # noqa: N818 -- carries many errors; the plural is the point
    """Input refused. Holds every mistake found, in the order of the file.

    Args:
        mistakes: At least one mistake.
    """

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: (mistake.file, mistake.line)))
        told = [str(mistake) for mistake in self.mistakes[:MOST_TOLD]]
        rest = len(self.mistakes) - MOST_TOLD
        super().__init__("\n".join(told + ([f"... and {rest:,} more mistakes"] if rest > 0 else [])))


def _shorten(value: object) -> str:
    """Return ``repr(value)`` cut to a length that keeps a message on one line."""
    text = repr(value)
    return text if len(text) <= _VALUE_SHOWN_CHARACTERS else f"{text[:_VALUE_SHOWN_CHARACTERS]}…"
