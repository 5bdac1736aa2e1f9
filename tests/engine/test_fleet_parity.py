"""Both roads through the program declare the same: the offline preview's graph against what the real engine is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from preview.graph import MASK, ResourceGraph
from preview.run import preview_stacks
from tests.engine.fleets import HUB, SITES, STACKS, RunningFleet
from tests.engine.running import Run, Step

pytestmark = pytest.mark.engine

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@pytest.fixture(scope="session")
def graphs(running_fleet: RunningFleet) -> dict[str, ResourceGraph]:
    """Return the offline preview's graph of every stack of the same project."""
    project = running_fleet.project
    previews = preview_stacks(project.directory, [SITES, [HUB]], inventory=project.inventory)
    assert [one.error for one in previews] == [None] * len(STACKS)
    return {one.stack: one.graph for one in previews if one.graph}


@pytest.mark.parametrize("stack", STACKS)
def test_the_same_resources_are_declared(stack: str, graphs: dict[str, ResourceGraph], running_fleet: RunningFleet) -> None:
    """Type, name and parent of every resource agree, in the engine's preview and in its update."""
    offline = {(one.urn, one.parent or "") for one in graphs[stack].resources}
    assert _declared(running_fleet.previews[stack]) == offline
    assert _declared(running_fleet.ups[stack]) == offline


@pytest.mark.parametrize("stack", STACKS)
def test_inputs_known_in_the_engines_preview_agree(
    stack: str, graphs: dict[str, ResourceGraph], running_fleet: RunningFleet
) -> None:
    """Every input that the engine's first preview knows has the value that the offline preview shows."""
    assert _differing(running_fleet.previews[stack], graphs[stack]) == {}


@pytest.mark.parametrize("stack", STACKS)
def test_inputs_of_the_update_agree_to_the_last(
    stack: str, graphs: dict[str, ResourceGraph], running_fleet: RunningFleet
) -> None:
    """With everything known, all inputs are those of the offline preview, stand-ins included."""
    assert _differing(running_fleet.ups[stack], graphs[stack]) == {}


@pytest.mark.parametrize("stack", SITES)
def test_a_first_preview_shows_what_only_the_cloud_can_tell_as_unknown(stack: str, running_fleet: RunningFleet) -> None:
    """No computed value is made up in a first preview: some input of each site depends on one and is unknown there."""
    assert any(UNKNOWN in repr(step.inputs) for step in running_fleet.previews[stack].steps)


def _resources(run: Run) -> list[Step]:
    """Return the steps over what the program declares: the engine's own default providers are not among it."""
    return [step for step in run.steps if not (step.type.startswith("pulumi:providers:") and step.name.startswith("default"))]


def _declared(run: Run) -> set[tuple[str, str]]:
    """Return URN and parent of every declared resource; the parent is empty for what stands directly under the stack."""
    return {(step.urn, "" if "::pulumi:pulumi:Stack::" in step.parent else step.parent) for step in _resources(run)}


def _differing(run: Run, graph: ResourceGraph) -> dict[str, list[tuple[str, Any, Any]]]:
    """Return the differences by resource name; those without any are left out."""
    found = {step.name: list(_differences("", _said(step), graph.by_urn[step.urn].inputs)) for step in _resources(run)}
    return {name: differences for name, differences in found.items() if differences}


def _said(step: Step) -> dict[str, Any]:
    """Return the inputs that the program gave: the engine adds its own to those of a provider."""
    own = ("__internal", "version") if step.type.startswith("pulumi:providers:") else ()
    return {key: value for key, value in step.inputs.items() if key not in own}


def _differences(path: str, engine: Any, offline: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 -- any JSON value
    """Yield path and both values where the engine knows a value and the offline preview shows another."""
    if engine == UNKNOWN or (offline == MASK and isinstance(engine, dict) and engine.get("ciphertext") == MASK):
        return
    if isinstance(engine, dict) and isinstance(offline, dict):
        for key in sorted(engine.keys() | offline.keys()):
            yield from _differences(f"{path}.{key}".lstrip("."), engine.get(key), offline.get(key))
    elif isinstance(engine, list) and isinstance(offline, list) and len(engine) == len(offline):
        for index, (one, other) in enumerate(zip(engine, offline, strict=True)):
            yield from _differences(f"{path}[{index}]", one, other)
    elif engine != offline:
        yield path, engine, offline
