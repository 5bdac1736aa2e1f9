"""Work that claims put on clusters: plain Jobs and pods that ask for cards as a scientist's would, and stand in for real work.

What a pod asks for comes from the machine's card and the fleet's vocabulary, never from the pool's own labels and taints: a pool
that declares them wrong must not be asked for in its own wrong words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from lightkube.models.core_v1 import Toleration
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Event, Node, Pod

from fleet.accelerators import KINDS
from fleet.labels import CapacityType, Taint, TaintEffect, is_reserved
from rehearsal import workloads
from rehearsal.api import ApiFaultError, objects
from rehearsal.claims.claim import NotInTimeError, Patience, Subject
from rehearsal.claims.view import ClusterView
from rehearsal.nodes.template import NodeTemplate
from rehearsal.workloads import NAMESPACE, WORK_LABEL, Work, work_for

CLAIM_LABEL = "gpufleet.io/claim"

_CARD_DOMAINS = frozenset(facts.taint_key.partition("/")[0] for facts in KINDS.values())
_TIDY_SECONDS = 20.0
_LONG_SECONDS = 3600.0


def for_cards(cluster: ClusterView, pool: NodeTemplate, cards: int | None = None, *, any_capacity: bool = False) -> Work:
    """Return a request for a pool's card, as its users write it.

    Args:
        cluster: Where; where the cloud does not add the card's toleration, the pod brings it.
        pool: The pool; has a card.
        cards: How many; all of a node by default.
        any_capacity: Whether work that may be interrupted takes any node; else it selects spot. Work that says nothing of it
            selects nothing either: the taint has to keep it off spot nodes.
    """
    own = work_for(pool, pool.pool, admission_tolerates=cluster.declared.extended_resource_toleration)
    users = tuple(taint.key for taint in pool.taints if is_of_users(taint))
    is_selecting = pool.capacity_type is not CapacityType.ON_DEMAND and not any_capacity
    return replace(
        own,
        pods=1,
        cards=pool.accelerators if cards is None else cards,
        tolerates=(*own.tolerates, *users),
        capacity=pool.capacity_type if is_selecting else None,
    )


def is_of_users(taint: Taint) -> bool:
    """Return whether a taint is the inventory's own, which its users know: not a card's, not a cloud's, not the fleet's."""
    return not is_reserved(taint.key) and taint.key.partition("/")[0] not in _CARD_DOMAINS


def start_job(cluster: ClusterView, claim: str, name: str, work: Work, pods: int = 1) -> str:
    """Start a Job that works until it is ended and return its name; raises ApiFaultError."""
    full = work_name(claim, name)
    cluster.api.create(_object(claim, workloads.job(replace(work, name=full, pods=pods, runs_seconds=_LONG_SECONDS))), NAMESPACE)
    return full


def start_pod(cluster: ClusterView, claim: str, name: str, work: Work) -> Pod:
    """Create one pod and return it as admission left it; raises ApiFaultError."""
    return cluster.api.create(_object(claim, workloads.pod(replace(work, name=work_name(claim, name)))), NAMESPACE)


@contextmanager
def job(subject: Subject, claim: str, name: str, work: Work, pods: int = 1) -> Iterator[str]:
    """Run a Job in the subject's cluster for as long as the block takes; yields its name; raises as `start_job` and `end`."""
    started = start_job(subject.cluster, claim, name, work, pods)
    with _ended(subject, started):
        yield started


@contextmanager
def probe(subject: Subject, claim: str, name: str, work: Work) -> Iterator[Pod]:
    """Have a pod in the subject's cluster for as long as the block takes; yields it as admission left it; raises as `job`."""
    pod = start_pod(subject.cluster, claim, name, work)
    with _ended(subject, name_of(pod)):
        yield pod


@contextmanager
def _ended(subject: Subject, work: str) -> Iterator[None]:
    """End a piece of work after the block; what went wrong in the block is told before what goes wrong in ending it."""
    try:
        yield
    except BaseException:
        with suppress(ApiFaultError, NotInTimeError):
            end(subject.cluster, work, subject.patience.more(_TIDY_SECONDS))
        raise
    end(subject.cluster, work, subject.patience.more(_TIDY_SECONDS))


