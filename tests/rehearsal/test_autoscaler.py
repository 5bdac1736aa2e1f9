"""What Karpenter is told about declared pools, by table, and two clusters of different clouds on real programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from lightkube.models.core_v1 import (
    Container,
    NodeSpec,
    NodeStatus,
    PodSpec,
    ResourceRequirements,
    Toleration,
)
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Event, Node, Pod

from fleet.clouds import Cloud, MagnumDriver
from fleet.errors import FleetErrors
from fleet.labels import CapacityType, Taint
from rehearsal.api import Api, objects, wait_for
from rehearsal.autoscaler import Autoscaler, _unready
from rehearsal.controlplane import start_all
from rehearsal.karpenter import (
    MACHINE_LABEL,
    POOL_LABEL,
    REGISTERED_LABEL,
    UNKNOWN_USD_PER_HOUR,
    ZONE_LABEL,
    instance_types,
    is_static,
    karpenter_name,
    late_labels,
    node_pools,
    weights,
)
from rehearsal.kubelets import Kubelets
from rehearsal.node_watch import NodeEventKind, NodeWatch
from rehearsal.nodes import NodeTemplate, wakes
from rehearsal.nodes.clusters import DeclaredCluster, read_clusters
from rehearsal.slices import nodes_wanted, waits_for
from rehearsal.toolchain import Tool, Toolchain
from rehearsal.workloads import NAMESPACE, WORK_LABEL, job, pod_template, preferring_spot, work_for
from tests.support.inventories import INVENTORIES, site_graphs
from tests.support.nodes import a_graph, a_magnum_graph, template_of
from tests.support.planes import BUILD_SECONDS, a_ground, planes_on
from tests.support.plans import a_pool, a_spot_pool

VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.min)?")


@pytest.fixture(scope="module", params=INVENTORIES)
def clusters(request: pytest.FixtureRequest) -> tuple[DeclaredCluster, ...]:
    """The declared clusters of each inventory."""
    return read_clusters(site_graphs(INVENTORIES[request.param]))


@pytest.fixture(scope="module")
def t4() -> NodeTemplate:
    """A pool of T4 machines on Google's cloud."""
    return template_of(a_graph(Cloud.GOOGLE), "t4")


@pytest.fixture
def slice_pool(t4: NodeTemplate) -> NodeTemplate:
    """A pool of slices of four hosts, two slices at most."""
    return replace(t4, pool="tpu", hosts=4, max_nodes=8, resource="google.com/tpu", accelerators=4)


def test_pools_become_objects_that_karpenter_takes(clusters: tuple[DeclaredCluster, ...]) -> None:
    """Names and labels are legal, none is of a refused domain, and every requirement is met by an offering."""
    for cluster in clusters:
        machines = instance_types(cluster.templates)
        by_name = {one["name"]: one for one in machines.file}
        assert len(by_name) == len(machines.file)
        ranks = weights(cluster.templates)
        for template in cluster.templates:
            for made in node_pools(template, machines.names[template.pool], ranks[template.pool]):
                assert NAME.fullmatch(made["metadata"]["name"])
                labels = made["spec"]["template"]["metadata"]["labels"]
                assert all(VALUE.fullmatch(value) for value in labels.values())
                assert not any("karpenter" in key for key in labels)
                asked = {one["key"]: one["values"] for one in made["spec"]["template"]["spec"]["requirements"]}
                assert all(VALUE.fullmatch(value) and value for values in asked.values() for value in values)
                (machine,) = asked.pop(MACHINE_LABEL)
                offers = by_name[machine]["offerings"]
                offered = [{one["key"]: one["values"][0] for one in offer["Requirements"]} for offer in offers]
                fitting = [one for one in offered if all(one[key] in values for key, values in asked.items())]
                assert {one[ZONE_LABEL] for one in fitting} == set(template.zones)


def test_nodes_end_with_the_labels_and_sizes_of_their_cloud(clusters: tuple[DeclaredCluster, ...]) -> None:
    """What the NodePool, the offering and the finishing give is all that the template says; no quantity is lost."""
    for template in (template for cluster in clusters for template in cluster.templates):
        (machine,) = instance_types([template]).file
        assert late_labels(template, template.zones[0]).items() >= template.labels.items()
        assert set(machine["resources"]) == {*template.allocatable, "nodes"}
        kept = {key: value for key, value in machine["resources"].items() if key not in {"cpu", "memory", "nodes"}}
        assert kept.items() <= template.allocatable.items()


