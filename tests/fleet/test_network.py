"""Addresses: limits at both ends of each range, and overlaps."""

from __future__ import annotations

import ipaddress
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.clouds import TRAITS, Cloud
from tests.support.planning import mistakes, planned

SITES = {Cloud.GOOGLE: "google", Cloud.AWS: "aws", Cloud.AZURE: "azure", Cloud.OPENSTACK: "cern"}
NAMES = ("nodes_cidr", "pods_cidr", "services_cidr")


def stating(cloud: Cloud, **ranges: str) -> str:
    """Return an inventory of one cluster with some ranges; Magnum's driver is one that leaves services free."""
    words = ", ".join(f"{name}: {text}" for name, text in ranges.items())
    openstack = "sites: {cern: {openstack: {driver: capi-helm}}}, " if cloud is Cloud.OPENSTACK else ""
    return f"{{{openstack}clusters: {{{SITES[cloud]}: {{one: {{gpus: [], network: {{{words}}}}}}}}}}}"


@pytest.mark.parametrize("cloud", list(Cloud))
@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_range_is_the_clouds(cloud: Cloud, name: str) -> None:
    """The limit plans, and half of it is refused with the limit as remedy."""
    traits = TRAITS[cloud]
    longest = {"nodes_cidr": traits.smallest_nodes_cidr, "pods_cidr": 21, "services_cidr": traits.smallest_services_cidr}[name]
    (cluster,) = planned(stating(cloud, **{name: f"10.200.0.0/{longest}"})).clusters
    assert getattr(cluster.network, name) == f"10.200.0.0/{longest}"
    (mistake,) = mistakes(stating(cloud, **{name: f"10.200.0.0/{longest + 1}"}))
    assert (mistake.reason, mistake.remedy) == ("too few addresses", f"Use a /{longest} or larger.")


def test_the_largest_vpc_is_a_16() -> None:
    """AWS takes a /16 and no more; elsewhere a larger range of nodes plans."""
    assert not mistakes(stating(Cloud.AWS, nodes_cidr="10.4.0.0/16"))
    assert [mistake.value for mistake in mistakes(stating(Cloud.AWS, nodes_cidr="10.4.0.0/15"))] == ["10.4.0.0/15"]
    assert not mistakes(stating(Cloud.AZURE, nodes_cidr="10.4.0.0/15"))


def test_an_overlap_is_told_at_what_is_stated() -> None:
    """The range that the operator wrote is the one to change, not a default that nobody wrote."""
    (mistake,) = mistakes(stating(Cloud.GOOGLE, nodes_cidr="10.112.0.0/16"))
    assert (mistake.path, mistake.value) == ("clusters.google.one.network.nodes_cidr", "10.112.0.0/16")
    assert mistake.reason == "overlaps services_cidr, 10.112.0.0/20"


RANGES = st.builds(
    lambda number, length: str(ipaddress.IPv4Network((number, length), strict=False)),
    st.integers(10 << 24, (10 << 24) + (4 << 16) - 1),
    st.integers(14, 22),
)


@settings(max_examples=100, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(NAMES, RANGES)))
def test_overlaps_are_refused_and_nothing_else_is(ranges: dict[str, str]) -> None:
    """For any three ranges of legal size there is a refusal exactly when two of them share an address."""
    networks = [ipaddress.IPv4Network(text) for text in ranges.values()]
    shared = [one for one in combinations(networks, 2) if one[0].overlaps(one[1])]
    found = [mistake for mistake in mistakes(stating(Cloud.GOOGLE, **ranges)) if mistake.reason != "too few addresses"]
    assert bool(found) == bool(shared)
    assert all(mistake.reason.startswith("overlaps ") for mistake in found)
