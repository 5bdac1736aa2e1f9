"""Nodes of EKS' declared node groups.

What EKS adds to a node, read 2026-11-21: the labels ``eks.amazonaws.com/nodegroup``, ``capacityType``, ``sourceLaunchTemplateId``
and ``sourceLaunchTemplateVersion`` (EKS user guide, managed-node-update-behavior; kubelet arguments of a managed AL2023 node),
the zone labels of the cloud provider and of the EBS driver; no taints, on spot nodes neither (EKS user guide 4d52b4d, 2024-12).
``nodegroup-image`` is left out: no preview knows the image.

What the cluster autoscaler sees of an empty group, and from where (kubernetes/autoscaler 55c37cd, 2026-08-22, aws/README.md and
aws_manager.go buildNodeFromTemplate):

- processors, memory and ``nvidia.com/gpu``: its list of instance types; other accelerators it does not know;
- labels, taints and ``resources/<name>``: tags of the Auto Scaling group;
- labels and taints once more: DescribeNodegroup, where its role may call it, and only until the group had its first node.

The second source alone holds at every time and under every role, so a rehearsal takes that one and demands all three kinds of
tag: without the resource a group wakes once and then never again (kubernetes/autoscaler issue 8799), without the taint it is
woken by pods that cannot land.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.accelerators import KINDS
from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint, TaintEffect
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes.hints import merged, missing_card, missing_label, missing_resource, missing_room
from rehearsal.nodes.machines import Machine, Query, aws_pods, find_machine
from rehearsal.nodes.reading import (
    at,
    component_of,
    facts_of,
    labels_at,
    part_name,
    refuse,
    sibling,
    site_of,
    to_taint,
    to_whole,
    whole,
)
from rehearsal.nodes.reserving import Size, aws_sizes
from rehearsal.nodes.template import AutoscalerView, NodeTemplate

POOL = "aws:eks/nodeGroup:NodeGroup"
CLUSTER = "aws:eks/cluster:Cluster"
ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone")
HINTS = "k8s.io/cluster-autoscaler/node-template/"
_TAG = "aws:autoscaling/tag:Tag"
_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
_SUBNET = "aws:ec2/subnet:Subnet"
_DEFAULT_DISK_GIB = 20
"""Disk of a group that states none (SDK docstring of NodeGroup.disk_size, 7.51.1)."""
_EFFECTS = frozenset(effect.value for effect in TaintEffect)
_CAPACITY_TYPES: Mapping[str, CapacityType] = {
    "ON_DEMAND": CapacityType.ON_DEMAND,
    "SPOT": CapacityType.SPOT,
    "CAPACITY_BLOCK": CapacityType.RESERVED,
}


def read(graph: ResourceGraph) -> tuple[NodeTemplate, ...]:
    """Return the node of every declared group, in the order of their URNs; raises FleetErrors for a group that makes no sense."""
    return tuple(_template(graph, pool) for pool in graph.of_type(POOL))


def region_of(graph: ResourceGraph, resource: Resource) -> str:
    """Return the region of a resource: its own, else its provider's; raises FleetErrors when neither says."""
    provider = graph.by_urn.get(resource.provider or "")
    region = at(resource.inputs, "region") or (at(provider.inputs, "region") if provider else None)
    if not region:
        raise refuse(resource, "region", region, "neither it nor its provider names a region")
    return str(region)


def group_name(pool: Resource) -> str:
    """Return a group's name in EKS; where the provider completes a prefix, the preview's stand-in for it."""
    return at(pool.inputs, "nodeGroupName") or (pool.id or pool.name).rpartition(":")[2]


def subnet_zones(graph: ResourceGraph, subnet_ids: object, user: Resource) -> tuple[str, ...]:
    """Return the zones of declared subnets, by their ids; raises FleetErrors when none of them is declared in the stack."""
    wanted = set(subnet_ids) if isinstance(subnet_ids, list) else set()
    zones = {str(at(subnet.inputs, "availabilityZone")) for subnet in graph.of_type(_SUBNET) if subnet.id in wanted}
    if not zones:
        raise refuse(user, "subnetIds", subnet_ids, "no subnet of these is declared, so its zones are not known")
    return tuple(sorted(zones))


