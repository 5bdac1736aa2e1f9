"""What the operator should know about a plan that can be carried out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NoteLevel(StrEnum):
    """How loud a note is."""

    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Note:
    """Something the operator should know about a plan that can be carried out.

    Attributes:
        path: What it is about: ``site/cluster/pool`` or a part of that.
        level: Whether it may surprise.
        text: One or two sentences.
    """

    path: str
    level: NoteLevel
    text: str
