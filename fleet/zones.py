"""Which zones a cluster and its pools may use."""

from __future__ import annotations

import re

from fleet.catalogue import Offer
from fleet.scope import PoolScope, Scope


def cluster_zones(scope: Scope, region: str) -> tuple[str, ...]:
    """Return the zones of a cluster's own nodes, sorted: those stated, else the cloud's usual ones; empty: the cloud chooses."""
    stated, _ = scope.texts("zones")
    return stated or tuple(f"{region}{suffix}" for suffix in scope.traits.zone_suffixes)


def check_cluster_zones(scope: Scope, region: str) -> None:
    """Refuse zones stated for a cluster that are none of its region's, or too few for its cloud."""
    stated, path = scope.texts("zones")
    for zone in stated:
        _check_zone(scope, zone, region, path)
    least = scope.traits.fewest_zones
    if stated and len(stated) < least:
        remedy = f"Name at least {least}; a pool can be kept to fewer with `zones` of its own."
        scope.findings.refuse(path, f"{scope.traits.title} needs {least} zones or more", remedy, ", ".join(stated))


def check_pool_zones(at: PoolScope) -> bool:
    """Refuse zones stated for an entry that are none of its region's; return whether there are none such."""
    region = at.scope.text("region") or at.scope.traits.region
    fits = [_check_zone(at.scope, zone, region, (*at.path, "zones")) for zone in at.pool.zones or ()]
    return all(fits)


def pool_zones(at: PoolScope, offer: Offer, *, one_only: bool) -> tuple[str, ...]:
    """Return the zones that a pool's nodes may be made in, sorted; empty lets the cloud choose.

    Args:
        at: The pool's entry in the inventory.
        offer: The machine, with the zones it is sold in when they are known.
        one_only: Whether all nodes have to be in one zone: the first one that fits is taken.
    """
    scope = at.scope
    region = scope.text("region") or scope.traits.region
    usual = cluster_zones(scope, region) if scope.traits.zones_follow_cluster else ()
    wanted = tuple(sorted(set(at.pool.zones or ()))) or usual
    sold = offer.zones
    zones = wanted if sold is None else tuple(zone for zone in sold if not wanted or zone in wanted)
    most = scope.traits.reserved_zones if at.pool.reservation else 0
    if most and len(zones) > most:
        remedy = "Name the one zone of the reservation in this entry's `zones`."
        at.refuse((*at.path, "reservation"), f"reserved capacity is in {most} zone", remedy, at.pool.reservation)
    return zones[:1] if one_only else zones


def _check_zone(scope: Scope, zone: str, region: str, path: tuple[str | int, ...]) -> bool:
    """Refuse a zone whose name cannot be one of the region's; return whether it can."""
    if re.fullmatch(scope.traits.zone_pattern.format(region=re.escape(region)), zone):
        return True
    remedy = f"Use zones such as {scope.traits.zone_example.format(region=region)}."
    scope.findings.refuse(path, f"no zone of {region}", remedy, zone)
    return False