def _template(graph: ResourceGraph, pool: Resource) -> NodeTemplate:
    """Return the node of one group."""
    component = component_of(graph, pool)
    template = _launch_template(graph, pool)
    region = region_of(graph, pool)
    machine = _machine(graph, pool, template, region)
    capacity_type = _capacity_type(pool)
    capacity, allocatable, notes = _quantities(pool, template, machine)
    labels = labels_at(pool, "labels") | _added_labels(pool, machine, region)
    taints = _declared_taints(pool)
    most = whole(pool, "scalingConfig.maxSize")
    return NodeTemplate(
        site=site_of(graph, sibling(graph, component, CLUSTER), component, "tags"),
        cluster=component.name,
        pool=part_name(component, pool),
        cloud=Cloud.AWS,
        urn=pool.urn,
        region=region,
        machine=machine.name,
        architecture=machine.architecture,
        capacity=capacity,
        allocatable=allocatable,
        labels=labels,
        taints=taints,
        zones=subnet_zones(graph, at(pool.inputs, "subnetIds"), pool),
        zone_labels=ZONE_LABELS,
        capacity_type=capacity_type,
        usd_per_hour=machine.price(capacity_type),
        min_nodes=whole(pool, "scalingConfig.minSize"),
        max_nodes=most,
        card=machine.card,
        resource=machine.resource,
        accelerators=machine.accelerators,
        seen=_seen(_hints(graph, pool), machine, taints, most, capacity, labels),
        notes=(*machine.notes_for(capacity_type), *notes),
    )


def _declared_taints(pool: Resource) -> tuple[Taint, ...]:
    """Return the taints that the group declares, which are all that its nodes have."""
    return merged(
        tuple(
            to_taint(pool, f"taints[{index}].effect", taint, Cloud.AWS)
            for index, taint in enumerate(at(pool.inputs, "taints") or [])
        )
    )


def _seen(
    hints: Mapping[str, str],
    machine: Machine,
    declared: tuple[Taint, ...],
    most: int,
    capacity: Mapping[str, str],
    node_labels: Mapping[str, str],
) -> AutoscalerView:
    """Return what the autoscaler knows of the empty group: the instance type, and the tags of the Auto Scaling group."""
    generic = {key: value for key, value in node_labels.items() if key.partition("/")[0].endswith("kubernetes.io")}
    labels = generic | _under(hints, "label/")
    cards = {key: value for key, value in _under(hints, "resources/").items() if key != "ephemeral-storage"}
    basic = {key: capacity[key] for key in ("cpu", "memory", "pods")}
    disk = {"ephemeral-storage": hints["resources/ephemeral-storage"]} if "resources/ephemeral-storage" in hints else {}
    missing = (
        *missing_room(most, "scalingConfig.maxSize"),
        *missing_label(machine, labels, f"ASG tag {HINTS}label/gpu"),
        *missing_resource(machine, cards, f"ASG tag {HINTS}resources/{machine.resource}"),
        *missing_card(machine, node_labels, "instanceTypes"),
        *_missing_taints(hints, machine, declared),
    )
    return AutoscalerView(labels=labels, taints=_seen_taints(hints), resources=basic | disk | cards, missing=missing)


def _missing_taints(hints: Mapping[str, str], machine: Machine, declared: tuple[Taint, ...]) -> Iterator[str]:
    """Yield each taint of the group's nodes, and of its accelerator, that no tag tells the autoscaler."""
    if machine.kind is None:
        return
    keys = {taint.key: taint for taint in declared}
    own = KINDS[machine.kind].taint_key
    for key in sorted({*keys, own}):
        seen = hints.get(f"taint/{key}")
        if seen is None:
            yield f"ASG tag {HINTS}taint/{key} is not there"
        elif key in keys and seen not in {f"{taint.value}:{taint.effect}" for taint in declared if taint.key == key}:
            yield f"ASG tag {HINTS}taint/{key} is {seen}, but nodes boot with {keys[key]}"


