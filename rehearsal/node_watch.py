"""Follows the nodes that Karpenter makes in one cluster: keeps a record of them, and finishes what its provider leaves undone.

A node that registered gets the labels that Karpenter refuses or spells by itself (`late_labels`), and the capacity and
allocatable of its machine, of which kwok's provider writes only what pods requested.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lightkube.resources.core_v1 import Node, NodeStatus

from rehearsal.api import Api, ApiFaultError
from rehearsal.karpenter import POOL_LABEL, REGISTERED_LABEL, ZONE_LABEL, late_labels
from rehearsal.nodes import NodeTemplate

_WINDOW_SECONDS = 5.0
"""One watch; after it nodes are listed, so that one lost while the API server was away is found lost."""
_AFTER_FAULT_SECONDS = 0.2
_SECONDS_PER_HOUR = 3600.0


class NodeEventKind(StrEnum):
    """What happened to a node."""

    CREATED = "created"
    REMOVED = "removed"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeEvent:
    """A node that came or went.

    Attributes:
        kind: Which of the two.
        node: Its name.
        pool: The pool's name.
        zone: Where it is.
        at_seconds: When it was seen, on the monotonic clock of this machine.
        usd_per_hour: Its price; None when not known.
    """

    kind: NodeEventKind
    node: str
    pool: str
    zone: str
    at_seconds: float
    usd_per_hour: float | None


class NodeWatch:
    """The nodes of one cluster; `close` ends its thread.

    Args:
        api: The cluster's API, with all rights.
        pools: Pools by the names of their NodePools.
        name: For the thread.
    """

    def __init__(self, api: Api, pools: Mapping[str, NodeTemplate], name: str) -> None:
        self._api = api
        self._pools = pools
        self._lock = threading.Lock()
        self._events: list[NodeEvent] = []
        self._there: dict[str, NodeEvent] = {}
        self._finished: set[str] = set()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"nodes of {name}", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        if not self._thread.is_alive():
            self._thread.start()

    def close(self) -> None:
        """End; the thread leaves with its present watch, which outlives this call by some seconds at most."""
        self._ending.set()

    @property
    def events(self) -> tuple[NodeEvent, ...]:
        """All that happened so far, oldest first."""
        with self._lock:
            return tuple(self._events)

    def counts(self) -> dict[str, int]:
        """Return the number of nodes of each pool, finished or not, those that are leaving included."""
        found = {template.pool: 0 for template in self._pools.values()}
        with self._lock:
            for event in self._there.values():
                found[event.pool] += 1
        return found

    def finished(self, pool: str) -> int:
        """Return the number of a pool's nodes that registered and have all labels and capacity of their machine."""
        with self._lock:
            return sum(1 for name in self._finished if name in self._there and self._there[name].pool == pool)

    def usd(self, until_seconds: float) -> float:
        """Return what all nodes so far would have cost by then; those of unknown price cost nothing here."""
        ended = {event.node: event.at_seconds for event in self.events if event.kind is NodeEventKind.REMOVED}
        return sum(
            max(0.0, min(ended.get(event.node, until_seconds), until_seconds) - event.at_seconds)
            * (event.usd_per_hour or 0.0)
            / _SECONDS_PER_HOUR
            for event in self.events
            if event.kind is NodeEventKind.CREATED
        )

    def _follow(self) -> None:
        """Follow until closed, whatever the API server goes through."""
        while not self._ending.is_set():
            try:
                self._forget_lost({_name(node) for node in self._api.list(Node)})
                for change, node in self._api.watch(Node, _WINDOW_SECONDS):
                    self._see(change, node)
                    if self._ending.is_set():
                        return
            except ApiFaultError:
                self._ending.wait(_AFTER_FAULT_SECONDS)

    def _see(self, change: str, node: Node) -> None:
        """Take note of one change."""
        name, labels = _name(node), _labels(node)
        template = self._pools.get(labels.get(POOL_LABEL, ""))
        if template is None:
            return
        if change == "DELETED":
            self._remove(name)
            return
        if name not in self._there:
            self._note(NodeEventKind.CREATED, name, template, labels.get(ZONE_LABEL, ""))
        if labels.get(REGISTERED_LABEL) == "true" and name not in self._finished:
            finish(self._api, template, node)
            with self._lock:
                self._finished.add(name)

    def _forget_lost(self, there: set[str]) -> None:
        """Note as removed what is no longer there."""
        for name in set(self._there) - there:
            self._remove(name)

    def _note(self, kind: NodeEventKind, name: str, template: NodeTemplate, zone: str) -> None:
        """Keep an event of a node that is new."""
        event = NodeEvent(
            kind=kind,
            node=name,
            pool=template.pool,
            zone=zone,
            at_seconds=time.monotonic(),
            usd_per_hour=template.usd_per_hour,
        )
        with self._lock:
            self._events.append(event)
            self._there[name] = event

    def _remove(self, name: str) -> None:
        """Keep the end of a node."""
        with self._lock:
            began = self._there.pop(name, None)
            self._finished.discard(name)
            if began is not None:
                self._events.append(_ended(began))


def finish(api: Api, template: NodeTemplate, node: Node) -> None:
    """Give a registered node the rest of what its machine has; raises ApiFaultError, but not when it is gone already."""
    labels = _labels(node)
    wanted = late_labels(template, labels.get(ZONE_LABEL, ""))
    missing = {key: value for key, value in wanted.items() if labels.get(key) != value}
    told = (node.status.allocatable if node.status else None) or {}
    sizes: dict[str, Any] = {
        "capacity": {**dict.fromkeys(told), **template.capacity},
        "allocatable": {**dict.fromkeys(told), **template.allocatable},
    }
    try:
        if missing:
            api.patch(Node, _name(node), {"metadata": {"labels": missing}})
        api.patch(NodeStatus, _name(node), {"status": sizes})
    except ApiFaultError as fault:
        if not fault.is_missing:
            raise


def _ended(began: NodeEvent) -> NodeEvent:
    """Return the event of a node's end, now."""
    return NodeEvent(
        kind=NodeEventKind.REMOVED,
        node=began.node,
        pool=began.pool,
        zone=began.zone,
        at_seconds=time.monotonic(),
        usd_per_hour=began.usd_per_hour,
    )


def _name(node: Node) -> str:
    """Return a node's name, which every stored node has."""
    return (node.metadata.name if node.metadata else None) or ""


def _labels(node: Node) -> dict[str, str]:
    """Return a node's labels."""
    return dict((node.metadata.labels if node.metadata else None) or {})
