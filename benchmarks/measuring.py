"""Runs a command as a process of its own and reads from the kernel what it took."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one process took from start to end.

    Attributes:
        seconds: Time on the wall.
        cpu_seconds: Processor time, user and system: what others on the machine disturb least.
        peak_mib: Largest resident memory, MiB.
        output: What it wrote to standard output.
    """

    seconds: float
    cpu_seconds: float
    peak_mib: float
    output: str


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Usage:
    """Run a command in a folder to its end.

    The kernel counts the memory of whoever starts a process towards the process's peak, so callers have to stay small.

    Raises:
        RuntimeError: It failed; the message holds the end of its standard error.
    """
    output_file, error_file = folder / ".stdout", folder / ".stderr"
    with output_file.open("w+", encoding="utf-8") as output, error_file.open("w+", encoding="utf-8") as error:
        started = perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=error, env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{error_file.read_text()[-2000:]}")
    return Usage(
        seconds=seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mib=usage.ru_maxrss / 1024,
        output=output_file.read_text(encoding="utf-8"),
    )


def median(runs: Sequence[Usage]) -> Usage:
    """Return the medians of several runs of one command, each figure by itself."""
    return Usage(
        seconds=statistics.median(one.seconds for one in runs),
        cpu_seconds=statistics.median(one.cpu_seconds for one in runs),
        peak_mib=statistics.median(one.peak_mib for one in runs),
        output=runs[-1].output,
    )
