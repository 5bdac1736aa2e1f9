"""The distribution's programs: used where installed, else unpacked beside the system, else the command to type. apt is faked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rehearsal.toolchain import ToolchainError
from rehearsal.toolchain import debian as subject
from rehearsal.toolchain.debian import PACKAGES, SERVICES, DebianPrograms, command_to_type
from tests.support.fake_go import write_program

UNPACK = """mkdir -p "$3/usr/bin" "$3/usr/lib/x-linux-gnu"
echo '#!/bin/sh' > "$3/usr/bin/redis-server"
chmod +x "$3/usr/bin/redis-server"
touch "$3/usr/lib/x-linux-gnu/libjemalloc.so.2"
"""

DOWNLOAD = """case "$*" in *update) exit 0 ;; esac
for word in "$@"; do
    case $word in Dir::Cache::archives=*) touch "${word#*=}/one.deb" ;; esac
done
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., DebianPrograms]:
    """Makes a system with an apt of the test's own; nothing of the real system is on its PATH."""
    monkeypatch.setattr(subject, "_ADMIN_FOLDERS", (str(tmp_path / "sbin"),))

    def make(apt: str = DOWNLOAD, dpkg: str = UNPACK) -> DebianPrograms:
        write_program(tmp_path / "bin" / "apt-get", f'echo "$@" >> "{tmp_path}/apt.log"\n{apt}')
        write_program(tmp_path / "bin" / "dpkg-deb", dpkg)
        return DebianPrograms(cache=tmp_path / "cache", search_path=str(tmp_path / "bin"))

    return make


def asked(tmp_path: Path) -> list[str]:
    """Return what apt-get was asked for, one line a call."""
    return (tmp_path / "apt.log").read_text(encoding="utf-8").splitlines() if (tmp_path / "apt.log").exists() else []


def unpacked(tmp_path: Path) -> list[str]:
    """Return the names of what lies in the cache."""
    return sorted(path.name for path in (tmp_path / "cache" / "debs").glob("*/*"))


@pytest.mark.parametrize("folder", ["bin", "sbin"])
def test_an_installed_program_is_used(tmp_path: Path, system: Callable[..., DebianPrograms], folder: str) -> None:
    """What is installed is taken, in the administrator's folders too, and apt is left alone."""
    programs = system()
    ours = write_program(tmp_path / folder / "ip", "")
    assert programs.find("ip").path == ours
    assert asked(tmp_path) == []


def test_a_missing_one_is_unpacked_once(tmp_path: Path, system: Callable[..., DebianPrograms]) -> None:
    """It is downloaded and never installed, runs with the libraries beside it, and is there the next time."""
    programs = system()
    found = programs.find("redis-server")
    assert found.path.name == "redis-server"
    assert found.path.is_relative_to(tmp_path / "cache" / "debs")
    assert found.environment["LD_LIBRARY_PATH"].endswith("/redis-server/usr/lib/x-linux-gnu")
    assert programs.find("redis-server") == found
    (call,) = asked(tmp_path)
    assert call.endswith("--no-install-recommends --download-only install redis-server")
    assert unpacked(tmp_path) == ["redis-server"]


def test_fresh_lists_are_fetched_where_needed(tmp_path: Path, system: Callable[..., DebianPrograms]) -> None:
    """Without package lists (a fresh container) our own are fetched, and the system's stay as they are."""
    system(apt=f'case "$*" in *Dir::State::lists=*) ;; *) exit 100 ;; esac\n{DOWNLOAD}').find("redis-server")
    first, update, again = asked(tmp_path)
    assert "Dir::State::lists" not in first
    assert update.endswith(" update")
    assert f"Dir::State::lists={tmp_path}/cache/debs/" in update
    assert again.endswith("install redis-server")


@pytest.mark.parametrize(
    ("apt", "dpkg", "told"),
    [
        ("echo 'Unable to fetch' >&2; exit 100", UNPACK, "cannot be downloaded"),
        ("true", UNPACK, "cannot be downloaded"),
        (DOWNLOAD, "echo 'not an archive' >&2; exit 2", "could not be unpacked: not an archive"),
        (DOWNLOAD, 'mkdir -p "$3"', "holds no redis-server"),
    ],
    ids=["no network", "nothing to bring", "broken archive", "other content"],
)
def test_what_cannot_be_had_is_a_command(
    tmp_path: Path, system: Callable[..., DebianPrograms], apt: str, dpkg: str, told: str
) -> None:
    """Whatever goes wrong, the message is what to type; nothing half-unpacked is taken for the program later."""
    with pytest.raises(ToolchainError) as caught:
        system(apt=apt, dpkg=dpkg).find("redis-server")
    assert told in str(caught.value)
    assert command_to_type("redis-server") in str(caught.value)
    assert [name for name in unpacked(tmp_path) if name.startswith(".")] == []


def test_no_apt_is_a_command(tmp_path: Path) -> None:
    """On another distribution the message names the package."""
    programs = DebianPrograms(cache=tmp_path, search_path=str(tmp_path))
    with pytest.raises(ToolchainError, match="install --no-install-recommends mtail && sudo systemctl disable --now mtail"):
        programs.find("mtail")


def test_a_half_unpacked_one_is_unpacked_again(tmp_path: Path, system: Callable[..., DebianPrograms]) -> None:
    """A folder without its mark was not finished."""
    programs = system()
    found = programs.find("redis-server")
    home = found.path.parents[2]
    (home / ".whole").unlink()
    shutil.rmtree(home / "usr")
    assert programs.find("redis-server") == found
    assert found.path.is_file()
    assert len(asked(tmp_path)) == 2


def test_a_cache_in_the_way_is_told(tmp_path: Path, system: Callable[..., DebianPrograms]) -> None:
    """A cache that cannot be written is one message."""
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    with pytest.raises(ToolchainError, match="redis-server could not be unpacked"):
        system().find("redis-server")


def test_services_are_packages_of_the_table() -> None:
    """The command that keeps a service from running is told for packages that we name, and `ip` starts none."""
    assert set(SERVICES) <= set(PACKAGES.values())
    assert "systemctl" in command_to_type("prometheus")
    assert "systemctl" not in command_to_type("iproute2")
