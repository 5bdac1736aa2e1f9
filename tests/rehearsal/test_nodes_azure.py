"""Nodes read from AKS' declared pools, and what planted mistakes do to them."""

from __future__ import annotations

import pytest

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.errors import FleetErrors
from fleet.labels import SPOT_TAINT, CapacityType, Taint
from preview.graph import ResourceGraph
from rehearsal.nodes import wakes, why_asleep
from rehearsal.nodes.azure import RESOURCE_TAG
from tests.support.nodes import a_graph, planted, template_of
from tests.support.plans import NVIDIA_TAINT, a_pool, a_spot_pool

AKS_SPOT_TAINT = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot")


@pytest.fixture(scope="module")
def graph() -> ResourceGraph:
    """A cluster with a T4 pool and its spot twin."""
    return a_graph(Cloud.AZURE, a_pool(Cloud.AZURE), a_spot_pool(Cloud.AZURE))


def an_amd_graph() -> ResourceGraph:
    """Return a cluster with a pool of MI300X."""
    pool = a_pool(
        Cloud.AZURE,
        name="mi300x",
        card="MI300X",
        kind=AcceleratorKind.AMD,
        resource="amd.com/gpu",
        machine="Standard_ND96isr_MI300X_v5",
        accelerators=8,
        labels=(("gpu", "MI300X"),),
        taints=(Taint(key="amd.com/gpu", value="present"),),
    )
    return a_graph(Cloud.AZURE, pool)


def test_a_pool_gives_its_node(graph: ResourceGraph) -> None:
    """Pods by the overlay network, so memory by them; no zones, so the zone label is 0."""
    node = template_of(graph, "t4")
    assert (node.site, node.cluster, node.region) == ("azure-site", "azure-one", "eastus")
    assert (node.machine, node.card, node.accelerators) == ("Standard_NC4as_T4_v3", "T4", 1)
    assert (node.zones, node.min_nodes, node.max_nodes) == (("0",), 0, 4)
    assert (node.capacity["pods"], node.allocatable["cpu"]) == ("250", "3860m")
    assert int(node.capacity["memory"][:-2]) - int(node.allocatable["memory"][:-2]) == 20 * 250 + 50 + 100
    assert node.usd_per_hour == 0.526
    assert wakes(node)


def test_aks_adds_its_labels(graph: ResourceGraph) -> None:
    """Pool, mode, accelerator and node resource group are there under AKS' prefix."""
    labels = template_of(graph, "t4").labels
    assert {
        "gpu": "T4",
        "kubernetes.azure.com/agentpool": "t4",
        "kubernetes.azure.com/mode": "user",
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/cluster": "azure-one-nodes",
        "kubernetes.azure.com/priority": "regular",
    }.items() <= labels.items()
    assert AKS_SPOT_TAINT.key not in labels


def test_aks_taints_and_labels_spot_pools_itself(graph: ResourceGraph) -> None:
    """The taint of AKS is on a spot node whether or not the pool declares it."""
    for given in (graph, planted(graph, "azure-one-t4-spot", "nodeTaints", ["nvidia.com/gpu=present:NoSchedule"])):
        node = template_of(given, "t4-spot")
        assert AKS_SPOT_TAINT in node.taints
        assert node.labels[AKS_SPOT_TAINT.key] == "spot"
    assert template_of(graph, "t4-spot").taints == (SPOT_TAINT, AKS_SPOT_TAINT, NVIDIA_TAINT)


def test_the_pools_without_cards_are_both_read(graph: ResourceGraph) -> None:
    """The pool inside the cluster's own description has AKS' taint; the other takes everything else."""
    system, general = template_of(graph, "system"), template_of(graph, "general")
    assert system.urn.endswith("containerservice:ManagedCluster::azure-one-cluster")
    assert system.taints == (Taint(key="CriticalAddonsOnly", value="true"),)
    assert system.labels["kubernetes.azure.com/mode"] == "system"
    assert (general.taints, general.min_nodes, general.max_nodes) == ((), 1, 3)
    assert wakes(general)


def test_zones_are_spelled_as_the_label_has_them() -> None:
    """Azure's numbers are put behind the region."""
    assert template_of(a_graph(Cloud.AZURE, a_pool(Cloud.AZURE, zones=("1", "3"))), "t4").zones == ("eastus-1", "eastus-3")


def test_a_card_that_is_not_nvidias_needs_a_tag() -> None:
    """Azure's autoscaler calls every card nvidia.com/gpu; a tag of the pool tells it another resource."""
    graph = an_amd_graph()
    node = template_of(graph, "mi300x")
    assert node.capacity["amd.com/gpu"] == "8"
    assert wakes(node)
    untagged = planted(graph, "azure-one-mi300x", f"tags/{RESOURCE_TAG}amd.com_gpu", None)
    assert f"tag {RESOURCE_TAG}amd.com_gpu" in why_asleep(template_of(untagged, "mi300x"))


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("nodeLabels/gpu", None, "nodeLabels.gpu is not there; it has to be T4"),
        ("nodeLabels/gpu", "P100", "nodeLabels.gpu is P100, but Standard_NC4as_T4_v3 carries T4"),
        ("nodeLabels", {"gpuu": "T4"}, "nodeLabels.gpu is not there"),
        ("maxCount", 0, "maxCount is 0"),
        ("enableAutoScaling", False, "enableAutoScaling does not let the autoscaler have the pool"),
        ("vmSize", "Standard_D4s_v5", "vmSize: the pool is labelled gpu=T4, but Standard_D4s_v5 carries no card"),
        ("vmSize", "Standard_NC24ads_A100_v4", "is T4, but Standard_NC24ads_A100_v4 carries A100-80"),
    ],
)
def test_a_planted_mistake_keeps_the_pool_asleep(graph: ResourceGraph, path: str, value: object, hint: str) -> None:
    """Each mistake is told by the property that makes it."""
    assert hint in why_asleep(template_of(planted(graph, "azure-one-t4", path, value), "t4"))


def test_a_taint_left_out_is_not_on_the_node(graph: ResourceGraph) -> None:
    """AKS adds no taint for cards: the pool wakes, and anything may land on it."""
    node = template_of(planted(graph, "azure-one-t4", "nodeTaints", None), "t4")
    assert (node.taints, wakes(node)) == ((), True)


def test_the_kubernetes_version_decides_what_is_kept(graph: ResourceGraph) -> None:
    """The older rule keeps another part of memory."""
    older = template_of(planted(graph, "azure-one-t4", "orchestratorVersion", "1.28.5"), "t4")
    assert older.allocatable["memory"] != template_of(graph, "t4").allocatable["memory"]
    assert older.capacity["memory"] == template_of(graph, "t4").capacity["memory"]


def test_reserved_capacity_is_no_spot(graph: ResourceGraph) -> None:
    """A capacity reservation group makes the pool reserved, without a price by the hour."""
    node = template_of(planted(graph, "azure-one-t4", "capacityReservationGroupID", "/subscriptions/1"), "t4")
    assert (node.capacity_type, node.usd_per_hour) == (CapacityType.RESERVED, None)


@pytest.mark.parametrize(("path", "value"), [("nodeTaints", ["nonsense"]), ("nodeTaints", ["a=b:NO_SCHEDULE"]), ("vmSize", None)])
def test_what_makes_no_node_is_refused(graph: ResourceGraph, path: str, value: object) -> None:
    """Taints that AKS would not take and a pool without size are errors that name the pool's URN and property."""
    with pytest.raises(FleetErrors, match=rf"AgentPool::azure-one-t4\.{path}"):
        template_of(planted(graph, "azure-one-t4", path, value), "t4")
