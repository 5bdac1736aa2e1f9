"""Claim: pods of the system never land on nodes with cards."""

from __future__ import annotations

from lightkube.resources.core_v1 import Node, Pod

from fleet.labels import TaintEffect
from rehearsal.api import ALL_NAMESPACES
from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import RESOURCES, cards_on, nodes_by_pool, taints_of
from rehearsal.claims.view import ClusterView, StageView
from rehearsal.claims.work import name_of, node_name_of, pods_of, probe, tolerates, tolerations_of, unschedulable
from rehearsal.workloads import Work

ID = "system-pods"


def check(_: StageView, subject: Subject) -> Outcome:
    """Look at every node with cards and every pod on it, then place a pod that says nothing of cards at all."""
    cluster = subject.cluster
    dear = {name_of(node): node for nodes in nodes_by_pool(cluster).values() for node in nodes if cards_on(node)}
    if not dear:
        return not_applicable("no node with cards is awake")
    if wrong := _open_nodes(dear) or _strays(cluster, dear):
        return red(wrong)
    with probe(subject, ID, "pod", Work(name="")) as pod:
        work = name_of(pod)

        def decided() -> str | None:
            return next(filter(None, (node_name_of(each) or unschedulable(each) for each in pods_of(cluster, work))), None)

        try:
            place = subject.patience.wait("a word of the scheduler", decided)
        except NotInTimeError:
            return red("the scheduler said nothing about a pod without any wishes")
    if place in dear:
        return red(f"a pod without any wishes runs on {place}, which has cards")
    if not any(place == name_of(node) for nodes in nodes_by_pool(cluster).values() for node in nodes):
        return red(f"a pod without any wishes has no place: {place}")
    return green(f"{len(dear)} nodes with cards are closed to it; it runs on {place}", node=place)


def _open_nodes(dear: dict[str, Node]) -> str:
    """Return which node with cards no taint closes, empty when none."""
    for name, node in dear.items():
        closing = [
            taint for taint in taints_of(node) if taint.key in RESOURCES and taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
        ]
        if not closing:
            found = ", ".join(str(taint) for taint in taints_of(node)) or "none"
            return f"node {name} has cards and no taint of its card keeps others off; its taints are: {found}"
    return ""


def _strays(cluster: ClusterView, dear: dict[str, Node]) -> str:
    """Return which pod is on a node with cards without tolerating its taints, empty when none."""
    for pod in cluster.api.list(Pod, ALL_NAMESPACES):
        node = dear.get(node_name_of(pod))
        if node is None:
            continue
        refused = [str(taint) for taint in taints_of(node) if not tolerates(pod, taint)]
        if refused:
            said = ", ".join(str(each.key or "all") for each in tolerations_of(pod)) or "nothing"
            return f"pod {name_of(pod)} is on {name_of(node)} and does not tolerate {', '.join(refused)}; it tolerates {said}"
    return ""


CLAIM = Claim(
    id=ID,
    title="a system pod never lands on a node with cards",
    reason="A pod of the system on a node with cards keeps it from going back to zero.",
    per=Per.CLUSTER,
    deadline_seconds=20,
    check=check,
    requires=(wakes.ID,),
)
