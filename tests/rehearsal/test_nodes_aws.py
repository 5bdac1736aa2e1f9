"""Nodes read from EKS' declared groups, and what planted mistakes do to them."""

from __future__ import annotations

import pytest

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.errors import FleetErrors
from fleet.labels import SPOT_TAINT, CapacityType, Taint
from preview.graph import ResourceGraph
from rehearsal.nodes import wakes, why_asleep
from rehearsal.nodes.aws import HINTS
from tests.support.nodes import a_graph, planted, template_of, without
from tests.support.plans import NVIDIA_TAINT, a_pool, a_spot_pool


@pytest.fixture(scope="module")
def graph() -> ResourceGraph:
    """A cluster with a T4 pool and its spot twin."""
    return a_graph(Cloud.AWS, a_pool(Cloud.AWS), a_spot_pool(Cloud.AWS))


def without_tag(graph: ResourceGraph, name: str) -> ResourceGraph:
    """Return a graph without one scaling hint of the T4 pool."""
    return without(graph, lambda resource: resource.name == f"aws-one-t4-{name}")


def test_a_group_gives_its_node(graph: ResourceGraph) -> None:
    """Size by instance type and network interfaces, zones by the declared subnets, price by region and capacity type."""
    node = template_of(graph, "t4")
    assert (node.site, node.cluster, node.region) == ("aws-site", "aws-one", "us-east-1")
    assert (node.machine, node.card, node.accelerators) == ("g4dn.xlarge", "T4", 1)
    assert node.zones == ("us-east-1a", "us-east-1b")
    assert (node.min_nodes, node.max_nodes) == (0, 4)
    assert (node.capacity["pods"], node.capacity["nvidia.com/gpu"]) == ("29", "1")
    assert (node.capacity["ephemeral-storage"], node.allocatable["ephemeral-storage"]) == ("102400Mi", "91136Mi")
    assert (node.capacity_type, node.usd_per_hour) == (CapacityType.ON_DEMAND, 0.526)
    assert wakes(node)


def test_eks_adds_its_labels_and_no_taint(graph: ResourceGraph) -> None:
    """The node carries the group, how it is paid for and where it is, beside the plan's labels."""
    node, spot = template_of(graph, "t4"), template_of(graph, "t4-spot")
    assert {
        "gpu": "T4",
        "k8s.amazonaws.com/accelerator": "nvidia-t4",
        "eks.amazonaws.com/capacityType": "ON_DEMAND",
        "node.kubernetes.io/instance-type": "g4dn.xlarge",
        "topology.kubernetes.io/region": "us-east-1",
    }.items() <= node.labels.items()
    assert node.labels["eks.amazonaws.com/nodegroup"].startswith("aws-one-t4")
    assert node.taints == (NVIDIA_TAINT,)
    assert (spot.labels["eks.amazonaws.com/capacityType"], spot.taints) == ("SPOT", (SPOT_TAINT, NVIDIA_TAINT))
    assert spot.capacity_type is CapacityType.SPOT


def test_the_autoscaler_sees_the_tags_and_the_instance_type(graph: ResourceGraph) -> None:
    """Labels, taints, cards and disk come from tags; processors and memory from the list of types."""
    seen = template_of(graph, "t4-spot").seen
    assert seen.labels["gpu"] == "T4"
    assert set(seen.taints) == {SPOT_TAINT, NVIDIA_TAINT}
    assert (seen.resources["nvidia.com/gpu"], seen.resources["ephemeral-storage"], seen.resources["cpu"]) == ("1", "85Gi", "4")
    assert "eks.amazonaws.com/nodegroup" not in seen.labels


@pytest.mark.parametrize("tag", ["label/gpu", "resources/nvidia.com/gpu", "taint/nvidia.com/gpu"])
def test_each_kind_of_tag_is_demanded_by_name(graph: ResourceGraph, tag: str) -> None:
    """Without the tag the group stays asleep, though the group itself has label and taint; the other group is not concerned."""
    broken = without_tag(graph, tag)
    node = template_of(broken, "t4")
    assert not wakes(node)
    assert f"ASG tag {HINTS}{tag} is not there" in why_asleep(node)
    assert node.taints == (NVIDIA_TAINT,)
    assert wakes(template_of(broken, "t4-spot"))


