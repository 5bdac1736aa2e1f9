"""What several folders of tests share: one full preview at the command line."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from preview.graph import ResourceGraph
from tests.support.command import gpufleet, graphs_in

STACKS = ("aws", "azure", "cern", "google", "hub")


@dataclass(frozen=True, kw_only=True)
class FullPreview:
    """One run of ``gpufleet preview --json FILE`` of today's fleet.

    Attributes:
        done: Its end.
        file: What it wrote.
        graphs: The graphs in it by stack.
    """

    done: subprocess.CompletedProcess[str]
    file: Path
    graphs: Mapping[str, ResourceGraph]


@pytest.fixture(scope="session")
def full_preview(tmp_path_factory: pytest.TempPathFactory) -> FullPreview:
    """A preview of all stacks, made once; mark its users with ``xdist_group("full-preview")`` so that one worker makes it."""
    file = tmp_path_factory.mktemp("full") / "graphs.json"
    done = gpufleet("preview", "--json", str(file))
    assert done.returncode == 0, done.stderr
    return FullPreview(done=done, file=file, graphs=graphs_in(file))
