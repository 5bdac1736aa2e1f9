"""Nodes of AKS' declared pools: the one inside the cluster's own description, and the agent pools beside it.

What AKS adds to a node, read 2026-11-21: the labels of its page use-labels.md (fb060ab, 2026-08-21) that follow from what is
declared, with the older bare ``agentpool`` and ``accelerator``, which the autoscaler still writes; on spot pools the taint and
label ``kubernetes.azure.com/scalesetpriority=spot`` (spot-node-pool.md). A zone is ``<region>-<number>``; without zones the label
is ``0`` (use-labels.md; kubernetes/autoscaler azure_template.go 0d4679d).

What its autoscaler sees of an empty pool (azure_template.go 0d4679d, buildNodeFromTemplate and processVMSSTemplate): the pool's
own labels and taints, processors, memory and cards from Azure's list of sizes, and resources from tags of the pool whose key
starts with ``k8s.io_cluster-autoscaler_node-template_resources_``. It calls every card nvidia.com/gpu, so a pool of any other
kind wakes only with such a tag. Pods by network plugin: concepts-network-ip-address-planning.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fleet.accelerators import KINDS, AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes.hints import merged, missing_card, missing_label, missing_resource, missing_room
from rehearsal.nodes.machines import Machine, Query, find_machine
from rehearsal.nodes.reading import at, component_of, facts_of, labels_at, part_name, sibling, site_of, split_taint, text, whole
from rehearsal.nodes.reserving import Size, azure_sizes
from rehearsal.nodes.template import AutoscalerView, NodeTemplate

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.disk.csi.azure.com/zone")
RESOURCE_TAG = "k8s.io_cluster-autoscaler_node-template_resources_"
_SPOT = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot")
_NO_ZONE = "0"
_DEFAULT_DISK_GIB = 128
_PODS: Mapping[tuple[str, str], int] = {("azure", "overlay"): 250, ("azure", ""): 30, ("kubenet", ""): 110}
_FEWEST_PODS = 30
_VERSION = re.compile(r"(\d+)\.(\d+)")


def read(graph: ResourceGraph) -> tuple[NodeTemplate, ...]:
    """Return the node of every declared pool, those inside clusters first; raises FleetErrors for one that makes no sense."""
    inner = [
        _template(graph, cluster, inside, name_of(inside)) for cluster in graph.of_type(CLUSTER) for inside in _inside(cluster)
    ]
    beside = []
    for pool in graph.of_type(POOL):
        component = component_of(graph, pool)
        beside.append(_template(graph, sibling(graph, component, CLUSTER), pool, part_name(component, pool)))
    return (*inner, *beside)


def name_of(pool: Resource) -> str:
    """Return a pool's name in Azure."""
    return str(at(pool.inputs, "agentPoolName") or at(pool.inputs, "name") or pool.name)


def _inside(cluster: Resource) -> Iterator[Resource]:
    """Yield the pools of a cluster's own description, each as a resource of its own under the cluster's URN."""
    for profile in at(cluster.inputs, "agentPoolProfiles") or []:
        yield replace(cluster, inputs=profile)


def _template(graph: ResourceGraph, cluster: Resource, pool: Resource, name: str) -> NodeTemplate:
    """Return the node of one pool."""
    component = component_of(graph, cluster)
    region = text(cluster, "location")
    exported: Mapping[str, Any] = at(facts_of(graph, component.name), "pools") or {}
    query = Query(cloud=Cloud.AZURE, machine=text(pool, "vmSize"), region=region, exported=exported.get(name, {}))
    machine = find_machine(query)
    capacity_type = _capacity_type(pool)
    capacity, allocatable = _quantities(cluster, pool, machine)
    labels = labels_at(pool, "nodeLabels") | _added_labels(cluster, pool, machine, region)
    taints = merged(_declared_taints(pool), (_SPOT,) if capacity_type is CapacityType.SPOT else ())
    least, most = _limits(pool)
    return NodeTemplate(
        site=site_of(graph, cluster, component, "tags"),
        cluster=component.name,
        pool=name,
        cloud=Cloud.AZURE,
        urn=pool.urn,
        region=region,
        machine=machine.name,
        architecture=machine.architecture,
        capacity=capacity,
        allocatable=allocatable,
        labels=labels,
        taints=taints,
        zones=tuple(f"{region}-{zone}" for zone in sorted(at(pool.inputs, "availabilityZones") or [])) or (_NO_ZONE,),
        zone_labels=ZONE_LABELS,
        capacity_type=capacity_type,
        usd_per_hour=machine.price(capacity_type),
        min_nodes=least,
        max_nodes=most,
        card=machine.card,
        resource=machine.resource,
        accelerators=machine.accelerators,
        seen=_seen(pool, machine, labels, taints, most, capacity),
        notes=machine.notes_for(capacity_type),
    )


