"""The clouds a cluster can stand on: one closed list, and one row of facts each, so that nobody asks ``if cloud ==`` elsewhere.

What a cloud cannot do is a row with its reason, printed to the user by whoever has to refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Cloud(StrEnum):
    """A cloud, by the name that inventory, catalogue and stacks use for it."""

    GOOGLE = "google"
    AWS = "aws"
    AZURE = "azure"
    OPENSTACK = "openstack"


class MagnumDriver(StrEnum):
    """The Magnum driver that an OpenStack site runs."""

    HEAT = "heat"
    CAPI_HELM = "capi-helm"
    CLUSTER_API = "cluster-api"


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudTraits:
    """What the plan has to know of a cloud.

    Attributes:
        title: Name and service, for people.
        site_names: Sites of these names are on this cloud when the inventory does not say.
        region: Region of a cluster when neither it nor its site names one.
        zone_suffixes: Zones of a cluster when none are named, as endings of the region's name; empty lets the cloud choose.
        zone_pattern: Regular expression that a zone of region ``{region}`` matches whole.
        zone_example: A zone for error messages.
        zones_follow_cluster: Whether a pool whose zones nobody named keeps to the cluster's; False lets the cloud choose.
        system_machine: Machine type of the pool without accelerators.
        account_pattern: Regular expression that an account matches whole.
        account_words: What an account is there, with an example.
        admin_pattern: Regular expression for one of the `admins`.
        admin_words: What an admin is there, with an example; empty where the cloud takes none.
        most_admins: How many admins the cloud takes.
        spot_preference: How the autoscaler comes to try a spot pool before its on-demand twin.
        fewest_zones: How many zones a cluster has to have at least.
        longest_key: Most characters of a node label's or taint's key.
        reserved_zones: How many zones a pool on reserved capacity has; 0 for any number.
        largest_nodes_cidr: Shortest prefix that the range of nodes may have; 0 for any.
        smallest_nodes_cidr: Longest prefix that it may have.
        smallest_services_cidr: Longest prefix that the range of services may have.
        reservation_pattern: Regular expression that the name of a reservation matches whole.
        reservation_words: What names a reservation there.
        maintenance_hours: Hours in any 32 days that a maintenance window has to leave; 0 for any number.
        no_operator: Why no operator in the cluster can bring the kernel driver; empty where one can.
        has_magnum: Whether clusters are made by OpenStack Magnum, through one of its drivers.
        reads_priorities: Whether the cluster autoscaler there reads the priority expander's ConfigMap.
        no_spot: Why spot cannot be had; empty where it can.
        no_reservation: Why reserved capacity cannot be drawn on; empty where it can.
    """

    title: str
    site_names: tuple[str, ...]
    region: str
    zone_suffixes: tuple[str, ...]
    zone_pattern: str
    zone_example: str
    zones_follow_cluster: bool
    system_machine: str
    account_pattern: str
    account_words: str
    admin_pattern: str
    admin_words: str
    most_admins: int
    spot_preference: str
    fewest_zones: int = 0
    longest_key: int = 317
    reserved_zones: int = 0
    largest_nodes_cidr: int = 0
    smallest_nodes_cidr: int = 24
    smallest_services_cidr: int = 27
    reservation_pattern: str = ".+"
    reservation_words: str = ""
    maintenance_hours: int = 0
    no_operator: str = ""
    has_magnum: bool = False
    reads_priorities: bool = True
    no_spot: str = ""
    no_reservation: str = ""

    def accepts_account(self, text: str) -> bool:
        """Return whether `text` can be an account of this cloud."""
        return re.fullmatch(self.account_pattern, text) is not None

    def accepts_admin(self, text: str) -> bool:
        """Return whether `text` can be an admin of this cloud."""
        return re.fullmatch(self.admin_pattern, text) is not None


_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PRIORITY_EXPANDER = (
    "a cluster autoscaler with --expander=priority tries the spot pool first; "
    "the hub stack writes its ConfigMap from the pools' priorities"
)

TRAITS: Mapping[Cloud, CloudTraits] = {
    Cloud.GOOGLE: CloudTraits(
        title="Google Kubernetes Engine",
        site_names=("google", "gcp", "gke"),
        region="us-central1",
        zone_suffixes=(),
        zone_pattern=r"{region}-[a-z]",
        zone_example="{region}-a",
        zones_follow_cluster=True,
        system_machine="e2-standard-4",
        account_pattern=r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
        account_words="a project id, such as physics-gpu-1",
        admin_pattern=r"gke-security-groups@[a-z0-9.-]+",
        admin_words="the one Google group for RBAC, gke-security-groups@your.domain",
        most_admins=1,
        reads_priorities=False,
        maintenance_hours=48,
        spot_preference="GKE's autoscaler takes the cheapest pool that a pod fits, which is the spot pool; it has no setting",
    ),
    Cloud.AWS: CloudTraits(
        title="Amazon EKS",
        site_names=("aws", "eks", "amazon"),
        region="us-east-1",
        zone_suffixes=("a", "b", "c"),
        zone_pattern=r"{region}[a-g]",
        zone_example="{region}a",
        zones_follow_cluster=True,
        system_machine="m7i.xlarge",
        fewest_zones=2,
        longest_key=63,
        reserved_zones=1,
        reservation_pattern=r"cr-[0-9a-f]{17}",
        reservation_words="the id of a capacity block, such as cr-0123456789abcdef0",
        largest_nodes_cidr=16,
        smallest_nodes_cidr=22,
        smallest_services_cidr=24,
        no_operator="NVIDIA's operator has no driver for the Amazon Linux nodes of EKS (NVIDIA/gpu-operator#686)",
        account_pattern=r"[0-9]{12}",
        account_words="an account number of 12 digits, in quotes",
        admin_pattern=r"arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/.+",
        admin_words="an IAM principal, such as arn:aws:iam::123456789012:role/platform",
        most_admins=20,
        spot_preference=_PRIORITY_EXPANDER,
    ),
    Cloud.AZURE: CloudTraits(
        title="Azure Kubernetes Service",
        site_names=("azure", "aks", "microsoft"),
        region="eastus",
        zone_suffixes=(),
        zone_pattern=r"[123]",
        zone_example="1",
        zones_follow_cluster=False,
        system_machine="Standard_D4s_v5",
        reservation_pattern=r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+",
        reservation_words="the full id of a capacity reservation group, from /subscriptions/ on",
        account_pattern=_UUID,
        account_words="a subscription id, such as 00000000-0000-0000-0000-000000000000",
        admin_pattern=_UUID,
        admin_words="the object id of an Entra group",
        most_admins=20,
        spot_preference=_PRIORITY_EXPANDER,
    ),
    Cloud.OPENSTACK: CloudTraits(
        title="OpenStack Magnum",
        site_names=("cern", "openstack", "magnum"),
        region="cern",
        zone_suffixes=(),
        zone_pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
        zone_example="nova",
        zones_follow_cluster=True,
        system_machine="m2.xlarge",
        has_magnum=True,
        account_pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
        account_words="an entry of clouds.yaml, such as cern",
        admin_pattern=r"(?!)",
        admin_words="",
        most_admins=0,
        spot_preference=_PRIORITY_EXPANDER,
        no_spot="Magnum has no spot or preemptible node groups",
        no_reservation="Magnum cannot draw on a reservation",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverTraits:
    """What a Magnum driver can do, every "no" with its reason.

    Attributes:
        no_zero: Why a node group cannot have 0 nodes at all; empty where it can.
        no_wake: Why an empty GPU node group is not woken by the autoscaler the driver brings.
        no_taints: Why nodes do not get the plan's taints; empty where they do.
        no_labels: Why nodes do not get the plan's labels; empty where they do.
        no_control_plane_cidrs: Why access to the API server cannot be restricted to ranges; empty where it can.
        services_cidr: The usual range of services, where the driver is not free in it; empty where it is.
        dns_address: The cluster DNS' address where the driver fixes it: it has to be in the range of services.
        newest_kubernetes: Newest Kubernetes minor version that the driver's release notes name; empty when they name none.
        wants_patch_version: Whether the driver is told the version with its patch level.
        warning: What anybody who chooses the driver should know; empty for nothing.
        source: Where these are from, with the date.
    """

    no_zero: str
    no_wake: str
    no_taints: str
    no_labels: str
    warning: str
    source: str
    no_control_plane_cidrs: str = ""
    services_cidr: str = ""
    dns_address: str = ""
    newest_kubernetes: str = ""
    wants_patch_version: bool = False


DRIVERS: Mapping[MagnumDriver, DriverTraits] = {
    MagnumDriver.HEAT: DriverTraits(
        no_zero="",
        no_wake=(
            "the autoscaler's magnum provider makes its template of an empty group without nvidia.com/gpu and without taints, "
            "so a pending GPU pod matches none"
        ),
        no_taints="",
        no_labels="",
        warning="Magnum's Heat driver is deprecated since 20.0.0 and gone in 23.0.0 (2026.2)",
        source="kubernetes/autoscaler magnum_nodegroup.go 2026-08-22; openstack/magnum stable/2026.1 9f9c4b9f, 2026-07",
        services_cidr="10.254.0.0/16",
        dns_address="10.254.0.10",
        newest_kubernetes="1.28",
        wants_patch_version=True,
    ),
    MagnumDriver.CAPI_HELM: DriverTraits(
        no_zero="the magnum-capi-helm driver raises for a minimum below 1",
        no_wake="the magnum-capi-helm driver raises for a minimum below 1",
        no_taints="the magnum-capi-helm driver passes no taints to nodes",
        no_labels="the magnum-capi-helm driver passes no labels to nodes but capi.stackhpc.com/node-group",
        warning="a system pool that can grow has two nodes at least: the driver's own worker, and one of the group that grows",
        source="magnum-capi-helm driver.py a8b82c2; azimuth capi-helm-charts issue 84",
    ),
    MagnumDriver.CLUSTER_API: DriverTraits(
        no_zero="",
        no_wake="magnum-cluster-api annotates empty groups with cpu, memory and disk, never with the card or a taint",
        no_taints="the magnum-cluster-api driver passes no taints to nodes",
        no_labels="the magnum-cluster-api driver passes no labels to nodes but node-role.kubernetes.io/<role> of the group",
        warning="",
        source="magnum-cluster-api resources.py 3890a36, 2026-08",
        no_control_plane_cidrs="the magnum-cluster-api driver cannot restrict the API server to address ranges",
        wants_patch_version=True,
    ),
}
