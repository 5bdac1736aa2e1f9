"""Runs the command line as people do: a process of its own, from another folder, with its output in a pipe or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path

from preview.graph import ResourceGraph
from tests.support.sources import PROJECT

TIME_LIMIT_SECONDS = 120
_SHOWING = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TERM", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


def environment(**changes: str) -> dict[str, str]:
    """Return the environment without what decides about colours and widths, with `changes` made to it."""
    return {name: value for name, value in os.environ.items() if name not in _SHOWING} | changes


def gpufleet(*words: str, project: Path = PROJECT, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ``gpufleet`` with its output in pipes.

    Args:
        words: Verb, options and arguments.
        project: The checkout whose command is run.
        cwd: Folder to run in; the checkout's own by default.
        variables: Environment variables to set.
    """
    return subprocess.run(
        [str(project / "gpufleet"), *words],
        cwd=cwd or project,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )


def on_terminal(*words: str, columns: int = 200, project: Path = PROJECT, **variables: str) -> tuple[int, str]:
    """Run ``gpufleet`` on a terminal of its own and return its exit code and all that appeared there."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [str(project / "gpufleet"), *words],
        cwd=project,
        env=environment(**({"TERM": "xterm-256color"} | variables)),
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    try:
        shown = _read_all(leader)
        return process.wait(TIME_LIMIT_SECONDS), shown
    finally:
        process.kill()
        os.close(leader)


def graphs_in(file: Path) -> Mapping[str, ResourceGraph]:
    """Return the graphs that ``preview --json`` wrote, by stack."""
    stacks = json.loads(file.read_text(encoding="utf-8"))["stacks"]
    return {name: ResourceGraph.from_plain(graph, file=str(file)) for name, graph in stacks.items()}


def _read_all(leader: int) -> str:
    """Return what a terminal shows until its last process has closed it."""
    parts: list[bytes] = []
    while select.select([leader], [], [], TIME_LIMIT_SECONDS)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux' way of saying that nobody holds the other end
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode()
