"""The node pools of a GKE cluster: one per planned pool, and the system pool. Pure functions, then their declaration.

Choices that are not obvious:

- Limits are totals over all zones with location policy ANY: the autoscaler takes the zone that has the card, and unused
  reservations first. Limits per zone would multiply.
- `gpu_driver_version` DEFAULT where GKE installs the driver: the version Google tested with the node's GKE version, moved by the
  same upgrades. LATEST exists for COS alone (API GPUDriverVersion, 2024-07) and may be newer than what was tested. A change of
  mode replaces the pool.
- Where the GPU Operator installs it: INSTALLATION_DISABLED, the label that keeps GKE's own device plugin off (two plugins for one
  resource fight), and Ubuntu nodes, since NVIDIA's driver manager supports no COS on GKE; without Secure Boot, as the operator
  signs no modules. Sources: NVIDIA, "GPU Operator with Google GKE", 2025-09-10; NVIDIA, "GKE GPU Setup", read 2026-11-21.
- A card is never shared between pods (no sharing strategy, no partitions): a workload's figures are those of a whole card.
- Arm nodes (GB200) carry no architecture taint. GKE would add its own (API TaintConfig: unspecified means ARM, 2026-05); the
  accelerator's taint keeps everything else off already, and what tolerates that must bring an arm64 image anyway.
- GPUs are short, so upgrades make no extra node (surge 0, one unavailable); the system pool does the opposite.
- A TPU slice over several hosts is whole or nothing: exactly its hosts, one zone, compact placement with its topology.
- Secure Boot and gVNIC as Google's cluster-toolkit 1047080 (2026-06-25) has them: both on Container-Optimized OS.
- Boot disks are pd-balanced where the machine family takes it, Hyperdisk elsewhere. Machines with local SSD built in read it back
  as node settings that nobody declared, which would replace the pool; these are ignored, as cluster-toolkit does.
- A pool's name is fixed, so it is deleted before its replacement is made.
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from components.base import Component, tags
from components.contract import ClusterArgs
from components.gke_identity import NODE_SCOPES, NodeIdentity
from components.gke_labels import to_resource_labels
from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import spell_effect
from fleet.naming import NameKind, cloud_name
from fleet.records import GpuDriver, NodePool, SystemPool

POOL_IGNORES = (
    "initialNodeCount",
    "nodeCount",
    "nodeConfig.ephemeralStorageLocalSsdConfig",
    "nodeConfig.localNvmeSsdBlockConfig",
)
OPERATOR_LABEL = ("gke-no-default-nvidia-gpu-device-plugin", "true")
RESERVATION_KEY = "compute.googleapis.com/reservation-name"

_DRIVER_VERSIONS = {GpuDriver.CLOUD: "DEFAULT", GpuDriver.OPERATOR: "INSTALLATION_DISABLED"}
_COS = "COS_CONTAINERD"
_UBUNTU = "UBUNTU_CONTAINERD"
_ZONES_OF_A_REGION = 3
"""Zones that GKE spreads a regional cluster's nodes over when none are named."""

_HYPERDISK_FAMILIES = frozenset({"a4", "a4x", "c4", "c4a", "c4d", "ct6e", "g4", "h4d", "m4", "n4", "n4a", "n4d", "tpu7x", "x4"})
"""Machine families whose boot disk is Hyperdisk Balanced, as persistent disk is not taken, or by one source only (c4a, n4).

Source: GKE's persistent disk CSI driver, machine-pd-compatibility.json, as kept by karpenter-provider-gcp 417f047, 2026-08-06.
"""
_HYPERDISK_MACHINES = ("a3-ultragpu-",)
"""The same for machines whose family is mixed: Vertex AI API, DiskSpec, "for A3U machines hyperdisk-balanced", 2026-04."""


def to_pool_args(
    args: ClusterArgs, pool: NodePool, cluster: pulumi.Input[str], node_account: pulumi.Input[str]
) -> gcp.container.NodePoolArgs:
    """Return the node pool of one planned pool."""
    zones = pool.zones[:1] if pool.is_multi_host else pool.zones
    least, most = to_limits(pool)
    return gcp.container.NodePoolArgs(
        name=cloud_name(NameKind.GKE_NODE_POOL, pool.name),
        project=args.plan.account,
        cluster=cluster,
        location=args.plan.region,
        node_locations=list(zones) or None,
        autoscaling=_autoscaling(least, most, "ANY"),
        initial_node_count=first_nodes_per_zone(least, most, zones or args.plan.zones),
        management=_management(),
        upgrade_settings=_upgrades(surge=0, unavailable=1),
        placement_policy=to_placement(pool),
        node_config=to_node_config(args, pool, node_account),
    )


