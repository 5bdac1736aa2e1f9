"""Values and bounds that the clouds hold us to and the SDK classes do not know, by resource type and property path.

A path is camelCase; ``[*]`` stands for every item of a list. Each rule names its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_GKE = "terraform-provider-google node_config.go and resource_container_node_pool.go at e03b762, 2026-08-21"
_GKE_API = "container v1 discovery document, revision 20261027"
_EKS = "botocore 1.44.5, eks 2017-11-01"
_EKS_TF = "terraform-provider-aws eks/node_group.go at 012e0a3 and botocore 1.44.5"
_AKS = "azure-native 3.29.0 AgentPoolArgs docstrings; Azure AKS docs of 2026-08-21"
_MAGNUM = "magnum 23.0.0 nodegroup validator; terraform-provider-openstack at 27f2612, 2026-07-16"


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowed:
    """A closed list of values.

    Attributes:
        values: Those the cloud takes.
        source: Where the list was read, and when.
    """

    values: tuple[str, ...]
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A range of numbers, or of a text's length in characters.

    Attributes:
        least: Lowest allowed.
        most: Highest allowed; None for no limit.
        source: Where it was read, and when.
    """

    least: float
    most: float | None = None
    source: str


_GKE_EFFECTS = Allowed(values=("NO_SCHEDULE", "PREFER_NO_SCHEDULE", "NO_EXECUTE"), source=_GKE)
_GKE_DRIVER = Allowed(values=("GPU_DRIVER_VERSION_UNSPECIFIED", "INSTALLATION_DISABLED", "DEFAULT", "LATEST"), source=_GKE)
_GKE_NODE_CONFIG: Mapping[str, Allowed] = {
    "taints[*].effect": _GKE_EFFECTS,
    "guestAccelerators[*].gpuDriverInstallationConfig.gpuDriverVersion": _GKE_DRIVER,
    "guestAccelerators[*].gpuSharingConfig.gpuSharingStrategy": Allowed(values=("TIME_SHARING", "MPS"), source=_GKE_API),
    "workloadMetadataConfig.mode": Allowed(values=("MODE_UNSPECIFIED", "GCE_METADATA", "GKE_METADATA"), source=_GKE),
}

