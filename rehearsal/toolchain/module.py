"""Reads our Go module: which Go it wants, and which version each program has. The module holds pins and no code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rehearsal.toolchain.tools import TOOLS, Tool

MODULE_FOLDER = Path(__file__).parent / "module"

_GO = re.compile(r"^go (\d+\.\d+\.\d+)$", re.MULTILINE)
_TOOLCHAIN = re.compile(r"^toolchain go(\d+\.\d+\.\d+)$", re.MULTILINE)
_REQUIRED = re.compile(r"^(?:require)?\s+(\S+) v(\S+)(?: // indirect)?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoModule:
    """What go.mod says.

    Attributes:
        folder: Where go.mod and go.sum are.
        go: The oldest Go that can build it.
        toolchain: The Go that is installed where there is none new enough.
        versions: Each program's version, without the ``v``.
        digest: SHA-256 of both files, in hexadecimal.
    """

    folder: Path
    go: str
    toolchain: str
    versions: Mapping[Tool, str]
    digest: str


def go_version(text: str) -> tuple[int, int, int]:
    """Return a released Go's version such as ``1.26.10`` as numbers that compare."""
    major, minor, patch = (int(part) for part in text.split("."))
    return major, minor, patch


def read_module(folder: Path = MODULE_FOLDER) -> GoModule:
    """Read the pins.

    Args:
        folder: The folder of go.mod and go.sum.

    Raises:
        ValueError: go.mod lacks a line that this reader counts on; its author sees it in the tests.
    """
    text = (folder / "go.mod").read_text(encoding="utf-8")
    go, toolchain = _GO.search(text), _TOOLCHAIN.search(text)
    if go is None or toolchain is None:
        raise ValueError(f"{folder / 'go.mod'} needs a go line and a toolchain line, each with three numbers")
    required = dict(_REQUIRED.findall(text))
    missing = sorted({facts.module for facts in TOOLS.values()} - required.keys())
    if missing:
        raise ValueError(f"{folder / 'go.mod'} requires no {', '.join(missing)}")
    return GoModule(
        folder=folder,
        go=go.group(1),
        toolchain=toolchain.group(1),
        versions={tool: required[facts.module] for tool, facts in TOOLS.items()},
        digest=hashlib.sha256(text.encode() + (folder / "go.sum").read_bytes()).hexdigest(),
    )
