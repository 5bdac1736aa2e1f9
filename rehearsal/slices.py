"""Slices of several hosts, whole or not at all: what a cloud's autoscaler does for them and Karpenter does not.

A multi-host TPU slice is one machine made of several nodes. GKE scales such a pool from nothing to all hosts of the slice and
back in one step (cloud.google.com/kubernetes-engine/docs/concepts/tpus, "multi-host", 2026-11-21). Karpenter adds nodes one by one as
pods need them, so here a slice's NodePool is static and this keeper alone sets its number of nodes: hosts x slices, or 0.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lightkube.resources.core_v1 import Node, Pod
from lightkube.utils.quantity import parse_quantity

from rehearsal.api import ALL_NAMESPACES, Api, ApiFaultError
from rehearsal.karpenter import POOL_LABEL, karpenter_name, late_labels
from rehearsal.karpenter_api import NODE_POOL
from rehearsal.nodes import NodeTemplate

_POLL_SECONDS = 0.5
_EMPTY_SECONDS = 3.0
_ENDED = frozenset({"Succeeded", "Failed"})


class SliceKeeper:
    """Sets the number of nodes of a cluster's slice pools, from a thread of its own until closed.

    Args:
        api: The cluster's API, with all rights.
        templates: Pools of slices.
        name: For the thread.
    """

    def __init__(self, api: Api, templates: Sequence[NodeTemplate], name: str) -> None:
        self._api = api
        self._templates = templates
        self._refused: frozenset[str] = frozenset()
        self._empty_since: dict[str, float] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"slices of {name}", daemon=True)

    def start(self) -> None:
        """Begin, where there is a pool to keep."""
        if self._templates and not self._thread.is_alive():
            self._thread.start()

    def close(self) -> None:
        """End after the present look."""
        self._ending.set()

    def refuse(self, pools: Iterable[str]) -> None:
        """Make no new slice of these pools, and of all others again."""
        self._refused = frozenset(pools)

    def _keep(self) -> None:
        """Look and set, again and again."""
        while not self._ending.wait(_POLL_SECONDS):
            try:
                pods = self._api.list(Pod, ALL_NAMESPACES)
                nodes = self._api.list(Node)
                for template in self._templates:
                    self._set(template, pods, nodes)
            except ApiFaultError:
                continue  # the API server is away; the next look will do

    def _set(self, template: NodeTemplate, pods: Sequence[Pod], nodes: Sequence[Node]) -> None:
        """Set one pool's number of nodes, if it should change."""
        name = karpenter_name(template.pool)
        ours = {_name(node) for node in nodes if _labels(node).get(POOL_LABEL) == name}
        working = sum(1 for pod in pods if pod.spec and pod.spec.nodeName in ours and not _is_ended(pod))
        waiting = sum(1 for pod in pods if waits_for(pod, template))
        stored = self._api.get(NODE_POOL, name)
        has = int(stored["spec"]["replicas"])
        now = time.monotonic()
        since = self._empty_since.setdefault(template.pool, now) if not working + waiting else self._empty_since.pop(template.pool, now)
        wanted = nodes_wanted(template, working + waiting)
        is_growing = wanted > has and template.pool not in self._refused
        is_idle = has > 0 and not working + waiting and now - since >= _EMPTY_SECONDS
        if is_growing or is_idle:
            self._api.patch(NODE_POOL, name, {"spec": {"replicas": wanted}})


def nodes_wanted(template: NodeTemplate, pods: int) -> int:
    """Return the number of nodes for so many pods of one host each: whole slices, as many as the pool may have."""
    slices = min(math.ceil(pods / template.hosts), template.max_nodes // template.hosts)
    return slices * template.hosts


def waits_for(pod: Pod, template: NodeTemplate) -> bool:
    """Return whether a pod has no node, asks for the slice's cards, selects no other label and tolerates every taint."""
    if pod.spec is None or pod.spec.nodeName or _is_ended(pod) or (pod.metadata and pod.metadata.deletionTimestamp):
        return False
    asked = sum(_asked(container, template.resource or "") for container in pod.spec.containers)
    if not 0 < asked <= template.accelerators:
        return False
    selector: Mapping[str, str] = pod.spec.nodeSelector or {}
    fits = any(selector.items() <= late_labels(template, zone).items() for zone in template.zones)
    return fits and all(_is_tolerated(taint.key, taint.value, pod) for taint in template.taints)


def _asked(container: Any, resource: str) -> int:  # noqa: ANN401 -- a container of any kind
    """Return how many cards a container asks for."""
    wanted = (container.resources.requests if container.resources else None) or {}
    return int(parse_quantity(wanted.get(resource, "0")) or 0)


def _is_tolerated(key: str, value: str, pod: Pod) -> bool:
    """Return whether a pod tolerates a taint, whatever its effect."""
    tolerations = (pod.spec.tolerations if pod.spec else None) or []
    return any(
        (not one.key and one.operator == "Exists") or (one.key == key and (one.operator == "Exists" or (one.value or "") == value))
        for one in tolerations
    )


def _is_ended(pod: Pod) -> bool:
    """Return whether a pod has run to its end."""
    return bool(pod.status and pod.status.phase in _ENDED)


def _name(node: Node) -> str:
    """Return a node's name."""
    return (node.metadata.name if node.metadata else None) or ""


def _labels(node: Node) -> Mapping[str, str]:
    """Return a node's labels."""
    return (node.metadata.labels if node.metadata else None) or {}
