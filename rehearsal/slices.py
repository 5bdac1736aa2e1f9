"""Slices of several hosts, whole or not at all: what a cloud's autoscaler does for them and Karpenter does not.

A multi-host TPU slice is one machine made of several nodes. GKE scales such a pool from nothing to all hosts of the slice and
back in one step (its page "About TPUs in GKE", on multi-host slice node pools). Karpenter adds nodes one by one as pods need
them, so here a slice's NodePool is static and this keeper alone sets its number of nodes: hosts x slices, or 0.
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
                pending = self._api.list(Pod, ALL_NAMESPACES, fields={"status.phase": "Pending"})
                for template in self._templates:
                    self._set(template, pending)
            except ApiFaultError:
                continue  # the API server is away; the next look will do

    def _set(self, template: NodeTemplate, pending: Sequence[Pod]) -> None:
        """Set one pool's number of nodes, if it should change."""
        name = karpenter_name(template.pool)
        has = int(self._api.get(NODE_POOL, name)["spec"]["replicas"])
        waiting = sum(1 for pod in pending if waits_for(pod, template))
        if not has and not waiting:
            return
        pods = waiting + self._working(name, pending)
        wanted = nodes_wanted(template, pods)
        is_growing = wanted > has and template.pool not in self._refused
        if is_growing or (has and self._is_idle(template.pool, pods)):
            self._api.patch(NODE_POOL, name, {"spec": {"replicas": wanted}})

    def _working(self, node_pool: str, pending: Sequence[Pod]) -> int:
        """Return the number of pods that have one of the slice's nodes and did not end."""
        ours = {node.metadata.name for node in self._api.list(Node, labels={POOL_LABEL: node_pool}) if node.metadata}
        running = self._api.list(Pod, ALL_NAMESPACES, fields={"status.phase": "Running"}) if ours else []
        return sum(1 for pod in (*pending, *running) if pod.spec and pod.spec.nodeName in ours)

    def _is_idle(self, pool: str, pods: int) -> bool:
        """Return whether a pool has had no pods for long enough to go."""
        if pods:
            self._empty_since.pop(pool, None)
            return False
        now = time.monotonic()
        return now - self._empty_since.setdefault(pool, now) >= _EMPTY_SECONDS


def nodes_wanted(template: NodeTemplate, pods: int) -> int:
    """Return the number of nodes for so many pods of one host each: whole slices, as many as the pool may have."""
    slices = min(math.ceil(pods / template.hosts), template.max_nodes // template.hosts)
    return slices * template.hosts


def waits_for(pod: Pod, template: NodeTemplate) -> bool:
    """Return whether a pod has no node, asks for the slice's cards, selects no other label and tolerates every taint."""
    if pod.spec is None or pod.spec.nodeName or (pod.metadata and pod.metadata.deletionTimestamp):
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
    return any(one.key in {None, "", key} and (one.operator == "Exists" or (one.value or "") == value) for one in tolerations)
