"""Nodes of GKE's declared pools.

What GKE adds to a node, read 2026-11-21:

- labels: a node of a standard pool as its owners print it (``gke-nodepool``, ``gke-max-pods-per-node``, ``gke-boot-disk``,
  ``gke-container-runtime``, ``gke-os-distribution``, ``gke-cpu-scaling-level``, ``machine-family``, ``private-node``);
  ``gke-provisioning`` (GKE page on Kueue quotas: "applied automatically by GKE"); ``gke-accelerator`` and
  ``gke-gpu-driver-version`` (karpenter-provider-gcp 417f047, labels.go, 2026-08-06); ``gke-tpu-accelerator`` and
  ``gke-tpu-topology`` (xpk 367c838). ``gke-spot`` and the topologies of single hosts: common knowledge, no page of Google's read.
- taints: the accelerator's own, with value ``present`` (cluster-toolkit 1047080; karpenter-provider-gcp docs/gpu-nodes.md), but
  not in a cluster without any other pool (terraform-google-kubernetes-engine issue 703). Spot nodes get none.
- zone labels: topology.kubernetes.io/zone and topology.gke.io/zone (kubernetes/autoscaler gce/templates.go 00fcc0d).

What its autoscaler sees of an empty pool: the pool's own labels and taints, which it reads from the instance template, and the
cards from the template's accelerators (templates.go BuildNodeFromTemplate); GKE's build of it knows TPU machines as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from fleet.accelerators import KINDS, AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint
from fleet.load import load_catalogue
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes.hints import merged, missing_card, missing_label, missing_resource, missing_room
from rehearsal.nodes.machines import Machine, Query, find_machine
from rehearsal.nodes.reading import (
    at,
    component_of,
    facts_of,
    labels_at,
    part_name,
    sibling,
    site_of,
    text,
    to_taint,
    to_whole,
    whole,
)
from rehearsal.nodes.reserving import Size, google_sizes
from rehearsal.nodes.template import AutoscalerView, NodeTemplate

POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.gke.io/zone")
_PODS = 110
_DEFAULT_DISK_GIB = 100
_ZONE_PARTS = 3
_REGION_ZONES = ("a", "b", "c")
_SINGLE_HOST_TOPOLOGY: Mapping[int, str] = {1: "1x1", 4: "2x2", 8: "2x4"}
"""Topology of the machines whose chips are a slice of their own (GKE page "About TPUs in GKE", TPU v5e and v6e)."""
_DRIVER_LABELS: Mapping[str, str] = {"DEFAULT": "default", "LATEST": "latest", "INSTALLATION_DISABLED": "disabled"}
_SPOT_PRIORITY = 2
"""GKE's autoscaler takes the cheapest pool that a pod fits and has no setting, so spot stands before the rest."""


def read(graph: ResourceGraph) -> tuple[NodeTemplate, ...]:
    """Return the node of every declared pool, in the order of their URNs; raises FleetErrors for a pool that makes no sense."""
    return tuple(_template(graph, pool) for pool in graph.of_type(POOL))


def machine_of(graph: ResourceGraph, pool: Resource) -> Machine:
    """Return the machine a pool declares, with its cards."""
    component = component_of(graph, pool)
    declared = at(pool.inputs, "nodeConfig.guestAccelerators") or []
    first = declared[0] if declared else {}
    count = to_whole(pool, "nodeConfig.guestAccelerators[0].count", first.get("count")) if declared else None
    exported = at(facts_of(graph, component.name), "pools") or {}
    return find_machine(
        Query(
            cloud=Cloud.GOOGLE,
            machine=text(pool, "nodeConfig.machineType"),
            region=region_of(text(pool, "location")),
            accelerator_type=first.get("type"),
            accelerators=count,
            exported=exported.get(part_name(component, pool), {}) if not declared else {},
        )
    )


def region_of(location: str) -> str:
    """Return the region of a region or zone."""
    parts = location.split("-")
    return "-".join(parts[:2]) if len(parts) == _ZONE_PARTS else location


