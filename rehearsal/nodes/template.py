"""What a declared pool's node would be, and what its cloud's autoscaler knows of the pool while it has no node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoscalerView:
    """A pool without nodes as its cloud's own autoscaler sees it.

    Attributes:
        labels: Node labels it expects.
        taints: Taints it expects.
        resources: Resources it expects, as Kubernetes quantities.
        missing: A clause for each thing without which a pod that selects the card, requests it and tolerates its taint does not
            wake the pool; each names the property, tag or setting. Empty when the pool wakes.
    """

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    resources: Mapping[str, str]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeTemplate:
    """The node that a cloud would boot for a declared pool. Nothing in it comes from the fleet's plan.

    Attributes:
        site: Site of the cluster.
        cluster: Name of the cluster's component.
        pool: The pool's logical name without the cluster's in front, such as ``t4-spot``.
        cloud: Its cloud.
        urn: URN of the resource that declares the pool.
        region: Region as the node label has it.
        machine: Machine type or flavor.
        architecture: ``amd64`` or ``arm64``.
        capacity: Kubernetes quantities: cpu, memory, pods, ephemeral-storage, and the card's extended resource.
        allocatable: The same after what the cloud keeps for kubelet, system and eviction.
        labels: All node labels but those of `zone_labels` and the host name, the cloud's own included.
        taints: Sorted, the cloud's own included.
        zones: Zones a node may come up in, as label values; never empty.
        zone_labels: Label keys whose value is the node's zone.
        capacity_type: How nodes are paid for.
        usd_per_hour: Price of one node under that capacity type, from the catalogue; None when not known.
        min_nodes: Fewest nodes.
        max_nodes: Most nodes over all zones.
        hosts: Nodes of one multi-host slice, made and lost together; 1 for all else.
        priority: The greater is tried first among pools that a pod fits.
        card: What the machine carries, whatever the pool's labels say; None without accelerator.
        resource: Extended resource of the card; None without accelerator.
        accelerators: Cards on one node.
        seen: What the cloud's autoscaler knows while there is no node.
        notes: What is a fallback or an estimate here, as clauses to print.
    """

    site: str
    cluster: str
    pool: str
    cloud: Cloud
    urn: str
    region: str
    machine: str
    architecture: str
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    zones: tuple[str, ...]
    zone_labels: tuple[str, ...]
    capacity_type: CapacityType
    usd_per_hour: float | None
    min_nodes: int
    max_nodes: int
    hosts: int = 1
    priority: int = 1
    card: str | None = None
    resource: str | None = None
    accelerators: int = 0
    seen: AutoscalerView
    notes: tuple[str, ...] = ()


def wakes(template: NodeTemplate) -> bool:
    """Return whether the cloud's autoscaler would make the pool's first node, judged by `AutoscalerView` alone."""
    return not template.seen.missing


def why_asleep(template: NodeTemplate) -> str:
    """Return one sentence that names all that is missing, or an empty text for a pool that wakes."""
    if wakes(template):
        return ""
    return f"{template.cluster}/{template.pool} does not wake from zero: {'; '.join(template.seen.missing)}."
