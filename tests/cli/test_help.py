"""Help of every verb, what it costs to ask for it, and what is said to words that mean nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.__main__ import VERBS
from tests.support.command import gpufleet
from tests.support.sources import PROJECT

HEAVY = ("pydantic", "rich", "pulumi", "yaml", "preview", "fleet.load")
"""What help has no use for."""


def test_help_names_every_verb_and_the_exit_codes() -> None:
    """The first thing a stranger asks."""
    done = gpufleet("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(verb in done.stdout for verb in VERBS)
    assert "Exit codes: 0 all is well; 1" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("preview",), ("--json", "--inventory", "--against", "--time-limit", "Exit codes: 0", "130")),
        (("catalogue",), ("--card", "--region", "--cloud", "--all", "Exit codes: 0", "1 nothing was")),
        (("inventory",), ("check", "schema")),
        (("inventory", "check"), ("FILE", "--quiet", "Exit codes: 0")),
        (("inventory", "schema"), ("JSON Schema",)),
    ],
    ids=" ".join,
)
def test_help_of_a_verb(words: tuple[str, ...], told: tuple[str, ...]) -> None:
    """Each tells its options, and its exit codes where it has any of its own."""
    done = gpufleet(*words, "-h")
    assert (done.returncode, done.stderr) == (0, "")
    assert [text for text in told if text not in " ".join(done.stdout.split())] == []


def test_help_imports_nothing_heavy() -> None:
    """Help answers before anybody wonders whether the program hangs."""
    command = [sys.executable, "-X", "importtime", "-m", "cli", "--help"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60, check=True)
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "click" in names
    assert {name for name in names if name.startswith(HEAVY)} == set()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("previw",), "No such command 'previw'"),
        (("preview", "--jsn", "x"), "No such option"),
        (("preview", "--time-limit", "soon"), "'soon' is not a valid float"),
        (("preview", "--time-limit", "0"), "--time-limit"),
        (("catalogue", "--cloud", "oracle"), "'oracle' is not one of 'google', 'aws', 'azure', 'openstack'"),
        (("inventory", "chek"), "No such command 'chek'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_without_meaning(words: tuple[str, ...], told: str) -> None:
    """What is wrong, where help is, exit code 2, nothing on standard output."""
    done = gpufleet(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_from_any_folder_and_through_a_link(tmp_path_factory: pytest.TempPathFactory) -> None:
    """People put a link to it into their path."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "gpufleet").symlink_to(PROJECT / "gpufleet")
    done = gpufleet("--help", project=folder, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_environment_the_next_step_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A fresh clone has no virtual environment yet."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "gpufleet").write_bytes((PROJECT / "gpufleet").read_bytes())
    (folder / "gpufleet").chmod(0o755)
    done = gpufleet("--help", project=folder)
    assert done.returncode == 2
    assert f"make -C {folder} setup" in done.stderr
