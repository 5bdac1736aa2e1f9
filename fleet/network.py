"""Addresses of a cluster: stated or usual, and never overlapping."""

from __future__ import annotations

import ipaddress
from itertools import combinations

from fleet.clouds import DRIVERS, DriverTraits
from fleet.records import NetworkPlan
from fleet.scope import Scope
from fleet.sizes import driver_of

_USUAL = {"nodes_cidr": "10.0.0.0/16", "pods_cidr": "10.64.0.0/14", "services_cidr": "10.112.0.0/20"}
_SMALLEST_PODS = 21
"""Longest prefix of the range of pods: GKE gives every node of 110 pods a /24, so it is room for 8 nodes (VPC-native)."""


def plan_network(scope: Scope) -> NetworkPlan:
    """Return the addresses of a cluster; ranges that overlap or are too small are put into the findings."""
    driver = driver_of(scope)
    traits = DRIVERS[driver] if driver else None
    ranges = {name: scope.text("network", name) or usual for name, usual in _usual(traits).items()}
    networks = {name: ipaddress.IPv4Network(text) for name, text in ranges.items()}
    smallest = {
        "nodes_cidr": scope.traits.smallest_nodes_cidr,
        "pods_cidr": _SMALLEST_PODS,
        "services_cidr": scope.traits.smallest_services_cidr,
    }
    for name, network in networks.items():
        _, path = scope.setting("network", name)
        if network.prefixlen > smallest[name]:
            scope.findings.refuse(path, "too few addresses", f"Use a /{smallest[name]} or larger.", str(network))
    largest = scope.traits.largest_nodes_cidr
    if networks["nodes_cidr"].prefixlen < largest:
        _, path = scope.setting("network", "nodes_cidr")
        reason = f"{scope.traits.title} takes no network larger than a /{largest}"
        scope.findings.refuse(path, reason, f"Use a /{largest} or smaller.", str(networks["nodes_cidr"]))
    for one, other in combinations(networks, 2):
        if networks[one].overlaps(networks[other]):
            told, beside = (other, one) if scope.text("network", other) else (one, other)
            _, path = scope.setting("network", told)
            reason = f"overlaps {beside}, {networks[beside]}"
            scope.findings.refuse(path, reason, "Use ranges that share no address.", str(networks[told]))
    services = networks["services_cidr"]
    if traits and traits.dns_address and ipaddress.IPv4Address(traits.dns_address) not in services:
        _, path = scope.setting("network", "services_cidr")
        reason = f"the {driver} driver puts the cluster's DNS at {traits.dns_address}, which is not in it"
        scope.findings.refuse(
            path, reason, f"Use {traits.services_cidr}, or another range that holds the address.", str(services)
        )
    return NetworkPlan(**ranges, control_plane_cidrs=scope.texts("network", "control_plane_cidrs")[0])


def _usual(traits: DriverTraits | None) -> dict[str, str]:
    """Return the ranges of a cluster that states none; a Magnum driver may fix that of the services."""
    return _USUAL | ({"services_cidr": traits.services_cidr} if traits and traits.services_cidr else {})