def _seen_taints(hints: Mapping[str, str]) -> tuple[Taint, ...]:
    """Return the taints that tags tell; as the autoscaler does, one that is not ``value:Effect`` is passed over."""
    found = []
    for key, spelled in _under(hints, "taint/").items():
        value, colon, effect = spelled.rpartition(":")
        if colon and effect in _EFFECTS:
            found.append(Taint(key=key, value=value, effect=TaintEffect(effect)))
    return tuple(sorted(found))


def _under(hints: Mapping[str, str], kind: str) -> dict[str, str]:
    """Return the hints of one kind by the name that follows."""
    return {key.removeprefix(kind): value for key, value in hints.items() if key.startswith(kind)}


def _hints(graph: ResourceGraph, pool: Resource) -> dict[str, str]:
    """Return the scaling hints among the tags of the Auto Scaling group behind a node group, without their common prefix."""
    found: dict[str, str] = {}
    for tag in graph.of_type(_TAG):
        key = at(tag.inputs, "tag.key") or ""
        if key.startswith(HINTS) and pool.urn in tag.property_dependencies.get("autoscalingGroupName", ()):
            found[key.removeprefix(HINTS)] = str(at(tag.inputs, "tag.value"))
    return found


def _launch_template(graph: ResourceGraph, pool: Resource) -> Resource | None:
    """Return the launch template that a group names, None when it names none."""
    wanted = at(pool.inputs, "launchTemplate.id")
    return next((template for template in graph.of_type(_TEMPLATE) if template.id == wanted), None) if wanted else None


def _machine(graph: ResourceGraph, pool: Resource, template: Resource | None, region: str) -> Machine:
    """Return the machine of a group: of several types the first, which is the one the autoscaler reckons with."""
    component = component_of(graph, pool)
    types = at(pool.inputs, "instanceTypes") or [at(template.inputs, "instanceType") if template else None]
    if not types[0]:
        raise refuse(pool, "instanceTypes", None, "neither it nor its launch template names an instance type")
    exported = at(facts_of(graph, component.name), "pools") or {}
    query = Query(cloud=Cloud.AWS, machine=str(types[0]), region=region, exported=exported.get(part_name(component, pool), {}))
    return find_machine(query)


def _quantities(
    pool: Resource, template: Resource | None, machine: Machine
) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Return capacity and allocatable with the cards, and whether the pods are a fallback."""
    pods, note = aws_pods(machine.name)
    disks = at(template.inputs, "blockDeviceMappings") or [] if template else []
    declared = at(disks[0], "ebs.volumeSize") if disks else at(pool.inputs, "diskSize")
    size = Size(
        millicores=machine.vcpus * 1000,
        memory_mib=machine.memory_mib,
        storage_mib=to_whole(pool, "diskSize", declared, _DEFAULT_DISK_GIB) * 1024,
        pods=pods,
    )
    capacity, allocatable = aws_sizes(size)
    cards = {machine.resource: str(machine.accelerators)} if machine.resource else {}
    return capacity.quantities() | cards, allocatable.quantities() | cards, note


def _added_labels(pool: Resource, machine: Machine, region: str) -> dict[str, str]:
    """Return the labels that EKS and its cloud provider add."""
    template = at(pool.inputs, "launchTemplate") or {}
    return {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region,
        "eks.amazonaws.com/nodegroup": group_name(pool),
        "eks.amazonaws.com/capacityType": at(pool.inputs, "capacityType") or "ON_DEMAND",
        **({"eks.amazonaws.com/sourceLaunchTemplateId": str(template["id"])} if "id" in template else {}),
        **({"eks.amazonaws.com/sourceLaunchTemplateVersion": str(template["version"])} if "version" in template else {}),
    }


def _capacity_type(pool: Resource) -> CapacityType:
    """Return how the group's nodes are paid for; raises FleetErrors for a word that EKS does not know."""
    declared = at(pool.inputs, "capacityType") or "ON_DEMAND"
    if declared not in _CAPACITY_TYPES:
        raise refuse(
            pool, "capacityType", declared, "EKS knows no such capacity type", f"Write one of {', '.join(_CAPACITY_TYPES)}."
        )
    return _CAPACITY_TYPES[declared]
