"""What the programs of a control plane are told beyond ports and files: one table, with the reason in each row.

Flags were read in the sources of Kubernetes 1.36 and run with Kubernetes 1.35.8 and etcd 3.6.16 on 2026-11-21.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rehearsal.nodes.clusters import TOLERATION_PLUGIN, DeclaredCluster


class Program(StrEnum):
    """A program of a control plane, by its file's name."""

    ETCD = "etcd"
    APISERVER = "kube-apiserver"
    CONTROLLERS = "kube-controller-manager"
    SCHEDULER = "kube-scheduler"
    KUBELETS = "kwok"


def _always(_: DeclaredCluster) -> bool:
    """Hold for every cluster."""
    return True


def _with_toleration(cluster: DeclaredCluster) -> bool:
    """Hold where the cloud adds tolerations for extended resources."""
    return cluster.extended_resource_toleration


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """One setting. Rows of one program and flag are joined with commas.

    Attributes:
        program: Who is told.
        flag: Without its dashes.
        value: One value.
        reason: Why.
        when: For which clusters.
    """

    program: Program
    flag: str
    value: str
    reason: str
    when: Callable[[DeclaredCluster], bool] = _always


def _off(controller: str, reason: str) -> Flag:
    """Return the row that switches a controller off."""
    return Flag(program=Program.CONTROLLERS, flag="controllers", value=f"-{controller}-controller", reason=reason)


_NO_DISKS = "no pod of a rehearsal has a volume that outlives it"
_NO_CSR = "certificates are written before the start; nobody asks for one"
_NO_TRAFFIC = "no packet flows to a service: the kubelets are simulated"
_NO_DEVICES = "the declared pools advertise cards by device plugin, not by dynamic resource allocation"

_ETCD, _API, _KCM, _SCHED = Program.ETCD, Program.APISERVER, Program.CONTROLLERS, Program.SCHEDULER

TABLE: tuple[Flag, ...] = (
    Flag(
        program=_ETCD,
        flag="unsafe-no-fsync",
        value="true",
        reason="data need not outlive the machine; a killed etcd loses nothing",
    ),
    Flag(program=_ETCD, flag="log-level", value="warn", reason="at info it writes a line for each slow request"),
    Flag(program=_API, flag="authorization-mode", value="Node", reason="as on the clouds"),
    Flag(program=_API, flag="authorization-mode", value="RBAC", reason="as on the clouds"),
    Flag(
        program=_API,
        flag="enable-admission-plugins",
        value="NodeRestriction",
        reason="as on the clouds: a kubelet's identity changes its own node and the pods on it, and no label that is not its own",
    ),
    Flag(
        program=_API,
        flag="enable-admission-plugins",
        value=TOLERATION_PLUGIN,
        reason="it adds the toleration to a pod that asks for cards; where a cloud lacks it a missing toleration has to show",
        when=_with_toleration,
    ),
    Flag(
        program=_API,
        flag="allow-privileged",
        value="true",
        reason="off by default in the program; device plugins and DCGM's exporter are privileged and run on all four clouds",
    ),
    Flag(program=_API, flag="endpoint-reconciler-type", value="none", reason="one API server; it need not publish its address"),
    Flag(
        program=_API,
        flag="advertise-address",
        value="192.0.2.1",
        reason="needed without a default route, and may not be loopback; this one is for documentation, used by nobody",
    ),
    Flag(
        program=_API,
        flag="service-account-issuer",
        value="https://kubernetes.default.svc",
        reason="any name will do, one is needed",
    ),
    Flag(program=_API, flag="service-cluster-ip-range", value="10.96.0.0/16", reason="any range will do, one is needed"),
    Flag(program=_API, flag="profiling", value="false", reason="nobody reads it"),
    Flag(
        program=_KCM,
        flag="leader-elect",
        value="false",
        reason="there is one; a killed one would wait for its own lease to run out",
    ),
    Flag(
        program=_KCM, flag="use-service-account-credentials", value="true", reason="each controller with its own rights, as usual"
    ),
    Flag(program=_KCM, flag="profiling", value="false", reason="nobody reads it"),
    Flag(program=_KCM, flag="controllers", value="*", reason="those that are on by default, but for the rows below"),
    _off("certificatesigningrequest-signing", _NO_CSR),
    _off("certificatesigningrequest-approving", _NO_CSR),
    _off("certificatesigningrequest-cleaner", _NO_CSR),
    _off("podcertificaterequest-cleaner", _NO_CSR),
    _off("kube-apiserver-serving-clustertrustbundle-publisher", _NO_CSR),
    _off("endpoints", _NO_TRAFFIC),
    _off("endpointslice", _NO_TRAFFIC),
    _off("endpointslice-mirroring", _NO_TRAFFIC),
    _off("service-cidr", _NO_TRAFFIC),
    _off("ephemeral-volume", _NO_DISKS),
    _off("persistentvolume-binder", _NO_DISKS),
    _off("persistentvolume-attach-detach", _NO_DISKS),
    _off("persistentvolume-expander", _NO_DISKS),
    _off("persistentvolume-protection", _NO_DISKS),
    _off("persistentvolumeclaim-protection", _NO_DISKS),
    _off("volumeattributesclass-protection", _NO_DISKS),
    _off("resourceclaim", _NO_DEVICES),
    _off("device-taint-eviction", _NO_DEVICES),
    _off("node-ipam", "kwok gives out addresses of pods"),
    _off("horizontal-pod-autoscaler", "nobody serves the metrics that it reads"),
    _off("replicationcontroller", "nothing in the fleet declares one"),
    _off("legacy-serviceaccount-token-cleaner", "there are no tokens of that kind in a new cluster"),
    _off("storageversion-garbage-collector", "there is one API server"),
    _off("validatingadmissionpolicy-status", "it only fills in warnings"),
    _off("ttl", "it tells kubelets how long to cache; kwok does not cache"),
    Flag(
        program=_SCHED,
        flag="leader-elect",
        value="false",
        reason="there is one; a killed one would wait for its own lease to run out",
    ),
    Flag(program=_SCHED, flag="profiling", value="false", reason="nobody reads it"),
)


