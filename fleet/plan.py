"""The plan: an inventory and a catalogue in, a frozen `FleetPlan` out, or every refusal at once.

`plan` is pure: equal inputs give equal plans, in one order, on any machine. Whatever cannot work is refused here with its place,
the reason and a next step, so that nothing after it has to refuse what could have been seen earlier.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

from fleet.catalogue import Attachment, Catalogue, Offer, Status, UnknownCard
from fleet.clouds import TRAITS, Cloud
from fleet.documents import Document
from fleet.inventory import Inventory, Site
from fleet.magnum import plan_magnum
from fleet.naming import CLUSTER_NAMES, POOL_NAMES, cloud_name
from fleet.network import plan_network
from fleet.pools import plan_pools
from fleet.records import ClusterPlan, FleetPlan, MaintenanceWindow, NodePool, Pairs, SystemPool
from fleet.scope import Findings, Scope
from fleet.versions import KUBERNETES
from fleet.zones import check_cluster_zones, cluster_zones

HUB_STACK = "hub"
"""Name of the stack that holds everything inside Kubernetes; no site may have it."""

_OWN_TAGS = ("billing-account", "card", "cluster", "managed-by", "site")
_RESERVED_POOLS = ("default-master", "default-worker", "general", "system")
"""Names of pools that clusters have besides those for cards."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def plan(inventory: Inventory, catalogue: Catalogue, document: Document) -> FleetPlan:
    """Return the plan of a fleet.

    Args:
        inventory: What the operator states.
        catalogue: What the clouds sell.
        document: What the inventory was read from, for the places in messages.

    Raises:
        FleetErrors: Something stated cannot be planned; every such thing is listed.
    """
    findings = Findings(document=document)
    hub = _hub(inventory, findings)
    clusters: list[ClusterPlan] = []
    for site_name in sorted(inventory.clusters):
        cloud = _cloud(inventory, site_name, findings)
        if cloud is None:
            continue
        _check_site(inventory, site_name, cloud, findings)
        offered = _with_flavors(catalogue, inventory, site_name, findings)
        for cluster_name in sorted(inventory.clusters[site_name]):
            scope = Scope(inventory=inventory, site_name=site_name, cluster_name=cluster_name, cloud=cloud, findings=findings)
            clusters.append(_cluster(scope, offered, is_hub=cluster_name == hub))
    _check_settings_used(inventory, findings)
    _check_names(clusters, findings)
    findings.raise_refusals()
    return FleetPlan(clusters=tuple(clusters), notes=tuple(sorted(set(findings.notes))))


def _hub(inventory: Inventory, findings: Findings) -> str | None:
    """Return the name of the hub: the one stated, else the first cluster of the file."""
    names = [name for clusters in inventory.clusters.values() for name in clusters]
    if not names:
        findings.refuse(("clusters",), "no cluster", "Name at least one cluster under a site.")
        return None
    if inventory.hub is None:
        findings.note("hub", f"{names[0]} is the hub, as the first cluster of the inventory; `hub: NAME` chooses another")
        return names[0]
    if inventory.hub not in names:
        findings.refuse(("hub",), "no such cluster", f"Name one of {', '.join(names)}.", inventory.hub)
    return inventory.hub


def _cloud(inventory: Inventory, site_name: str, findings: Findings) -> Cloud | None:
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


def _check_site(inventory: Inventory, site_name: str, cloud: Cloud, findings: Findings) -> None:
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


def _with_flavors(catalogue: Catalogue, inventory: Inventory, site_name: str, findings: Findings) -> Catalogue:
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


def _cluster(scope: Scope, catalogue: Catalogue, *, is_hub: bool) -> ClusterPlan:
    """Return one cluster; what is refused about it is in the scope's findings."""
    region = scope.text("region") or scope.traits.region
    check_cluster_zones(scope, region)
    _check_admins(scope)
    pools = plan_pools(scope, catalogue)
    _check_pool_names(scope, pools)
    _tell_quota(scope, region, pools)
    return ClusterPlan(
        name=scope.cluster_name,
        site=scope.site_name,
        cloud=scope.cloud,
        region=region,
        kubernetes_version=scope.text("kubernetes") or KUBERNETES,
        network=plan_network(scope),
        system_pool=_system_pool(scope),
        pools=pools,
        account=scope.site.account,
        zones=cluster_zones(scope, region),
        tags=_tags(scope),
        admins=scope.texts("admins")[0],
        maintenance=_maintenance(scope),
        magnum=plan_magnum(scope) if scope.traits.has_magnum else None,
        is_hub=is_hub,
    )


def _system_pool(scope: Scope) -> SystemPool:
    """Return the pool without accelerators."""
    least = scope.number(2, "system_pool", "min")
    most = scope.number(max(5, least), "system_pool", "max")
    if least > most:
        _, path = scope.setting("system_pool", "min")
        scope.findings.refuse(path, f"min {least} is more than max {most}", f"Use a min of at most {most}.", least)
    return SystemPool(
        machine=scope.text("system_pool", "machine") or scope.traits.system_machine,
        min_nodes=least,
        max_nodes=most,
        disk_gib=scope.number(100, "system_pool", "disk_gib"),
    )


