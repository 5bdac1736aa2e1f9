"""A checkout of its own, with its own history and a small fleet, for tests that change files or commit."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.sources import PROJECT

SMALL = """\
hub: cern-main
sites:
  cern:
    account: cern
    openstack:
      gpu_autoscaler: cluster-autoscaler 1.35 with GPU templates
      flavors:
        t4.small: {card: t4, vcpus: 4, memory_gib: 16}
        t4.large: {card: t4, vcpus: 8, memory_gib: 32}
        v100.small: {card: v100, vcpus: 4, memory_gib: 16}
clusters:
  cern:
    cern-main:
      kubernetes: "1.28.9"
      gpus:
        - {card: t4, name: grown, machine: t4.small, max: 4}
        - {card: t4, name: rebuilt, machine: t4.small}
        - {card: t4, name: dropped, machine: t4.small}
"""
"""A fleet of one site whose stack previews in half a second."""


class Checkout:
    """A copy of the project with one commit in it.

    Attributes:
        folder: Where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def inventory(self) -> Path:
        """Its inventory."""
        return self.folder / "inventory.yaml"

    def git(self, *words: str) -> str:
        """Run git in it and return what it said."""
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(self.folder), *identity, *words]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(command, env=kept, capture_output=True, text=True, timeout=60, check=True).stdout

    def worktrees(self) -> int:
        """Return how many work trees its repository knows."""
        return len(self.git("worktree", "list", "--porcelain").split("\n\n")) - 1

    def restore(self) -> None:
        """Bring every file back to the commit."""
        self.git("reset", "--hard", "--quiet")
        self.git("clean", "-fdq")


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy of the program as it is now, committed with the small fleet; made once for a module's tests."""
    folder = tmp_path_factory.mktemp("checkout") / "project"
    unwanted = shutil.ignore_patterns(".git", ".venv", "tests", "docs", "benchmarks", ".hypothesis", ".*_cache", "out")
    shutil.copytree(PROJECT, folder, ignore=unwanted)
    (folder / ".venv").symlink_to(PROJECT / ".venv")
    (folder / ".gitignore").write_text(".venv\n__pycache__/\n")
    checkout = Checkout(folder)
    checkout.inventory.write_text(SMALL)
    checkout.git("init", "--quiet", "--initial-branch=main")
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "--message=Start")
    return checkout


@pytest.fixture
def checkout(copied: Checkout) -> Checkout:
    """The copy, as committed."""
    copied.restore()
    return copied