def test_sizes_are_exactly_the_declared_ones(clusters: tuple[DeclaredCluster, ...]) -> None:
    """Least and most nodes come out of the NodePools of a pool; slices are set by their keeper from zero."""
    for template in (template for cluster in clusters for template in cluster.templates):
        made = node_pools(template, template.machine, 1)
        kept = sum(one["spec"].get("replicas", 0) for one in made)
        assert sum(int(one["spec"]["limits"]["nodes"]) for one in made) == template.max_nodes
        assert kept == (0 if is_static(template) else template.min_nodes)
        assert all(("weight" in one["spec"]) != ("replicas" in one["spec"]) for one in made)


def test_overhead_is_given_back(t4: NodeTemplate) -> None:
    """The provider takes 100m and 10Mi, so that much is added; the limit of nodes needs one `nodes` in each machine."""
    (machine,) = instance_types([replace(t4, allocatable={"cpu": "3920m", "memory": "100Mi", "pods": "110"})]).file
    assert machine["resources"] == {"cpu": "4020m", "memory": str(110 * 1024**2), "pods": "110", "nodes": "1"}


def test_one_machine_in_two_shapes_gets_two_names(t4: NodeTemplate) -> None:
    """Spot and on-demand nodes of a shape share an instance type; another card on the same machine has its own."""
    spot = replace(t4, pool="t4-spot", capacity_type=CapacityType.SPOT, usd_per_hour=0.1)
    other = replace(t4, pool="p4", allocatable={**t4.allocatable, "nvidia.com/gpu": "2"})
    names = instance_types([t4, spot, other]).names
    assert names == {"t4": t4.machine, "t4-spot": t4.machine, "p4": f"{t4.machine}_p4"}
    dearer = replace(t4, pool="t4-b", usd_per_hour=9.0)
    assert instance_types([t4, dearer]).names["t4-b"] != t4.machine


def test_prices_not_known_are_high_and_reserved_is_on_demand(t4: NodeTemplate) -> None:
    """A pool of unknown price is not taken for a free one."""
    (machine,) = instance_types([replace(t4, usd_per_hour=None, capacity_type=CapacityType.RESERVED)]).file
    assert len(machine["offerings"]) == len(t4.zones)
    for offer in machine["offerings"]:
        assert offer["Price"] == UNKNOWN_USD_PER_HOUR
        assert {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]} in offer["Requirements"]


def test_priority_comes_before_spot_and_spot_before_on_demand(t4: NodeTemplate) -> None:
    """Weights order pools as the cloud's autoscaler would try them."""
    pools = {
        "last": t4,
        "spot": replace(t4, capacity_type=CapacityType.SPOT),
        "first": replace(t4, priority=t4.priority + 1),
    }
    found = weights([replace(template, pool=name) for name, template in pools.items()])
    assert found["first"] > found["spot"] > found["last"] >= 1


@pytest.mark.parametrize(("pool", "name"), [("t4-spot", "t4-spot"), ("A_b.c", "a-b-c"), ("-x-", "x")])
def test_names_of_node_pools_are_dns_labels(pool: str, name: str) -> None:
    """Whatever a pool is called, its NodePools have names that Kubernetes takes."""
    assert karpenter_name(pool) == name
    assert karpenter_name(pool, kept=True) == f"{name}.min"


@pytest.mark.parametrize(("pods", "nodes"), [(0, 0), (1, 4), (4, 4), (5, 8), (100, 8)])
def test_slices_come_whole(slice_pool: NodeTemplate, pods: int, nodes: int) -> None:
    """The number of nodes is a multiple of the hosts, and no more than the pool may have."""
    assert nodes_wanted(slice_pool, pods) == nodes
    assert nodes_wanted(replace(slice_pool, max_nodes=3), pods) == 0


def a_pod(selector: Mapping[str, str], cards: str = "4", node: str | None = None, key: str | None = "nvidia.com/gpu") -> Pod:
    """Return a pod that asks for TPU chips and tolerates a key."""
    asked = ResourceRequirements(requests={"google.com/tpu": cards})
    tolerations = [Toleration(key=key, operator="Exists")] if key else []
    spec = PodSpec(
        containers=[Container(name="work", resources=asked)],
        nodeSelector=dict(selector),
        nodeName=node,
        tolerations=tolerations,
    )
    return Pod(metadata=ObjectMeta(name="p"), spec=spec)