def work_name(claim: str, name: str) -> str:
    """Return how a claim's work is called in its cluster."""
    return f"{claim}-{name}"


def pods_of(cluster: ClusterView, work: str) -> list[Pod]:
    """Return the pods of a piece of work that are not being deleted."""
    found = cluster.api.list(Pod, NAMESPACE, labels={WORK_LABEL: work})
    return [pod for pod in found if pod.metadata is None or pod.metadata.deletionTimestamp is None]


def running(cluster: ClusterView, work: str) -> list[Pod]:
    """Return the pods of a piece of work that run."""
    return [pod for pod in pods_of(cluster, work) if phase_of(pod) == "Running" and node_name_of(pod)]


def phase_of(pod: Pod) -> str:
    """Return a pod's phase, empty before it has one."""
    return (pod.status.phase if pod.status else None) or ""


def node_name_of(pod: Pod) -> str:
    """Return the node a pod is bound to, empty for none."""
    return (pod.spec.nodeName if pod.spec else None) or ""


def tolerations_of(pod: Pod) -> list[Toleration]:
    """Return a pod's tolerations."""
    return list((pod.spec.tolerations if pod.spec else None) or [])


def tolerates(pod: Pod, taint: Taint) -> bool:
    """Return whether a pod may be placed on a node with a taint, by Kubernetes' own rule."""
    if taint.effect is TaintEffect.PREFER_NO_SCHEDULE:
        return True
    return any(
        (not each.key or each.key == taint.key)
        and (not each.effect or each.effect == taint.effect)
        and (each.operator == "Exists" or (each.value or "") == taint.value)
        for each in tolerations_of(pod)
    )


def unschedulable(pod: Pod) -> str:
    """Return what the scheduler says of a pod that it could not place, empty before it said so."""
    conditions = (pod.status.conditions if pod.status else None) or []
    for condition in conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.message or condition.reason or ""
    return ""


def events_of(cluster: ClusterView, pod: Pod) -> list[str]:
    """Return what was reported about a pod, each text once; what ``kubectl describe pod`` ends with."""
    name = name_of(pod)
    found = cluster.api.list(Event, NAMESPACE, fields={"involvedObject.name": name})
    return list(dict.fromkeys(event.message for event in found if event.message))


def name_of(obj: Pod | Node) -> str:
    """Return an object's name."""
    return (obj.metadata.name if obj.metadata else None) or ""


def end(cluster: ClusterView, work: str, patience: Patience) -> None:
    """End a piece of work, Job or pod, and wait until its pods are gone; raises NotInTimeError."""
    patience.wait(f"the deletion of {work} taken", lambda: _delete(cluster, work))
    gone = lambda: not cluster.api.list(Pod, NAMESPACE, labels={WORK_LABEL: work})  # noqa: E731 -- read once, on the next line
    patience.wait(f"{work} gone", gone)


def end_all(cluster: ClusterView) -> None:
    """Delete all that claims left in a cluster, without waiting; raises ApiFaultError."""
    for kind in (Job, Pod):
        for obj in cluster.api.list(kind, NAMESPACE, labels={CLAIM_LABEL: None}):
            cluster.api.delete(kind, (obj.metadata.name if obj.metadata else None) or "", NAMESPACE, grace_seconds=0)


def _delete(cluster: ClusterView, work: str) -> bool:
    """Delete the Job and the pod of a name, whichever there is."""
    for kind in (Job, Pod):
        cluster.api.delete(kind, work, NAMESPACE, grace_seconds=0)
    return True


def _object(claim: str, manifest: dict[str, Any]) -> Any:  # noqa: ANN401 -- Job or Pod
    """Return a manifest as an object that says which claim made it."""
    manifest["metadata"]["labels"] = {**manifest["metadata"]["labels"], CLAIM_LABEL: claim}
    return objects([manifest])[0]
