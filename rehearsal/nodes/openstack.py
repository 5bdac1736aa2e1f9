"""Nodes of Magnum's declared node groups, by the driver that the site runs; and of ``default-worker``, which every cluster has.

What a driver puts on a node, read 2026-11-21:

- Heat: magnum.openstack.org/role and /nodegroup, then the group's label ``kubelet_options`` as the kubelet takes it
  (configure-kubernetes-minion.sh, stable/2026.1 9f9c4b9f);
- cluster-api: node-role.kubernetes.io/<role> and node.cluster.x-k8s.io/nodegroup (resources.py 3890a36, 2026-07-23); no taints;
- capi-helm: capi.stackhpc.com/node-group (driver.py a8b82c2, 2026-06-08); no taints.

What an autoscaler knows of an empty group:

- Heat with upstream's magnum provider: the group's Magnum labels and magnum.openstack.org/nodegroup, processors, memory and disk;
  never a card, never a taint (kubernetes/autoscaler magnum_nodegroup.go 55c37cd, 2026-08-22). A site that runs one of its own
  says so: the stack exports ``identity.gpu_autoscaler``, and then the card and the node's own labels and taints are known, on
  the site's word;
- cluster-api: the annotations for processors, memory, disk and its two labels (resources.py);
- capi-helm: nothing, since it refuses a group without nodes.

A group whose minimum is above 0 always has a node to copy, so there the view is the node itself. The driver is what the stack
exports (``identity.driver``), else what the template's ``kube_tag`` shows: Heat's ends in ``-rancher1``, capi-helm has none.
Nova's zone without a name is ``nova`` (its option default_availability_zone).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from fleet.clouds import DRIVERS, Cloud, MagnumDriver
from fleet.labels import CapacityType, Taint
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes.hints import merged, missing_card, missing_label, missing_resource, missing_room
from rehearsal.nodes.machines import Machine, Query, find_machine
from rehearsal.nodes.reading import (
    at,
    component_of,
    facts_of,
    labels_at,
    part_name,
    refuse,
    sibling,
    site_of,
    split_taint,
    text,
    whole,
)
from rehearsal.nodes.reserving import Size, kubelet_sizes
from rehearsal.nodes.template import AutoscalerView, NodeTemplate

POOL = "openstack:containerinfra/nodeGroup:NodeGroup"
CLUSTER = "openstack:containerinfra/cluster:Cluster"
TEMPLATE = "openstack:containerinfra/clusterTemplate:ClusterTemplate"
ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.cinder.csi.openstack.org/zone")
DEFAULT_GROUP = "default-worker"
_NO_ZONE = "nova"
_PODS = 110
_FLAVOR_DISK_GIB = 100
_HEAT_TAG_END = "-rancher1"


def read(graph: ResourceGraph) -> tuple[NodeTemplate, ...]:
    """Return the node of every cluster's default worker, then of every group; raises FleetErrors for what makes no sense."""
    workers = [_template(graph, cluster, cluster) for cluster in graph.of_type(CLUSTER)]
    groups = [_template(graph, sibling(graph, component_of(graph, pool), CLUSTER), pool) for pool in graph.of_type(POOL)]
    return (*workers, *groups)


def driver_of(graph: ResourceGraph, cluster: Resource) -> MagnumDriver:
    """Return the driver of a cluster; raises FleetErrors when the stack exports one that is not known."""
    exported = at(facts_of(graph, component_of(graph, cluster).name), "identity.driver")
    if exported is not None:
        known = {str(driver): driver for driver in MagnumDriver}
        if exported not in known:
            raise refuse(
                cluster, "identity.driver", exported, "no Magnum driver of this name is known", f"One of {', '.join(known)}."
            )
        return known[exported]
    tag = kube_tag(graph, cluster)
    if not tag:
        return MagnumDriver.CAPI_HELM
    return MagnumDriver.HEAT if tag.endswith(_HEAT_TAG_END) else MagnumDriver.CLUSTER_API