@pytest.mark.parametrize(
    ("pod", "waits"),
    [
        (a_pod({"gpu": "T4"}), True),
        (a_pod({"gpu": "V100"}), False),
        (a_pod({"gpu": "T4"}, cards="8"), False),
        (a_pod({"gpu": "T4"}, cards="0"), False),
        (a_pod({"gpu": "T4"}, node="n1"), False),
        (a_pod({"gpu": "T4"}, key=None), False),
        (a_pod({"gpu": "T4"}, key="other"), False),
    ],
)
def test_only_pods_of_the_slice_wake_it(slice_pool: NodeTemplate, pod: Pod, waits: bool) -> None:
    """Card, request, taint and node decide, as they do for a scheduler."""
    assert waits_for(pod, slice_pool) is waits


def test_work_tolerates_no_more_than_it_has_to(t4: NodeTemplate) -> None:
    """A planted taint keeps work off; spot is tolerated where it is asked for; without admission the card's own taint is."""
    spot = template_of(a_graph(Cloud.AZURE, a_pool(Cloud.AZURE), a_spot_pool(Cloud.AZURE)), "t4-spot")
    planted = replace(t4, taints=(*t4.taints, Taint(key="planted")))
    assert work_for(planted, "w", admission_tolerates=True).tolerates == ()
    assert work_for(planted, "w", admission_tolerates=False).tolerates == ("nvidia.com/gpu",)
    tolerated = {*work_for(spot, "w", admission_tolerates=False).tolerates}
    assert {taint.key for taint in spot.taints} <= tolerated
    either = preferring_spot(work_for(t4, "w", admission_tolerates=True))
    assert either.capacity is None
    assert "gpufleet.io/capacity-type" in either.tolerates


def test_work_is_a_restricted_job_of_its_own_label(slice_pool: NodeTemplate) -> None:
    """A slice's work has a pod for each host with all its chips, and its pods pass the restricted standard."""
    work = work_for(slice_pool, "w", admission_tolerates=True)
    made = job(work)
    template = pod_template(work)
    assert (made["spec"]["parallelism"], made["spec"]["completions"]) == (4, 4)
    (container,) = template["spec"]["containers"]
    assert container["resources"]["limits"]["google.com/tpu"] == "4"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert template["spec"]["securityContext"]["runAsNonRoot"] is True
    assert made["metadata"]["labels"] == template["metadata"]["labels"] == {WORK_LABEL: "w"}


@dataclass
class RecordingApi:
    """Takes note of patches."""

    patches: list[tuple[str, Mapping[str, Any]]]

    def patch(self, kind: type, _name: str, changes: Mapping[str, Any]) -> None:
        """Note one."""
        self.patches.append((kind.__name__, changes))


def a_node(name: str, pool: str, **labels: str) -> Node:
    """Return a node of a NodePool as Karpenter's provider makes it."""
    metadata = ObjectMeta(name=name, labels={POOL_LABEL: pool, ZONE_LABEL: "us-central1-a"} | labels)
    return Node(metadata=metadata, spec=NodeSpec(), status=NodeStatus(allocatable={"cpu": "1", "nodes": "1"}))


def test_nodes_are_recorded_finished_once_and_charged(t4: NodeTemplate) -> None:
    """A node counts from its first sign, is finished when it has registered, and costs its price while it is there."""
    api = RecordingApi([])
    watch = NodeWatch(cast("Api", api), {"t4": t4}, "test")
    registered = a_node("n1", "t4", **{REGISTERED_LABEL: "true", MACHINE_LABEL: "other"})
    for change, node in [
        ("ADDED", a_node("n1", "t4")),
        ("MODIFIED", registered),
        ("MODIFIED", registered),
        ("ADDED", a_node("x", "y")),
    ]:
        watch._see(change, node)
    assert watch.counts() == {"t4": 1}
    assert watch.finished("t4") == 1
    (labels, status) = api.patches
    assert labels[1]["metadata"]["labels"][MACHINE_LABEL] == t4.machine
    assert status[1]["status"]["allocatable"] == {"nodes": None} | dict(t4.allocatable)
    (created,) = watch.events
    assert watch.usd(created.at_seconds + 3600) == pytest.approx(t4.usd_per_hour)
    watch._forget_lost(set())
    assert [event.kind for event in watch.events] == [NodeEventKind.CREATED, NodeEventKind.REMOVED]
    assert watch.usd(created.at_seconds + 3600) < 0.01
    assert watch.counts() == {"t4": 0}


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (None, "it is not there"),
        ({}, "it says nothing about it"),
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, ""),
        ({"status": {"conditions": [{"type": "V", "status": "False", "message": "bad label"}]}}, "V: bad label"),
    ],
)
def test_a_pool_that_is_not_ready_says_why(stored: dict[str, Any] | None, said: str) -> None:
    """Karpenter's own words are passed on."""
    assert _unready(stored) == said


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Cloud, Autoscaler]]:
    """A cluster on AWS and one on OpenStack whose autoscaler lacks its hint, both with Karpenter."""
    with Toolchain() as toolchain:
        toolchain.start((Tool.KARPENTER,))
        karpenter = toolchain.path(Tool.KARPENTER, timeout_seconds=BUILD_SECONDS)
    declared = read_clusters([a_graph(Cloud.AWS), a_magnum_graph(MagnumDriver.CLUSTER_API)])
    with a_ground(tmp_path_factory.mktemp("runs")) as ground:
        planes = planes_on(ground, *declared)
        assert not start_all(planes)
        made: dict[Cloud, Autoscaler] = {}
        for plane in planes:
            Kubelets(plane).start()
            made[plane.cluster.cloud] = Autoscaler(plane, plane.cluster.templates, Path(karpenter))
        for autoscaler in made.values():
            autoscaler.start()
        yield made
        for autoscaler in made.values():
            autoscaler.close()


