"""The autoscaler of one rehearsed cluster: Karpenter with its kwok provider, in place of the cloud's own.

What the stand-in shares with the clouds' autoscalers: pools wake for pods that fit and go back to their least number; no more
nodes than declared; the greater priority first; and a pool that the cloud's autoscaler could not see while it is empty has no
NodePool, so it stays asleep and `Autoscaler.asleep` says why. Least numbers are kept by Karpenter itself in a static NodePool
beside the pool's own: nodes are there before any pod, and a lost one comes back without a keeper of ours (its controller looks
again within 30 s).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from lightkube.resources.core_v1 import Node, Pod

from fleet.errors import FleetErrors, Mistake
from rehearsal.api import ALL_NAMESPACES, ApiFaultError, objects, wait_for
from rehearsal.controlplane import RANK_CLIENTS, ControlPlane
from rehearsal.karpenter import (
    POOL_LABEL,
    UNKNOWN_USD_PER_HOUR,
    instance_types,
    is_static,
    karpenter_name,
    node_class,
    node_pools,
    reason_asleep,
    weights,
)
from rehearsal.karpenter_api import DEFINITIONS, NODE_POOL, RIGHTS, USER
from rehearsal.node_watch import NodeEvent, NodeWatch
from rehearsal.nodes import NodeTemplate
from rehearsal.pki import write_private
from rehearsal.probes import http_probe
from rehearsal.processes import ProcessSpec
from rehearsal.slices import SliceKeeper

PROGRAM = "karpenter"
STAND_IN = "Karpenter with its kwok provider stands in for the cloud's own autoscaler"

_INVALID = "ValidationSucceeded: "
"""How `_unready` begins Karpenter's verdict on the NodePool itself."""

_DEFINED_SECONDS = 20.0
_READY_SECONDS = 30.0
_MIN_NODES_SECONDS = 60.0


