"""Inventories of any size for the benchmarks: one site, equal clusters of two GPU pools each, named c0000, c0001 ..."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """A site of the benchmark's inventory.

    Attributes:
        stack: Name of the site and of its stack.
        settings: The site's settings, YAML lines.
        cards: The cards of every cluster.
        sdk: Package of its provider SDK.
    """

    stack: str
    settings: tuple[str, ...]
    cards: tuple[str, ...]
    sdk: str


SITES = {
    "google": Site(stack="google", settings=("region: us-central1",), cards=("t4", "l4"), sdk="pulumi_gcp"),
    "aws": Site(stack="aws", settings=("region: us-east-1",), cards=("t4", "l4"), sdk="pulumi_aws"),
    "azure": Site(stack="azure", settings=("region: eastus",), cards=("t4", "h100"), sdk="pulumi_azure_native"),
    "openstack": Site(
        stack="cern",
        settings=(
            "cloud: openstack",
            "account: cern",
            "region: cern",
            'kubernetes: "1.28.9"',
            "openstack: {driver: heat, keypair: platform, gpu_autoscaler: cluster-autoscaler}",
        ),
        cards=("t4", "v100"),
        sdk="pulumi_openstack",
    ),
}
"""The site of each cloud."""


def name_of(index: int) -> str:
    """Return the name of a cluster, by its number from 0."""
    return f"c{index:04d}"


def write_inventory(file: Path, site: Site, clusters: int) -> None:
    """Write an inventory of one site with this many clusters; the first is the hub."""
    lines = [f"hub: {name_of(0)}", "sites:", f"  {site.stack}:"]
    lines += [f"    {setting}" for setting in site.settings]
    lines += ["clusters:", f"  {site.stack}:"]
    pools = f"{{gpus: [{', '.join(site.cards)}]}}"
    lines += [f"    {name_of(index)}: {pools}" for index in range(clusters)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
