"""The rehearsed fleet: for every declared cluster a control plane, simulated kubelets and an autoscaler, up and down again.

What is real here are the control planes, schedulers, admission and Karpenter; nodes, cards and clouds are simulated (SCOPE.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType

from fleet.errors import FleetErrors
from rehearsal.api import Api
from rehearsal.autoscaler import Autoscaler
from rehearsal.claims.view import Part
from rehearsal.controlplane import ControlPlane, Ground, Store, start_all
from rehearsal.flags import Program
from rehearsal.isolation import Ports
from rehearsal.kubelets import Kubelets
from rehearsal.nodes.clusters import DeclaredCluster
from rehearsal.processes import ProcessState
from rehearsal.rundir import RunDirectory
from rehearsal.supervisor import Supervisor
from rehearsal.toolchain import Tool, Toolchain

TOOLS = (Tool.ETCD, Tool.KUBE_APISERVER, Tool.KUBE_CONTROLLER_MANAGER, Tool.KUBE_SCHEDULER, Tool.KWOK, Tool.KARPENTER)
"""Programs of a rehearsal without ArgoCD, in the order in which they are needed."""

_TOOL_SECONDS = 1800.0


class Phase(StrEnum):
    """Where a cluster stands."""

    WAITING = "waiting"
    STARTING = "control plane starting"
    POOLS = "pools being set up"
    UP = "up"
    BROKEN = "broken"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterPrograms:
    """The programs of one cluster, for claims that kill them.

    Attributes:
        plane: The cluster's control plane.
    """

    plane: ControlPlane

    def kill(self, part: Part) -> None:
        """End a program as a crash would; the supervisor starts it again."""
        self.plane.ground.supervisor.kill(self._name(part))

    def is_ready(self, part: Part) -> bool:
        """Return whether a program runs and serves."""
        return self.plane.ground.supervisor.states().get(self._name(part)) is ProcessState.READY

    def _name(self, part: Part) -> str:
        """Return the supervisor's name for a program; etcd is one for all clusters."""
        return str(part) if part is Part.STORE else self.plane.name_of(str(part))


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsedCluster:
    """A cluster that is up.

    Attributes:
        declared: What was declared.
        plane: Its control plane.
        autoscaler: Its autoscaler's stand-in.
    """

    declared: DeclaredCluster
    plane: ControlPlane
    autoscaler: Autoscaler

    @property
    def id(self) -> str:
        """``<site>/<cluster>``."""
        return self.plane.id

    @property
    def api(self) -> Api:
        """A client with all rights."""
        return self.plane.api

    @property
    def programs(self) -> ClusterPrograms:
        """Its programs."""
        return ClusterPrograms(plane=self.plane)


class MonotonicClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Return seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)


@dataclass(slots=True)
class Stage:
    """The fleet on this machine; a context manager that leaves no process behind.

    Args:
        declared: The clusters.
        run: The run's folder.
        toolchain: Brings the programs, begun by the caller.
        on_phase: Told of each cluster's way, by id; from several threads.
    """

    declared: Sequence[DeclaredCluster]
    run: RunDirectory
    toolchain: Toolchain
    on_phase: Callable[[str, Phase], None] = lambda _cluster, _phase: None
    clusters: list[RehearsedCluster] = field(init=False, default_factory=list)
    broken: dict[str, str] = field(init=False, default_factory=dict)
    clock: MonotonicClock = field(init=False, default_factory=MonotonicClock)
    seconds: float = field(init=False, default=0.0)
    _supervisor: Supervisor = field(init=False)
    _open: ExitStack = field(init=False, default_factory=ExitStack)

    def __enter__(self) -> Stage:
        """Open the supervisor; `start` brings the clusters up."""
        self._supervisor = self._open.enter_context(Supervisor(self.run))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop everything."""
        self._open.close()

    @property
    def supervisor(self) -> Supervisor:
        """Runs the programs."""
        return self._supervisor

    def start(self) -> float:
        """Bring all clusters up side by side and return the seconds taken, tools' building not counted.

        Clusters that do not come up are in `broken`; the others go on.

        Raises:
            FleetErrors: The store that all share does not start.
            ToolchainError: A program cannot be had.
        """
        for tool in TOOLS[:2]:
            self.toolchain.path(tool, _TOOL_SECONDS)
        began = time.monotonic()
        ground = Ground(
            supervisor=self._supervisor,
            ports=Ports(),
            program=self._program,
            kubernetes_version=self.kubernetes_version,
        )
        store = Store(ground)
        store.start()
        planes = {plane.id: plane for plane in (ControlPlane(cluster, ground, store) for cluster in self.declared)}
        by_id = {f"{cluster.site}/{cluster.name}": cluster for cluster in self.declared}
        for cluster in planes:
            self.on_phase(cluster, Phase.STARTING)
        with ThreadPoolExecutor(max_workers=max(1, len(planes)), thread_name_prefix="pools") as pool:
            faults = start_all(list(planes.values()), lambda plane: pool.submit(self._set_up, by_id[plane.id], plane) and None)
        for cluster, fault in faults.items():
            self._break(cluster, fault)
        self.clusters.sort(key=lambda cluster: cluster.id)
        self.seconds = time.monotonic() - began
        return self.seconds

    @property
    def kubernetes_version(self) -> str:
        """Version of the control planes' programs."""
        return self.toolchain.version(Tool.KUBE_APISERVER)

    def _program(self, program: Program) -> Path:
        """Return a program's file, waiting until it is built."""
        return self.toolchain.path(Tool(str(program)), _TOOL_SECONDS)

    def _set_up(self, declared: DeclaredCluster, plane: ControlPlane) -> None:
        """Give a cluster its kubelets and its pools."""
        self.on_phase(plane.id, Phase.POOLS)
        try:
            Kubelets(plane).start()
            autoscaler = Autoscaler(plane, declared.templates, self.toolchain.path(Tool.KARPENTER, _TOOL_SECONDS))
            self._open.callback(autoscaler.close)
            autoscaler.start()
        except FleetErrors as fault:
            self._break(plane.id, fault)
            return
        self.clusters.append(RehearsedCluster(declared=declared, plane=plane, autoscaler=autoscaler))
        self.on_phase(plane.id, Phase.UP)

    def _break(self, cluster: str, fault: FleetErrors) -> None:
        """Note that a cluster did not come up."""
        self.broken[cluster] = str(fault)
        self.on_phase(cluster, Phase.BROKEN)

    def pss_gib(self) -> float:
        """Return the memory that all programs use now, shared pages divided among them, in GiB."""
        return sum(usage.pss_bytes for usage in self._supervisor.usage().values()) / 2**30

    def cpu_seconds(self) -> float:
        """Return the processor time that the running programs have used."""
        return sum(usage.cpu_seconds for usage in self._supervisor.usage().values())

    def simulated_usd(self) -> float:
        """Return what the simulated nodes would have cost, in US dollars, unknown prices not counted."""
        return sum(cluster.autoscaler.node_usd() for cluster in self.clusters)

    def kubeconfigs(self) -> Mapping[str, Path]:
        """Return an administrator's kubeconfig for each cluster that is up, by id."""
        return {cluster.id: cluster.plane.kubeconfig for cluster in self.clusters}