def test_a_tag_of_another_group_is_no_hint(graph: ResourceGraph) -> None:
    """A tag counts for the group whose Auto Scaling group it hangs on, not for one of a like name."""
    moved = without(
        graph, lambda resource: resource.name.startswith("aws-one-t4-") and "/" in resource.name and "spot" not in resource.name
    )
    node = template_of(moved, "t4")
    assert len(node.seen.missing) == 3
    assert wakes(template_of(moved, "t4-spot"))


def test_all_missing_hints_are_told_at_once(graph: ResourceGraph) -> None:
    """One sentence names every tag."""
    bare = without_tag(without_tag(graph, "label/gpu"), "resources/nvidia.com/gpu")
    assert why_asleep(template_of(bare, "t4")).count("ASG tag") == 2


@pytest.mark.parametrize(
    ("name", "path", "value", "hint"),
    [
        ("t4-label/gpu", "tag/value", "V100", "label/gpu is V100, but g4dn.xlarge carries T4"),
        ("t4-label/gpu", "tag/key", f"{HINTS}label/gpus", f"{HINTS}label/gpu is not there"),
        ("t4-resources/nvidia.com/gpu", "tag/value", "4", "resources/nvidia.com/gpu is 4, but g4dn.xlarge has 1"),
        ("t4-resources/nvidia.com/gpu", "tag/key", f"{HINTS}resources/amd.com/gpu", "resources/nvidia.com/gpu is not there"),
        ("t4-taint/nvidia.com/gpu", "tag/value", "present:NO_SCHEDULE", "taint/nvidia.com/gpu is present:NO_SCHEDULE"),
        ("t4", "scalingConfig/maxSize", 0, "scalingConfig.maxSize is 0"),
        ("t4", "instanceTypes", ["m7i.xlarge"], "the pool is labelled gpu=T4, but m7i.xlarge carries no card"),
    ],
)
def test_a_planted_mistake_keeps_the_group_asleep(graph: ResourceGraph, name: str, path: str, value: object, hint: str) -> None:
    """A wrong value is told with what it is and what the machine really has."""
    node = template_of(planted(graph, f"aws-one-{name}", path, value), "t4")
    assert hint in why_asleep(node)


def test_a_taint_left_out_of_the_group_is_not_on_the_node(graph: ResourceGraph) -> None:
    """The tag tells the autoscaler and sets nothing: only the group's own taints reach a node."""
    assert template_of(planted(graph, "aws-one-t4", "taints", None), "t4").taints == ()


def test_other_accelerators_go_by_their_own_resource() -> None:
    """A Neuron device is counted as aws.amazon.com/neuron, and only its tag tells the autoscaler."""
    pool = a_pool(
        Cloud.AWS,
        name="trn",
        card="Trainium1",
        kind=AcceleratorKind.NEURON,
        resource="aws.amazon.com/neuron",
        machine="trn1.2xlarge",
        labels=(("gpu", "Trainium1"),),
        taints=(Taint(key="aws.amazon.com/neuron", value="present"),),
    )
    node = template_of(a_graph(Cloud.AWS, pool), "trn")
    assert (node.resource, node.capacity["aws.amazon.com/neuron"], wakes(node)) == ("aws.amazon.com/neuron", "1", True)
    assert "nvidia.com/gpu" not in node.capacity


def test_reserved_capacity_is_read_from_the_launch_template() -> None:
    """A capacity block states its machine in the launch template, has one zone and no price by the hour."""
    pool = a_pool(Cloud.AWS, capacity=CapacityType.RESERVED, reservation="cr-0123456789abcdef0", zones=("us-east-1a",))
    node = template_of(a_graph(Cloud.AWS, pool), "t4")
    assert (node.machine, node.capacity_type, node.usd_per_hour) == ("g4dn.xlarge", CapacityType.RESERVED, None)
    assert node.zones == ("us-east-1a",)


@pytest.mark.parametrize(
    ("path", "value"),
    [("capacityType", "SPOTTY"), ("subnetIds", ["subnet-elsewhere"]), ("scalingConfig/maxSize", None), ("instanceTypes", None)],
)
def test_what_makes_no_node_is_refused(graph: ResourceGraph, path: str, value: object) -> None:
    """Words EKS does not know, subnets of elsewhere, no limits and no machine are errors that name the group's URN."""
    with pytest.raises(FleetErrors, match="nodeGroup:NodeGroup::aws-one-t4"):
        template_of(planted(graph, "aws-one-t4", path, value), "t4")
