"""The plan: an inventory and a catalogue in, a frozen `FleetPlan` out, or every refusal at once.

`plan` is pure: equal inputs give equal plans, in one order, on any machine. Whatever cannot work is refused here with its place,
the reason and a next step, so that nothing after it has to refuse what could have been seen earlier.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from fleet.applicability import unheard_settings
from fleet.catalogue import Catalogue
from fleet.clouds import TRAITS, Cloud
from fleet.documents import Document
from fleet.inventory import Inventory
from fleet.magnum import plan_magnum
from fleet.naming import CLUSTER_NAMES, POOL_NAMES, cloud_name
from fleet.network import plan_network
from fleet.pools import plan_pools
from fleet.records import ClusterPlan, FleetPlan, MaintenanceWindow, NodePool, Pairs, SystemPool
from fleet.scope import Findings, Scope
from fleet.sites import check_settings_used, check_site, cloud_of, hub_of, with_flavors
from fleet.versions import KUBERNETES
from fleet.zones import check_cluster_zones, cluster_zones

_OWN_TAGS = ("billing-account", "card", "cluster", "managed-by", "site")
_FEWEST_WEEKS = 4
"""How often a day of the week comes in 32 days, at least."""

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
    hub = hub_of(inventory, findings)
    clusters: list[ClusterPlan] = []
    for site_name in sorted(inventory.clusters):
        cloud = cloud_of(inventory, site_name, findings)
        if cloud is None:
            continue
        check_site(inventory, site_name, cloud, findings)
        offered = with_flavors(catalogue, inventory, site_name, findings)
        for cluster_name in sorted(inventory.clusters[site_name]):
            scope = Scope(inventory=inventory, site_name=site_name, cluster_name=cluster_name, cloud=cloud, findings=findings)
            clusters.append(_cluster(scope, offered, is_hub=cluster_name == hub))
    check_settings_used(inventory, findings)
    _check_names(clusters, findings)
    findings.raise_refusals()
    return FleetPlan(clusters=tuple(clusters), notes=tuple(sorted(set(findings.notes))))


def _cluster(scope: Scope, catalogue: Catalogue, *, is_hub: bool) -> ClusterPlan:
    """Return one cluster; what is refused about it is in the scope's findings."""
    region = scope.text("region") or scope.traits.region
    check_cluster_zones(scope, region)
    _check_admins(scope)
    pools = plan_pools(scope, catalogue)
    _check_pool_names(scope, pools)
    _tell_quota(scope, region, pools)
    for words in unheard_settings(scope):
        scope.findings.note(scope.about, words)
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
    left = _FEWEST_WEEKS * len(days) * window.hours
    if left < scope.traits.maintenance_hours:
        _, path = scope.setting("maintenance")
        reason = f"{scope.traits.title} wants {scope.traits.maintenance_hours} hours in any 32 days, this leaves {left}"
        scope.findings.refuse(path, reason, "Add days or hours: 3 days of 4 hours are enough.")
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
