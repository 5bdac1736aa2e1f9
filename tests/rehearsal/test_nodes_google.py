"""Nodes read from GKE's declared pools, and what planted mistakes do to them."""

from __future__ import annotations

import pytest

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.errors import FleetErrors
from fleet.labels import SPOT_TAINT, CapacityType, Taint
from preview.graph import ResourceGraph
from rehearsal.nodes import wakes, why_asleep
from tests.support.nodes import a_graph, planted, template_of, without
from tests.support.plans import NVIDIA_TAINT, a_pool, a_spot_pool

TPU = {
    "name": "tpu",
    "card": "TPU-v5e",
    "kind": AcceleratorKind.TPU,
    "resource": "google.com/tpu",
    "machine": "ct5lp-hightpu-4t",
    "accelerator_type": None,
    "accelerators": 4,
    "labels": (("gpu", "TPU-v5e"),),
    "taints": (Taint(key="google.com/tpu", value="present"),),
    "zones": ("us-central1-a",),
}
TAINTS = "nodeConfig/taints"


@pytest.fixture(scope="module")
def graph() -> ResourceGraph:
    """A cluster with a T4 pool and its spot twin."""
    return a_graph(Cloud.GOOGLE, a_pool(Cloud.GOOGLE), a_spot_pool(Cloud.GOOGLE))


def test_a_pool_gives_its_node(graph: ResourceGraph) -> None:
    """Place, size, card, limits and price come from the declared pool and the catalogue."""
    node = template_of(graph, "t4")
    assert (node.site, node.cluster, node.region) == ("google-site", "google-one", "us-central1")
    assert (node.machine, node.card, node.resource, node.accelerators) == ("n1-standard-4", "T4", "nvidia.com/gpu", 1)
    assert (node.min_nodes, node.max_nodes, node.hosts) == (0, 4, 1)
    assert node.zones == ("us-central1-a", "us-central1-c")
    assert (node.capacity_type, node.usd_per_hour) == (CapacityType.ON_DEMAND, 0.54)
    assert (node.capacity["nvidia.com/gpu"], node.allocatable["nvidia.com/gpu"]) == ("1", "1")
    assert (node.capacity["cpu"], node.allocatable["cpu"], node.capacity["pods"]) == ("4", "3920m", "110")
    assert wakes(node)
    assert why_asleep(node) == ""


def test_gke_adds_its_labels(graph: ResourceGraph) -> None:
    """Both the plan's labels and Google's are on the node; zones and host are per node and not among them."""
    labels = template_of(graph, "t4").labels
    assert {
        "gpu": "T4",
        "cloud.google.com/gke-nodepool": "t4",
        "cloud.google.com/gke-accelerator": "nvidia-tesla-t4",
        "cloud.google.com/gke-gpu-driver-version": "default",
        "cloud.google.com/gke-provisioning": "standard",
        "node.kubernetes.io/instance-type": "n1-standard-4",
        "topology.kubernetes.io/region": "us-central1",
        "kubernetes.io/arch": "amd64",
    }.items() <= labels.items()
    assert not {"cloud.google.com/gke-spot", "kubernetes.io/hostname", "topology.kubernetes.io/zone"} & labels.keys()


def test_a_spot_pool_differs_where_google_makes_it_differ(graph: ResourceGraph) -> None:
    """Label, price, taint and precedence are spot's."""
    spot, other = template_of(graph, "t4-spot"), template_of(graph, "t4")
    assert spot.capacity_type is CapacityType.SPOT
    assert spot.labels["cloud.google.com/gke-spot"] == "true"
    assert spot.labels["cloud.google.com/gke-provisioning"] == "spot"
    assert spot.taints == (SPOT_TAINT, NVIDIA_TAINT)
    assert spot.usd_per_hour == pytest.approx(0.24, abs=0.01)
    assert spot.priority > other.priority


def test_the_system_pool_has_neither_card_nor_taint(graph: ResourceGraph) -> None:
    """What tolerates nothing has a place, and needs no hint."""
    node = template_of(graph, "system")
    assert (node.card, node.resource, node.taints) == (None, None, ())
    assert "nvidia.com/gpu" not in node.capacity
    assert wakes(node)


