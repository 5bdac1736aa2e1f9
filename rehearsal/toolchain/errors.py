"""What people are told when a program of the rehearsal cannot be had."""

from __future__ import annotations

import errno
from pathlib import Path


class ToolchainError(Exception):
    """A program cannot be had here. The message says what is missing and what to do, and is shown as it stands."""


class Cancelled(Exception):  # noqa: N818 -- not an error: somebody asked to stop
    """Work was stopped on request, and its processes are gone."""


def explain_os_error(error: OSError, doing: str) -> ToolchainError:
    """Say what the operating system's refusal means for whoever started a rehearsal.

    Args:
        error: What was raised.
        doing: What was being done, as a sentence's start such as ``etcd could not be stored``.
    """
    place = str(error.filename or "")
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return disk_full(doing, place)
        case errno.EACCES | errno.EPERM | errno.EROFS | errno.ENOTDIR:
            return ToolchainError(
                f"{doing}: {place or 'the cache'} cannot be written ({error.strerror}). "
                f"Make it writable for this user, or name another folder: XDG_CACHE_HOME=/some/folder"
            )
        case errno.ENOEXEC:
            return ToolchainError(
                f"{doing}: {place} is no program for this machine (wrong architecture, or damaged). "
                "Take it off PATH and run the same command again"
            )
        case _:
            return ToolchainError(f"{doing}: {error.strerror or error}{f' ({place})' if place else ''}")


def disk_full(doing: str, place: str = "") -> ToolchainError:
    """Say that there is no space left, how much a first build takes, and how to put it elsewhere.

    Args:
        doing: What was being done.
        place: The file or folder that did not fit, if known.
    """
    where = f" at {Path(place)}" if place else ""
    return ToolchainError(
        f"{doing}: no space left on the disk{where}. A first build takes about 8 GB: 4.5 in Go's build cache, 2.5 in its module "
        "cache, 0.6 for the programs, the rest while linking. Free some space, or put them elsewhere with GOCACHE, GOMODCACHE, "
        "TMPDIR and XDG_CACHE_HOME, and run the same command again: what is built already is kept"
    )
