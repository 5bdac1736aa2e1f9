"""How many nodes a pool may have: what the inventory states, judged by what the cloud and its autoscaler can do."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalogue import Card
from fleet.clouds import DRIVERS, DriverTraits, MagnumDriver
from fleet.documents import Path
from fleet.notes import NoteLevel
from fleet.scope import PoolScope, Scope

_MOST_NODES = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """Fewest and most nodes of a pool."""

    min_nodes: int
    max_nodes: int


def driver_of(scope: Scope) -> MagnumDriver | None:
    """Return the Magnum driver of a cluster's site: the one stated, else Heat; None where the cloud is not OpenStack."""
    if not scope.traits.has_magnum:
        return None
    settings = scope.site.openstack
    return (settings.driver if settings else None) or MagnumDriver.HEAT


def size_of(at: PoolScope, name: str, card: Card, hosts: int) -> Size:
    """Return the size of the pools that an entry asks for; refusals go into the findings.

    Args:
        at: The entry.
        name: What its pool is called, for notes.
        card: Its card.
        hosts: Nodes of one TPU slice, 1 for all else: a slice is whole or not there.
    """
    stated_min, min_path = at.setting("min")
    least = stated_min if isinstance(stated_min, int) else None
    if hosts > 1:
        return _slice_size(at, card, hosts, least, min_path)
    min_nodes = _least(at, name, least, min_path)
    stated_max, _ = at.setting("max")
    max_nodes = stated_max if isinstance(stated_max, int) else max(_MOST_NODES, min_nodes)
    if min_nodes > max_nodes:
        at.refuse(min_path, f"min {min_nodes} is more than max {max_nodes}", f"Use a min of at most {max_nodes}.", min_nodes)
    return Size(min_nodes=min_nodes, max_nodes=max_nodes)


def _slice_size(at: PoolScope, card: Card, hosts: int, least: int | None, path: Path) -> Size:
    """Return the size of a multi-host slice, which has all of its nodes or none."""
    if least not in {None, 0, hosts}:
        reason = f"a {at.pool.topology} slice of {card.name} is {hosts} nodes, which are made and lost together"
        at.refuse(path, reason, f"Use a min of 0 or {hosts} in the entry itself.", least)
    if at.pool.max not in {None, hosts}:
        reason = f"a {at.pool.topology} slice of {card.name} is {hosts} nodes and the pool cannot grow beyond it"
        at.refuse((*at.path, "max"), reason, f"Use a max of {hosts}; for more slices add pools of other names.", at.pool.max)
    return Size(min_nodes=least or 0, max_nodes=hosts)


def _least(at: PoolScope, name: str, least: int | None, path: Path) -> int:
    """Return the fewest nodes: 0 unless stated, or unless nothing could wake an empty pool there."""
    driver = driver_of(at.scope)
    if driver is None:
        return least or 0
    about = f"{at.scope.about}/{name}"
    why = _why_not_zero(at.scope, DRIVERS[driver])
    if not why:
        settings = at.scope.site.openstack
        if not least and settings:
            at.scope.findings.note(about, f"woken from zero by the site's own word: {settings.gpu_autoscaler}")
        return least or 0
    if least == 0:
        remedy = "Use min: 1, or another driver."
        if not DRIVERS[driver].no_zero:
            remedy = f"Use min: 1, or name the autoscaler that can wake it: sites.{at.scope.site_name}.openstack.gpu_autoscaler."
        at.refuse(path, f"a pool with min 0 would never wake: {why}", remedy, 0)
    if least is None:
        at.scope.findings.note(about, f"min is 1, not 0: {why}", NoteLevel.WARNING)
    return least or 1


def _why_not_zero(scope: Scope, traits: DriverTraits) -> str:
    """Return why a GPU node group cannot start from zero with a Magnum driver, empty when it can."""
    if traits.no_zero:
        return traits.no_zero
    settings = scope.site.openstack
    return "" if settings and settings.gpu_autoscaler else traits.no_wake
