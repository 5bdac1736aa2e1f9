"""Work for declared pools, in place of the fleet's own charts: plain Jobs whose pods ask for a card as a scientist's would.

A pod asks for the pool's extended resource and selects the card by its label. It tolerates what work has to tolerate by
itself on every cluster of the fleet, and no more: a taint too many on a pool shows as a pod that stays Pending.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fleet.labels import CAPACITY_LABEL, CAPACITY_TAINT_KEY, CARD_LABEL, CapacityType
from rehearsal.kubelets import works_for
from rehearsal.nodes import NodeTemplate

WORK_LABEL = "rehearsal.gpufleet.io/work"
"""Label of every pod and Job of one piece of work; its value is the work's name."""

NAMESPACE = "default"
IMAGE = "registry.invalid/stand-in:0"
"""Never pulled: kubelets are simulated."""

_SPOT_TAINT_KEYS = (CAPACITY_TAINT_KEY, "kubernetes.azure.com/scalesetpriority")
"""Ours, and the one that AKS puts on spot nodes by itself (learn.microsoft.com/azure/aks/spot-node-pool, 2026-11-21)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A Job.

    Attributes:
        name: Unique in its cluster, and a DNS label.
        resource: Extended resource that each pod asks for; None for work without cards.
        card: Card selected by label; None selects none.
        pods: Pods, all at once.
        cards: Whole cards a pod; a quantity as text plants a wrong one.
        runs_seconds: How long a pod works.
        tolerates: Taint keys that it tolerates by itself.
        capacity: Capacity type selected by label; None takes any.
        cpu: Processors a pod asks for, as a quantity.
        memory: Memory a pod asks for, as a quantity.
        selects: Further node labels.
    """

    name: str
    resource: str | None = None
    card: str | None = None
    pods: int = 1
    cards: int | str = 1
    runs_seconds: float = 5.0
    tolerates: tuple[str, ...] = ()
    capacity: CapacityType | None = None
    cpu: str = "100m"
    memory: str = "64Mi"
    selects: Mapping[str, str] = field(default_factory=dict)


def work_for(template: NodeTemplate, name: str, *, admission_tolerates: bool, **changes: Any) -> Work:  # noqa: ANN401 -- fields of Work
    """Return work that wakes a pool and fits no pool of another card or capacity type.

    Args:
        template: The pool.
        name: Name of the work.
        admission_tolerates: Whether the cluster's API server adds the toleration of the resource's own taint.
        changes: Fields of `Work` that differ.
    """
    spot = _SPOT_TAINT_KEYS if template.capacity_type is CapacityType.SPOT else ()
    own = (template.resource,) if template.resource and not admission_tolerates else ()
    usual: dict[str, Any] = {
        "resource": template.resource,
        "card": template.card,
        "cards": max(1, template.accelerators) if template.hosts > 1 else 1,
        "pods": template.hosts,
        "tolerates": (*own, *spot),
        "capacity": template.capacity_type if template.card else None,
    }
    return Work(name=name, **(usual | changes))


def preferring_spot(work: Work) -> Work:
    """Return work that takes a spot node or any other, whichever its card has."""
    return replace(work, capacity=None, tolerates=tuple(dict.fromkeys((*work.tolerates, *_SPOT_TAINT_KEYS))))


def pod_template(work: Work) -> dict[str, Any]:
    """Return metadata and spec of the work's pods, within the restricted Pod Security Standard."""
    asked = {"cpu": work.cpu, "memory": work.memory, **({work.resource: str(work.cards)} if work.resource else {})}
    selector = {
        **({CARD_LABEL: work.card} if work.card else {}),
        **({CAPACITY_LABEL: str(work.capacity)} if work.capacity else {}),
        **work.selects,
    }
    container = {
        "name": "work",
        "image": IMAGE,
        "resources": {"requests": asked, "limits": asked},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True},
    }
    return {
        "metadata": {"labels": {WORK_LABEL: work.name}, "annotations": works_for(work.runs_seconds)},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
            "nodeSelector": selector,
            "tolerations": [{"key": key, "operator": "Exists"} for key in work.tolerates],
            "containers": [container],
        },
    }


def job(work: Work) -> dict[str, Any]:
    """Return the work as a Job, which makes a lost pod again."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": work.name, "namespace": NAMESPACE, "labels": {WORK_LABEL: work.name}},
        "spec": {
            "parallelism": work.pods,
            "completions": work.pods,
            "backoffLimit": 100,
            "template": pod_template(work),
        },
    }


def pod(work: Work) -> dict[str, Any]:
    """Return the work as one bare pod, which runs until it is deleted."""
    template = pod_template(work)
    metadata = {**template["metadata"], "name": work.name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
