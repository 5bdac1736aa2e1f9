"""What Karpenter and its kwok provider are told about a cluster's pools: instance types, node pools, custom resources, rights.

Karpenter stands in for each cloud's own autoscaler (cluster-autoscaler on three of them). Fields and pitfalls were read in
sigs.k8s.io/karpenter v1.14.3 on 2026-11-21; those that shaped this file:

- The name of an instance type becomes the label ``node.kubernetes.io/instance-type`` (kwok/cloudprovider/helpers.go), and a name
  that is no label value leaves its NodePool not ready without another sign.
- ``limits.nodes`` counts nodes that exist, but within one round of scheduling it goes down by what an instance type's resources
  say (`subtractMax`), where nothing is called ``nodes``: a burst of pods would pass the limit. So each instance type here has
  one ``nodes``. Limits of other resources would not do: kwok's nodes report what was requested as their capacity.
- The provider takes 100m and 10Mi from every instance type, which is added here, so that nodes end with the cloud's allocatable.
- Labels of ``karpenter.sh``, ``karpenter.kwok.sh`` and the host name are refused in a NodePool, and older names of well-known
  labels are read as the newer ones; labels of clouds and of Kubernetes pass. `late_labels` are for whoever finishes a node.
- Keys of an offering's requirements become well-known and its values labels of the node: a zone's other labels go there.
- Static NodePools (``replicas``, feature gate StaticCapacity, alpha) keep a number of nodes whatever pods there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lightkube.utils.quantity import parse_quantity

from fleet.labels import CapacityType, Taint
from rehearsal.nodes import NodeTemplate, wakes, why_asleep

POOL_LABEL = "karpenter.sh/nodepool"
REGISTERED_LABEL = "karpenter.sh/registered"
ZONE_LABEL = "topology.kubernetes.io/zone"
MACHINE_LABEL = "node.kubernetes.io/instance-type"
HOST_LABEL = "kubernetes.io/hostname"
NODE_CLASS = "rehearsal"

UNKNOWN_USD_PER_HOUR = 1000.0
"""What Karpenter is told of a pool whose price is not known: above any known one, so that it is not preferred by mistake."""

_REFUSED_DOMAINS = ("karpenter.sh", "karpenter.kwok.sh")
_OLDER_NAMES = frozenset(
    {
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
    }
)
_OVERHEAD = {"cpu": Decimal("0.1"), "memory": Decimal(10 * 1024**2)}
_MOST_WEIGHT = 100
_LONGEST_VALUE = 63
_EMPTY_SECONDS = 3
"""Seconds without a pod after which a node may go. Clouds wait 10 minutes, which would show nothing more. Karpenter looks every
10 seconds and again 15 later (pkg/controllers/disruption), neither of which can be set: 15 to 30 seconds in all."""

_CAPACITY = {CapacityType.ON_DEMAND: "on-demand", CapacityType.SPOT: "spot", CapacityType.RESERVED: "on-demand"}
"""Karpenter's words. Its own ``reserved`` is an EC2 capacity reservation with an id, so reserved nodes are on-demand to it."""


def karpenter_name(pool: str, *, kept: bool = False) -> str:
    """Return the name of a pool's NodePool, or of the static one that keeps its least number of nodes."""
    plain = re.sub(r"[^a-z0-9-]", "-", pool.lower()).strip("-")
    return f"{plain}.min" if kept else plain


def is_static(template: NodeTemplate) -> bool:
    """Return whether all nodes of a pool come by number and none by Karpenter's scheduling: slices of several hosts do."""
    return template.hosts > 1


def reason_asleep(template: NodeTemplate) -> str:
    """Return why a pool without nodes never gets one; empty when it does."""
    if template.min_nodes > 0:
        return ""  # the cloud's autoscaler copies the node that is there
    if not wakes(template):
        return why_asleep(template)
    if template.max_nodes < template.hosts:
        most = f"a slice is {template.hosts} hosts, the pool's most is {template.max_nodes}"
        return f"{template.cluster}/{template.pool} does not wake: {most}."
    return ""


@dataclass(slots=True)
class _Shape:
    """Machines that differ for Karpenter in zone, capacity type and price alone."""

    name: str
    template: NodeTemplate
    usd_per_hour: dict[tuple[str, str], float] = field(default_factory=dict)
    zone_labels: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceTypes:
    """The machines of a cluster as Karpenter knows them.

    Attributes:
        file: Content of the provider's file of instance types.
        names: Name of each pool's instance type: the machine's, or a longer one where a cluster boots one machine in two shapes.
    """

    file: tuple[Mapping[str, Any], ...]
    names: Mapping[str, str]


def instance_types(templates: Iterable[NodeTemplate]) -> InstanceTypes:
    """Return the machines of these pools of one cluster, one for each shape, priced by zone and capacity type."""
    shapes: list[_Shape] = []
    names: dict[str, str] = {}
    for template in templates:
        offers = {(zone, _CAPACITY[template.capacity_type]): _usd_per_hour(template) for zone in template.zones}
        shape = next((one for one in shapes if _fits(one, template, offers)), None)
        if shape is None:
            is_first = all(one.template.machine != template.machine for one in shapes)
            shape = _Shape(
                name=_legal(template.machine if is_first else f"{template.machine}_{template.pool}"), template=template
            )
            shapes.append(shape)
        shape.usd_per_hour |= offers
        shape.zone_labels |= {key for key in template.zone_labels if key != ZONE_LABEL and _is_taken(key)}
        names[template.pool] = shape.name
    return InstanceTypes(file=tuple(_instance_type(shape) for shape in shapes), names=names)