def kube_tag(graph: ResourceGraph, cluster: Resource) -> str:
    """Return the template's Kubernetes version label of a cluster, empty when it has none."""
    wanted = at(cluster.inputs, "clusterTemplateId")
    template = next((found for found in graph.of_type(TEMPLATE) if found.id == wanted), None)
    return labels_at(template, "labels").get("kube_tag", "") if template else ""


def region_of(graph: ResourceGraph, resource: Resource) -> str:
    """Return the region of a resource: its own, its provider's, or OpenStack's own name for the one there is."""
    provider = graph.by_urn.get(resource.provider or "")
    return str(at(resource.inputs, "region") or (at(provider.inputs, "region") if provider else None) or "RegionOne")


def zones_of(resource: Resource) -> tuple[str, ...]:
    """Return the one zone that Magnum labels name, else Nova's."""
    return (labels_at(resource, "labels").get("availability_zone") or _NO_ZONE,)


def _template(graph: ResourceGraph, cluster: Resource, group: Resource) -> NodeTemplate:
    """Return the node of a group; the cluster itself stands for its default worker."""
    component = component_of(graph, cluster)
    is_default = group.urn == cluster.urn
    name = DEFAULT_GROUP if is_default else part_name(component, group)
    facts = facts_of(graph, component.name)
    driver, region = driver_of(graph, cluster), region_of(graph, group)
    flavor = text(group, "flavor" if is_default else "flavorId")
    exported: Mapping[str, Any] = at(facts, "pools") or {}
    machine = find_machine(Query(cloud=Cloud.OPENSTACK, machine=flavor, region=region, exported=exported.get(name, {})))
    least, most = _limits(group, is_default=is_default)
    labels, taints = _node(driver, group, machine, region)
    capacity, allocatable = _quantities(group, cluster, machine)
    return NodeTemplate(
        site=site_of(graph, cluster, component, ""),
        cluster=component.name,
        pool=name,
        cloud=Cloud.OPENSTACK,
        urn=group.urn,
        region=region,
        machine=machine.name,
        architecture=machine.architecture,
        capacity=capacity,
        allocatable=allocatable,
        labels=labels,
        taints=taints,
        zones=zones_of(group if not is_default else cluster),
        zone_labels=ZONE_LABELS,
        capacity_type=CapacityType.ON_DEMAND,
        usd_per_hour=machine.price(CapacityType.ON_DEMAND),
        min_nodes=least,
        max_nodes=most,
        card=machine.card,
        resource=machine.resource,
        accelerators=machine.accelerators,
        seen=_seen(_known(driver, group, facts, (labels, taints, capacity), least), machine, labels, most),
        notes=(*machine.notes, *_site_notes(facts, machine)),
    )


_Known = tuple[Mapping[str, str], tuple[Taint, ...], Mapping[str, str], str]
"""Labels, taints and resources that an autoscaler knows, and why it knows no more (empty when it knows the whole node)."""


def _known(
    driver: MagnumDriver,
    group: Resource,
    facts: Mapping[str, Any],
    node: tuple[Mapping[str, str], tuple[Taint, ...], Mapping[str, str]],
    least: int,
) -> _Known:
    """Return what the autoscaler knows of an empty group of a driver."""
    labels, taints, capacity = node
    if least > 0 or (driver is not MagnumDriver.CAPI_HELM and at(facts, "identity.gpu_autoscaler")):
        return labels, taints, capacity, ""
    basic = {key: capacity[key] for key in ("cpu", "memory", "pods", "ephemeral-storage")}
    expected = _driver_labels(driver, group)
    if driver is MagnumDriver.HEAT:
        own = {key: value for key, value in labels_at(group, "labels").items() if key != "kubelet_options"}
        expected = own | {"magnum.openstack.org/nodegroup": _group_name(group)}
    return expected, (), basic, DRIVERS[driver].no_wake


