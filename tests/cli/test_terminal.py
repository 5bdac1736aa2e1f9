"""Output on a terminal: colours, their absence where asked for, narrow windows, and Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Checkout
from tests.support.command import environment, on_terminal

pytestmark = pytest.mark.xdist_group("terminal")

COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-7]|9[0-7])m")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def test_a_terminal_gets_colours_and_progress() -> None:
    """Progress is live, the tree is coloured."""
    code, shown = on_terminal("preview", "cern")
    assert code == 0, shown
    assert "cern: previewing" in shown
    assert COLOUR.search(shown.partition("├──")[2])


def test_no_color_is_honoured() -> None:
    """no-color.org: no colour, whatever the terminal can do."""
    code, shown = on_terminal("preview", "cern", NO_COLOR="1")
    assert code == 0, shown
    assert not COLOUR.search(shown)
    assert "cern-main-cluster" in shown


def test_dumb_terminal_gets_plain_lines() -> None:
    """Nothing that moves a cursor or sets a colour, and progress a line at a time."""
    code, shown = on_terminal("preview", "cern", TERM="dumb")
    assert code == 0, shown
    assert "\x1b" not in shown
    assert re.search(r"^cern: \d+ resources in [\d.]+ s\s*$", shown, re.MULTILINE)


@pytest.mark.parametrize("columns", [60, 100])
def test_narrow_terminal_is_readable(columns: int) -> None:
    """No line is wider than the window, and no name or number is broken to make it fit."""
    code, shown = on_terminal("inventory", "check", columns=columns, NO_COLOR="1")
    assert code == 0, shown
    lines = [ESCAPE.sub("", line).rstrip("\r") for line in shown.split("\n")]
    assert max(map(len, lines)) <= columns
    heading = lines.index("azure aks-eastus a100-80-spot")
    assert "machine Standard_NC24ads_A100_v4" in " ".join(" ".join(lines[heading + 1 : heading + 4]).split())


def test_wide_terminal_gets_a_table() -> None:
    """One row a pool under one head."""
    code, shown = on_terminal("inventory", "check", columns=180, NO_COLOR="1")
    assert code == 0, shown
    plain = ESCAPE.sub("", shown)
    assert re.search(r"^ azure +aks-eastus +a100-80-spot +A100-80 +Standard_NC24ads_A100_v4 ", plain, re.MULTILINE)


def _processes_of(session: int) -> Iterator[str]:
    """Yield the command lines of all living processes of a session."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, _, _, sid = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(sid) == session and state != "Z":
                    yield (folder / "cmdline").read_text().replace("\0", " ")
            except (FileNotFoundError, ProcessLookupError):
                continue  # ended meanwhile


def _interrupted(project: Path, *words: str) -> tuple[int, str, list[str]]:
    """Interrupt a preview once a stack runs; return its exit code, what it said, and what is left running in its session."""
    leader, follower = pty.openpty()
    command = [str(project / "gpufleet"), "preview", *words]
    process = subprocess.Popen(
        command, cwd=project, env=environment(TERM="xterm"), stdout=follower, stderr=follower, start_new_session=True
    )
    os.close(follower)
    shown, until = b"", time.monotonic() + 60
    try:
        while time.monotonic() < until and not any("preview.worker" in line for line in _processes_of(process.pid)):
            if select.select([leader], [], [], 0.05)[0]:
                shown += os.read(leader, 65536)
        process.send_signal(signal.SIGINT)
        code = process.wait(30)
        while select.select([leader], [], [], 0)[0]:
            try:
                shown += os.read(leader, 65536)
            except OSError:
                break
        return code, shown.decode(), list(_processes_of(process.pid))
    finally:
        process.kill()
        os.close(leader)


def test_ctrl_c_leaves_nothing_running(checkout: Checkout) -> None:
    """Exit code 130, one word, no traceback, no process, no file, however long the program would have run."""
    (checkout.folder / "__main__.py").write_text("import signal\n\nsignal.pause()\n")
    code, shown, left = _interrupted(checkout.folder, "--json", "graphs.json")
    assert (code, left) == (130, [])
    assert "stopped" in shown
    assert "Traceback" not in shown
    assert not (checkout.folder / "graphs.json").exists()


def test_ctrl_c_takes_the_revisions_checkout_away(checkout: Checkout) -> None:
    """Interrupted while the base runs: the work tree made for it is gone."""
    code, shown, left = _interrupted(checkout.folder, "--against", "HEAD")
    assert (code, left) == (130, [])
    assert "Traceback" not in shown
    assert checkout.worktrees() == 1
