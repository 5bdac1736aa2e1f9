"""Sites: which cloud each is on, which cluster is the hub, and which flavors a site brings to the catalogue."""

from __future__ import annotations

import difflib
from dataclasses import replace

from fleet.catalogue import Attachment, Catalogue, Offer, Status, UnknownCard
from fleet.clouds import TRAITS, Cloud
from fleet.inventory import Inventory, Site
from fleet.scope import Findings

_NAMES_SHOWN = 3

HUB_STACK = "hub"
"""Name of the stack that holds everything inside Kubernetes; no site may have it."""


def hub_of(inventory: Inventory, findings: Findings) -> str | None:
    """Return the name of the hub: the one stated, else the first cluster of the file."""
    names = [name for clusters in inventory.clusters.values() for name in clusters]
    if not names:
        findings.refuse(("clusters",), "no cluster", "Name at least one cluster under a site.")
        return None
    if inventory.hub is None:
        findings.note("hub", f"{names[0]} is the hub, as the first cluster of the inventory; `hub: NAME` chooses another")
        return names[0]
    if inventory.hub not in names:
        near = difflib.get_close_matches(inventory.hub, names) or sorted(names)[:_NAMES_SHOWN]
        findings.refuse(
            ("hub",), "no such cluster", f"Name a cluster of the inventory, such as {' or '.join(near)}.", inventory.hub
        )
    return inventory.hub


def cloud_of(inventory: Inventory, site_name: str, findings: Findings) -> Cloud | None:
    """Return a site's cloud: the one stated, else the one that its name is known for."""
    if site_name == HUB_STACK:
        findings.refuse(("clusters", site_name), "the hub's stack has this name", "Give the site another name.")
        return None
    site = inventory.sites.get(site_name)
    if site and site.cloud:
        return site.cloud
    known = [cloud for cloud, traits in TRAITS.items() if site_name in traits.site_names]
    if known:
        return known[0]
    remedy = f"State sites.{site_name}.cloud: one of {', '.join(TRAITS)}."
    findings.refuse(("clusters", site_name), "nobody says which cloud this site is on", remedy)
    return None


def check_site(inventory: Inventory, site_name: str, cloud: Cloud, findings: Findings) -> None:
    """Refuse settings of a site that do not fit its cloud, and warn of what is doubtful about its Magnum driver."""
    site = inventory.sites.get(site_name) or Site()
    traits = TRAITS[cloud]
    path = ("sites", site_name)
    if site.account is not None and not traits.accepts_account(site.account):
        findings.refuse((*path, "account"), "not an account of this cloud", f"Use {traits.account_words}.", site.account)
    if site.openstack is not None and not traits.has_magnum:
        remedy = f"Remove it: {site_name} is on {traits.title}."
        findings.refuse((*path, "openstack"), "only OpenStack sites have these settings", remedy)
    if not inventory.clusters[site_name]:
        findings.refuse(("clusters", site_name), "no cluster", "Name at least one cluster, or remove the site.")


def with_flavors(catalogue: Catalogue, inventory: Inventory, site_name: str, findings: Findings) -> Catalogue:
    """Return the catalogue with the flavors that an OpenStack site states for itself."""
    site = inventory.sites.get(site_name)
    offers: list[Offer] = []
    for name, flavor in sorted(site.openstack.flavors.items()) if site and site.openstack else ():
        path = ("sites", site_name, "openstack", "flavors", name, "card")
        try:
            card = catalogue.card(flavor.card)
        except UnknownCard as unknown:
            near = ", ".join(unknown.nearest)
            remedy = f"Did you mean {near}?" if near else "`./gpufleet catalogue` lists the cards."
            findings.refuse(path, "no such card", remedy, flavor.card)
            continue
        offers.append(
            Offer(
                cloud=Cloud.OPENSTACK,
                card=card.name,
                machine=name,
                attachment=Attachment.BUNDLED,
                status=Status.AVAILABLE,
                source="the inventory",
                as_of="",
                accelerators=flavor.accelerators,
                vcpus=flavor.vcpus,
                memory_gib=flavor.memory_gib,
                on_demand_usd_per_hour=flavor.usd_per_hour,
                mode=flavor.mode,
                site=site_name,
            )
        )
    stated = {offer.machine for offer in offers}
    kept = tuple(offer for offer in catalogue.offers if offer.site != site_name or offer.machine not in stated)
    return replace(catalogue, offers=(*kept, *offers)) if offers else catalogue


def check_settings_used(inventory: Inventory, findings: Findings) -> None:
    """Refuse settings for sites that have no cluster: a misspelt site would else be ignored in silence."""
    for name in inventory.sites:
        if name not in inventory.clusters:
            remedy = f"Known under `clusters`: {', '.join(sorted(inventory.clusters))}."
            findings.refuse(("sites", name), "settings of a site that has no clusters", remedy)
