"""A cluster in memory, for claims: API, scheduler, Job controller and autoscaler in a few hundred lines and without any waiting.

It is made of the nodes that readers found in a resource graph, so a mistake planted in the graph acts here as it would in a real
cluster. `Faults` are mistakes of the programs themselves. Processors and memory are not counted, cards are.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lightkube.models.core_v1 import PodCondition, PodStatus, Toleration
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Event, Node, Pod, ServiceAccount

from rehearsal.api import ALL_NAMESPACES, ApiFaultError, objects
from rehearsal.claims.seeing import RESOURCES, labels_of, taints_of
from rehearsal.claims.view import Part
from rehearsal.claims.work import name_of, node_name_of, tolerates
from rehearsal.nodes import NodeTemplate, wakes, why_asleep
from rehearsal.nodes.clusters import DeclaredCluster

POOL_LABEL = "fake/pool"
_BOOT_SECONDS = 2.0
_IDLE_SECONDS = 8.0
_RESTART_SECONDS = 3.0


@dataclass(kw_only=True)
class Faults:
    """Mistakes of programs. All off by default.

    Attributes:
        nodes_per_node: Nodes made where one would do.
        zone: Zone that nodes come up in whatever is declared.
        labels: Labels that nodes come up with instead.
        drops_taints: Whether nodes come up without their taints.
        is_awake: Whether empty nodes are kept.
        ignores_max: Whether pools grow beyond max.
        ignores_refusal: Whether a refused pool's work waits for it alone.
        ignores_selectors: Whether the scheduler does not look at node selectors.
        ignores_taints: Whether the scheduler does not look at taints.
        is_silent: Whether the scheduler says nothing about pods that it cannot place.
        one_pod_a_node: Whether the autoscaler never puts two pods on a node it makes.
        splits_slices: Whether hosts of a slice are made one by one.
        admission: Whether tolerations are added; as declared when None.
        takes_fractions: Whether the API server takes half a card.
        gone_for_good: Programs that do not come back after being killed.
        forgets_pods: Whether Jobs do not make lost pods again.
        at_start: Nodes of pools at the start, where not as declared.
    """

    nodes_per_node: int = 1
    zone: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    drops_taints: bool = False
    is_awake: bool = False
    ignores_max: bool = False
    ignores_refusal: bool = False
    ignores_selectors: bool = False
    ignores_taints: bool = False
    is_silent: bool = False
    one_pod_a_node: bool = False
    splits_slices: bool = False
    admission: bool | None = None
    takes_fractions: bool = False
    gone_for_good: tuple[Part, ...] = ()
    forgets_pods: bool = False
    at_start: Mapping[str, int] = field(default_factory=dict)


class FakeClock:
    """Time that passes only by `sleep`, and lets the clusters work meanwhile."""

    def __init__(self) -> None:
        self.time = 0.0
        self.clusters: list[FakeCluster] = []

    def now(self) -> float:
        """Return seconds since the start."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds
        for cluster in self.clusters:
            cluster.work()


@dataclass(kw_only=True)
class FakeStage:
    """A fleet of fake clusters."""

    clusters: list[FakeCluster]
    clock: FakeClock
    broken: Mapping[str, str] = field(default_factory=dict)


def a_stage(*declared: DeclaredCluster, **faults: Any) -> FakeStage:  # noqa: ANN401 -- the fields of Faults
    """Return a stage with a fake cluster for each declared one, all with the same faults."""
    clock = FakeClock()
    clock.clusters = [FakeCluster(each, clock, Faults(**faults)) for each in declared]
    return FakeStage(clusters=clock.clusters, clock=clock)