def to_system_pool_args(
    args: ClusterArgs, cluster: pulumi.Input[str], node_account: pulumi.Input[str]
) -> gcp.container.NodePoolArgs:
    """Return the pool without accelerators; it follows the cluster's zones and spreads over them evenly."""
    system = args.plan.system_pool
    return gcp.container.NodePoolArgs(
        name=cloud_name(NameKind.GKE_NODE_POOL, "system"),
        project=args.plan.account,
        cluster=cluster,
        location=args.plan.region,
        node_locations=list(args.plan.zones) or None,
        autoscaling=_autoscaling(system.min_nodes, system.max_nodes, "BALANCED"),
        initial_node_count=first_nodes_per_zone(system.min_nodes, system.max_nodes, args.plan.zones),
        management=_management(),
        upgrade_settings=_upgrades(surge=1, unavailable=0),
        node_config=_system_node_config(args, system, node_account),
    )


def is_operated(pool: NodePool) -> bool:
    """Return whether NVIDIA's GPU Operator brings the driver; a TPU's is part of GKE's image whatever the plan says."""
    return pool.gpu_driver is GpuDriver.OPERATOR and pool.kind is AcceleratorKind.NVIDIA


def to_limits(pool: NodePool) -> tuple[int, int]:
    """Return the fewest and the most nodes over all zones; for a multi-host slice each is none of its hosts or all."""
    if pool.is_multi_host:
        return (pool.hosts if pool.min_nodes else 0), pool.hosts
    return pool.min_nodes, pool.max_nodes


def first_nodes_per_zone(least: int, most: int, zones: Sequence[str]) -> int | None:
    """Return how many nodes to make in each zone at first, so that a minimum above 0 stands from the start.

    GKE's autoscaler does not fill a new pool up to its minimum: it waits until some pod needs a node (GKE page "Cluster
    autoscaler", as quoted in Crossplane's provider-gcp, read 2026-11-21). The count is per zone; it is rounded up, for the
    autoscaler takes surplus nodes away, unless that would pass the maximum, which a quota may equal.

    Returns:
        Nodes in each zone; None, which starts from zero, where the minimum is 0 or cannot be kept without passing the maximum.
    """
    spread = len(zones) or _ZONES_OF_A_REGION
    above = -(-least // spread)
    return (above if above * spread <= most else least // spread) or None


def to_placement(pool: NodePool) -> gcp.container.NodePoolPlacementPolicyArgs | None:
    """Return the placement of a multi-host slice; machines of one host know their topology by their type."""
    if not pool.is_multi_host:
        return None
    return gcp.container.NodePoolPlacementPolicyArgs(type="COMPACT", tpu_topology=pool.topology)


def to_node_config(args: ClusterArgs, pool: NodePool, node_account: pulumi.Input[str]) -> gcp.container.NodePoolNodeConfigArgs:
    """Return the nodes of one planned pool."""
    return gcp.container.NodePoolNodeConfigArgs(
        machine_type=pool.machine,
        image_type=_UBUNTU if is_operated(pool) else _COS,
        disk_type=boot_disk_type(pool.machine),
        disk_size_gb=pool.disk_gib,
        spot=pool.is_spot,
        reservation_affinity=to_reservation(pool),
        guest_accelerators=to_accelerators(pool),
        labels=to_node_labels(pool),
        taints=to_taints(pool),
        taint_config=_architecture_taint(pool),
        resource_labels=to_resource_labels(tags(args, pool.card)),
        service_account=node_account,
        oauth_scopes=list(NODE_SCOPES),
        gvnic=gcp.container.NodePoolNodeConfigGvnicArgs(enabled=not is_operated(pool)),
        shielded_instance_config=_shielded(secure_boot=not is_operated(pool)),
        workload_metadata_config=_metadata(),
    )


def to_accelerators(pool: NodePool) -> list[gcp.container.NodePoolNodeConfigGuestAcceleratorArgs] | None:
    """Return the cards of one node, attached or bundled alike; None for TPUs, which the machine type alone selects."""
    if pool.accelerator_type is None:
        return None
    driver = gcp.container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
        gpu_driver_version=_DRIVER_VERSIONS[pool.gpu_driver]
    )
    return [
        gcp.container.NodePoolNodeConfigGuestAcceleratorArgs(
            type=pool.accelerator_type, count=pool.accelerators, gpu_driver_installation_config=driver
        )
    ]


def to_reservation(pool: NodePool) -> gcp.container.NodePoolNodeConfigReservationAffinityArgs | None:
    """Return the one reservation to draw on; None leaves Google's default, any open reservation and then on-demand."""
    if pool.reservation is None:
        return None
    return gcp.container.NodePoolNodeConfigReservationAffinityArgs(
        consume_reservation_type="SPECIFIC_RESERVATION", key=RESERVATION_KEY, values=[pool.reservation]
    )


def to_node_labels(pool: NodePool) -> dict[str, str]:
    """Return the node labels: the plan's, with the one that keeps GKE's device plugin away from the operator's."""
    return dict(pool.labels) | (dict([OPERATOR_LABEL]) if is_operated(pool) else {})


def to_taints(pool: NodePool) -> list[gcp.container.NodePoolNodeConfigTaintArgs]:
    """Return the node taints in Google's spelling."""
    return [
        gcp.container.NodePoolNodeConfigTaintArgs(
            key=taint.key, value=taint.value, effect=spell_effect(taint.effect, Cloud.GOOGLE)
        )
        for taint in pool.taints
    ]


def boot_disk_type(machine: str) -> str:
    """Return the type of boot disk that a machine type takes."""
    is_hyperdisk = machine.partition("-")[0] in _HYPERDISK_FAMILIES or machine.startswith(_HYPERDISK_MACHINES)
    return "hyperdisk-balanced" if is_hyperdisk else "pd-balanced"


def declare_pools(
    component: Component, args: ClusterArgs, cluster: gcp.container.Cluster, identity: NodeIdentity, nat: pulumi.Resource
) -> None:
    """Declare all node pools as children of `component`; they wait for the nodes' roles and for the way out."""
    options = component.child_options(
        depends_on=[*identity.roles, nat], ignore_changes=list(POOL_IGNORES), delete_before_replace=True
    )
    system = to_system_pool_args(args, cluster.name, identity.email)
    gcp.container.NodePool(component.child("system"), system, opts=options)
    for pool in args.plan.pools:
        planned = to_pool_args(args, pool, cluster.name, identity.email)
        gcp.container.NodePool(component.child(pool.name), planned, opts=options)


def _autoscaling(least: int, most: int, location_policy: str) -> gcp.container.NodePoolAutoscalingArgs:
    """Return limits over all zones."""
    return gcp.container.NodePoolAutoscalingArgs(
        total_min_node_count=least, total_max_node_count=most, location_policy=location_policy
    )


def _management() -> gcp.container.NodePoolManagementArgs:
    """Return repair and upgrade by Google, which the release channel asks for."""
    return gcp.container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True)


