"""Builds one program with Go, tells how far it is, and vouches for the result only after it ran."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rehearsal.toolchain.cache import ToolCache
from rehearsal.toolchain.compiler import BUILD_ENVIRONMENT, Compiler
from rehearsal.toolchain.diagnosis import explain_build
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.installed import told_version
from rehearsal.toolchain.module import GoModule
from rehearsal.toolchain.running import Runner
from rehearsal.toolchain.tools import TOOLS, Tool

BUILD_SECONDS = 3600.0
"""When one program's build is given up: twenty times what the largest takes on two cores, for slow networks and busy machines."""

_DOWNLOAD = re.compile(r"^go: downloading (\S+)")
_PACKAGE = re.compile(r"^[\w.~-]+(?:/[\w.~-]+)*$")


class Phase(StrEnum):
    """Where a program is on its way."""

    WAITING = "waiting"
    INSTALLING_GO = "installing Go"
    OTHER_REHEARSAL = "another rehearsal builds it"
    STARTING = "starting"
    DOWNLOADING = "downloading"
    COMPILING = "compiling"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What a build does now.

    Attributes:
        phase: `Phase.DOWNLOADING` or `Phase.COMPILING`.
        detail: The module or package.
        packages: How many packages are compiled so far.
    """

    phase: Phase
    detail: str
    packages: int


def linker_flags(tool: Tool, version: str) -> str:
    """Return the linker's flags: no symbol tables, which halves the size, and the version that the program shall tell.

    Args:
        tool: Which program.
        version: Its pinned version.
    """
    major, minor, _ = version.split(".", 2)
    stamps = [stamp.format(version=version, major=major, minor=minor) for stamp in TOOLS[tool].stamps]
    return " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in stamps)])


def cache_key(module: GoModule, compiler: Compiler) -> str:
    """Return the digest of everything that decides what the programs are: pins, sums, flags, the Go and the kind of machine."""
    flags = [linker_flags(tool, module.versions[tool]) + TOOLS[tool].package for tool in Tool]
    settings = [f"{name}={value}" for name, value in sorted(BUILD_ENVIRONMENT.items())]
    parts = [module.digest, *flags, *settings, compiler.version, compiler.target]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Builder:
    """Builds programs of one set.

    Attributes:
        module: What is pinned.
        compiler: The Go that builds; it is installed.
        cache: Where programs go.
        runner: Runs Go.
    """

    module: GoModule
    compiler: Compiler
    cache: ToolCache
    runner: Runner

    def build(self, tool: Tool, on_step: Callable[[Step], None]) -> Path:
        """Build a program and take it into the cache.

        Args:
            tool: Which one.
            on_step: Told what is being done, often.

        Raises:
            Cancelled: Somebody said stop.
            OSError: The cache cannot be written, or Go not started.
            ToolchainError: It cannot be built; the message says why.
        """
        draft, began = self.cache.temporary(tool), time.monotonic()
        follow = _Follower(on_step)
        flags = linker_flags(tool, self.module.versions[tool])
        try:
            outcome = self.runner.run(
                [self.compiler.path, "build", "-v", "-ldflags", flags, "-o", draft, TOOLS[tool].package],
                environment=self.compiler.environment(os.environ),
                timeout_seconds=BUILD_SECONDS,
                folder=self.module.folder,
                on_line=follow,
            )
            if outcome.exit_code or outcome.late:
                raise explain_build(tool, outcome)
            self._try_out(tool, draft)
            return self.cache.add(tool, draft, time.monotonic() - began)
        finally:
            draft.unlink(missing_ok=True)

    def _try_out(self, tool: Tool, draft: Path) -> None:
        """Refuse a program that does not run here or tells another version than it was built from."""
        if not draft.is_file():
            raise ToolchainError(
                f"{tool} was not built, though Go said so. Run the same command again; if it stays so, update Go"
            )
        wanted = self.module.versions[tool]
        told = told_version(tool, draft) if TOOLS[tool].version_arguments else wanted
        if told != wanted:
            raise ToolchainError(
                f"{tool} {wanted} was built with Go {self.compiler.version} for {self.compiler.target}, "
                f"but {f'says that it is {told}' if told else 'does not run on this machine'}. "
                f"If {self.compiler.path} is a Go for another machine, take it off PATH and run the same command again"
            )


class _Follower:
    """Turns Go's lines into steps."""

    def __init__(self, on_step: Callable[[Step], None]) -> None:
        self._on_step = on_step
        self._packages = 0

    def __call__(self, line: str) -> None:
        """Read one line; ``-v`` names each package when its compilation ends."""
        download = _DOWNLOAD.match(line)
        if download:
            self._on_step(Step(phase=Phase.DOWNLOADING, detail=download.group(1), packages=self._packages))
        elif _PACKAGE.match(line):
            self._packages += 1
            self._on_step(Step(phase=Phase.COMPILING, detail=line, packages=self._packages))