def _maintenance(scope: Scope) -> MaintenanceWindow | None:
    """Return when the cloud may upgrade, days in the order of the week."""
    window = scope.maintenance()
    if window is None:
        return None
    days = tuple(day for day in _DAYS if day in window.days)
    return MaintenanceWindow(days=days, start_hour_utc=window.start_hour_utc, hours=window.hours)


def _tags(scope: Scope) -> Pairs:
    """Return a cluster's cost tags, sorted: ours, and the inventory's beside them."""
    for path, layer in scope.layers():
        for key in layer.tags:
            if key in _OWN_TAGS:
                remedy = "Use `billing_account` for who pays, or another key."
                scope.findings.refuse((*path, "tags", key), "gpufleet sets this tag itself", remedy, key)
    own = {"cluster": scope.cluster_name, "managed-by": "gpufleet", "site": scope.site_name}
    billing_account = scope.text("billing_account")
    if billing_account:
        own["billing-account"] = billing_account
    return tuple(sorted((scope.tags() | own).items()))


def _check_admins(scope: Scope) -> None:
    """Refuse admins that the cloud cannot take."""
    admins, path = scope.texts("admins")
    traits = scope.traits
    for admin in admins:
        if not traits.admin_words:
            scope.findings.refuse(path, f"{traits.title} takes no admins", "Leave `admins` out.", admin)
        elif not traits.accepts_admin(admin):
            scope.findings.refuse(path, "not an admin of this cloud", f"Use {traits.admin_words}.", admin)
    if traits.admin_words and len(admins) > traits.most_admins:
        remedy = f"Name {traits.most_admins} at most: {traits.admin_words}."
        scope.findings.refuse(path, f"{traits.title} takes {traits.most_admins}", remedy, len(admins))


def _check_pool_names(scope: Scope, pools: tuple[NodePool, ...]) -> None:
    """Refuse pools of one cluster whose names are equal, as written or as the cloud would have them."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for name in sorted({pool.name for pool in pools} & set(_RESERVED_POOLS)):
        scope.findings.refuse((*scope.path, "gpus"), "the pool without accelerators has this name", "Use another `name`.", name)
    for pool in pools:
        by_name[cloud_name(POOL_NAMES[scope.cloud], pool.name)].append(pool.name)
    for name, same in sorted(by_name.items()):
        if len(same) > 1:
            remedy = "Give one of them a `name` of its own."
            scope.findings.refuse((*scope.path, "gpus"), f"{len(same)} pools would be called {name}", remedy, ", ".join(same))


def _tell_quota(scope: Scope, region: str, pools: tuple[NodePool, ...]) -> None:
    """Note the quota that a cluster's pools need at full scale; the cloud grants none by default."""
    needs = [f"{pool.max_nodes * pool.accelerators} {pool.card} ({pool.capacity})" for pool in pools]
    if needs:
        scope.findings.note(scope.about, f"needs quota in {region} for {', '.join(needs)} at full scale")
    for one, other in combinations(pools, 2):
        if one.card == other.card and one.machine != other.machine:
            scope.findings.note(scope.about, f"{one.name} and {other.name} both answer to gpu={one.card}")


def _check_settings_used(inventory: Inventory, findings: Findings) -> None:
    """Refuse settings for sites that have no cluster: a misspelt site would else be ignored in silence."""
    for name in inventory.sites:
        if name not in inventory.clusters:
            remedy = f"Known under `clusters`: {', '.join(sorted(inventory.clusters))}."
            findings.refuse(("sites", name), "settings of a site that has no clusters", remedy)


def _check_names(clusters: list[ClusterPlan], findings: Findings) -> None:
    """Refuse clusters of equal names: they are logical names, cloud names and names in ArgoCD."""
    by_name: dict[str, list[ClusterPlan]] = defaultdict(list)
    for cluster in clusters:
        by_name[cluster.name].append(cluster)
    for name, same in sorted(by_name.items()):
        if len(same) > 1:
            sites = ", ".join(cluster.site for cluster in same)
            path = ("clusters", same[-1].site, name)
            findings.refuse(path, f"clusters of {sites} have this name", "Names are unique in the fleet: rename one.", name)
    by_cloud_name: dict[tuple[Cloud, str], list[str]] = defaultdict(list)
    for cluster in clusters:
        by_cloud_name[cluster.cloud, cloud_name(CLUSTER_NAMES[cluster.cloud], cluster.name)].append(cluster.name)
    for (cloud, short), names in sorted(by_cloud_name.items()):
        if len(set(names)) > 1:
            reason = f"{TRAITS[cloud].title} would call both {short}"
            findings.refuse(("clusters",), reason, "Rename one of them.", ", ".join(names))
