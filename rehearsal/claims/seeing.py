"""What claims see of nodes, and how they find the cause when something is not as it should be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from lightkube.models.core_v1 import Taint as NodeTaint
from lightkube.resources.core_v1 import Node, Pod

from fleet.accelerators import KINDS
from fleet.labels import CARD_LABEL, CapacityType, Taint, TaintEffect
from rehearsal.claims.claim import NotInTimeError, NotSoError, Patience
from rehearsal.claims.view import ClusterView
from rehearsal.claims.work import events_of, name_of, node_name_of, phase_of, pods_of, running, tolerates, unschedulable
from rehearsal.nodes.template import NodeTemplate

ZONE_LABEL = "topology.kubernetes.io/zone"
RESOURCES = frozenset(facts.resource for facts in KINDS.values())
"""Extended resources that are cards."""


def card_pools(cluster: ClusterView) -> list[NodeTemplate]:
    """Return the pools whose machines carry cards."""
    return [pool for pool in cluster.declared.templates if pool.resource is not None]


def sleepers(cluster: ClusterView) -> list[NodeTemplate]:
    """Return the pools with cards that the autoscaler can make nodes of, asked for one by one."""
    autoscaler = cluster.autoscaler
    return [
        pool for pool in card_pools(cluster) if pool.pool not in autoscaler.asleep and pool.pool not in autoscaler.not_rehearsed
    ]


def nodes_by_pool(cluster: ClusterView) -> dict[str, list[Node]]:
    """Return the nodes there are by pool, every declared pool included; nodes of no pool stand under an empty name."""
    found: dict[str, list[Node]] = {pool.pool: [] for pool in cluster.declared.templates}
    for node in cluster.api.list(Node):
        found.setdefault(cluster.autoscaler.pool_of(node) or "", []).append(node)
    return {pool: nodes for pool, nodes in found.items() if pool or nodes}


def nodes_in(cluster: ClusterView, pool: NodeTemplate) -> list[Node]:
    """Return the nodes of one pool."""
    return nodes_by_pool(cluster).get(pool.pool, [])


def names(nodes: Iterable[Node]) -> str:
    """Return the names of nodes for a message."""
    return ", ".join(sorted(name_of(node) for node in nodes))


def labels_of(node: Node) -> Mapping[str, str]:
    """Return a node's labels."""
    return (node.metadata.labels if node.metadata else None) or {}


def taints_of(node: Node) -> list[Taint]:
    """Return a node's taints, without those that Kubernetes sets and takes away by the node's state."""
    found: list[NodeTaint] = list((node.spec.taints if node.spec else None) or [])
    effects = [(taint, TaintEffect(taint.effect)) for taint in found if not taint.key.startswith("node.kubernetes.io/")]
    return [Taint(key=taint.key, value=taint.value or "", effect=effect) for taint, effect in effects]


def cards_on(node: Node) -> int:
    """Return how many cards pods can have on a node, of all kinds."""
    allocatable = (node.status.allocatable if node.status else None) or {}
    return sum(int(allocatable.get(resource, "0")) for resource in RESOURCES)


def spot_partner(cluster: ClusterView, pool: NodeTemplate) -> NodeTemplate | None:
    """Return the on-demand pool that takes the work of a spot pool which gets no nodes (`spot: prefer`), None without one."""
    for other in card_pools(cluster):
        if other.card == pool.card and other.accelerators == pool.accelerators and other.capacity_type is CapacityType.ON_DEMAND:
            return other
    return None


def wait_running(cluster: ClusterView, pool: NodeTemplate, work: str, patience: Patience, pods: int = 1) -> list[Pod]:
    """Wait until so many pods of a piece of work run.

    Raises:
        NotSoError: They do not, with the cause as far as it can be known.
    """
    try:
        return patience.wait(
            f"{pods} pod(s) of {work} running", lambda: found if len(found := running(cluster, work)) >= pods else None
        )
    except NotInTimeError as late:
        raise NotSoError(
            f"work for {pool.card} does not run within {patience.seconds:.0f} s: {why_not_running(cluster, pool, work)}"
        ) from late


def why_not_running(cluster: ClusterView, pool: NodeTemplate, work: str) -> str:
    """Return why work for a pool's card does not run: what was declared wrong if that can be told, else what Kubernetes says."""
    waiting = [pod for pod in pods_of(cluster, work) if phase_of(pod) != "Running"]
    declared = [cluster.autoscaler.asleep.get(pool.pool, "")]
    if not waiting:
        return "; ".join(filter(None, [*declared, "no pod was made for it: the Job's controller did nothing"]))
    declared += mismatches(pool, waiting[0])
    said = [*declared, *_said(cluster, waiting[0])]
    return "; ".join(dict.fromkeys(filter(None, said))) or "neither scheduler nor autoscaler said anything about it"


def mismatches(pool: NodeTemplate, pod: Pod) -> list[str]:
    """Return what keeps a pod for a pool's card off the nodes that are declared for the pool."""
    spec = pod.spec
    selector = (spec.nodeSelector if spec else None) or {}
    found = [_label_mismatch(pool, key, value) for key, value in selector.items() if pool.labels.get(key) != value]
    found += [
        f"its nodes carry the taint {taint}, which work for {pool.card} does not tolerate"
        for taint in pool.taints
        if not tolerates(pod, taint)
    ]
    requests = (spec.containers[0].resources.requests if spec and spec.containers[0].resources else None) or {}
    for resource, count in requests.items():
        if resource in RESOURCES and int(count) > int(pool.allocatable.get(resource, "0")):
            found.append(f"its nodes have {pool.allocatable.get(resource, 'no')} {resource}, and {count} are asked for")
    return found


def _label_mismatch(pool: NodeTemplate, key: str, value: str) -> str:
    """Return what is wrong with one label of a pool's nodes."""
    if key in pool.labels:
        return f"its nodes carry the label {key}={pool.labels[key]}, where work selects {key}={value}"
    near = [other for other in difflib.get_close_matches(key, pool.labels, n=3) if pool.labels[other] == value]
    hint = f"; {near[0]}={value} is there, which may be a misspelling" if near else ""
    return f"its nodes carry no label {key}, where work selects {key}={value}{hint}"


def _said(cluster: ClusterView, pod: Pod) -> list[str]:
    """Return what scheduler and autoscaler said about a pod."""
    scheduler = unschedulable(pod)
    placed = [f"its pod is bound to {node_name_of(pod)} and does not start"] if node_name_of(pod) else []
    events = [text for text in events_of(cluster, pod) if text != scheduler]
    return [*placed, *([f"the scheduler says: {scheduler}"] if scheduler else []), *(f"reported: {text}" for text in events[-2:])]


def pool_landed(cluster: ClusterView, pod: Pod) -> tuple[str, Node | None]:
    """Return the pool and the node that a pod runs on; an empty name and None when the node is gone or of no pool."""
    node = cluster.api.find(Node, node_name_of(pod)) if node_name_of(pod) else None
    return (cluster.autoscaler.pool_of(node) or "" if node else "", node)


def stray_card(pool: NodeTemplate, node: Node) -> str:
    """Return what is wrong with a node as a place for work that wants the pool's card, empty when nothing is."""
    said = labels_of(node).get(CARD_LABEL, "none")
    if said != pool.card:
        return f"node {name_of(node)} is labelled {CARD_LABEL}={said}, and its machine {pool.machine} carries {pool.card}"
    if cards_on(node) != pool.accelerators:
        return f"node {name_of(node)} offers {cards_on(node)} cards, and its machine {pool.machine} has {pool.accelerators}"
    return ""