def _template(graph: ResourceGraph, pool: Resource) -> NodeTemplate:
    """Return the node of one pool."""
    component = component_of(graph, pool)
    cluster = sibling(graph, component, CLUSTER)
    machine = machine_of(graph, pool)
    zones = _zones(pool, cluster)
    least, most = _limits(pool, len(zones))
    capacity_type = _capacity_type(pool)
    labels = _labels(pool, cluster, machine)
    taints = merged(_declared_taints(pool), _added_taints(graph, component, machine))
    capacity, allocatable = _quantities(pool, machine)
    return NodeTemplate(
        site=site_of(graph, cluster, component, "resourceLabels"),
        cluster=component.name,
        pool=part_name(component, pool),
        cloud=Cloud.GOOGLE,
        urn=pool.urn,
        region=region_of(text(pool, "location")),
        machine=machine.name,
        architecture=machine.architecture,
        capacity=capacity,
        allocatable=allocatable,
        labels=labels,
        taints=taints,
        zones=zones,
        zone_labels=ZONE_LABELS,
        capacity_type=capacity_type,
        usd_per_hour=machine.price(capacity_type),
        min_nodes=least,
        max_nodes=most,
        hosts=_hosts(pool, machine),
        priority=_SPOT_PRIORITY if capacity_type is CapacityType.SPOT else 1,
        card=machine.card,
        resource=machine.resource,
        accelerators=machine.accelerators,
        seen=_seen(pool, machine, labels, taints, most, capacity),
        notes=machine.notes_for(capacity_type),
    )


def _seen(
    pool: Resource,
    machine: Machine,
    labels: Mapping[str, str],
    taints: tuple[Taint, ...],
    most: int,
    capacity: Mapping[str, str],
) -> AutoscalerView:
    """Return what GKE's autoscaler knows of the empty pool."""
    hint = "nodeConfig.guestAccelerators"
    missing = (
        *missing_room(most, "autoscaling.totalMaxNodeCount", is_autoscaled=at(pool.inputs, "autoscaling") is not None),
        *missing_label(machine, labels, "the node label nodeConfig.labels.gpu"),
        *missing_resource(machine, capacity, f"{machine.resource} by {hint}"),
        *missing_card(machine, labels, f"{hint} is not there"),
    )
    return AutoscalerView(labels=labels, taints=taints, resources=capacity, missing=missing)