def _declared_taints(pool: Resource) -> tuple[Taint, ...]:
    """Return the taints that the pool declares."""
    return tuple(
        split_taint(pool, f"nodeTaints[{index}]", taint, Cloud.AZURE)
        for index, taint in enumerate(at(pool.inputs, "nodeTaints") or [])
    )


def _seen(
    pool: Resource,
    machine: Machine,
    labels: Mapping[str, str],
    taints: tuple[Taint, ...],
    most: int,
    capacity: Mapping[str, str],
) -> AutoscalerView:
    """Return what Azure's autoscaler knows of the empty pool."""
    resources = {key: value for key, value in capacity.items() if key != machine.resource}
    if machine.accelerators:
        resources[KINDS[AcceleratorKind.NVIDIA].resource] = str(machine.accelerators)
    tags = labels_at(pool, "tags")
    told = {key.removeprefix(RESOURCE_TAG): value for key, value in tags.items() if key.startswith(RESOURCE_TAG)}
    resources |= {key.replace("_", "/"): value for key, value in told.items()}
    tag = f"tag {RESOURCE_TAG}{(machine.resource or '').replace('/', '_')}"
    missing = (
        *missing_room(most, "maxCount", is_autoscaled=True),
        *missing_room(most, "enableAutoScaling", is_autoscaled=bool(at(pool.inputs, "enableAutoScaling"))),
        *missing_label(machine, labels, "the node label nodeLabels.gpu"),
        *missing_resource(machine, resources, f"{tag}, by which alone Azure's autoscaler knows {machine.resource},"),
        *missing_card(machine, labels, "vmSize"),
    )
    return AutoscalerView(labels=labels, taints=taints, resources=resources, missing=tuple(dict.fromkeys(missing)))


def _quantities(cluster: Resource, pool: Resource, machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
    """Return capacity and allocatable with the cards."""
    plugin = (
        str(at(cluster.inputs, "networkProfile.networkPlugin")),
        at(cluster.inputs, "networkProfile.networkPluginMode") or "",
    )
    size = Size(
        millicores=machine.vcpus * 1000,
        memory_mib=machine.memory_mib,
        storage_mib=whole(pool, "osDiskSizeGB", _DEFAULT_DISK_GIB) * 1024,
        pods=whole(pool, "maxPods", _PODS.get(plugin, _FEWEST_PODS)),
    )
    version = _VERSION.match(str(at(pool.inputs, "orchestratorVersion") or at(cluster.inputs, "kubernetesVersion") or ""))
    kubernetes = (int(version[1]), int(version[2])) if version else (1, 29)
    capacity, allocatable = azure_sizes(size, kubernetes=kubernetes)
    cards = {machine.resource: str(machine.accelerators)} if machine.resource else {}
    return capacity.quantities() | cards, allocatable.quantities() | cards


def _added_labels(cluster: Resource, pool: Resource, machine: Machine, region: str) -> dict[str, str]:
    """Return the labels that AKS and its cloud provider add."""
    name, is_spot = name_of(pool), _capacity_type(pool) is CapacityType.SPOT
    prefix = "kubernetes.azure.com/"
    added = {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region,
        "agentpool": name,
        f"{prefix}agentpool": name,
        f"{prefix}cluster": str(at(cluster.inputs, "nodeResourceGroup") or ""),
        f"{prefix}managedby": "aks",
        f"{prefix}mode": str(at(pool.inputs, "mode") or "User").lower(),
        f"{prefix}nodepool-type": str(at(pool.inputs, "type") or "VirtualMachineScaleSets"),
        f"{prefix}os-sku": str(at(pool.inputs, "osSKU") or "Ubuntu"),
        f"{prefix}priority": "spot" if is_spot else "regular",
        f"{prefix}role": "agent",
        f"{prefix}sku-cpu": str(machine.vcpus),
        f"{prefix}storageprofile": str(at(pool.inputs, "osDiskType") or "Managed").lower(),
    }
    if machine.kind is AcceleratorKind.NVIDIA:
        added |= {"accelerator": "nvidia", f"{prefix}accelerator": "nvidia"}
    if is_spot:
        added[_SPOT.key] = _SPOT.value
    return added


def _limits(pool: Resource) -> tuple[int, int]:
    """Return the fewest and the most nodes; without autoscaling the count is both."""
    if not at(pool.inputs, "enableAutoScaling"):
        fixed = whole(pool, "count", 0)
        return fixed, fixed
    return whole(pool, "minCount", 0), whole(pool, "maxCount")


def _capacity_type(pool: Resource) -> CapacityType:
    """Return how the pool's nodes are paid for."""
    if at(pool.inputs, "scaleSetPriority") == "Spot":
        return CapacityType.SPOT
    return CapacityType.RESERVED if at(pool.inputs, "capacityReservationGroupID") else CapacityType.ON_DEMAND
