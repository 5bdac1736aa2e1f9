"""Asks programs which version they are: those on PATH, and those that were just built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from rehearsal.toolchain.tools import TOOLS, Tool

_ANSWER_SECONDS = 20.0


def installed_tool(tool: Tool, version: str, search_path: str) -> Path | None:
    """Return a program of exactly the pinned version from PATH, or None.

    Args:
        tool: Which one.
        version: The pinned version.
        search_path: Folders to look in, as in PATH.
    """
    found = shutil.which(tool, path=search_path) if TOOLS[tool].version_arguments else None
    return Path(found) if found and told_version(tool, Path(found)) == version else None


def told_version(tool: Tool, path: Path) -> str | None:
    """Return the version a program tells, without its ``v``; None when it tells none or does not run here.

    Args:
        tool: Which one it should be.
        path: Where it is.
    """
    facts = TOOLS[tool]
    try:
        answer = subprocess.run(
            [path, *facts.version_arguments],
            env={**os.environ, "ARGOCD_BINARY_NAME": "argocd"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(facts.version_pattern, answer.stdout, re.MULTILINE)
    return match.group(1) if match and not answer.returncode else None