def _upgrades(*, surge: int, unavailable: int) -> gcp.container.NodePoolUpgradeSettingsArgs:
    """Return how many nodes an upgrade adds, and how many it takes away, at a time."""
    return gcp.container.NodePoolUpgradeSettingsArgs(strategy="SURGE", max_surge=surge, max_unavailable=unavailable)


def _architecture_taint(pool: NodePool) -> gcp.container.NodePoolNodeConfigTaintConfigArgs | None:
    """Return that an Arm pool has no taint but the plan's; None elsewhere, where GKE adds none."""
    if pool.architecture != "arm64":
        return None
    return gcp.container.NodePoolNodeConfigTaintConfigArgs(architecture_taint_behavior="NONE")


def _system_node_config(
    args: ClusterArgs, system: SystemPool, node_account: pulumi.Input[str]
) -> gcp.container.NodePoolNodeConfigArgs:
    """Return the nodes of the system pool."""
    return gcp.container.NodePoolNodeConfigArgs(
        machine_type=system.machine,
        image_type=_COS,
        disk_type=boot_disk_type(system.machine),
        disk_size_gb=system.disk_gib,
        resource_labels=to_resource_labels(tags(args)),
        service_account=node_account,
        oauth_scopes=list(NODE_SCOPES),
        gvnic=gcp.container.NodePoolNodeConfigGvnicArgs(enabled=True),
        shielded_instance_config=_shielded(secure_boot=True),
        workload_metadata_config=_metadata(),
    )


def _shielded(*, secure_boot: bool) -> gcp.container.NodePoolNodeConfigShieldedInstanceConfigArgs:
    """Return shielded machines; Secure Boot loads signed kernel modules only."""
    return gcp.container.NodePoolNodeConfigShieldedInstanceConfigArgs(
        enable_secure_boot=secure_boot, enable_integrity_monitoring=True
    )


def _metadata() -> gcp.container.NodePoolNodeConfigWorkloadMetadataConfigArgs:
    """Return GKE's metadata server, which hides the node's identity from pods."""
    return gcp.container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GKE_METADATA")