class FakeCluster:
    """One cluster; it is its own API, autoscaler and control plane."""

    def __init__(self, declared: DeclaredCluster, clock: FakeClock, faults: Faults) -> None:
        self.declared = declared
        self.id = f"{declared.site}/{declared.name}"
        self.faults = faults
        self.api = self.autoscaler = self.programs = self
        self.not_rehearsed: dict[str, str] = {}
        self.asleep = {each.pool: why_asleep(each) for each in declared.templates if not each.min_nodes and not wakes(each)}
        self._clock = clock
        self._count = itertools.count()
        self._pools = {each.pool: each for each in declared.templates}
        self._stored: dict[type[Any], dict[str, Any]] = {Pod: {}, Job: {}, Node: {}, Event: {}}
        self._booting: list[tuple[float, Node, list[str]]] = []
        self._refused: set[str] = set()
        self._down: dict[Part, float] = {}
        self._idle_since: dict[str, float] = {}
        for pool in declared.templates:
            for node in [self._node(pool) for _ in range(faults.at_start.get(pool.pool, pool.min_nodes))]:
                self._stored[Node][name_of(node)] = node

    # The API

    def get(self, kind: type[Any], name: str, namespace: str | None = None) -> Any:  # noqa: ANN401 -- any kind
        """Return an object."""
        found = self.find(kind, name, namespace)
        if found is None:
            raise ApiFaultError(f"get {name}", 404, "not found")
        return found

    def find(self, kind: type[Any], name: str, namespace: str | None = None) -> Any:  # noqa: ANN401, ARG002 -- any kind; one namespace
        """Return an object, None when there is none."""
        self._served()
        return ServiceAccount() if kind is ServiceAccount else self._stored[kind].get(name)

    def list(
        self,
        kind: type[Any],
        namespace: str | None = None,
        labels: Mapping[str, Any] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the objects of a kind."""
        self._served()
        assert namespace in {None, "default", ALL_NAMESPACES}
        found = list(self._stored[kind].values())
        for key, value in (labels or {}).items():
            found = [each for each in found if key in labels_of(each) and value in {None, labels_of(each)[key]}]
        if fields:
            found = [each for each in found if each.involvedObject.name == fields["involvedObject.name"]]
        return found

    def create(self, obj: Any, namespace: str | None = None) -> Any:  # noqa: ANN401 -- any kind
        """Create an object and return it with what admission did."""
        self._served()
        assert namespace == "default"
        if name_of(obj) in self._stored[type(obj)]:
            raise ApiFaultError(f"create {name_of(obj)}", 409, "already exists")
        if isinstance(obj, Pod):
            self._admit(obj)
        self._stored[type(obj)][name_of(obj)] = obj
        return obj

    def delete(self, kind: type[Any], name: str, namespace: str | None = None, *, grace_seconds: int | None = None) -> bool:  # noqa: ARG002
        """Delete an object, a Job's pods with it."""
        self._served()
        if kind is Job:
            for pod in [each for each in self._stored[Pod].values() if labels_of(each).get("job-name") == name]:
                del self._stored[Pod][name_of(pod)]
        return self._stored[kind].pop(name, None) is not None

    # The autoscaler as the cloud's

    def pool_of(self, node: Node) -> str | None:
        """Return a node's pool."""
        return labels_of(node).get(POOL_LABEL)

    def refuse(self, *pools: str) -> None:
        """Give pools no more nodes."""
        self._refused |= set(pools)

    def allow(self, *pools: str) -> None:
        """Give pools nodes again."""
        self._refused -= set(pools)

    def take_away(self, pool: str) -> str:
        """Take a node away, one with work first."""
        nodes = [name for name, node in self._stored[Node].items() if self.pool_of(node) == pool]
        lost = next((name for name in nodes if self._on(name)), nodes[0])
        self._lose(lost)
        return lost

    # The control plane

    def kill(self, part: Part) -> None:
        """End a program; it is back after some seconds."""
        self._down[part] = self._clock.now() + _RESTART_SECONDS

    def is_ready(self, part: Part) -> bool:
        """Return whether a program runs."""
        return part not in self._down or (part not in self.faults.gone_for_good and self._clock.now() >= self._down[part])

    # What goes on in it

    def work(self) -> None:
        """Let every program do what there is to do."""
        if not (self.is_ready(Part.APISERVER) and self.is_ready(Part.STORE)):
            return
        if self.is_ready(Part.CONTROLLERS):
            self._make_pods()
        for ready, node, _ in self._booting:
            if ready <= self._clock.now():
                self._stored[Node][name_of(node)] = node
        self._booting = [row for row in self._booting if row[0] > self._clock.now()]
        if self.is_ready(Part.SCHEDULER):
            self._place()
        if self.is_ready(Part.AUTOSCALER):
            self._grow()
            self._shrink()

    def _served(self) -> None:
        """Raise what a client sees of an API server that is away."""
        if not (self.is_ready(Part.APISERVER) and self.is_ready(Part.STORE)):
            raise ApiFaultError("ask", 0, "no answer: connection refused")

    def _admit(self, pod: Pod) -> None:
        """Do what admission does; raises ApiFaultError for a pod that is not valid."""
        asked = _cards(pod)
        for resource, count in asked.items():
            if not count.isdigit() and not self.faults.takes_fractions:
                raise ApiFaultError("create pod", 422, f"{resource}: Invalid value: {count}: must be an integer")
        assert pod.spec is not None
        is_on = self.declared.extended_resource_toleration if self.faults.admission is None else self.faults.admission
        given = [Toleration(key=resource, operator="Exists") for resource in asked if is_on]
        pod.spec.tolerations = [*(pod.spec.tolerations or []), *given]
        pod.status = PodStatus(phase="Pending")

    def _make_pods(self) -> None:
        """Make the pods of Jobs, lost ones again."""
        for name, job in self._stored[Job].items():
            present = [pod for pod in self._stored[Pod].values() if labels_of(pod).get("job-name") == name]
            made = int(labels_of(job).get("made", "0"))
            wanted = job.spec.parallelism - (made if self.faults.forgets_pods else len(present))
            for _ in range(max(0, wanted)):
                template = job.spec.template
                metadata = {
                    "name": f"{name}-{next(self._count)}",
                    "namespace": "default",
                    "labels": {**labels_of(template), "job-name": name},
                }
                pod: Pod = objects([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.spec.to_dict()}])[
                    0
                ]
                job.metadata.labels["made"] = str(int(labels_of(job).get("made", "0")) + 1)
                self.create(pod, "default")

    def _place(self) -> None:
        """Bind pods to nodes, those with cards first, as a scheduler does to which they look least used."""
        nodes = sorted(self._stored[Node].values(), key=lambda node: -_offered(node))
        for pod in self._waiting():
            assert pod.spec is not None
            assert pod.status is not None
            for node in nodes:
                if self._fits(pod, labels_of(node), node, self._free(node)):
                    pod.spec.nodeName, pod.status.phase, pod.status.conditions = name_of(node), "Running", []
                    break
            else:
                told = f"0/{len(nodes)} nodes are available: untolerated taint or no card"
                said = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message=told)
                pod.status.conditions = [] if self.faults.is_silent else [said]

    def _fits(self, pod: Pod, labels: Mapping[str, str], node: Node, free: int) -> bool:
        """Return whether a pod may run on a node with so many free cards."""
        selector = (pod.spec.nodeSelector if pod.spec else None) or {}
        selected = self.faults.ignores_selectors or all(labels.get(key) == value for key, value in selector.items())
        tolerated = self.faults.ignores_taints or all(tolerates(pod, taint) for taint in taints_of(node))
        return selected and tolerated and _count(pod) <= free and set(_cards(pod)) <= set(_allocatable(node))

    def _grow(self) -> None:
        """Make nodes for pods that wait, cheapest pool first within the declared order."""
        covered = {name for _, _, names in self._booting for name in names}
        for pod in self._waiting():
            if name_of(pod) in covered or self._packed(pod):
                continue
            wanted = [each for each in self._pools.values() if self._would_help(each, pod)]
            if self.faults.ignores_refusal and any(each.pool in self._refused for each in wanted):
                continue
            wanted = [each for each in wanted if each.pool not in self._refused and self._has_room(each)]
            if not wanted:
                self._report(pod, "no pool with room fits the pod")
                continue
            best = min(wanted, key=lambda each: (-each.priority, each.usd_per_hour or 0.0, each.pool))
            count = (1 if self.faults.splits_slices else best.hosts) * self.faults.nodes_per_node
            names = [name_of(pod)]
            for _ in range(count):
                self._booting.append((self._clock.now() + _BOOT_SECONDS, self._node(best), names))
                names = []

    def _packed(self, pod: Pod) -> bool:
        """Return whether a node that is being made will hold the pod as well, and count it in."""
        for _, node, names in self._booting:
            taken = sum(_count(self._stored[Pod][name]) for name in names if name in self._stored[Pod])
            full = bool(names) and self.faults.one_pod_a_node
            if not full and self._fits(pod, labels_of(node), node, _offered(node) - taken):
                names.append(name_of(pod))
                return True
        return False

    def _would_help(self, pool: NodeTemplate, pod: Pod) -> bool:
        """Return whether a new node of a pool would take the pod."""
        node = self._node(pool)
        return pool.pool not in self.asleep and self._fits(pod, labels_of(node), node, _offered(node))

    def _has_room(self, pool: NodeTemplate) -> bool:
        """Return whether a pool may have as many nodes more as come at once."""
        nodes = [*self._stored[Node].values(), *(node for _, node, _ in self._booting)]
        present = sum(self.pool_of(node) == pool.pool for node in nodes)
        step = 1 if self.faults.splits_slices else pool.hosts
        return self.faults.ignores_max or present + step <= pool.max_nodes

    def _shrink(self) -> None:
        """Remove nodes that were empty for a while, beyond the pool's fewest; slices whole."""
        for pool in self._pools.values():
            nodes = [name for name, node in self._stored[Node].items() if self.pool_of(node) == pool.pool]
            for name in nodes:
                if self._on(name):
                    self._idle_since.pop(name, None)
                self._idle_since.setdefault(name, self._clock.now())
            idle = [name for name in nodes if self._clock.now() - self._idle_since[name] > _IDLE_SECONDS and not self._on(name)]
            spare = 0 if self.faults.is_awake else len(nodes) - pool.min_nodes
            whole = min(len(idle), spare) // pool.hosts * pool.hosts
            for name in idle[:whole]:
                self._lose(name)

    def _node(self, pool: NodeTemplate) -> Node:
        """Return a new node of a pool."""
        name = f"{pool.pool}-{next(self._count)}"
        zone = self.faults.zone or pool.zones[0]
        labels = {
            **pool.labels,
            **dict.fromkeys(pool.zone_labels, zone),
            "topology.kubernetes.io/zone": zone,
            POOL_LABEL: pool.pool,
        }
        taints = () if self.faults.drops_taints else pool.taints
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {**labels, **(self.faults.labels if pool.resource else {})}},
            "spec": {"taints": [{"key": each.key, "value": each.value, "effect": str(each.effect)} for each in taints]},
            "status": {"allocatable": dict(pool.allocatable)},
        }
        return objects([manifest])[0]

    def _lose(self, name: str) -> None:
        """Remove a node with its pods."""
        for pod in self._on(name):
            del self._stored[Pod][name_of(pod)]
        del self._stored[Node][name]
        self._idle_since.pop(name, None)

    def _on(self, node: str) -> list[Pod]:
        """Return the pods on a node."""
        return [pod for pod in self._stored[Pod].values() if node_name_of(pod) == node]

    def _waiting(self) -> list[Pod]:
        """Return the pods without a node."""
        return [pod for pod in self._stored[Pod].values() if not node_name_of(pod)]

    def _free(self, node: Node) -> int:
        """Return a node's cards that no pod has."""
        return _offered(node) - sum(_count(pod) for pod in self._on(name_of(node)))

    def _report(self, pod: Pod, text: str) -> None:
        """Report something about a pod, once."""
        involved = {"kind": "Pod", "name": name_of(pod)}
        name = f"{name_of(pod)}.event"
        manifest = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, "involvedObject": involved, "message": text}
        self._stored[Event][name] = objects([manifest])[0]


def _cards(pod: Pod) -> dict[str, str]:
    """Return what a pod asks for of cards."""
    resources = pod.spec.containers[0].resources if pod.spec else None
    return {key: value for key, value in ((resources.requests if resources else None) or {}).items() if key in RESOURCES}


def _count(pod: Pod) -> int:
    """Return how many cards a pod asks for."""
    return sum(int(value) if value.isdigit() else 1 for value in _cards(pod).values())


def _allocatable(node: Node) -> Mapping[str, str]:
    """Return what pods can have of a node."""
    return (node.status.allocatable if node.status else None) or {}


def _offered(node: Node) -> int:
    """Return how many cards a node has."""
    return sum(int(value) for key, value in _allocatable(node).items() if key in RESOURCES)
