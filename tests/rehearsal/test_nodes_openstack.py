"""Nodes read from Magnum's declared groups under each driver, and what planted mistakes do to them."""

from __future__ import annotations

import pytest

from fleet.clouds import Cloud, MagnumDriver
from fleet.errors import FleetErrors
from fleet.labels import Taint
from preview.graph import ResourceGraph
from rehearsal.nodes import wakes, why_asleep
from rehearsal.nodes.openstack import driver_of
from tests.support.declaring import only
from tests.support.nodes import a_magnum_graph, planted, template_of, told
from tests.support.plans import NVIDIA_TAINT, a_pool

CLUSTER = "openstack:containerinfra/cluster:Cluster"
WORD = "cluster-autoscaler with GPU templates"


@pytest.fixture(scope="module")
def heat() -> ResourceGraph:
    """A Heat cluster with a T4 pool on CERN's flavor."""
    return a_magnum_graph(MagnumDriver.HEAT)


@pytest.fixture(scope="module")
def woken(heat: ResourceGraph) -> ResourceGraph:
    """The same, where the site names an autoscaler that knows cards."""
    return told(heat, "openstack-one", gpu_autoscaler=WORD)


def test_a_group_gives_its_node(woken: ResourceGraph) -> None:
    """The flavor's size less what kernel and eviction keep; the disk is the volume; Nova's zone has its own name."""
    node = template_of(woken, "t4")
    assert (node.site, node.cluster, node.region) == ("openstack-site", "openstack-one", "cern")
    assert (node.machine, node.card, node.accelerators) == ("g2.5xlarge", "T4", 1)
    assert (node.zones, node.min_nodes, node.max_nodes) == (("nova",), 0, 4)
    assert (node.capacity["cpu"], node.allocatable["cpu"], node.capacity["pods"]) == ("28", "28", "110")
    assert int(node.capacity["memory"][:-2]) - int(node.allocatable["memory"][:-2]) == 100
    assert (node.capacity["nvidia.com/gpu"], node.capacity["ephemeral-storage"]) == ("1", "102400Mi")
    assert node.usd_per_hour is None


def test_heat_nodes_register_with_the_kubelets_options(woken: ResourceGraph) -> None:
    """Labels and taints are what the kubelet is told, beside Magnum's own two labels."""
    node = template_of(woken, "t4")
    assert {
        "gpu": "T4",
        "gpufleet.io/capacity-type": "on-demand",
        "magnum.openstack.org/role": "gpu-t4",
        "magnum.openstack.org/nodegroup": "t4",
    }.items() <= node.labels.items()
    assert node.taints == (NVIDIA_TAINT,)


def test_an_empty_group_sleeps_unless_the_site_says_otherwise(heat: ResourceGraph, woken: ResourceGraph) -> None:
    """Upstream's template has neither card nor taint; a site's own autoscaler is taken at its word, which the notes repeat."""
    asleep, awake = template_of(heat, "t4"), template_of(woken, "t4")
    assert "nvidia.com/gpu" not in asleep.seen.resources
    assert asleep.seen.taints == ()
    assert "nvidia.com/gpu in the autoscaler's template is not there" in why_asleep(asleep)
    assert "identity.gpu_autoscaler" in why_asleep(asleep)
    assert wakes(awake)
    assert awake.seen.resources["nvidia.com/gpu"] == "1"
    assert awake.notes == (f"its autoscaler is the site's own, on the site's word: {WORD}",)


def test_a_group_that_is_never_empty_has_a_node_to_copy(heat: ResourceGraph) -> None:
    """With a minimum of 1 upstream's autoscaler needs no template."""
    kept = planted(heat, "openstack-one-t4", "minNodeCount", 1)
    assert wakes(template_of(kept, "t4"))


def test_the_default_worker_is_a_pool_of_one(heat: ResourceGraph) -> None:
    """Magnum makes it with the cluster; its size is unknown, and says so."""
    node = template_of(heat, "default-worker")
    assert (node.min_nodes, node.max_nodes, node.card, node.taints) == (1, 1, None, ())
    assert node.labels["magnum.openstack.org/nodegroup"] == "default-worker"
    assert node.urn.endswith(":Cluster::openstack-one-cluster")
    assert node.notes == ("the size of m2.xlarge was not found: 4 vCPUs and 16 GiB stand in",)