def test_a_slice_over_several_hosts_is_counted_in_hosts() -> None:
    """16 chips on machines of four are four nodes, with the labels by which TPU work selects them."""
    node = template_of(a_graph(Cloud.GOOGLE, a_pool(Cloud.GOOGLE, **TPU, topology="4x4", hosts=4)), "tpu")
    assert (node.hosts, node.min_nodes, node.max_nodes) == (4, 0, 4)
    assert (node.resource, node.capacity["google.com/tpu"]) == ("google.com/tpu", "4")
    assert node.labels["cloud.google.com/gke-tpu-accelerator"] == "tpu-v5-lite-podslice"
    assert node.labels["cloud.google.com/gke-tpu-topology"] == "4x4"
    assert wakes(node)


def test_a_single_host_slice_knows_its_topology() -> None:
    """Without a placement the machine's own chips are the slice."""
    node = template_of(a_graph(Cloud.GOOGLE, a_pool(Cloud.GOOGLE, **TPU, topology="2x2")), "tpu")
    assert (node.hosts, node.labels["cloud.google.com/gke-tpu-topology"]) == (1, "2x2")


def test_google_adds_a_taint_that_was_left_out(graph: ResourceGraph) -> None:
    """Beside a pool without cards GKE taints by itself; alone it does not, and then anything lands on the node."""
    bare = planted(graph, "google-one-t4", TAINTS, None)
    assert template_of(bare, "t4").taints == (NVIDIA_TAINT,)
    alone = without(bare, lambda resource: resource.name in ("google-one-system", "google-one-t4-spot"))
    assert template_of(alone, "t4").taints == ()


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("nodeConfig/labels/gpu", None, "nodeConfig.labels.gpu is not there; it has to be T4"),
        ("nodeConfig/labels/gpu", "V100", "nodeConfig.labels.gpu is V100, but n1-standard-4 carries T4"),
        ("nodeConfig/labels/gpu", "t4", "is t4, but n1-standard-4 carries T4"),
        ("nodeConfig/labels", {"gpus": "T4"}, "nodeConfig.labels.gpu is not there"),
        ("nodeConfig/guestAccelerators", None, "nodeConfig.guestAccelerators is not there: the pool is labelled gpu=T4"),
        ("nodeConfig/guestAccelerators/0/type", "nvidia-tesla-p4", "is T4, but n1-standard-4 carries P4"),
        ("autoscaling/totalMaxNodeCount", 0, "autoscaling.totalMaxNodeCount is 0"),
        ("autoscaling", None, "does not let the autoscaler have the pool"),
    ],
)
def test_a_planted_mistake_keeps_the_pool_asleep(graph: ResourceGraph, path: str, value: object, hint: str) -> None:
    """Each mistake is told by the property that makes it."""
    node = template_of(planted(graph, "google-one-t4", path, value), "t4")
    assert not wakes(node)
    assert hint in why_asleep(node)
    assert why_asleep(node).startswith("google-one/t4 does not wake from zero: ")


def test_limits_by_zone_are_multiplied(graph: ResourceGraph) -> None:
    """Two zones with at most three nodes each are six."""
    node = template_of(planted(graph, "google-one-t4", "autoscaling", {"minNodeCount": 1, "maxNodeCount": 3}), "t4")
    assert (node.min_nodes, node.max_nodes) == (2, 6)


def test_a_disk_or_machine_changes_the_node(graph: ResourceGraph) -> None:
    """The node is derived from the declared resource: change it, and the node follows."""
    bigger = template_of(planted(graph, "google-one-t4", "nodeConfig/machineType", "n1-standard-8"), "t4")
    assert (bigger.capacity["cpu"], bigger.allocatable["cpu"]) == ("8", "7910m")
    roomier = template_of(planted(graph, "google-one-t4", "nodeConfig/diskSizeGb", 500), "t4")
    assert roomier.allocatable["ephemeral-storage"] != template_of(graph, "t4").allocatable["ephemeral-storage"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("nodeConfig/taints/0/effect", "NoSchedule"),
        ("autoscaling/totalMaxNodeCount", "[unknown]"),
        ("nodeConfig/machineType", None),
    ],
)
def test_what_makes_no_node_is_refused_by_urn_and_property(graph: ResourceGraph, path: str, value: object) -> None:
    """A spelling of another cloud, a value no preview knows and a pool without machine are told apart from a sleeping pool."""
    broken = planted(graph, "google-one-t4", path, value)
    with pytest.raises(FleetErrors) as caught:
        template_of(broken, "t4")
    (mistake,) = caught.value.mistakes
    assert mistake.path.startswith(
        "urn:pulumi:test::gpufleet::gpufleet:index:GkeCluster$gcp:container/nodePool:NodePool::google-one-t4."
    )
