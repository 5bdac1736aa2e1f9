"""The node pools of an AKS cluster: the inline system pool, the pool `general`, and one pool per card and capacity type.

Azure makes a cluster only with a pool inside its own description. That one is `system`: two or more nodes with the taint
``CriticalAddonsOnly=true:NoSchedule`` (AKS, use-system-pools.md, 2026-08), so nothing but AKS' own pods runs there. What the plan
calls the system pool has to house the infra class as well (device plugins, Prometheus, ArgoCD), which does not tolerate that
taint; its home is `general`, a user pool without taints and of the same size. So one `SystemPool` becomes two pools here.

Facts (AKS documentation of 2026-08-21 unless said otherwise):
- Scaling from zero needs no hints: Azure's autoscaler builds its template from the pool's own labels and taints.
- `count` must be sent even with autoscaling (pulumi-azure-native issue 2943); what it is later belongs to the autoscaler. Azure's
  API takes a smallest count above the count sent (Azure/AKS issue 1758, 2020-08), so raising it later needs nothing else.
- AKS adds a taint and a label to spot pools; both are declared, or each refresh shows them and the next update erases the label
  (spot-node-pool.md; terraform-provider-azurerm issue 9454). Spot pools are upgraded without surge nodes, so they set none.
- Other card pools are upgraded in place, a node at a time (`maxSurge` 0, `maxUnavailable` 1; stateful-workload-upgrades.md): a
  surge node would be a card more than the quota has.
- AKS installs the driver of NVIDIA cards alone; on an AMD pool it demands None (use-amd-gpus.md). Ubuntu is the one node image
  that both documents name.
- OS disks are Managed: whether a size can have an Ephemeral one of the wanted GiB differs by size, and the size is the
  catalogue's choice. Disk size and type, zones, priority, price and driver are fixed when a pool is made (concepts-storage.md,
  best-practices-app-cluster-reliability.md, spot-node-pool.md, use-nvidia-gpu.md), yet the provider would plan an update of them
  that Azure refuses. `REPLACING` makes these replacements; the old pool goes first, since its name is the new one's.
"""

from __future__ import annotations

from pulumi_azure_native import containerservice

from components.aks_common import ClusterPlace, to_tags
from components.contract import ClusterArgs
from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import Taint, spell_effect
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan, GpuDriver, NodePool

SYSTEM_POOL = "system"
GENERAL_POOL = "general"
SYSTEM_TAINT = Taint(key="CriticalAddonsOnly", value="true")
SPOT_TAINT = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot")
"""What AKS puts on spot pools; its label has the same key and value."""
FEWEST_SYSTEM_NODES = 2

LIVE_COUNT = ("count",)
"""Property that is the autoscaler's once the pool stands."""
RESOURCE_TAG_PREFIX = "k8s.io_cluster-autoscaler_node-template_resources_"
REPLACING = (
    "availabilityZones",
    "gpuProfile.driver",
    "osDiskSizeGB",
    "osDiskType",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "vmSize",
    "vnetSubnetID",
)
"""Properties of a pool that Azure cannot change."""


def to_system_profile(args: ClusterArgs, place: ClusterPlace) -> containerservice.ManagedClusterAgentPoolProfileArgs:
    """Return the pool that a cluster is made with."""
    plan, pool = args.plan, args.plan.system_pool
    fewest = max(FEWEST_SYSTEM_NODES, pool.min_nodes)
    return containerservice.ManagedClusterAgentPoolProfileArgs(
        name=SYSTEM_POOL,
        mode=containerservice.AgentPoolMode.SYSTEM,
        type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.machine,
        os_sku=containerservice.OSSKU.UBUNTU,
        os_disk_type=containerservice.OSDiskType.MANAGED,
        os_disk_size_gb=pool.disk_gib,
        enable_auto_scaling=True,
        count=fewest,
        min_count=fewest,
        max_count=max(fewest, pool.max_nodes),
        availability_zones=_zones(plan.zones),
        node_taints=to_taints((SYSTEM_TAINT,)),
        orchestrator_version=plan.kubernetes_version,
        vnet_subnet_id=place.subnet_id,
        upgrade_settings=_surging(),
        tags=to_tags(args),
    )


def to_general_pool_args(args: ClusterArgs, place: ClusterPlace) -> containerservice.AgentPoolArgs:
    """Return the pool for everything that is neither AKS' own nor bound to a card."""
    plan, pool = args.plan, args.plan.system_pool
    return containerservice.AgentPoolArgs(
        resource_group_name=place.resource_group,
        resource_name=place.cluster,
        agent_pool_name=GENERAL_POOL,
        mode=containerservice.AgentPoolMode.USER,
        type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.machine,
        os_sku=containerservice.OSSKU.UBUNTU,
        os_disk_type=containerservice.OSDiskType.MANAGED,
        os_disk_size_gb=pool.disk_gib,
        enable_auto_scaling=True,
        count=pool.min_nodes,
        min_count=pool.min_nodes,
        max_count=pool.max_nodes,
        availability_zones=_zones(plan.zones),
        orchestrator_version=plan.kubernetes_version,
        vnet_subnet_id=place.subnet_id,
        upgrade_settings=_surging(),
        tags=to_tags(args),
    )


