"""The frozen records of a fleet plan: everything a component needs to know, in words that no cloud owns.

A plan is made by `fleet.plan.plan`, which refuses what cannot work; from here on translation is total. A value of None means
"not stated, and nothing is assumed".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import CapacityType, Taint
from fleet.notes import Note

_PRIVATE = tuple(IPv4Network(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))

Pairs = tuple[tuple[str, str], ...]
"""Labels or tags: key and value, sorted by key, keys unique."""


class GpuDriver(StrEnum):
    """Who puts the accelerator's kernel driver on a node."""

    CLOUD = "cloud"
    OPERATOR = "operator"


class GpuMode(StrEnum):
    """How OpenStack hands a card to a node."""

    BARE_METAL = "bare-metal"
    PASSTHROUGH = "passthrough"
    VGPU = "vgpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What one node costs.

    Attributes:
        usd_per_hour: US dollars for one node and hour, under the pool's capacity type; None when unknown.
        is_estimate: True when the figure was derived, not read from a price list.
        source: Where the figure is from.
        as_of: When it was right, as the source dates itself.
    """

    usd_per_hour: float | None = None
    is_estimate: bool = False
    source: str = ""
    as_of: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodePool:
    """One autoscaling group of equal nodes that carry one kind of card.

    Attributes:
        name: Unique within its cluster, lower case letters, digits and dashes; the same on every cloud.
        card: Canonical card name, the value of the label ``gpu``.
        kind: Family of the card.
        resource: Extended resource a pod requests, such as ``nvidia.com/gpu``.
        machine: The cloud's machine type, or OpenStack's flavor.
        accelerator_type: Google's accelerator type; None where the cloud sells the card as part of the machine's name alone.
        accelerators: Cards on one node, at least 1.
        vcpus: Virtual processors of one node; None when unknown.
        memory_gib: Memory of one node in GiB; None when unknown.
        architecture: ``amd64`` or ``arm64``.
        min_nodes: Fewest nodes, 0 where the pool starts from zero.
        max_nodes: Most nodes over all zones, at least 1.
        capacity: How nodes are paid for.
        reservation: The cloud's name of the reservation to draw on; set exactly when `capacity` is reserved.
        priority: The autoscaler's preference among pools of the same card: the greater number is tried first.
        disk_gib: Size of a node's boot disk in GiB.
        zones: Zones that nodes may be made in, sorted; empty when the cloud chooses.
        topology: TPU slice topology such as ``2x4``; None for anything but TPUs.
        hosts: Nodes of one multi-host slice, which are made and lost together; 1 for all else.
        labels: Node labels, card and capacity included.
        taints: Node taints, the accelerator's and spot's included, sorted.
        gpu_driver: Who installs the kernel driver.
        mode: How OpenStack hands over the card; None elsewhere.
        price: Price of one node.
    """

    name: str
    card: str
    kind: AcceleratorKind
    resource: str
    machine: str
    accelerators: int
    min_nodes: int
    max_nodes: int
    accelerator_type: str | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    architecture: str = "amd64"
    capacity: CapacityType = CapacityType.ON_DEMAND
    reservation: str | None = None
    priority: int = 10
    disk_gib: int = 100
    zones: tuple[str, ...] = ()
    topology: str | None = None
    hosts: int = 1
    labels: Pairs = ()
    taints: tuple[Taint, ...] = ()
    gpu_driver: GpuDriver = GpuDriver.CLOUD
    mode: GpuMode | None = None
    price: Price = field(default_factory=Price)

    @property
    def is_spot(self) -> bool:
        """Whether nodes can be taken away at any time."""
        return self.capacity is CapacityType.SPOT

    @property
    def is_multi_host(self) -> bool:
        """Whether all nodes are one TPU slice, made and lost together."""
        return self.hosts > 1


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemPool:
    """The pool without accelerators, for the cluster's own pods and the infra class.

    Attributes:
        machine: The cloud's machine type or flavor.
        min_nodes: Fewest nodes, at least 1.
        max_nodes: Most nodes over all zones.
        disk_gib: Boot disk in GiB.
    """

    machine: str
    min_nodes: int
    max_nodes: int
    disk_gib: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkPlan:
    """Addresses of one cluster.

    Attributes:
        nodes_cidr: IPv4 range of the nodes.
        pods_cidr: IPv4 range of the pods.
        services_cidr: IPv4 range of the services.
        control_plane_cidrs: IPv4 ranges that may reach the API server; empty means every address may.
    """

    nodes_cidr: str
    pods_cidr: str
    services_cidr: str
    control_plane_cidrs: tuple[str, ...] = ()

    @property
    def public_control_plane_cidrs(self) -> tuple[str, ...]:
        """Ranges of the internet among those that may reach the API server."""
        return tuple(cidr for cidr in self.control_plane_cidrs if not _is_private(cidr))

    @property
    def is_private(self) -> bool:
        """Whether every range that may reach the API server is private, so that a public endpoint would serve nobody."""
        return bool(self.control_plane_cidrs) and not self.public_control_plane_cidrs


def _is_private(cidr: str) -> bool:
    """Return whether a range is of no one's internet (RFC 1918) or of a carrier's inside (RFC 6598)."""
    return any(IPv4Network(cidr).subnet_of(private) for private in _PRIVATE)


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceWindow:
    """When the cloud may upgrade a cluster.

    Attributes:
        days: Days of the week, English, capitalised, in calendar order.
        start_hour_utc: 0 to 23.
        hours: Length, at least 4.
    """

    days: tuple[str, ...]
    start_hour_utc: int
    hours: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MagnumPlan:
    """What only OpenStack Magnum needs to be told.

    Attributes:
        driver: The Magnum driver that the site runs.
        image: Glance image of the nodes, name or id.
        keypair: Nova keypair on the nodes; None for none.
        external_network: Neutron network that gives floating addresses.
        control_plane_flavor: Flavor of the control plane nodes.
        control_plane_nodes: 1, 3 or 5.
        gpu_autoscaler: The autoscaler that can wake an empty GPU group, in the site's words; None when there is none.
        dns_nameservers: Name servers of the nodes' subnet; the default is Magnum's own (kubecluster.yaml, 2026.1).
    """

    driver: MagnumDriver
    image: str
    external_network: str
    control_plane_flavor: str
    control_plane_nodes: int
    keypair: str | None = None
    gpu_autoscaler: str | None = None
    dns_nameservers: tuple[str, ...] = ("8.8.8.8",)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterPlan:
    """One cluster.

    Attributes:
        name: Unique in the fleet, lower case letters, digits and dashes.
        site: The site it belongs to, which is also the stack that makes it.
        cloud: Who runs it.
        account: Google project, AWS account number, Azure subscription or clouds.yaml entry; None for the credentials' own.
        region: The cloud's region.
        zones: Zones of the cluster's own nodes, sorted; empty when the cloud chooses.
        kubernetes_version: ``1.N`` or ``1.N.P``.
        tags: Cost tags for everything that takes them: site, cluster, billing account and the inventory's own.
        admins: Who administers the cluster, in the cloud's words: AWS role ARNs, Entra group ids, a Google group.
        network: Addresses.
        system_pool: Pool without accelerators.
        pools: One pool per card and capacity type, sorted by name.
        maintenance: When the cloud may upgrade; None leaves it to the cloud.
        magnum: Set exactly on OpenStack.
        is_hub: Whether ArgoCD and the federating Prometheus live here.
    """

    name: str
    site: str
    cloud: Cloud
    region: str
    kubernetes_version: str
    network: NetworkPlan
    system_pool: SystemPool
    pools: tuple[NodePool, ...]
    account: str | None = None
    zones: tuple[str, ...] = ()
    tags: Pairs = ()
    admins: tuple[str, ...] = ()
    maintenance: MaintenanceWindow | None = None
    magnum: MagnumPlan | None = None
    is_hub: bool = False

    @property
    def cards(self) -> tuple[str, ...]:
        """Names of the cards in the cluster, sorted, each once."""
        return tuple(sorted({pool.card for pool in self.pools}))


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetPlan:
    """The whole fleet.

    Attributes:
        clusters: Sorted by site and name.
        notes: Sorted by path.
    """

    clusters: tuple[ClusterPlan, ...]
    notes: tuple[Note, ...] = ()

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites, sorted: one cloud stack for each."""
        return tuple(sorted({cluster.site for cluster in self.clusters}))

    @property
    def hub(self) -> ClusterPlan:
        """The cluster that carries ArgoCD and the federating Prometheus."""
        return next(cluster for cluster in self.clusters if cluster.is_hub)

    def of_site(self, site: str) -> tuple[ClusterPlan, ...]:
        """Return a site's clusters, sorted by name; empty when the site is unknown."""
        return tuple(cluster for cluster in self.clusters if cluster.site == site)