@pytest.mark.rehearsal
def test_a_pool_wakes_for_its_pod_and_sleeps_again(fleet: dict[Cloud, Autoscaler]) -> None:
    """From no node to a running pod on a finished node of the declared price, and back to none."""
    scaler = fleet[Cloud.AWS]
    api, template = scaler._plane.api, scaler._templates["t4"]
    least = scaler.counts()
    assert least["t4"] == 0
    (obj,) = objects([job(work_for(template, "wakes", admission_tolerates=True, runs_seconds=2))])
    api.create(obj)
    placed = wait_for(
        "a placed pod", lambda: [pod.spec.nodeName for pod in pods(api, "wakes") if pod.spec and pod.spec.nodeName] or None, 60
    )
    node = api.get(Node, placed[0])
    assert scaler.pool_of(node) == "t4"
    finished = wait_for("a finished node", lambda: sized(api.get(Node, placed[0])), 10)
    assert json.dumps(finished["nvidia.com/gpu"]) == json.dumps(template.capacity["nvidia.com/gpu"])
    assert node.metadata is not None
    assert (node.metadata.labels or {}).items() >= late_labels(template, (node.metadata.labels or {})[ZONE_LABEL]).items()
    scaler.wait_count("t4", 0, 90)
    assert scaler.counts() == least
    assert [event.kind for event in scaler.events if event.pool == "t4"] == [NodeEventKind.CREATED, NodeEventKind.REMOVED]
    assert scaler.node_usd() > 0


@pytest.mark.rehearsal
def test_a_pool_that_the_cloud_does_not_see_stays_asleep(fleet: dict[Cloud, Autoscaler]) -> None:
    """Its pod is told that nothing fits, no node comes, and the reason names the missing hint."""
    scaler = fleet[Cloud.OPENSTACK]
    api, template = scaler._plane.api, scaler._templates["t4"]
    assert not wakes(template)
    assert "nvidia.com/gpu" in scaler.asleep["t4"]
    (obj,) = objects([job(work_for(template, "asleep", admission_tolerates=False))])
    api.create(obj)
    said = wait_for(
        "Karpenter's word", lambda: [event.message for event in api.list(Event, NAMESPACE) if is_refused(event)] or None, 60
    )
    assert "gpu" in (said[0] or "")
    assert scaler.counts()["t4"] == 0
    assert all(pod.spec and not pod.spec.nodeName for pod in pods(api, "asleep"))


@pytest.mark.rehearsal
def test_a_pool_that_karpenter_does_not_take_is_named(fleet: dict[Cloud, Autoscaler]) -> None:
    """A label that is none is told with the pool and Karpenter's own words."""
    running = fleet[Cloud.AWS]
    template = running._templates["t4"]
    planted = replace(template, pool="planted", labels={**template.labels, "gpu": "T4 !"})
    broken = Autoscaler(running._plane, [planted], Path("unused"))
    broken._define()
    with pytest.raises(FleetErrors, match=r"planted.*gpu"):
        broken.wait_ready(10)


def pods(api: Api, name: str) -> list[Pod]:
    """Return the pods of a piece of work."""
    return api.list(Pod, NAMESPACE, labels={WORK_LABEL: name})


def sized(node: Node) -> dict[str, str] | None:
    """Return a node's capacity once it is its machine's."""
    capacity = (node.status.capacity if node.status else None) or {}
    return capacity if "ephemeral-storage" in capacity else None


def is_refused(event: Event) -> bool:
    """Return whether an event is Karpenter's about a pod that fits no pool."""
    return event.reason == "FailedScheduling" and (event.message or "").startswith("Failed to schedule pod")
