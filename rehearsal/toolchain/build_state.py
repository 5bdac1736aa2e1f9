"""What is known of each program while they are built: written by the builder's thread, read by all others."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rehearsal.toolchain.building import Phase, Step
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.tools import TOOLS, Tool


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolProgress:
    """How far a program is, for a display.

    Attributes:
        tool: Which one.
        phase: Where it is on its way.
        seconds: For how long it has been worked on; how long it took, once it is ready.
        usual_seconds: How long building it usually takes on two cores, downloads not counted.
        packages: Packages compiled so far.
        usual_packages: Packages compiled in a build that starts with nothing.
        detail: The module or package at hand, or where a ready one was found.
        path: The program, once it is ready.
    """

    tool: Tool
    phase: Phase
    seconds: float
    usual_seconds: float
    packages: int = 0
    usual_packages: int = 0
    detail: str = ""
    path: Path | None = None


@dataclass(slots=True)
class _Row:
    """One program's state and since when it is worked on; ``began`` is None before and after."""

    progress: ToolProgress
    began: float | None = None


@dataclass(slots=True)
class BuildState:
    """The state of all wanted programs, safe to use from several threads.

    Attributes:
        tools: The wanted programs, in the order in which they are built.
    """

    tools: Sequence[Tool]
    _rows: dict[Tool, _Row] = field(init=False)
    _changed: threading.Condition = field(init=False, default_factory=threading.Condition)
    _error: ToolchainError | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._rows = {tool: _Row(_waiting(tool)) for tool in self.tools}

    def enter(self, tool: Tool, phase: Phase) -> None:
        """Note that a program is worked on, from now if it was not before."""
        with self._changed:
            row = self._rows[tool]
            row.began = row.began or time.monotonic()
            row.progress = replace(row.progress, phase=phase)

    def step(self, tool: Tool, step: Step) -> None:
        """Note what its build does now."""
        with self._changed:
            row = self._rows[tool]
            row.progress = replace(row.progress, phase=step.phase, detail=step.detail, packages=step.packages)

    def ready(self, tool: Tool, path: Path, detail: str) -> None:
        """Note that a program is there, and wake whoever waits for it."""
        with self._changed:
            row = self._rows[tool]
            row.progress = replace(_seen(row), phase=Phase.READY, path=path, detail=detail)
            row.began = None
            self._changed.notify_all()

    def fail(self, error: ToolchainError) -> None:
        """Note that what is not ready never will be, and wake everybody. The first reason given is the one that is told."""
        with self._changed:
            self._error = self._error or error
            for row in self._rows.values():
                if row.progress.phase is not Phase.READY:
                    row.progress = replace(_seen(row), phase=Phase.FAILED)
                    row.began = None
            self._changed.notify_all()

    def is_ready(self, tool: Tool) -> bool:
        """Return whether a program is there."""
        with self._changed:
            return self._rows[tool].progress.phase is Phase.READY

    def wait(self, tool: Tool, timeout_seconds: float) -> Path:
        """Return a program's path as soon as it is there.

        Raises:
            ToolchainError: It cannot be had, or not in time.
            KeyError: It was not among those wanted.
        """
        with self._changed:
            row = self._rows[tool]
            self._changed.wait_for(lambda: row.progress.path is not None or self._error is not None, timeout_seconds)
            if row.progress.path is not None:
                return row.progress.path
            if self._error is not None:
                raise self._error
            now = _seen(row)
        raise ToolchainError(
            f"{tool} was not ready after {timeout_seconds:.0f} seconds: {now.phase} {now.detail}".rstrip()
            + f". Building it usually takes {now.usual_seconds:.0f} seconds on two cores. "
            "Run the same command again: what is built already is kept"
        )

    def all(self) -> tuple[ToolProgress, ...]:
        """Return how far each program is, in the order in which they are built."""
        with self._changed:
            return tuple(_seen(row) for row in self._rows.values())


def _waiting(tool: Tool) -> ToolProgress:
    """Return the state of a program that nobody has looked for yet."""
    facts = TOOLS[tool]
    return ToolProgress(
        tool=tool, phase=Phase.WAITING, seconds=0.0, usual_seconds=facts.usual_seconds, usual_packages=facts.usual_packages
    )


def _seen(row: _Row) -> ToolProgress:
    """Return a row's progress with its seconds as of now."""
    return row.progress if row.began is None else replace(row.progress, seconds=time.monotonic() - row.began)
