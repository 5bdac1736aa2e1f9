"""Property paths whose change replaces the physical resource, from the providers' own sources; the engine decides."""

from __future__ import annotations

from collections.abc import Mapping

SOURCE = (
    "from the providers' sources of 2026-08-21 and before (terraform-provider-google e03b762, terraform-provider-aws 012e0a3, "
    "terraform-provider-openstack 27f2612, pulumi-azure-native 1b7112a); the engine decides"
)
"""What to print beside every predicted replacement."""

_GKE_NODE_CONFIG = (
    "guestAccelerators", "spot", "preemptible", "serviceAccount", "oauthScopes", "metadata", "minCpuPlatform",
    "localSsdCount", "ephemeralStorageConfig", "ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig",
    "reservationAffinity", "shieldedInstanceConfig", "secondaryBootDisks", "advancedMachineFeatures", "soleTenantConfig",
    "hostMaintenancePolicy", "maxRunDuration", "flexStart", "bootDiskKmsKey",
)  # fmt: skip
_AKS_NETWORK = (
    "serviceCidr", "serviceCidrs", "dnsServiceIP", "networkMode", "networkPlugin", "networkPluginMode", "podCidr",
    "networkDataplane", "networkPolicy", "outboundType",
)  # fmt: skip

REPLACING: Mapping[str, tuple[str, ...]] = {
    "gcp:container/nodePool:NodePool": (
        "project", "cluster", "location", "name", "namePrefix", "initialNodeCount", "maxPodsPerNode", "placementPolicy",
        "queuedProvisioning", "networkConfig", *(f"nodeConfig.{path}" for path in _GKE_NODE_CONFIG),
    ),
    "gcp:container/cluster:Cluster": (
        "name", "location", "project", "network", "subnetwork", "networkingMode", "clusterIpv4Cidr", "ipAllocationPolicy",
        "enableAutopilot", "datapathProvider", "defaultMaxPodsPerNode", "initialNodeCount", "nodePools",
        "confidentialNodes", "enableTpu",
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        "amiType", "capacityType", "clusterName", "diskSize", "instanceTypes", "launchTemplate.id", "launchTemplate.name",
        "nodeGroupName", "nodeGroupNamePrefix", "nodeRoleArn", "remoteAccess", "subnetIds",
    ),
    "aws:eks/cluster:Cluster": ("name", "roleArn", "bootstrapSelfManagedAddons"),
    "azure-native:containerservice:AgentPool": (
        "vmSize", "gpuInstanceProfile", "nodePublicIPTags", "agentPoolName", "resourceName", "resourceGroupName",
    ),
    "azure-native:containerservice:ManagedCluster": (
        "dnsPrefix", "location", "nodeResourceGroup", "linuxProfile", "windowsProfile", "fqdnSubdomain",
        "diskEncryptionSetID", "resourceName", "resourceGroupName", *(f"networkProfile.{path}" for path in _AKS_NETWORK),
    ),
    "azure-native:resources:ResourceGroup": ("resourceGroupName", "location"),
    "openstack:containerinfra/cluster:Cluster": (
        "labels", "mergeLabels", "masterCount", "flavor", "masterFlavor", "keypair", "fixedNetwork", "fixedSubnet",
        "createTimeout", "masterLbEnabled", "name", "region",
    ),
    "openstack:containerinfra/nodeGroup:NodeGroup": (
        "clusterId", "dockerVolumeSize", "flavorId", "imageId", "labels", "mergeLabels", "name", "region", "role",
    ),
}  # fmt: skip
"""Replacing property paths by resource type. Everything below a path replaces too."""