def _quantities(pool: Resource, machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
    """Return capacity and allocatable with the cards."""
    size = Size(
        millicores=machine.vcpus * 1000,
        memory_mib=machine.memory_mib,
        storage_mib=whole(pool, "nodeConfig.diskSizeGb", _DEFAULT_DISK_GIB) * 1024,
        pods=whole(pool, "maxPodsPerNode", _PODS),
    )
    both = google_sizes(size, is_ubuntu=_is_ubuntu(pool), is_arm=machine.architecture == "arm64")
    cards = {machine.resource: str(machine.accelerators)} if machine.resource else {}
    return both[0].quantities() | cards, both[1].quantities() | cards


def _labels(pool: Resource, cluster: Resource, machine: Machine) -> dict[str, str]:
    """Return the declared labels and those that GKE adds."""
    is_spot = bool(at(pool.inputs, "nodeConfig.spot"))
    added = {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region_of(text(pool, "location")),
        "cloud.google.com/gke-nodepool": text(pool, "name"),
        "cloud.google.com/gke-os-distribution": "ubuntu" if _is_ubuntu(pool) else "cos",
        "cloud.google.com/gke-container-runtime": "containerd",
        "cloud.google.com/gke-cpu-scaling-level": str(machine.vcpus),
        "cloud.google.com/gke-max-pods-per-node": str(whole(pool, "maxPodsPerNode", _PODS)),
        "cloud.google.com/gke-provisioning": "spot" if is_spot else "standard",
        "cloud.google.com/machine-family": machine.name.partition("-")[0],
        "cloud.google.com/private-node": str(bool(at(cluster.inputs, "privateClusterConfig.enablePrivateNodes"))).lower(),
    }
    if is_spot:
        added["cloud.google.com/gke-spot"] = "true"
    if disk := at(pool.inputs, "nodeConfig.diskType"):
        added["cloud.google.com/gke-boot-disk"] = disk
    if at(pool.inputs, "nodeConfig.workloadMetadataConfig.mode") == "GKE_METADATA":
        added["iam.gke.io/gke-metadata-server-enabled"] = "true"
    return labels_at(pool, "nodeConfig.labels") | added | _card_labels(pool, machine)


def _card_labels(pool: Resource, machine: Machine) -> dict[str, str]:
    """Return what GKE adds to nodes with cards."""
    if machine.kind is AcceleratorKind.TPU and machine.card:
        topology = at(pool.inputs, "placementPolicy.tpuTopology") or _SINGLE_HOST_TOPOLOGY.get(machine.accelerators)
        found = {
            "cloud.google.com/gke-tpu-accelerator": load_catalogue().card(machine.card).gke_tpu_accelerator,
            "cloud.google.com/gke-tpu-topology": topology,
        }
        return {key: value for key, value in found.items() if value}
    declared = at(pool.inputs, "nodeConfig.guestAccelerators") or []
    if not declared:
        return {}
    driver = at(declared[0], "gpuDriverInstallationConfig.gpuDriverVersion")
    version = {"cloud.google.com/gke-gpu-driver-version": _DRIVER_LABELS[driver]} if driver in _DRIVER_LABELS else {}
    return {"cloud.google.com/gke-accelerator": str(declared[0].get("type")), **version}


def _declared_taints(pool: Resource) -> tuple[Taint, ...]:
    """Return the taints that the pool declares."""
    path = "nodeConfig.taints"
    return tuple(
        to_taint(pool, f"{path}[{index}].effect", taint, Cloud.GOOGLE) for index, taint in enumerate(at(pool.inputs, path) or [])
    )


def _added_taints(graph: ResourceGraph, component: Resource, machine: Machine) -> tuple[Taint, ...]:
    """Return the accelerator's taint that GKE adds where a pool without accelerators gives its own pods a place."""
    if machine.kind is None:
        return ()
    others = [child for child in graph.children.get(component.urn, ()) if child.type == POOL]
    if all(machine_of(graph, other).resource for other in others):
        return ()
    return (Taint(key=KINDS[machine.kind].taint_key, value=KINDS[machine.kind].taint_value),)


def _zones(pool: Resource, cluster: Resource) -> tuple[str, ...]:
    """Return the zones of a pool: its own, its cluster's, the one it is located in, or three of the region."""
    declared = at(pool.inputs, "nodeLocations") or at(cluster.inputs, "nodeLocations")
    location = text(pool, "location")
    if declared:
        return tuple(sorted(declared))
    if region_of(location) != location:
        return (location,)
    return tuple(f"{location}-{letter}" for letter in _REGION_ZONES)


def _limits(pool: Resource, zones: int) -> tuple[int, int]:
    """Return the fewest and most nodes over all zones: totals, or limits by zone times the zones, or a fixed size as both."""
    if at(pool.inputs, "autoscaling") is None:
        fixed = whole(pool, "nodeCount", whole(pool, "initialNodeCount", 0)) * zones
        return fixed, fixed
    if at(pool.inputs, "autoscaling.totalMaxNodeCount") is not None:
        return whole(pool, "autoscaling.totalMinNodeCount", 0), whole(pool, "autoscaling.totalMaxNodeCount")
    return whole(pool, "autoscaling.minNodeCount", 0) * zones, whole(pool, "autoscaling.maxNodeCount", 0) * zones


def _hosts(pool: Resource, machine: Machine) -> int:
    """Return the nodes of a multi-host slice: chips of its topology by chips of a machine."""
    topology = at(pool.inputs, "placementPolicy.tpuTopology")
    if not topology or not machine.accelerators:
        return 1
    sides = [to_whole(pool, "placementPolicy.tpuTopology", side) for side in topology.split("x")]
    return max(1, math.prod(sides) // machine.accelerators)


def _capacity_type(pool: Resource) -> CapacityType:
    """Return how the pool's nodes are paid for."""
    if at(pool.inputs, "nodeConfig.spot"):
        return CapacityType.SPOT
    is_reserved = at(pool.inputs, "nodeConfig.reservationAffinity.consumeReservationType") == "SPECIFIC_RESERVATION"
    return CapacityType.RESERVED if is_reserved else CapacityType.ON_DEMAND


def _is_ubuntu(pool: Resource) -> bool:
    """Return whether nodes run Ubuntu; Container-Optimized OS otherwise."""
    return str(at(pool.inputs, "nodeConfig.imageType") or "").startswith("UBUNTU")