def _resource_hint(pool: NodePool) -> dict[str, str]:
    """Return the tag that tells Azure's autoscaler what an empty pool carries, where it would take it for something else.

    Its template counts every card as ``nvidia.com/gpu``, and takes resources from tags of this form beside it
    (kubernetes/autoscaler 55c37cd, azure_template.go, 2026-08-22).
    """
    if pool.kind is AcceleratorKind.NVIDIA:
        return {}
    return {RESOURCE_TAG_PREFIX + pool.resource.replace("/", "_"): str(pool.accelerators)}


def to_pool_args(args: ClusterArgs, pool: NodePool, place: ClusterPlace) -> containerservice.AgentPoolArgs:
    """Return the node pool of one card and capacity type."""
    spot = containerservice.ScaleSetPriority.SPOT if pool.is_spot else containerservice.ScaleSetPriority.REGULAR
    return containerservice.AgentPoolArgs(
        resource_group_name=place.resource_group,
        resource_name=place.cluster,
        agent_pool_name=to_pool_name(pool),
        mode=containerservice.AgentPoolMode.USER,
        type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.machine,
        os_sku=containerservice.OSSKU.UBUNTU,
        os_disk_type=containerservice.OSDiskType.MANAGED,
        os_disk_size_gb=pool.disk_gib,
        enable_auto_scaling=True,
        count=pool.min_nodes,
        min_count=pool.min_nodes,
        max_count=pool.max_nodes,
        scale_down_mode=containerservice.ScaleDownMode.DELETE,
        availability_zones=_zones(pool.zones),
        scale_set_priority=spot,
        scale_set_eviction_policy=containerservice.ScaleSetEvictionPolicy.DELETE if pool.is_spot else None,
        spot_max_price=-1 if pool.is_spot else None,
        capacity_reservation_group_id=pool.reservation,
        gpu_profile=to_gpu_profile(pool),
        node_labels=to_labels(pool),
        node_taints=to_taints((*pool.taints, SPOT_TAINT) if pool.is_spot else pool.taints),
        orchestrator_version=args.plan.kubernetes_version,
        vnet_subnet_id=place.subnet_id,
        upgrade_settings=None if pool.is_spot else _in_place(),
        tags=to_tags(args, pool.card) | _resource_hint(pool),
    )


def to_pool_name(pool: NodePool) -> str:
    """Return a pool's name on Azure: letters and digits, at most 12."""
    return cloud_name(NameKind.AKS_NODE_POOL, pool.name)


def to_gpu_profile(pool: NodePool) -> containerservice.GPUProfileArgs:
    """Return who installs the driver: AKS for NVIDIA cards unless the plan leaves it to an operator, else nobody of Azure's."""
    installs = pool.kind is AcceleratorKind.NVIDIA and pool.gpu_driver is GpuDriver.CLOUD
    return containerservice.GPUProfileArgs(
        driver=containerservice.GPUDriver.INSTALL if installs else containerservice.GPUDriver.NONE
    )


def to_labels(pool: NodePool) -> dict[str, str]:
    """Return the node labels of a pool, AKS' own for spot included."""
    return dict(pool.labels) | ({SPOT_TAINT.key: SPOT_TAINT.value} if pool.is_spot else {})


def to_taints(taints: tuple[Taint, ...]) -> list[str]:
    """Return taints as AKS reads them, ``key=value:Effect``, sorted."""
    return [f"{taint.key}={taint.value}:{spell_effect(taint.effect, Cloud.AZURE)}" for taint in sorted(taints)]


def to_expander(plan: ClusterPlan) -> containerservice.Expander:
    """Return how the autoscaler chooses among pools that a pod fits.

    Where pools of one card differ in priority (a spot pool before its on-demand twin), by priority, which it reads from the
    ConfigMap ``kube-system/cluster-autoscaler-priority-expander``; that is inside Kubernetes and so not made here. Else it
    takes the pool with the least left over, so that no pod gets a machine with more cards than it asks for.
    """
    priorities = {card: {pool.priority for pool in plan.pools if pool.card == card} for card in plan.cards}
    if any(len(found) > 1 for found in priorities.values()):
        return containerservice.Expander.PRIORITY
    return containerservice.Expander.LEAST_WASTE


def _zones(zones: tuple[str, ...]) -> list[str] | None:
    """Return zones as Azure takes them; None lets Azure place nodes anywhere in the region."""
    return list(zones) or None


def _surging() -> containerservice.AgentPoolUpgradeSettingsArgs:
    """Return upgrades with a third more nodes, the share AKS recommends for production (resize-node-pool.md)."""
    return containerservice.AgentPoolUpgradeSettingsArgs(max_surge="33%")


def _in_place() -> containerservice.AgentPoolUpgradeSettingsArgs:
    """Return upgrades that need no node beyond those that are there."""
    return containerservice.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1")
