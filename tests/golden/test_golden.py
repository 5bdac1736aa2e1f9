"""What a small fleet declares, stack by stack, as text in this folder: a change of it shows in review.

``make golden`` writes the texts anew; read the difference before committing it.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from cli.fleet_tables import print_notes, print_pools
from fleet.clouds import Cloud
from fleet.load import load_plan
from preview.graph import ResourceGraph
from preview.run import preview_stacks
from tests.support.rendering import rendered

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parents[1]
INVENTORY = FOLDER / "inventory.yaml"
LAYERS = (("aws", "azure", "cern", "google"), ("hub",))
STACKS = [name for layer in LAYERS for name in layer]
MOST_LINES = 300

pytestmark = pytest.mark.xdist_group("golden")


@pytest.fixture(scope="module")
def graphs() -> dict[str, ResourceGraph]:
    """Every stack's graph, previewed once."""
    previews = preview_stacks(PROJECT, LAYERS, inventory=INVENTORY)
    assert [preview.error for preview in previews if preview.failed] == []
    return {preview.stack: preview.graph for preview in previews if preview.graph}


def check(name: str, text: str) -> None:
    """Compare a text with the one in this folder, or write it when GPUFLEET_UPDATE_GOLDEN is set."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get("GPUFLEET_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert file.is_file(), f"{file.name} is not there: `make golden` writes it"
    assert text == file.read_text(encoding="utf-8"), f"{file.name} differs: read the change, then `make golden`"


@pytest.mark.parametrize("stack", STACKS)
def test_stack_declares_what_was_reviewed(graphs: dict[str, ResourceGraph], stack: str) -> None:
    """Each stack's resources, marks and inputs are those of its golden."""
    check(stack, rendered(graphs[stack]))


def test_plan_is_what_was_reviewed() -> None:
    """The table of pools, the sums, warnings and notes are those of the golden."""
    fleet = load_plan(INVENTORY)
    console = Console(file=io.StringIO(), width=1000, soft_wrap=True, color_system=None)
    print_pools(console, fleet)
    print_notes(console, fleet.notes)
    assert isinstance(console.file, io.StringIO)
    check("plan", console.file.getvalue())


def test_goldens_are_small_enough_to_read() -> None:
    """A golden nobody reads protects nothing."""
    long = {file.name for file in FOLDER.glob("*.txt") if len(file.read_text(encoding="utf-8").splitlines()) >= MOST_LINES}
    assert not long


def test_goldens_and_stacks_are_the_same() -> None:
    """Every stack of the project has a golden, and no golden is left of a stack that is gone."""
    stacks = {file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in (PROJECT / "stacks").glob("*.yaml")}
    assert {file.stem for file in FOLDER.glob("*.txt")} == stacks | {"plan"}


def test_fleet_has_every_cloud() -> None:
    """A cloud that the small fleet leaves out would change unseen."""
    assert {cluster.cloud for cluster in load_plan(INVENTORY).clusters} == set(Cloud)
