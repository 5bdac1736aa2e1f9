"""A real control plane for each declared cluster: kube-apiserver, kube-controller-manager and kube-scheduler, over one etcd.

The clusters share one etcd process, each under a prefix of its own (``--etcd-prefix``), outside of which no API server looks: it
takes a fraction of the memory of one process for each. What a rehearsal cannot show for it is the loss of one cluster's etcd
alone: `Store` lost is lost for all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lightkube.resources.core_v1 import ServiceAccount

from fleet.errors import FleetErrors, Mistake
from rehearsal.api import Api, wait_for
from rehearsal.flags import Program, flags_of, flags_of_store, version_run
from rehearsal.isolation import Ports
from rehearsal.nodes.clusters import DeclaredCluster
from rehearsal.pki import Authority, write_kubeconfig, write_pair, write_private, write_token_key
from rehearsal.probes import https_probe
from rehearsal.processes import ProcessSpec
from rehearsal.supervisor import Supervisor

RANK_STORE, RANK_APISERVER, RANK_CONTROLLERS, RANK_CLIENTS = range(4)
"""Order of starting; stopped the other way round, so that nothing loses its server before it is told to stop. `RANK_CLIENTS` is
for whatever uses a cluster from outside."""

_HOSTS = ("127.0.0.1", "10.96.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_ADMIN_GROUP = "system:masters"
_DEFAULT_ACCOUNT_SECONDS = 60.0
_GRACE_SECONDS = 2.0
"""An API server that is still starting does not hear SIGTERM; nothing it holds is worth a longer wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """What all clusters of a rehearsal stand on.

    Attributes:
        supervisor: Runs the programs.
        ports: Gives out ports.
        program: Returns the file of a program; may wait until it is built.
        kubernetes_version: Version of the programs at hand, such as ``1.35.8``.
    """

    supervisor: Supervisor
    ports: Ports
    program: Callable[[Program], Path]
    kubernetes_version: str

    def folder(self, name: str) -> Path:
        """Return a folder for data, made for its owner alone."""
        folder = self.supervisor.run.data / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def environment(self, folder: Path) -> dict[str, str]:
        """Return a program's environment, which holds nothing of the user's: no proxy, no credentials, no home."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}


class Store:
    """The etcd of all clusters, reached over TLS by holders of its own authority's certificates.

    Args:
        ground: What it stands on.
    """

    name = str(Program.ETCD)

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._port, self._peer_port = ground.ports.take(), ground.ports.take()
        self.url = f"https://127.0.0.1:{self._port}"
        folder = self._folder = ground.folder("etcd")
        authority = Authority("gpufleet rehearsal etcd")
        self.authority = folder / "ca.crt"
        write_private(self.authority, authority.certificate)
        self._server = write_pair(folder, "server", authority.server("etcd", ("127.0.0.1", "localhost")))
        self.client = write_pair(folder, "client", authority.client("kube-apiserver"))

    def start(self) -> float:
        """Start it and return the seconds until it was ready; raises ProcessFaultError."""
        return self._ground.supervisor.start_ready(self._spec())

    def _spec(self) -> ProcessSpec:
        """Return how it is run."""
        peer = f"https://127.0.0.1:{self._peer_port}"
        ours = {"trusted-ca-file": self.authority, "cert-file": self._server.certificate, "key-file": self._server.key}
        options: dict[str, object] = {
            "data-dir": self._folder / "data",
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "client-cert-auth": "true",
            "peer-client-cert-auth": "true",
            **ours,
            **{f"peer-{name}": file for name, file in ours.items()},
        }
        return ProcessSpec(
            name=self.name,
            argv=(str(self._ground.program(Program.ETCD)), *_options(options), *flags_of_store()),
            env=self._ground.environment(self._folder),
            cwd=self._folder,
            ready=https_probe(self._port, "/health", self.authority, self.client),
            rank=RANK_STORE,
        )


class ControlPlane:
    """The control plane of one declared cluster.

    Args:
        cluster: What was declared.
        ground: What it stands on.
        store: Where it keeps its objects; started by the caller.

    Attributes:
        url: The API server's address.
        runs: Kubernetes version that it behaves as.
        seconds: From the call of `start` until ready; 0 before.
    """

    def __init__(self, cluster: DeclaredCluster, ground: Ground, store: Store) -> None:
        self.cluster = cluster
        self.ground = ground
        self.id = f"{cluster.site}/{cluster.name}"
        self.runs = version_run(cluster.kubernetes_version, ground.kubernetes_version)
        self.seconds = 0.0
        self._store = store
        self._folder = ground.folder(self.id)
        self._port = ground.ports.take()
        self.url = f"https://127.0.0.1:{self._port}"
        self._authority = Authority(f"gpufleet rehearsal {self.id}")
        self._authority_file = self._folder / "ca.crt"
        write_private(self._authority_file, self._authority.certificate)
        self._serving = write_pair(self._folder, "serving", self._authority.server("kube-apiserver", _HOSTS))
        self._admin = write_pair(self._folder, "admin", self._authority.client("gpufleet:admin", [_ADMIN_GROUP]))
        self._tokens = write_token_key(self._folder)
        self.kubeconfig = self.kubeconfig_for("gpufleet:admin", [_ADMIN_GROUP])

    def name_of(self, program: str) -> str:
        """Return the name under which the supervisor runs a program of this cluster."""
        return f"{self.id}/{program}"

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig for a user in these groups; what it may do is up to RBAC."""
        file = self._folder / f"{user.replace(':', '-').replace('/', '-')}.kubeconfig"
        pair = self._authority.client(user, groups)
        return write_kubeconfig(file, cluster=self.cluster.name, url=self.url, authority=self._authority.certificate, pair=pair)

    @cached_property
    def api(self) -> Api:
        """A client with all rights."""
        return Api(self.kubeconfig)

    def start(self) -> float:
        """Start the three programs and wait until pods could be created.

        Returns:
            Seconds taken.

        Raises:
            FleetErrors: A program did not start or get ready; says which and why.
        """
        began = time.monotonic()
        supervisor = self.ground.supervisor
        supervisor.start_ready(self._apiserver())
        clients = (self._controllers(), self._scheduler())
        for spec in clients:
            supervisor.start(spec)
        for spec in clients:
            supervisor.wait_ready(spec.name)
        wait_for(f"default service account in {self.id}", self._default_account, _DEFAULT_ACCOUNT_SECONDS)
        self.seconds = time.monotonic() - began
        return self.seconds

    def _default_account(self) -> ServiceAccount | None:
        """Return the account that pods run as, None while there is none yet; raises FleetErrors when all is being stopped."""
        if self.ground.supervisor.closing:
            raise FleetErrors([Mistake(path=self.id, reason="not started: the rehearsal is ending", remedy="Start it again")])
        return self.api.find(ServiceAccount, "default", "default")

    def stop(self) -> None:
        """Stop this cluster's programs, its kubelets and other clients included; the other clusters go on."""
        self.api.close()
        supervisor = self.ground.supervisor
        supervisor.stop(*(name for name in supervisor.states() if name.startswith(f"{self.id}/")))

    def _apiserver(self) -> ProcessSpec:
        """Return how the API server is run."""
        store = self._store
        options: dict[str, object] = {
            "etcd-servers": store.url,
            "etcd-prefix": f"/{self.id}",
            "etcd-cafile": store.authority,
            "etcd-certfile": store.client.certificate,
            "etcd-keyfile": store.client.key,
            "bind-address": "127.0.0.1",
            "secure-port": self._port,
            "tls-cert-file": self._serving.certificate,
            "tls-private-key-file": self._serving.key,
            "client-ca-file": self._authority_file,
            "service-account-key-file": self._tokens.certificate,
            "service-account-signing-key-file": self._tokens.key,
        }
        probe = https_probe(self._port, "/readyz", self._authority_file, self._admin)
        return self._spec(Program.APISERVER, options, probe, RANK_APISERVER)

    def _controllers(self) -> ProcessSpec:
        """Return how the controller-manager is run."""
        options = {"service-account-private-key-file": self._tokens.key, "root-ca-file": self._authority_file}
        return self._client(Program.CONTROLLERS, options)

    def _scheduler(self) -> ProcessSpec:
        """Return how the scheduler is run."""
        return self._client(Program.SCHEDULER, {})

    def _client(self, program: Program, options: Mapping[str, object]) -> ProcessSpec:
        """Return how a program is run that works on the API server and serves its own health."""
        port = self.ground.ports.take()
        common = {
            "kubeconfig": self.kubeconfig_for(f"system:{program}"),
            "bind-address": "127.0.0.1",
            "secure-port": port,
            "tls-cert-file": self._serving.certificate,
            "tls-private-key-file": self._serving.key,
        }
        probe = https_probe(port, "/healthz", self._authority_file)
        return self._spec(program, {**common, **options}, probe, RANK_CONTROLLERS)

    def _spec(self, program: Program, options: Mapping[str, object], probe: Callable[[], str | None], rank: int) -> ProcessSpec:
        """Return how a program of this cluster is run."""
        flags = (*flags_of(program, self.cluster), *self.runs.flags())
        return ProcessSpec(
            name=self.name_of(program),
            argv=(str(self.ground.program(program)), *_options(options), *flags),
            env=self.ground.environment(self._folder),
            cwd=self._folder,
            ready=probe,
            rank=rank,
            grace_seconds=_GRACE_SECONDS,
        )


def start_all(planes: Sequence[ControlPlane], started: Callable[[ControlPlane], None] | None = None) -> dict[str, FleetErrors]:
    """Start control planes side by side.

    Args:
        planes: Those to start; their store runs.
        started: Told of each that is ready, from this thread.

    Returns:
        What went wrong, by the id of the plane; empty when all are ready. The others run all the same. Ctrl-C meanwhile stops all
        programs of the supervisor.
    """
    faults: dict[str, FleetErrors] = {}
    pool = ThreadPoolExecutor(max_workers=max(1, len(planes)), thread_name_prefix="start")
    try:
        waiting: dict[Future[float], ControlPlane] = {pool.submit(plane.start): plane for plane in planes}
        for done in as_completed(waiting):
            plane = waiting[done]
            try:
                done.result()
            except FleetErrors as fault:
                faults[plane.id] = fault
            else:
                if started is not None:
                    started(plane)
    except BaseException:
        for plane in planes[:1]:
            plane.ground.supervisor.close()  # which ends the waiting of the threads as well
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return faults


def _options(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return options as arguments."""
    return tuple(f"--{name}={value}" for name, value in options.items())
