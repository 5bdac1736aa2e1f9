"""What a program of the rehearsal is: how it is run, where it stands, what happened to it, and what is told when it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from fleet.errors import FleetErrors, Mistake

_LOG_LINES_TOLD = 5
_LOG_BYTES_READ = 8_192


class ProcessState(StrEnum):
    """Where a program stands."""

    STARTING = "starting"
    RUNNING = "running"
    READY = "ready"
    RESTARTING = "restarting"
    STOPPED = "stopped"
    FAILED = "failed"


ENDED = frozenset({ProcessState.STOPPED, ProcessState.FAILED})
"""States that a program does not leave by itself."""


class EventKind(StrEnum):
    """What happened to a program."""

    STARTED = "started"
    READY = "ready"
    EXITED = "exited"
    GAVE_UP = "gave up"
    KILLED = "killed"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One thing that happened to a program.

    Attributes:
        process: The program's name.
        kind: What happened.
        detail: The rest, for people; may be empty.
        at_seconds: When, on the monotonic clock of this machine.
    """

    process: str
    kind: EventKind
    detail: str
    at_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RestartPolicy:
    """What is done when a program ends by itself.

    Attributes:
        most: Restarts in a row, after which it is given up.
        first_wait_seconds: Pause before the first restart; it doubles from one to the next.
        longest_wait_seconds: Longest such pause.
        steady_seconds: A program that ran so long counts as healthy again, and the count of restarts starts from zero.
    """

    most: int = 5
    first_wait_seconds: float = 0.1
    longest_wait_seconds: float = 5.0
    steady_seconds: float = 30.0

    def wait_seconds(self, restarts: int) -> float:
        """Return the pause before the next restart, after so many in a row."""
        return min(self.first_wait_seconds * 2**restarts, self.longest_wait_seconds)


def _nothing_to_wait_for() -> str | None:
    """Be ready as soon as the program runs."""
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessSpec:
    """A program to run.

    Attributes:
        name: Unique in the run, such as ``google/gke-a/kube-apiserver``; its log is ``logs/<name>.log``.
        argv: The program's path and its arguments.
        env: The whole environment; nothing of the user's is added, so that no proxy and no credential of theirs gets in.
        cwd: Folder it runs in.
        ready: Says what is still missing, or None when the program serves. Called often; ends within a second or two.
        ready_deadline_seconds: How long `ready` may say so.
        rank: Programs of a higher rank are stopped before those of a lower one.
        grace_seconds: Time between SIGTERM and SIGKILL.
        restart: What is done when it ends by itself.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    ready: Callable[[], str | None] = _nothing_to_wait_for
    ready_deadline_seconds: float = 60.0
    rank: int = 0
    grace_seconds: float = 5.0
    restart: RestartPolicy = field(default_factory=RestartPolicy)


class ProcessFaultError(FleetErrors):
    """A program did not start, get ready or stay; says which, why, the end of its log, and where the log is.

    Args:
        name: The program.
        reason: What it did.
        log: Its log, which may not exist.
    """

    def __init__(self, name: str, reason: str, log: Path) -> None:
        said = " | ".join(last_lines(log))
        remedy = f"Its log ends: {said}. The whole log: {log}" if said else f"It wrote nothing to its log, {log}"
        super().__init__([Mistake(path=name, reason=reason, remedy=remedy)])


def last_lines(log: Path) -> list[str]:
    """Return the last non-empty lines of a log, oldest first; none when there is no log."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - _LOG_BYTES_READ))
            text = stream.read().decode(errors="replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()][-_LOG_LINES_TOLD:]