_PLUGINS_HAD = frozenset({
    "AlwaysPullImages", "CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
    "DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "DenyServiceExternalIPs",
    "LimitPodHardAntiAffinityTopology", "LimitRanger", "MutatingAdmissionWebhook", "NamespaceAutoProvision",
    "NamespaceExists", "NamespaceLifecycle", "NodeRestriction", "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize", "PodNodeSelector", "PodSecurity", "PodTolerationRestriction", "Priority",
    "ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", TOLERATION_PLUGIN,
})  # fmt: skip
"""Admission plugins that a cluster's own list may name: those of Kubernetes 1.35 (pkg/kubeapiserver/options/plugins.go) that
need no file of settings. Any other name would keep the API server from starting."""


def plugins_left_out(cluster: DeclaredCluster) -> tuple[str, ...]:
    """Return the admission plugins that a cluster declares and its control plane here cannot have."""
    return tuple(name for name in cluster.admission if name not in _PLUGINS_HAD)


def flags_of(program: Program, cluster: DeclaredCluster) -> Iterator[str]:
    """Yield the table's flags for one program of one cluster, as arguments, and the admission plugins it declares itself."""
    values: dict[str, list[str]] = {}
    for row in TABLE:
        if row.program is program and row.when(cluster):
            values.setdefault(row.flag, []).append(row.value)
    if program is Program.APISERVER:
        plugins = values["enable-admission-plugins"]
        plugins += [name for name in cluster.admission if name in _PLUGINS_HAD and name not in plugins]
    yield from (f"--{flag}={','.join(found)}" for flag, found in values.items())


def flags_of_store() -> Iterator[str]:
    """Yield the table's flags for etcd, which all clusters share."""
    yield from (f"--{row.flag}={row.value}" for row in TABLE if row.program is Program.ETCD)


_OLDEST_BACK = 3
"""Minor versions that a control plane can emulate below its own (k8s.io/apiserver v0.36.3, pkg/util/compatibility/version.go)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VersionRun:
    """The Kubernetes version that a control plane behaves as.

    Attributes:
        minor: Such as ``1.34``.
        emulated: Whether the program is told to behave as an older one than it is.
        note: What to tell people; empty when it is the declared one.
    """

    minor: str
    emulated: bool
    note: str

    def flags(self) -> tuple[str, ...]:
        """Return the flag for API server, scheduler and controller-manager."""
        return (f"--emulated-version=kube={self.minor}",) if self.emulated else ()


def version_run(declared: str | None, built: str) -> VersionRun:
    """Choose the version nearest to the declared one.

    Args:
        declared: As the cluster declares it; empty or None when the cloud chooses.
        built: Version of the programs, such as ``1.35.8``.

    Returns:
        What to run as.

    Raises:
        ValueError: `built` is no version.
    """
    own = _minor(built)
    if own is None:
        raise ValueError(f"no Kubernetes version: {built}")
    wanted = _minor(declared or "")
    if wanted is None:
        return VersionRun(minor=f"1.{own}", emulated=False, note=f"no version is declared; 1.{own} runs")
    runs = min(max(wanted, own - _OLDEST_BACK), own)
    note = "" if runs == wanted else f"1.{wanted} is declared; the programs at hand ({built}) come no nearer than 1.{runs}"
    return VersionRun(minor=f"1.{runs}", emulated=runs != own, note=note)


def _minor(version: str) -> int | None:
    """Return the minor of a version 1.x, None when there is none."""
    found = re.match(r"v?1\.(\d+)", version)
    return int(found.group(1)) if found else None
