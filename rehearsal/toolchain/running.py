"""Runs a command in a process group of its own that can be stopped at any moment, and hands out its lines as they come."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rehearsal.toolchain.errors import Cancelled

_LOOK_SECONDS = 0.1
_STOP_SECONDS = 5.0
_LINES_KEPT = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a command ended.

    Attributes:
        exit_code: As the shell knows it; negative is the signal that ended it.
        lines: The last lines it wrote, both streams together.
        late: It was stopped because its time was over.
    """

    exit_code: int
    lines: tuple[str, ...]
    late: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Runner:
    """Runs commands until somebody says stop.

    Attributes:
        cancelled: Set to stop what is running and to start nothing more.
    """

    cancelled: threading.Event

    def run(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str],
        timeout_seconds: float,
        folder: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Outcome:
        """Run a command to its end.

        Args:
            command: Program and arguments.
            environment: All of its environment.
            timeout_seconds: When it is stopped at the latest.
            folder: Where it runs.
            on_line: Called with each line it writes.

        Raises:
            Cancelled: Somebody said stop; no process of it is left.
            OSError: It cannot be started.
        """
        if self.cancelled.is_set():
            raise Cancelled
        process = _start(command, environment, folder)
        lines: deque[str] = deque(maxlen=_LINES_KEPT)

        def tell(line: str) -> None:
            lines.append(line)
            if on_line is not None:
                on_line(line)

        try:
            late = not self._follow(process, tell, time.monotonic() + timeout_seconds)
        finally:
            stop_group(process)
        return Outcome(exit_code=process.returncode, lines=tuple(lines), late=late)

    def _follow(self, process: subprocess.Popen[bytes], tell: Callable[[str], None], deadline: float) -> bool:
        """Hand out lines until the command has ended; return False when its time is over before."""
        assert process.stdout is not None  # noqa: S101 -- it was opened as a pipe
        rest = b""
        with process.stdout as stream, selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                if self.cancelled.is_set():
                    raise Cancelled
                if selector.select(_LOOK_SECONDS):
                    chunk = os.read(stream.fileno(), 65536)
                    *whole, rest = (rest + chunk).split(b"\n")
                    for line in [*whole, *([rest] if rest and not chunk else [])]:
                        tell(line.decode(errors="replace").rstrip())
                    if not chunk:
                        break
                elif process.poll() is not None:
                    break
            while process.poll() is None and time.monotonic() < deadline:
                if self.cancelled.wait(_LOOK_SECONDS / 10):
                    raise Cancelled
        return process.poll() is not None


def _start(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path | None) -> subprocess.Popen[bytes]:
    """Start a command with both its streams in one pipe.

    It leads a process group, so that stopping it stops the compilers it started and nothing else; where ``setpriv`` (util-linux)
    is there, it also ends when this process is killed.
    """
    guard = shutil.which("setpriv")
    words = [*((guard, "--pdeathsig", "TERM", "--") if guard else ()), *map(str, command)]
    return subprocess.Popen(
        words,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all of its group: asked first, then forced. Does nothing to one that has ended."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
