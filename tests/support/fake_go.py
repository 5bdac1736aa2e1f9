"""A Go that compiles nothing: a shell script that notes what it is asked for and writes programs that tell their versions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rehearsal.toolchain.module import read_module
from rehearsal.toolchain.tools import TOOLS, Tool

WAIT_SECONDS = 20.0
"""How long a test waits for something that a thread or a process does."""


def told_lines() -> str:
    """Return what every program answers when asked for its version, in one text that fits them all."""
    versions = read_module().versions
    return "\n".join(
        (
            f"etcd Version: {versions[Tool.ETCD]}",
            f"Kubernetes v{versions[Tool.KUBE_APISERVER]}",
            f"kwok version v{versions[Tool.KWOK]} go1.99.0 (linux/amd64)",
            f"v{versions[Tool.HELM]}",
            f"argocd: v{versions[Tool.ARGOCD]}",
        )
    )


def write_program(path: Path, body: str) -> Path:
    """Write a shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened; fails when it does not."""
    deadline, pause = time.monotonic() + WAIT_SECONDS, threading.Event()
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        pause.wait(0.01)


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeGo:
    """A folder with a `go` in it.

    Attributes:
        folder: The folder, to be used as PATH.
    """

    folder: Path

    def install(self, *, before: str = "", after: str = "", version: str = "1.99.0") -> None:
        """Write the script.

        Args:
            before: Shell code that runs before a program is written; $6 is the file and $7 the package.
            after: Shell code that runs when it is written.
            version: The version it tells.
        """
        write_program(
            self.folder / "go",
            f"""if [ "$1" = version ]; then echo 'go version go{version} linux/amd64'; exit 0; fi
echo "$7" >> '{self.log}'
{before}
cat > "$6" <<'PROGRAM'
#!/bin/sh
cat <<'LINES'
{told_lines()}
LINES
PROGRAM
chmod +x "$6"
{after}""",
        )

    @property
    def log(self) -> Path:
        """The file in which it notes each package."""
        return self.folder.parent / "go.log"

    def built(self) -> list[Tool]:
        """Return the programs it was asked for, in that order."""
        tools = {facts.package: tool for tool, facts in TOOLS.items()}
        return [tools[line] for line in self.log.read_text(encoding="utf-8").split()] if self.log.exists() else []