def test_the_drivers_of_cluster_api_give_nodes_neither_card_label_nor_taint() -> None:
    """Each has labels of its own; even a site's autoscaler cannot make a pod that selects the card land."""
    capi = told(a_magnum_graph(MagnumDriver.CLUSTER_API), "openstack-one", gpu_autoscaler=WORD)
    node = template_of(capi, "t4")
    assert {"node-role.kubernetes.io/gpu-t4": "", "node.cluster.x-k8s.io/nodegroup": "t4"}.items() <= node.labels.items()
    assert node.taints == ()
    assert "the node label gpu" in why_asleep(node)
    in_vain = {"kubelet_options": "--node-labels=gpu=T4 --register-with-taints=nvidia.com/gpu=present:NoSchedule"}
    ignored = template_of(planted(capi, "openstack-one-t4", "labels", in_vain), "t4")
    assert ("gpu" in ignored.labels, ignored.taints) == (False, ())
    helm = template_of(a_magnum_graph(MagnumDriver.CAPI_HELM, a_pool(Cloud.OPENSTACK, machine="g2.5xlarge", min_nodes=1)), "t4")
    assert helm.labels["capi.stackhpc.com/node-group"] == "t4"
    assert "the node label gpu" in why_asleep(helm)


@pytest.mark.parametrize("driver", MagnumDriver)
def test_the_driver_shows_in_the_template_when_nothing_is_exported(driver: MagnumDriver) -> None:
    """The version label tells the three apart, so a graph without outputs is read the same."""
    graph = told(a_magnum_graph(driver), "openstack-one", driver=None)
    assert driver_of(graph, only(graph, CLUSTER)) is driver


def test_a_flavor_that_nobody_knows_is_taken_from_the_exports() -> None:
    """An inventory may name any flavor: its cards are the stack's word, and the note says so."""
    node = template_of(a_magnum_graph(MagnumDriver.HEAT, a_pool(Cloud.OPENSTACK, machine="site.gpu")), "t4")
    assert (node.card, node.accelerators, node.resource) == ("T4", 1, "nvidia.com/gpu")
    assert "that site.gpu carries 1 x T4 is what the stack exports: no source knows the machine" in node.notes


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        (
            "labels/kubelet_options",
            "--register-with-taints=nvidia.com/gpu=present:NoSchedule",
            "the node label gpu, by labels.kubelet_options",
        ),
        ("labels/kubelet_options", "--node-labels=gpu=V100", "is V100, but g2.5xlarge carries T4"),
        ("maxNodeCount", 0, "maxNodeCount is 0"),
        ("flavorId", "m2.xlarge", "flavorId: the pool is labelled gpu=T4, but m2.xlarge carries no card"),
    ],
)
def test_a_planted_mistake_keeps_the_group_asleep(woken: ResourceGraph, path: str, value: object, hint: str) -> None:
    """Each mistake is told by the label or property that makes it, the site's word notwithstanding."""
    assert hint in why_asleep(template_of(planted(woken, "openstack-one-t4", path, value), "t4"))


def test_the_kubelets_options_decide_the_taints(woken: ResourceGraph) -> None:
    """A taint left out is not on the node; several, with any effect, are."""
    bare = planted(woken, "openstack-one-t4", "labels/kubelet_options", "--node-labels=gpu=T4")
    assert template_of(bare, "t4").taints == ()
    two = "--node-labels=gpu=T4 --register-with-taints=a=b:NoExecute,nvidia.com/gpu=present:NoSchedule --v=2"
    taints = template_of(planted(woken, "openstack-one-t4", "labels/kubelet_options", two), "t4").taints
    assert [str(taint) for taint in taints] == ["a=b:NoExecute", "nvidia.com/gpu=present:NoSchedule"]
    assert taints[0] == Taint(key="a", value="b", effect=taints[0].effect)


def test_what_makes_no_node_is_refused(heat: ResourceGraph) -> None:
    """A taint that no kubelet takes and a driver that nobody knows are errors that name the resource."""
    bad = planted(heat, "openstack-one-t4", "labels/kubelet_options", "--register-with-taints=nvidia.com/gpu")
    with pytest.raises(FleetErrors, match=r"nodeGroup:NodeGroup::openstack-one-t4\.labels\.kubelet_options"):
        template_of(bad, "t4")
    with pytest.raises(FleetErrors, match="no Magnum driver of this name"):
        template_of(told(heat, "openstack-one", driver="swarm"), "t4")
