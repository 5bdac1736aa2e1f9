"""What claims may see and do: the rehearsed fleet behind small protocols, so that claims run on real clusters and in tests alike.

Everything here is used by several threads at once, one for each cluster and more where a claim allows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from lightkube.core.resource import Resource
from lightkube.resources.core_v1 import Node

from rehearsal.nodes.clusters import DeclaredCluster

Kind = TypeVar("Kind", bound=Resource)


class Part(StrEnum):
    """A program that a claim may kill."""

    STORE = "etcd"
    APISERVER = "kube-apiserver"
    SCHEDULER = "kube-scheduler"
    CONTROLLERS = "kube-controller-manager"
    AUTOSCALER = "karpenter"


class Clock(Protocol):
    """Time that only goes forward, in seconds; a test brings its own."""

    def now(self) -> float:
        """Return seconds since some moment, as ``time.monotonic``."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...


class KubernetesApi(Protocol):
    """The part of `rehearsal.api.Api` that claims use, with the same meaning and the same ApiFaultError."""

    def get(self, kind: type[Kind], name: str, namespace: str | None = None) -> Kind:
        """Return an object."""
        ...

    def find(self, kind: type[Kind], name: str, namespace: str | None = None) -> Kind | None:
        """Return an object, None when there is none."""
        ...

    def list(
        self,
        kind: type[Kind],
        namespace: str | None = None,
        labels: Mapping[str, Any] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> list[Kind]:
        """Return the objects of a kind."""
        ...

    def create(self, obj: Kind, namespace: str | None = None) -> Kind:
        """Create an object and return it as the server stored it, admission included."""
        ...

    def delete(self, kind: type[Resource], name: str, namespace: str | None = None, *, grace_seconds: int | None = None) -> bool:
        """Delete an object and say whether there was one."""
        ...


class AutoscalerHandle(Protocol):
    """One cluster's autoscaler, or what stands in for it; `rehearsal.autoscaler.Autoscaler` is one.

    Attributes:
        asleep: Pools that cannot be woken from zero, each with what is missing (`rehearsal.nodes.why_asleep`).
        not_rehearsed: Pools that the stand-in cannot model, each with why.
    """

    @property
    def asleep(self) -> Mapping[str, str]:
        """See above."""
        ...

    @property
    def not_rehearsed(self) -> Mapping[str, str]:
        """See above."""
        ...

    def pool_of(self, node: Node) -> str | None:
        """Return the pool whose node it is, by `NodeTemplate.pool`; None for a node of no declared pool."""
        ...

    def refuse(self, *pools: str) -> None:
        """Have the cloud refuse new nodes for pools, as a spot market that is sold out; nodes that are there stay."""
        ...

    def allow(self, *pools: str) -> None:
        """Take `refuse` back; nothing happens when it was not called."""
        ...

    def take_away(self, pool: str) -> str:
        """Have the cloud take a node of a pool away without notice, one with work first; returns its name. Raises FleetErrors."""
        ...


class ControlPlaneHandle(Protocol):
    """The programs of one cluster, or with `Part.STORE` of all."""

    def kill(self, part: Part) -> None:
        """End a program at once (SIGKILL); the supervisor starts it again by itself. Raises FleetErrors when it is not there."""
        ...

    def is_ready(self, part: Part) -> bool:
        """Return whether a program runs and its health check passes; after `kill` False until the new one is ready."""
        ...


class ClusterView(Protocol):
    """One rehearsed cluster.

    Attributes:
        id: ``<site>/<cluster>``.
        declared: What was declared, its pools' nodes included.
        api: Its API, with all rights.
        autoscaler: Its autoscaler.
        programs: Its control plane.
    """

    @property
    def id(self) -> str:
        """See above."""
        ...

    @property
    def declared(self) -> DeclaredCluster:
        """See above."""
        ...

    @property
    def api(self) -> KubernetesApi:
        """See above."""
        ...

    @property
    def autoscaler(self) -> AutoscalerHandle:
        """See above."""
        ...

    @property
    def programs(self) -> ControlPlaneHandle:
        """See above."""
        ...


class StageView(Protocol):
    """The rehearsed fleet.

    Attributes:
        clusters: Those whose control plane was started, in the order to show.
        broken: What became of declared clusters that did not come up: why, by id. Their claims are red with it.
        clock: What deadlines are measured by.
    """

    @property
    def clusters(self) -> Sequence[ClusterView]:
        """See above."""
        ...

    @property
    def broken(self) -> Mapping[str, str]:
        """See above."""
        ...

    @property
    def clock(self) -> Clock:
        """See above."""
        ...