def _seen(known: _Known, machine: Machine, node_labels: Mapping[str, str], most: int) -> AutoscalerView:
    """Return the view of an empty group, with what is missing in it."""
    labels, taints, resources, no_wake = known
    because = f", and the stack exports no identity.gpu_autoscaler: {no_wake}" if no_wake else ""
    cards = missing_resource(machine, resources, f"{machine.resource} in the autoscaler's template")
    missing = (
        *missing_room(most, "maxNodeCount"),
        *missing_label(machine, node_labels, "the node label gpu, by labels.kubelet_options on Heat,"),
        *missing_label(machine, labels, "the label gpu in the autoscaler's template"),
        *(f"{card}{because}" for card in cards),
        *missing_card(machine, node_labels, "flavorId"),
    )
    return AutoscalerView(labels=labels, taints=taints, resources=resources, missing=missing)


def _node(driver: MagnumDriver, group: Resource, machine: Machine, region: str) -> tuple[dict[str, str], tuple[Taint, ...]]:
    """Return the labels and taints that a node of a group boots with."""
    labels = {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region,
        **_driver_labels(driver, group),
    }
    if driver is not MagnumDriver.HEAT:
        return labels, ()
    taints: list[Taint] = []
    for option in shlex.split(labels_at(group, "labels").get("kubelet_options", "")):
        flag, _, value = option.partition("=")
        parts = [part for part in value.split(",") if part]
        if flag == "--node-labels":
            labels |= {key: label for key, _, label in (part.partition("=") for part in parts)}
        elif flag == "--register-with-taints":
            taints += [split_taint(group, "labels.kubelet_options", part, Cloud.OPENSTACK) for part in parts]
    return labels, merged(tuple(taints))


def _driver_labels(driver: MagnumDriver, group: Resource) -> dict[str, str]:
    """Return the labels that a driver itself gives to nodes."""
    name, role = _group_name(group), str(at(group.inputs, "role") or "worker")
    return {
        MagnumDriver.HEAT: {"magnum.openstack.org/role": role, "magnum.openstack.org/nodegroup": name},
        MagnumDriver.CLUSTER_API: {f"node-role.kubernetes.io/{role}": "", "node.cluster.x-k8s.io/nodegroup": name},
        MagnumDriver.CAPI_HELM: {"capi.stackhpc.com/node-group": name},
    }[driver]


def _group_name(group: Resource) -> str:
    """Return a group's name in Magnum."""
    return DEFAULT_GROUP if group.type == CLUSTER else text(group, "name")


def _limits(group: Resource, *, is_default: bool) -> tuple[int, int]:
    """Return the fewest and the most nodes of a group; the default worker's are the cluster's labels, else its node count."""
    if not is_default:
        return whole(group, "minNodeCount", 0), whole(group, "maxNodeCount", 0)
    count = whole(group, "nodeCount", 1)
    return whole(group, "labels.min_node_count", count), whole(group, "labels.max_node_count", count)


def _quantities(group: Resource, cluster: Resource, machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
    """Return capacity and allocatable with the cards; the disk is a volume of the group or the cluster, else the flavor's."""
    labels = labels_at(cluster, "labels") | labels_at(group, "labels")
    disk = whole(group, "dockerVolumeSize", int(labels.get("boot_volume_size") or 0)) or _FLAVOR_DISK_GIB
    size = Size(millicores=machine.vcpus * 1000, memory_mib=machine.memory_mib, storage_mib=disk * 1024, pods=_PODS)
    capacity, allocatable = kubelet_sizes(size)
    cards = {machine.resource: str(machine.accelerators)} if machine.resource else {}
    return capacity.quantities() | cards, allocatable.quantities() | cards


def _site_notes(facts: Mapping[str, Any], machine: Machine) -> tuple[str, ...]:
    """Return that a pool with cards is woken on the site's word alone."""
    word = at(facts, "identity.gpu_autoscaler")
    return (f"its autoscaler is the site's own, on the site's word: {word}",) if word and machine.card else ()
