"""Keeps built programs, each with its SHA-256: what is half-written or damaged is seen and built again."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.toolchain.errors import Cancelled
from rehearsal.toolchain.tools import Tool

KEPT = 2
"""Sets of programs that are kept, newest use first: this one and the one before, so that changing branches builds nothing."""

_POLL_SECONDS = 0.2
_MANIFEST = "manifest.json"


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where everything that can be made again is kept: ``$XDG_CACHE_HOME/gpufleet``, or ``~/.cache/gpufleet``."""
    home = environment.get("XDG_CACHE_HOME")
    return (Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache") / "gpufleet"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCache:
    """One set of programs: built from the same pins, with the same flags, by the same Go, for the same kind of machine.

    Attributes:
        folder: Where they are; its name is the digest of all that.
    """

    folder: Path

    def find(self, tool: Tool) -> Path | None:
        """Return a program that is exactly what was built, else None."""
        path, entry = self.folder / tool, self._manifest().get(tool)
        if not isinstance(entry, dict):
            return None
        with suppress(OSError):
            if (
                path.stat().st_size == entry.get("bytes")
                and os.access(path, os.X_OK)
                and file_sha256(path) == entry.get("sha256")
            ):
                return path
        return None

    def temporary(self, tool: Tool) -> Path:
        """Return where a program is written before it is whole. The folder is made.

        Raises:
            OSError: It cannot be made.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f".{tool}.{os.getpid()}"

    def add(self, tool: Tool, built: Path, seconds: float) -> Path:
        """Take a whole program in: it gets its name before the manifest vouches for it.

        Args:
            tool: Which one it is.
            built: What `temporary` named.
            seconds: How long building took.

        Raises:
            OSError: It cannot be stored.
        """
        path = self.folder / tool
        entry = {"sha256": file_sha256(built), "bytes": built.stat().st_size, "seconds": round(seconds, 1)}
        built.replace(path)
        manifest = {**self._manifest(), str(tool): entry}
        draft = self.folder / f".{_MANIFEST}.{os.getpid()}"
        draft.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(self.folder / _MANIFEST)
        return path

    def touch(self) -> None:
        """Note that this set is in use now; a cache that cannot be written stays as it is."""
        with suppress(OSError):
            os.utime(self.folder / _MANIFEST)

    def sweep(self) -> None:
        """Remove what an interrupted build left. Only whoever holds the lock may call it."""
        for leftover in self.folder.glob(".*"):
            leftover.unlink(missing_ok=True)

    @contextmanager
    def lock(self, cancelled: threading.Event, on_wait: Callable[[], None]) -> Iterator[None]:
        """Hold the right to build into this set; the system gives it back when its holder dies.

        Args:
            cancelled: Set to stop waiting.
            on_wait: Called again and again while another rehearsal builds.

        Raises:
            Cancelled: Somebody said stop.
            OSError: The lock's file cannot be made.
        """
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self._lock_file.open("a") as stream:
            while not _locked(stream.fileno()):
                on_wait()
                if cancelled.wait(_POLL_SECONDS):
                    raise Cancelled
            yield

    def prune(self) -> tuple[Path, ...]:
        """Remove all sets but this one and the newest used others, `KEPT` in all; one that is being built is left alone.

        Returns:
            The folders that were removed.
        """
        self.touch()
        others = [folder for folder in self.folder.parent.glob("*/") if folder != self.folder]
        removed = []
        for folder in sorted(others, key=_last_use, reverse=True)[KEPT - 1 :]:
            other = ToolCache(folder=folder)
            with suppress(OSError), other._lock_file.open("a") as stream:
                if _locked(stream.fileno()):
                    shutil.rmtree(folder)
                    removed.append(folder)
        return tuple(removed)

    @property
    def _lock_file(self) -> Path:
        """The file beside the folder that its builder locks."""
        return self.folder.with_name(f"{self.folder.name}.lock")

    def _manifest(self) -> dict[str, Any]:
        """Return what is known of each program; nothing when the manifest is missing or damaged."""
        try:
            document = json.loads((self.folder / _MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}


def _last_use(folder: Path) -> float:
    """Return when a set was last used, in seconds since 1970; 0 for one that never had a whole program."""
    try:
        return (folder / _MANIFEST).stat().st_mtime
    except OSError:
        return 0.0


def _locked(descriptor: int) -> bool:
    """Take a lock if nobody holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