class Autoscaler:
    """Adds and removes nodes of one cluster; a context manager that ends its threads. The supervisor ends its process.

    Args:
        plane: The cluster's control plane, ready when `start` is called; its simulated kubelets run by then.
        templates: The cluster's pools.
        karpenter: The program.
        boot_seconds: From ordering a machine to its node's first sign; whole seconds, as Karpenter's field is.

    Attributes:
        name: Under which the supervisor runs it.
        asleep: Pools that do not wake here since they would not on their cloud, with the reason.
    """

    def __init__(self, plane: ControlPlane, templates: Sequence[NodeTemplate], karpenter: Path, *, boot_seconds: int = 2) -> None:
        self._plane = plane
        self._karpenter = karpenter
        self._boot_seconds = boot_seconds
        self.name = plane.name_of(PROGRAM)
        self.asleep: Mapping[str, str] = {one.pool: reason for one in templates if (reason := reason_asleep(one))}
        self._templates = {one.pool: one for one in templates}
        awake = self._awake = tuple(one for one in templates if one.pool not in self.asleep)
        self._machines = instance_types(awake)
        ranks = weights(awake)
        self._node_pools = [made for one in awake for made in node_pools(one, self._machines.names[one.pool], ranks[one.pool])]
        self._pool_of = {karpenter_name(one.pool, kept=kept): one for one in awake for kept in (False, True)}
        self._watch = NodeWatch(plane.api, self._pool_of, plane.id)
        self._slices = SliceKeeper(plane.api, [one for one in awake if is_static(one)], plane.id)
        self._refused: set[str] = set()
        ports = plane.ground.ports
        self._metrics_port, self._health_port = ports.take(), ports.take()

    def __enter__(self) -> Autoscaler:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End its threads."""
        self.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands in for what, as clauses to print."""
        unknown = sorted(one.pool for one in self._awake if one.usd_per_hour is None)
        told = [STAND_IN, f"machines boot in {self._boot_seconds} s, device plugins are part of them"]
        if unknown:
            told.append(
                f"price not known for {', '.join(unknown)}: ranked as {UNKNOWN_USD_PER_HOUR:.0f} USD/h, counted as nothing"
            )
        told += [
            f"{one.pool}: slices of {one.hosts} hosts come whole by a keeper of ours" for one in self._awake if is_static(one)
        ]
        return tuple(told)

    @property
    def events(self) -> tuple[NodeEvent, ...]:
        """Nodes that came and went, oldest first."""
        return self._watch.events

    def start(self) -> float:
        """Start it and return the seconds until every NodePool was ready and every pool at its least number of nodes.

        Raises:
            FleetErrors: Karpenter did not start, refused a NodePool (says which and why), or nodes did not come.
        """
        began = time.monotonic()
        self._define()
        self._watch.start()
        self._plane.ground.supervisor.start_ready(self._spec())
        self.wait_ready()
        self._slices.start()
        for one in self._awake:
            wait_for(f"the {one.min_nodes} least nodes of {self._plane.id}/{one.pool}", self._has_least(one), _MIN_NODES_SECONDS)
        return time.monotonic() - began

    def restart(self) -> float:
        """Stop Karpenter, start it again and return the seconds until it worked; nodes and pods stay."""
        began = time.monotonic()
        self._plane.ground.supervisor.stop(self.name)
        self._plane.ground.supervisor.start_ready(self._spec())
        self.wait_ready()
        return time.monotonic() - began

    def wait_ready(self, deadline_seconds: float = _READY_SECONDS) -> None:
        """Wait until Karpenter takes every NodePool; raises FleetErrors that name each it does not take, with its words."""
        names = {made["metadata"]["name"] for made in self._node_pools}
        refused: dict[str, str] = {}

        def is_settled() -> bool:
            """Look; a pool that is judged invalid stays so, however long it is waited for."""
            nonlocal refused
            refused = self._not_ready(names)
            return not refused or any(_INVALID in reason for reason in refused.values())

        try:
            wait_for("NodePools", is_settled, deadline_seconds)
        except ApiFaultError:
            if not refused:
                raise
        if refused:
            told = {name: reason for name, reason in refused.items() if _INVALID in reason} or refused
            raise FleetErrors([self._refusal(name, reason) for name, reason in told.items()])

    def close(self) -> None:
        """End the threads; the process is the supervisor's."""
        self._slices.close()
        self._watch.close()

    @property
    def not_rehearsed(self) -> Mapping[str, str]:
        """Pools that the stand-in cannot model, each with why: none, since slices come whole by a keeper of ours."""
        return {}

    def pool_of(self, node: Node) -> str | None:
        """Return a node's pool, None for a node that is not Karpenter's."""
        labels = (node.metadata.labels if node.metadata else None) or {}
        template = self._pool_of.get(labels.get(POOL_LABEL, ""))
        return template.pool if template else None

    def nodes(self, pool: str) -> list[Node]:
        """Return a pool's nodes."""
        return self._plane.api.list(Node, labels={POOL_LABEL: [karpenter_name(pool), karpenter_name(pool, kept=True)]})

    def counts(self) -> dict[str, int]:
        """Return the number of nodes of every pool, those asleep included."""
        return dict.fromkeys(self._templates, 0) | self._watch.counts()

    def wait_count(self, pool: str, nodes: int, deadline_seconds: float) -> float:
        """Wait until a pool has so many nodes and return the seconds waited; raises ApiFaultError."""
        began = time.monotonic()
        wait_for(f"{nodes} nodes of {self._plane.id}/{pool}", lambda: self.counts()[pool] == nodes, deadline_seconds)
        return time.monotonic() - began

    def refuse(self, *pools: str) -> None:
        """Let pools get no more nodes, as when the cloud has none: their NodePools' limits are 0. Nodes there stay."""
        self._refused |= set(pools)
        self._limit()

    def allow(self, *pools: str) -> None:
        """Take `refuse` back."""
        self._refused -= set(pools)
        self._limit()

    def take_away(self, pool: str) -> str:
        """Take one node of a pool away as a cloud takes spot back, one with pods first, and return its name.

        The node is deleted; Karpenter evicts its pods, as clouds' notice before the end lets pods be evicted.

        Raises:
            ApiFaultError: The pool has no node.
        """
        api = self._plane.api
        names = [node.metadata.name or "" for node in self.nodes(pool) if node.metadata]
        if not names:
            raise ApiFaultError(f"take a node of {self._plane.id}/{pool} away", 0, "the pool has no node")
        busy = {pod.spec.nodeName for pod in api.list(Pod, ALL_NAMESPACES) if pod.spec and _is_working(pod)}
        name = next((name for name in names if name in busy), names[0])
        api.delete(Node, name)
        return name

    def node_usd(self, until_seconds: float | None = None) -> float:
        """Return what the nodes so far would have cost until then (now), in USD; those of unknown price count as nothing."""
        return self._watch.usd(time.monotonic() if until_seconds is None else until_seconds)

    def _define(self) -> None:
        """Put into the cluster what Karpenter works on."""
        api = self._plane.api
        for manifest in objects([*DEFINITIONS, *RIGHTS]):
            api.apply(manifest)
        for manifest in (node_class(self._boot_seconds), *self._node_pools):
            (obj,) = objects([manifest])
            wait_for(f"{manifest['kind']} in {self._plane.id}", lambda made=obj: api.apply(made), _DEFINED_SECONDS)

    def _refusal(self, node_pool: str, reason: str) -> Mistake:
        """Return what to tell of a NodePool that Karpenter does not take."""
        return Mistake(
            path=f"{self._plane.id}/{node_pool}",
            reason=f"Karpenter does not take its NodePool: {reason}",
            remedy="Nothing would wake the pool. Correct what it declares as machine, labels or taints",
        )

    def _limit(self) -> None:
        """Give every NodePool the limit it should have now."""
        for made in self._node_pools:
            name = made["metadata"]["name"]
            template = self._pool_of[name]
            if "replicas" not in made["spec"]:
                limit = "0" if template.pool in self._refused else made["spec"]["limits"]["nodes"]
                self._plane.api.patch(NODE_POOL, name, {"spec": {"limits": {"nodes": limit}}})
        self._slices.refuse(self._refused)

    def _not_ready(self, names: set[str]) -> dict[str, str]:
        """Return the NodePools that Karpenter does not take, with its words."""
        stored = {one.metadata.name: one for one in self._plane.api.list(NODE_POOL)}
        return {name: reason for name in sorted(names) if (reason := _unready(stored.get(name)))}

    def _has_least(self, template: NodeTemplate) -> Any:  # noqa: ANN401 -- a function for `wait_for`
        """Return a look at whether a pool has its least number of nodes, finished."""
        return lambda: self._watch.finished(template.pool) >= template.min_nodes

    def _spec(self) -> ProcessSpec:
        """Return how Karpenter is run: by its environment alone.

        It waits for more pods before it orders nodes, by default 1 s after the last one and 10 s in all. A big Job's pods come
        for about that long, so ordering begins sooner here; pods without a node yet count against what is on order.
        """
        ground = self._plane.ground
        folder = ground.folder(f"{self._plane.id}/{PROGRAM}")
        file = folder / "instance-types.json"
        write_private(file, json.dumps(self._machines.file).encode())
        settings = {
            "KUBECONFIG": str(self._plane.kubeconfig_for(USER)),
            "INSTANCE_TYPES_FILE_PATH": str(file),
            "METRICS_PORT": str(self._metrics_port),
            "HEALTH_PROBE_PORT": str(self._health_port),
            "SYSTEM_NAMESPACE": "kube-system",
            "DISABLE_LEADER_ELECTION": "true",
            "FEATURE_GATES": "StaticCapacity=true",
            "BATCH_IDLE_DURATION": "500ms",
            "BATCH_MAX_DURATION": "3s",
        }
        return ProcessSpec(
            name=self.name,
            argv=(str(self._karpenter),),
            env={**ground.environment(folder), **settings},
            cwd=folder,
            ready=http_probe(self._health_port, "/readyz"),
            rank=RANK_CLIENTS,
        )


def _unready(node_pool: Any) -> str:  # noqa: ANN401 -- a custom resource, or None
    """Return why a NodePool is not ready; empty when it is."""
    if node_pool is None:
        return "it is not there"
    conditions = (node_pool.get("status") or {}).get("conditions") or []
    if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
        return ""
    said = [f"{one['type']}: {one.get('message') or one.get('reason')}" for one in conditions if one["status"] == "False"]
    return "; ".join(said) or "it says nothing about it"


def _is_working(pod: Pod) -> bool:
    """Return whether a pod runs."""
    return bool(pod.status and pod.status.phase == "Running")
