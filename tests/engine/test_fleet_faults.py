"""A cloud that fails at any step of a stack's first update, and the clean updates after it.

One chain covers every step with one update each: resources are made one at a time, and each update gets past the step that failed
in the one before it, and fails at a later one. By default a chain has a few failures at equal distances; with the environment
variable `EVERY_STEP` set it fails at every single step, which takes some minutes.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.engine.doubles.cloud import FakeCloud, Fault
from tests.engine.fleets import STACKS, FleetProject

pytestmark = pytest.mark.engine

EVERY_STEP = "GPUFLEET_ENGINE_EVERY_STEP"
FAILURES = 2
"""How many failures a short chain has."""


@pytest.mark.parametrize("stack", STACKS)
def test_whichever_step_fails_the_next_update_goes_on(stack: str, fleet: FleetProject) -> None:
    """Refused and unfinished creates are told each time, and the chain ends with one of everything and nothing unfinished."""
    wanted = _kinds(fleet.cloud)
    creates = sum(resource["custom"] and not resource["type"].startswith("pulumi:") for resource in fleet.resources(stack))
    assert fleet.destroy(stack).succeeded
    stride = 1 if os.environ.get(EVERY_STEP) else max(1, creates // FAILURES)
    failures = _fail_along(fleet, stack, stride)
    assert failures == creates if stride == 1 else failures >= FAILURES
    assert _kinds(fleet.cloud) == wanted
    assert not [resource["urn"] for resource in fleet.resources(stack) if resource.get("initErrors")]


def test_a_failed_update_is_told_without_a_traceback(fleet: FleetProject) -> None:
    """When the cloud refuses, the user reads the cloud's reason and nothing of Python's."""
    assert fleet.destroy("cern").succeeded
    fleet.cloud.plant(Fault(operation="create"))
    run = fleet.up("cern")
    assert any("planted fault" in message for message in run.errors)
    assert "Traceback" not in run.text


def _fail_along(fleet: FleetProject, stack: str, stride: int) -> int:
    """Update until an update succeeds, failing at every `stride`-th create, in turn refused and unfinished; return the failures.

    What was refused is created again by the next update, what was left unfinished is updated: only the former counts once more.
    """
    failures, repeated = 0, 0
    while True:
        half = failures % 2 == 1
        fleet.cloud.plant(Fault(operation="create", nth=stride + repeated, half=half))
        run = fleet.up(stack, "--parallel", "1")
        if fleet.cloud.pull_up():
            assert run.succeeded, run.text
            return failures
        assert not run.succeeded
        assert any("planted fault" in message for message in run.errors)
        failures, repeated = failures + 1, 0 if half else 1


def _kinds(cloud: FakeCloud) -> Counter[str]:
    """Return how many objects of each type exist."""
    return Counter(thing.type for thing in cloud.objects())
