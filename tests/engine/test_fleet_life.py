"""The life of each stack under the real engine: clusters grow, change and go, and nothing is replaced that need not be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.engine.doubles.cloud import CloudObject
from tests.engine.fleets import HUB, SITES, SMALL, STACKS, FleetProject
from tests.engine.running import Run

pytestmark = pytest.mark.engine

LOSING = {"replace", "create-replacement", "delete-replaced", "delete"}
"""Operations by which something that runs is lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What is particular about one site.

    Attributes:
        pool: Type token of a node pool.
        card: A second card that is sold there.
        grown: What an object of that type shows when the autoscaler has set three nodes.
    """

    pool: str
    card: str
    grown: Callable[[CloudObject], Mapping[str, Any]]


CASES: Mapping[str, Case] = {
    "aws": Case(
        pool="aws:eks/nodeGroup:NodeGroup",
        card="l4",
        grown=lambda pool: {"scalingConfig": {**pool.inputs["scalingConfig"], "desiredSize": 3}},
    ),
    "azure": Case(pool="azure-native:containerservice:AgentPool", card="a100-80", grown=lambda _: {"count": 3}),
    "cern": Case(pool="openstack:containerinfra/nodeGroup:NodeGroup", card="v100", grown=lambda _: {"nodeCount": 3}),
    "google": Case(pool="gcp:container/nodePool:NodePool", card="l4", grown=lambda _: {"nodeCount": 1, "initialNodeCount": 3}),
}


def _cluster(site: str, *gpus: Any) -> dict[str, Any]:  # noqa: ANN401 -- entries of an inventory
    """Return a site's one cluster with these cards."""
    (name,) = SMALL["clusters"][site]
    return {site: {name: {"gpus": list(gpus)}}}


def _operations(run: Run) -> set[str]:
    """Return the operations of a successful run that are changes."""
    assert run.succeeded, run.text
    return {operation for operation, _ in run.changes}


@pytest.mark.parametrize("site", SITES)
def test_what_the_autoscaler_did_never_shows(site: str, fleet: FleetProject) -> None:
    """Live node counts of every pool differ after a refresh, and the next update has nothing to do and sets nothing back."""
    case = CASES[site]
    pools = fleet.cloud.objects(case.pool)
    assert pools
    for pool in pools:
        fleet.cloud.change(case.pool, pool.id, **case.grown(pool))
    assert fleet.refresh(site).succeeded
    assert _operations(fleet.up(site)) == set()
    for pool in fleet.cloud.objects(case.pool):
        assert {name: pool.outputs[name] for name in case.grown(pool)} == case.grown(pool)


@pytest.mark.parametrize("site", SITES)
def test_a_pool_grows_a_card_comes_and_goes_and_nothing_is_replaced(site: str, fleet: FleetProject) -> None:
    """A raised maximum is an update in place, a new card only creates, and without the card all is as it was."""
    case = CASES[site]
    before = {pool.id for pool in fleet.cloud.objects(case.pool)}
    fleet.state_fleet(_cluster(site, {"card": "t4", "max": 9}))
    raised = fleet.up(site)
    assert raised.operations_on(case.pool) & {"update"}
    assert not _operations(raised) & LOSING

    fleet.state_fleet(_cluster(site, {"card": "t4", "max": 9}, case.card))
    added = fleet.up(site)
    assert "create" in _operations(added)
    assert not _operations(added) & LOSING
    both = {pool.id for pool in fleet.cloud.objects(case.pool)}
    assert before < both

    fleet.state_fleet(_cluster(site, {"card": "t4", "max": 9}))
    removed = fleet.up(site)
    assert not _operations(removed) & (LOSING - {"delete"})
    assert {pool.id for pool in fleet.cloud.objects(case.pool)} == before


@pytest.mark.parametrize("site", SITES)
def test_a_second_cluster_leaves_the_first_alone_and_a_destroy_leaves_nothing(site: str, fleet: FleetProject) -> None:
    """A cluster added to a site only creates; destroying the site then leaves nothing of it in the cloud or in the state."""
    others = _others(fleet, site)
    one = _cluster(site, "t4")
    second = {"gpus": ["t4"]}
    fleet.state_fleet({site: {**one[site], "second": second}})
    assert _operations(fleet.up(site)) == {"create"}
    assert fleet.destroy(site).succeeded
    assert fleet.resources(site) == []
    assert {thing.id for thing in fleet.cloud.objects()} == others


def _others(fleet: FleetProject, site: str) -> set[str]:
    """Return the ids of everything in the cloud that belongs to other stacks."""
    mine = {resource.get("id") for resource in fleet.resources(site)}
    return {thing.id for thing in fleet.cloud.objects() if thing.id not in mine}


def test_the_hub_follows_its_sites_without_replacing(fleet: FleetProject) -> None:
    """A pool that was scaled and a cluster that was added reach the hub as updates and creations; nothing in it is lost."""
    site = "google"
    (name,) = SMALL["clusters"][site]
    fleet.state_fleet({site: {name: {"gpus": [{"card": "t4", "max": 9}]}, "second": {"gpus": ["t4"]}}})
    early = fleet.preview(HUB)
    assert not early.succeeded
    assert "second" in early.text
    assert "pulumi up -s google" in early.text
    assert "Traceback" not in early.text
    assert fleet.up(site).succeeded
    followed = _operations(fleet.up(HUB))
    assert "create" in followed
    assert followed <= {"create", "update"}


def test_a_hub_before_its_sites_names_each_of_them_once(tmp_path: Path) -> None:
    """With no site up the hub's preview ends in one error that lists all sites and the command for each."""
    project = FleetProject(tmp_path)
    project.init(HUB)
    run = project.preview(HUB)
    assert not run.succeeded
    (message,) = run.errors
    for site in SITES:
        assert message.count(f"pulumi up -s {site}") == 1
    assert "Traceback" not in run.text


def test_no_secret_lies_open_in_the_backend(fleet: FleetProject) -> None:
    """Tokens and kubeconfigs that the fake clouds made are nowhere in clear in what the backend keeps."""
    text = fleet.backend_text()
    for stack in STACKS:
        assert f"urn:pulumi:{stack}::gpufleet" in text
    kubeconfigs = [one for site in SITES for one in fleet.outputs(site)["kubeconfigs"].values()]
    assert len(kubeconfigs) == len(SITES)
    assert all("apiVersion" in kubeconfig for kubeconfig in kubeconfigs)
    tokens = [
        thing.outputs["data"]["token"] for thing in fleet.cloud.objects("kubernetes:core/v1:Secret") if "data" in thing.outputs
    ]
    assert tokens
    for hidden in ("current-context", "kind: Config", "PRIVATE KEY", *tokens):
        assert hidden not in text


def test_protected_clusters_are_not_destroyed(fleet: FleetProject) -> None:
    """With `protect` set a destroy is refused while the cluster stands, and said by name."""
    fleet.configure("cern", protect=True)
    assert _operations(fleet.up("cern")) <= {"update"}
    refused = fleet.destroy("cern")
    assert not refused.succeeded
    assert any("protected" in message for message in refused.errors)
    assert fleet.cloud.objects("openstack:containerinfra/cluster:Cluster")