ALLOWED: Mapping[str, Mapping[str, Allowed]] = {
    "gcp:container/nodePool:NodePool": {
        **{f"nodeConfig.{path}": allowed for path, allowed in _GKE_NODE_CONFIG.items()},
        "autoscaling.locationPolicy": Allowed(values=("BALANCED", "ANY"), source=_GKE),
        "upgradeSettings.strategy": Allowed(values=("SURGE", "BLUE_GREEN"), source=_GKE),
        "placementPolicy.type": Allowed(values=("COMPACT",), source=_GKE),
        "deletionPolicy": Allowed(values=("DELETE", "PREVENT", "ABANDON"), source="pulumi-gcp 10.2.0 docstring"),
    },
    "gcp:container/cluster:Cluster": {
        **{f"nodeConfig.{path}": allowed for path, allowed in _GKE_NODE_CONFIG.items()},
        "networkingMode": Allowed(values=("VPC_NATIVE", "ROUTES"), source="pulumi-gcp 10.2.0 docstring"),
        "deletionPolicy": Allowed(values=("DELETE", "PREVENT", "ABANDON"), source="pulumi-gcp 10.2.0 docstring"),
    },
    "aws:eks/nodeGroup:NodeGroup": {
        "amiType": Allowed(
            values=(
                "AL2_x86_64",
                "AL2_x86_64_GPU",
                "AL2_ARM_64",
                "CUSTOM",
                "BOTTLEROCKET_ARM_64",
                "BOTTLEROCKET_x86_64",
                "BOTTLEROCKET_ARM_64_FIPS",
                "BOTTLEROCKET_x86_64_FIPS",
                "BOTTLEROCKET_ARM_64_NVIDIA",
                "BOTTLEROCKET_x86_64_NVIDIA",
                "BOTTLEROCKET_ARM_64_NVIDIA_FIPS",
                "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
                "WINDOWS_CORE_2019_x86_64",
                "WINDOWS_FULL_2019_x86_64",
                "WINDOWS_CORE_2022_x86_64",
                "WINDOWS_FULL_2022_x86_64",
                "WINDOWS_CORE_2025_x86_64",
                "WINDOWS_FULL_2025_x86_64",
                "AL2023_x86_64_STANDARD",
                "AL2023_ARM_64_STANDARD",
                "AL2023_x86_64_NEURON",
                "AL2023_x86_64_NVIDIA",
                "AL2023_ARM_64_NVIDIA",
            ),
            source=_EKS,
        ),
        "capacityType": Allowed(values=("ON_DEMAND", "SPOT", "CAPACITY_BLOCK"), source=_EKS),
        "taints[*].effect": Allowed(values=("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"), source=_EKS),
    },
    "aws:eks/cluster:Cluster": {
        "accessConfig.authenticationMode": Allowed(values=("API", "API_AND_CONFIG_MAP", "CONFIG_MAP"), source=_EKS),
        "upgradePolicy.supportType": Allowed(values=("STANDARD", "EXTENDED"), source=_EKS),
    },
    "aws:eks/addon:Addon": {
        "resolveConflictsOnCreate": Allowed(values=("NONE", "OVERWRITE"), source="pulumi-aws 7.51.1 docstring"),
        "resolveConflictsOnUpdate": Allowed(values=("NONE", "OVERWRITE", "PRESERVE"), source="pulumi-aws 7.51.1 docstring"),
    },
    "openstack:containerinfra/clusterTemplate:ClusterTemplate": {
        "coe": Allowed(values=("kubernetes",), source="magnum 23.0.0 release notes: the other engines are gone"),
    },
}
"""Closed lists of values, by resource type and path."""

BOUNDS: Mapping[str, Mapping[str, Bound]] = {
    "gcp:container/nodePool:NodePool": {
        "autoscaling.totalMinNodeCount": Bound(least=0, source=_GKE),
        "autoscaling.totalMaxNodeCount": Bound(least=0, source=_GKE),
        "autoscaling.minNodeCount": Bound(least=0, source=_GKE),
        "autoscaling.maxNodeCount": Bound(least=0, source=_GKE),
        "nodeConfig.guestAccelerators[*].count": Bound(least=1, source=_GKE),
    },
    "aws:eks/nodeGroup:NodeGroup": {
        "scalingConfig.minSize": Bound(least=0, source=_EKS_TF),
        "scalingConfig.desiredSize": Bound(least=0, source=_EKS_TF),
        "scalingConfig.maxSize": Bound(least=1, source=_EKS_TF),
        "taints": Bound(least=0, most=50, source=_EKS_TF),
        "taints[*].key": Bound(least=1, most=63, source=_EKS_TF),
        "taints[*].value": Bound(least=0, most=63, source=_EKS_TF),
    },
    "azure-native:containerservice:AgentPool": {
        "count": Bound(least=0, most=1000, source=_AKS),
        "minCount": Bound(least=0, most=1000, source=_AKS),
        "maxCount": Bound(least=1, most=1000, source=_AKS),
    },
    "openstack:containerinfra/nodeGroup:NodeGroup": {
        "nodeCount": Bound(least=0, source=_MAGNUM),
        "minNodeCount": Bound(least=0, source=_MAGNUM),
        "maxNodeCount": Bound(least=1, source=_MAGNUM),
    },
    "openstack:containerinfra/cluster:Cluster": {
        "masterCount": Bound(least=1, source=_MAGNUM),
        "nodeCount": Bound(least=0, source=_MAGNUM),
    },
}
"""Ranges of numbers and of lengths, by resource type and path."""
