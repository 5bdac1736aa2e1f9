"""The real programs that a rehearsal runs, and what building and recognising each takes. Versions: module/go.mod alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Tool(StrEnum):
    """A program built by Go. The value is its file name; the order is the one in which a rehearsal first needs them."""

    ETCD = "etcd"
    KUBE_APISERVER = "kube-apiserver"
    KUBE_CONTROLLER_MANAGER = "kube-controller-manager"
    KUBE_SCHEDULER = "kube-scheduler"
    KWOK = "kwok"
    KARPENTER = "karpenter"
    HELM = "helm"
    ARGOCD = "argocd"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolFacts:
    """What building and recognising a program takes.

    Attributes:
        package: The Go package that is built.
        module: The module whose version in go.mod is the program's version.
        version_arguments: What makes the program tell its version; empty where it cannot, and then none on PATH is used.
        version_pattern: Regular expression whose one group is the version without its ``v``.
        stamps: Variables that the linker sets, so that the program tells the version it was built from.
        usual_seconds: Time of a build with nothing compiled yet, after those before it in the order of `Tool`, without downloads.
        usual_packages: Packages that such a build compiles.
    """

    package: str
    module: str
    version_arguments: tuple[str, ...]
    version_pattern: str = ""
    stamps: tuple[str, ...] = ()
    usual_seconds: float
    usual_packages: int


_KUBERNETES = "k8s.io/kubernetes"
_KUBERNETES_STAMPS = (
    "k8s.io/component-base/version.gitVersion=v{version}",
    "k8s.io/component-base/version.gitMajor={major}",
    "k8s.io/component-base/version.gitMinor={minor}",
    "k8s.io/client-go/pkg/version.gitVersion=v{version}",
)
"""An API server built without them says ``v0.0.0-master``, which Helm, Argo CD and charts take for a cluster too old for them."""


def _kubernetes(name: str, *, usual_seconds: float, usual_packages: int) -> ToolFacts:
    """Return the row of one of Kubernetes' own programs."""
    return ToolFacts(
        package=f"{_KUBERNETES}/cmd/{name}",
        module=_KUBERNETES,
        version_arguments=("--version",),
        version_pattern=r"^Kubernetes v(\S+)$",
        stamps=_KUBERNETES_STAMPS,
        usual_seconds=usual_seconds,
        usual_packages=usual_packages,
    )


TOOLS: Mapping[Tool, ToolFacts] = {
    Tool.ETCD: ToolFacts(
        package="go.etcd.io/etcd/server/v3",
        module="go.etcd.io/etcd/server/v3",
        version_arguments=("--version",),
        version_pattern=r"^etcd Version: (\S+)$",
        usual_seconds=50,
        usual_packages=590,
    ),
    Tool.KUBE_APISERVER: _kubernetes("kube-apiserver", usual_seconds=215, usual_packages=1555),
    Tool.KUBE_CONTROLLER_MANAGER: _kubernetes("kube-controller-manager", usual_seconds=70, usual_packages=368),
    Tool.KUBE_SCHEDULER: _kubernetes("kube-scheduler", usual_seconds=4, usual_packages=6),
    Tool.KWOK: ToolFacts(
        package="sigs.k8s.io/kwok/cmd/kwok",
        module="sigs.k8s.io/kwok",
        version_arguments=("--version",),
        version_pattern=r"^kwok version v(\S+)",
        usual_seconds=16,
        usual_packages=164,
    ),
    Tool.KARPENTER: ToolFacts(
        package="sigs.k8s.io/karpenter/kwok",
        module="sigs.k8s.io/karpenter",
        version_arguments=(),
        stamps=("sigs.k8s.io/karpenter/pkg/operator.Version={version}",),
        usual_seconds=24,
        usual_packages=136,
    ),
    Tool.HELM: ToolFacts(
        package="helm.sh/helm/v3/cmd/helm",
        module="helm.sh/helm/v3",
        version_arguments=("version", "--short"),
        version_pattern=r"^v([0-9.]+)",
        stamps=("helm.sh/helm/v3/internal/version.version=v{version}",),
        usual_seconds=12,
        usual_packages=188,
    ),
    Tool.ARGOCD: ToolFacts(
        package="github.com/argoproj/argo-cd/v3/cmd",
        module="github.com/argoproj/argo-cd/v3",
        version_arguments=("version", "--client", "--short"),
        version_pattern=r"^argocd: v([0-9.]+)",
        stamps=("github.com/argoproj/argo-cd/v3/common.version={version}",),
        usual_seconds=105,
        usual_packages=833,
    ),
}
"""Karpenter with its kwok provider tells no version, and a ``karpenter`` on PATH would be another cloud's.

Usual times: CPU seconds of a cold build, modules downloaded before, halved for two cores (a virtual AMD EPYC, Go 1.27.3,
2026-11-21). Other work ran beside it, which makes CPU seconds more: alone, a machine is faster.
"""

ARGOCD_PROGRAMS = ("argocd-application-controller", "argocd-applicationset-controller", "argocd-repo-server", "argocd-server")
"""Programs within the one argocd binary that a rehearsal starts. Source: argo-cd v3.2.11, cmd/main.go, read 2026-11-21."""


def argocd_environment(program: str) -> Mapping[str, str]:
    """Return the environment variable by which the argocd binary becomes one of its programs.

    The binary goes by the name it was called by, unless ARGOCD_BINARY_NAME says another; a name it does not know would silently
    start the command line (argo-cd v3.2.11, cmd/main.go).

    Raises:
        ValueError: It is none of the programs.
    """
    if program not in ARGOCD_PROGRAMS:
        raise ValueError(f"{program!r} is not one of {', '.join(ARGOCD_PROGRAMS)}")
    return {"ARGOCD_BINARY_NAME": program}
