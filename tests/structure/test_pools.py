"""Every pool of today's fleet, in its own cloud's place: the card's label, the taints of kind and capacity, and no live count."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from fleet.accelerators import KINDS
from fleet.clouds import Cloud
from fleet.labels import CARD_LABEL, SPOT_TAINT, CapacityType
from fleet.load import load_plan
from preview.graph import Resource
from tests.conftest import FullPreview
from tests.support.sources import PROJECT

pytestmark = pytest.mark.xdist_group("full-preview")

Taints = set[tuple[str, str, str]]
"""Key, value and effect of each, in Kubernetes' spelling."""

_UPPER = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
FLEET = load_plan(PROJECT / "inventory.yaml")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a cloud's node pool keeps what the scheduler reads.

    Attributes:
        type: Its type token.
        labels: Labels of a node it would boot.
        taints: Taints of that node.
        counts: Inputs that the autoscaler changes.
    """

    type: str
    labels: Callable[[Mapping[str, Any]], Mapping[str, str]]
    taints: Callable[[Mapping[str, Any]], Taints]
    counts: set[str]


def _structured(taints: list[Mapping[str, str]]) -> Taints:
    """Return taints that are records, in upper case."""
    return {(one["key"], one["value"], _UPPER[one["effect"]]) for one in taints}


def _written(taints: list[str]) -> Taints:
    """Return taints that are text."""
    found = [re.fullmatch(r"([^=:]+)=([^:]*):(.+)", one) for one in taints]
    return {(one[1], one[2], one[3]) for one in found if one}


def _kubelet_flag(inputs: Mapping[str, Any], flag: str) -> list[str]:
    """Return the values of a kubelet flag in a node group's labels."""
    (value,) = re.findall(rf"--{flag}=(\S+)", inputs["labels"]["kubelet_options"])
    return value.split(",")


PLACES: Mapping[Cloud, Place] = {
    Cloud.GOOGLE: Place(
        type="gcp:container/nodePool:NodePool",
        labels=lambda inputs: inputs["nodeConfig"]["labels"],
        taints=lambda inputs: _structured(inputs["nodeConfig"]["taints"]),
        counts={"nodeCount", "initialNodeCount"},
    ),
    Cloud.AWS: Place(
        type="aws:eks/nodeGroup:NodeGroup",
        labels=lambda inputs: inputs["labels"],
        taints=lambda inputs: _structured(inputs["taints"]),
        counts={"scalingConfig.desiredSize"},
    ),
    Cloud.AZURE: Place(
        type="azure-native:containerservice:AgentPool",
        labels=lambda inputs: inputs["nodeLabels"],
        taints=lambda inputs: _written(inputs["nodeTaints"]),
        counts={"count"},
    ),
    Cloud.OPENSTACK: Place(
        type="openstack:containerinfra/nodeGroup:NodeGroup",
        labels=lambda inputs: dict(one.split("=", 1) for one in _kubelet_flag(inputs, "node-labels")),
        taints=lambda inputs: _written(_kubelet_flag(inputs, "register-with-taints")),
        counts={"nodeCount"},
    ),
}
POOLS = [(cluster, pool) for cluster in FLEET.clusters for pool in cluster.pools]


def _declared(full: FullPreview, place: Place, site: str, name: str) -> Resource:
    """Return a pool's resource."""
    (found,) = (one for one in full.graphs[site].of_type(place.type) if one.name == name)
    return found


@pytest.mark.parametrize(("cluster", "pool"), POOLS, ids=[f"{cluster.name}-{pool.name}" for cluster, pool in POOLS])
def test_pool_says_what_the_scheduler_reads(full_preview: FullPreview, cluster: Any, pool: Any) -> None:  # noqa: ANN401 -- plan records
    """Label, taints and ignored counts of one pool."""
    place = PLACES[cluster.cloud]
    declared = _declared(full_preview, place, cluster.site, f"{cluster.name}-{pool.name}")
    kind = KINDS[pool.kind]
    assert place.labels(declared.inputs)[CARD_LABEL] == pool.card
    taints = place.taints(declared.inputs)
    assert (kind.taint_key, kind.taint_value, "NoSchedule") in taints
    spot = (SPOT_TAINT.key, SPOT_TAINT.value, str(SPOT_TAINT.effect))
    assert (spot in taints) == (pool.capacity is CapacityType.SPOT)
    assert {(one.key, one.value, str(one.effect)) for one in pool.taints} <= taints
    assert place.counts <= set(declared.options.ignore_changes)


def test_every_cloud_is_looked_at() -> None:
    """The fleet of today has a pool on each, and each has its reader here."""
    assert PLACES.keys() == set(Cloud) == {cluster.cloud for cluster, _ in POOLS}


def test_system_pools_leave_their_count_to_the_autoscaler(full_preview: FullPreview) -> None:
    """No node pool of any kind shows a live count, the ones without cards included."""
    by_type = {place.type: place.counts for place in PLACES.values()}
    shown = {
        resource.urn
        for graph in full_preview.graphs.values()
        for resource in graph.resources
        if resource.type in by_type and not by_type[resource.type] <= set(resource.options.ignore_changes)
    }
    assert not shown
