"""Dependencies: what is asked for and what is installed are the same, and every archive has its hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.support.sources import PROJECT

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;\\]+)", re.MULTILINE)
FILES = ("requirements", "requirements-dev")


def pins(file: Path) -> dict[str, str]:
    """Return version by normalised name of every line of a file that pins one."""
    return {name.lower().replace("_", "-"): version for name, version in _PIN.findall(file.read_text(encoding="utf-8"))}


def wishes(file: Path) -> list[str]:
    """Return the lines of a file that ask for a package."""
    lines = (line.split("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("-")]


@pytest.mark.parametrize("name", FILES)
def test_every_wish_is_an_exact_version(name: str) -> None:
    """A range would install something else tomorrow."""
    assert [line for line in wishes(PROJECT / f"{name}.in") if not _PIN.match(line)] == []


@pytest.mark.parametrize("name", FILES)
def test_resolved_copies_say_the_same(name: str) -> None:
    """`make lock` was run after the last change of the wishes."""
    resolved = pins(PROJECT / f"{name}.txt")
    assert pins(PROJECT / f"{name}.in").items() <= resolved.items()


@pytest.mark.parametrize("name", FILES)
def test_every_archive_has_a_hash(name: str) -> None:
    """What is installed is what was resolved, byte for byte."""
    text = (PROJECT / f"{name}.txt").read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    bare = [block.splitlines()[0] for block in blocks if _PIN.match(block) and "--hash=sha256:" not in block]
    assert not bare
    assert len([block for block in blocks if _PIN.match(block)]) == len(pins(PROJECT / f"{name}.txt"))


def test_both_files_agree() -> None:
    """A package in both has one version: the second file is installed over the first."""
    first, second = (pins(PROJECT / f"{name}.txt") for name in FILES)
    assert {name: version for name, version in second.items() if first.get(name, version) != version} == {}


def test_no_host_of_packages_is_named() -> None:
    """Where packages come from is the business of whoever installs them."""
    assert [name for name in FILES if "://" in (PROJECT / f"{name}.txt").read_text(encoding="utf-8")] == []


def test_python_is_the_same_everywhere() -> None:
    """Linter, type checker and resolver look at the oldest Python that is promised."""
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = settings["project"]["requires-python"].removeprefix(">=")
    assert settings["tool"]["pyright"]["pythonVersion"] == oldest
    assert settings["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert set(re.findall(r"--python-version (\S+)", (PROJECT / "Makefile").read_text(encoding="utf-8"))) == {oldest}