def node_pools(template: NodeTemplate, machine: str, weight: int) -> tuple[dict[str, Any], ...]:
    """Return the NodePools of a pool: what keeps its least number of nodes, and what adds nodes up to its most.

    Args:
        template: The pool.
        machine: Name of its instance type.
        weight: Of 1 to 100; the greater is tried first.
    """
    made: list[dict[str, Any]] = []
    if is_static(template):
        return (_node_pool(karpenter_name(template.pool), template, machine, {"replicas": 0, **_limit(template.max_nodes)}),)
    if template.min_nodes > 0:
        kept = {"replicas": template.min_nodes, **_limit(template.min_nodes)}
        made.append(_node_pool(karpenter_name(template.pool, kept=True), template, machine, kept))
    if template.max_nodes > template.min_nodes:
        more = {**_limit(template.max_nodes - template.min_nodes), "weight": weight}
        made.append(_node_pool(karpenter_name(template.pool), template, machine, more))
    return tuple(made)


def weights(templates: Sequence[NodeTemplate]) -> dict[str, int]:
    """Return each pool's weight: by priority, then spot before what is always there."""
    ranks = sorted({_rank(template) for template in templates}, reverse=True)
    return {template.pool: max(1, _MOST_WEIGHT - ranks.index(_rank(template))) for template in templates}


def late_labels(template: NodeTemplate, zone: str) -> dict[str, str]:
    """Return all labels that a node of a pool in a zone should have, whoever sets them; the host name's is its own."""
    return {**template.labels, **dict.fromkeys(template.zone_labels, zone)}


def node_class(boot_seconds: int) -> dict[str, Any]:
    """Return the node class, whose machines take so long from being ordered to the node's first sign."""
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": NODE_CLASS},
        "spec": {"nodeRegistrationDelay": f"{boot_seconds}s"},
    }


def _node_pool(name: str, template: NodeTemplate, machine: str, size: Mapping[str, Any]) -> dict[str, Any]:
    """Return one NodePool."""
    wanted = {MACHINE_LABEL: [machine], ZONE_LABEL: list(template.zones)}
    wanted["karpenter.sh/capacity-type"] = [_CAPACITY[template.capacity_type]]
    spec = {
        "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": NODE_CLASS},
        "requirements": [{"key": key, "operator": "In", "values": values} for key, values in wanted.items()],
        "taints": [_taint(taint) for taint in template.taints],
        "expireAfter": "Never",
    }
    labels = {key: value for key, value in template.labels.items() if _is_taken(key)}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "template": {"metadata": {"labels": labels}, "spec": spec},
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": f"{_EMPTY_SECONDS}s",
                "budgets": [{"nodes": "100%"}],
            },
            **size,
        },
    }


def _instance_type(shape: _Shape) -> dict[str, Any]:
    """Return one entry of the file; the provider reads an offering's keys only with capitals."""
    resources = {name: _before_overhead(name, value) for name, value in shape.template.allocatable.items()}
    return {
        "name": shape.name,
        "architecture": shape.template.architecture,
        "operatingSystems": ["linux"],
        "resources": {**resources, "nodes": "1"},
        "offerings": [
            {"Price": usd, "Available": True, "Requirements": _offered(zone, capacity, sorted(shape.zone_labels))}
            for (zone, capacity), usd in sorted(shape.usd_per_hour.items())
        ],
    }


def _offered(zone: str, capacity: str, zone_labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return what an offering is tied to."""
    values = {"karpenter.sh/capacity-type": capacity, ZONE_LABEL: zone, **dict.fromkeys(zone_labels, zone)}
    return [{"key": key, "operator": "In", "values": [value]} for key, value in values.items()]


def _fits(shape: _Shape, template: NodeTemplate, offers: Mapping[tuple[str, str], float]) -> bool:
    """Return whether a pool's machines are of a shape, and cost the same where both are offered."""
    one = shape.template
    is_same = (one.machine, one.architecture, dict(one.allocatable)) == (
        template.machine,
        template.architecture,
        dict(template.allocatable),
    )
    return is_same and all(shape.usd_per_hour.get(offer, usd) == usd for offer, usd in offers.items())


def _usd_per_hour(template: NodeTemplate) -> float:
    """Return the price that Karpenter is told."""
    return UNKNOWN_USD_PER_HOUR if template.usd_per_hour is None else template.usd_per_hour


def _rank(template: NodeTemplate) -> tuple[int, bool]:
    """Return what a pool is tried by."""
    return template.priority, template.capacity_type is CapacityType.SPOT


def _limit(nodes: int) -> dict[str, Any]:
    """Return the most nodes of a NodePool."""
    return {"limits": {"nodes": str(nodes)}}


def _taint(taint: Taint) -> dict[str, str]:
    """Return a taint as Kubernetes spells it; an empty value is left out."""
    return {"key": taint.key, "effect": str(taint.effect), **({"value": taint.value} if taint.value else {})}


def _is_taken(key: str) -> bool:
    """Return whether a label may stand in a NodePool and means there what it says."""
    domain = key.rpartition("/")[0]
    is_refused = f".{domain}".endswith(tuple(f".{refused}" for refused in _REFUSED_DOMAINS))
    return not is_refused and key not in {HOST_LABEL, MACHINE_LABEL, ZONE_LABEL} and key not in _OLDER_NAMES


def _legal(name: str) -> str:
    """Return a name as a label value may be."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:_LONGEST_VALUE].strip("_.-")


def _before_overhead(resource: str, quantity: str) -> str:
    """Return a quantity with what the provider will take from it, in a unit of which it is a whole number."""
    if resource not in _OVERHEAD:
        return quantity
    total = (parse_quantity(quantity) or Decimal(0)) + _OVERHEAD[resource]
    return f"{int(total * 1000)}m" if resource == "cpu" else str(int(total))
