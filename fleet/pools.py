"""Node pools of a cluster: for every entry of `gpus` a machine is chosen, its numbers are judged, one or two pools come out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from fleet.accelerators import KINDS, AcceleratorKind
from fleet.catalogue import Attachment, Card, Catalogue, Offer, Status, UnknownCard
from fleet.choosing import Choice, MachineQuery, Refusal, choose
from fleet.labels import CAPACITY_LABEL, CARD_LABEL, SPOT_TAINT, CapacityType, Taint, is_reserved
from fleet.notes import NoteLevel
from fleet.records import GpuDriver, NodePool, Pairs, Price
from fleet.scope import PoolScope, Scope
from fleet.sizes import Size, size_of
from fleet.slices import slice_of
from fleet.zones import check_pool_zones, cluster_zones, pool_zones

_ACCELERATOR_KEYS = frozenset(facts.taint_key for facts in KINDS.values())
_SPOT_PRIORITY = 20
_OTHER_PRIORITY = 10

_CAPACITIES = {
    "never": (CapacityType.ON_DEMAND,),
    "only": (CapacityType.SPOT,),
    "prefer": (CapacityType.ON_DEMAND, CapacityType.SPOT),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """What the pools made of one entry share."""

    card: Card
    choice: Choice
    name: str
    topology: str | None
    hosts: int
    zones: tuple[str, ...]
    size: Size


def plan_pools(scope: Scope, catalogue: Catalogue) -> tuple[NodePool, ...]:
    """Return the node pools of a cluster, sorted by name; what cannot be planned is put into the scope's findings."""
    pools: list[NodePool] = []
    for index in range(len(scope.cluster.gpus)):
        pools.extend(_entry_pools(PoolScope(scope=scope, index=index), catalogue))
    return tuple(sorted(pools, key=lambda pool: pool.name))


def _entry_pools(at: PoolScope, catalogue: Catalogue) -> tuple[NodePool, ...]:
    """Return the pools that one entry of `gpus` asks for; none if anything about it is refused."""
    card = _card(at, catalogue)
    _check_words(at)
    _check_mode(at)
    capacities = _capacities(at)
    if not check_pool_zones(at) or card is None:
        return ()
    refused = len(at.scope.findings.mistakes)
    slice_ = slice_of(at, card, catalogue)
    choice = _machine(at, card, catalogue, capacities, slice_.per_node if slice_ else at.pool.per_node)
    if choice is None or len(at.scope.findings.mistakes) > refused:
        return ()
    hosts = slice_.hosts(choice.accelerators) if slice_ else 1
    name = _name(at, card, choice)
    part = _Part(
        card=card,
        choice=choice,
        name=name,
        topology=slice_.topology if slice_ else None,
        hosts=hosts,
        zones=pool_zones(at, choice.offer, one_only=hosts > 1),
        size=size_of(at, name, card, hosts),
    )
    _tell(at, part)
    return tuple(_pool(at, part, capacity, is_pair=len(capacities) > 1) for capacity in capacities)


def _card(at: PoolScope, catalogue: Catalogue) -> Card | None:
    """Return the card that an entry names, or refuse the name and offer those spelled most alike."""
    try:
        return catalogue.card(at.pool.card)
    except UnknownCard as unknown:
        near = ", ".join(unknown.nearest)
        remedy = f"Did you mean {near}?" if near else "`./gpufleet catalogue` lists the cards."
        at.refuse((*at.path, "card"), "no such card", remedy, at.pool.card)
        return None


def _capacities(at: PoolScope) -> tuple[CapacityType, ...]:
    """Return how the entry's nodes are paid for, one pool each."""
    spot, path = at.setting("spot")
    capacities = _CAPACITIES[str(spot or "never")]
    traits = at.scope.traits
    if CapacityType.SPOT in capacities and traits.no_spot:
        remedy = f"Use `spot: never` here, or for the whole site under sites.{at.scope.site_name}.pools."
        at.refuse(path, traits.no_spot, remedy, spot)
        return (CapacityType.ON_DEMAND,)
    if at.pool.reservation is None:
        return capacities
    if CapacityType.SPOT in capacities:
        remedy = "Use `spot: never` for this pool, or leave `reservation` out."
        at.refuse(path, "reserved capacity is never spot capacity", remedy, spot)
    if not re.fullmatch(traits.reservation_pattern, at.pool.reservation):
        remedy = f"Use {traits.reservation_words}."
        at.refuse((*at.path, "reservation"), "not the name of a reservation there", remedy, at.pool.reservation)
    if traits.no_reservation:
        at.refuse((*at.path, "reservation"), traits.no_reservation, "Leave `reservation` out.", at.pool.reservation)
    return (CapacityType.RESERVED,)


def _machine(
    at: PoolScope, card: Card, catalogue: Catalogue, capacities: tuple[CapacityType, ...], per_node: int | None
) -> Choice | None:
    """Return the machine that carries the card, or refuse with the catalogue's reason and remedy.

    Zones that an entry names must all have the card. Of those of its cluster one has to: the pool keeps to the ones that have it.
    """
    region = at.scope.text("region") or at.scope.traits.region
    stated = tuple(sorted(set(at.pool.zones or ())))
    usual = cluster_zones(at.scope, region) if at.scope.traits.zones_follow_cluster else ()
    query = MachineQuery(
        cloud=at.scope.cloud,
        card=card.name,
        region=region,
        zones=stated or None,
        any_zone=None if stated else usual or None,
        accelerators=per_node,
        machine=at.pool.machine,
        spot=CapacityType.SPOT in capacities,
        allow_retired=at.scope.inventory.allow_retired,
        site=at.scope.site_name,
    )
    answer = choose(catalogue, query)
    if isinstance(answer, Refusal):
        if query.machine and at.scope.traits.has_magnum and not _is_known_flavor(catalogue, query):
            return _flavor_unseen(at, card, query)
        at.refuse((*at.path, "card"), answer.reason, answer.remedy, at.pool.card)
        return None
    return answer


def _is_known_flavor(catalogue: Catalogue, query: MachineQuery) -> bool:
    """Return whether the catalogue has the flavor that a query names, so that its word counts and not the inventory's."""
    flavors = {(offer.machine, offer.site) for offer in catalogue.offers if offer.cloud is query.cloud}
    return (query.machine, query.site) in flavors or (query.machine, None) in flavors


def _flavor_unseen(at: PoolScope, card: Card, query: MachineQuery) -> Choice:
    """Return a choice of an OpenStack flavor of which only the name is known: flavors are the site's own."""
    offer = Offer(
        cloud=query.cloud,
        card=card.name,
        machine=query.machine or "",
        attachment=Attachment.BUNDLED,
        status=Status.UNVERIFIED,
        source="the inventory",
        as_of="",
        accelerators=query.accelerators or 1,
        mode=at.pool.mode,
        site=query.site,
    )
    words = f"flavor {query.machine} is taken at its word: its size and price are not known"
    return Choice(offer=offer, accelerators=query.accelerators or 1, why="named by the inventory", warnings=(words,))


def _name(at: PoolScope, card: Card, choice: Choice) -> str:
    """Return the entry's pool name: its own, or the card's with the count on a node where that is not the only one."""
    if at.pool.name:
        return at.pool.name
    base = card.name.lower().replace(".", "-").replace("_", "-")
    return f"{base}-x{choice.accelerators}" if at.pool.per_node and choice.accelerators > 1 else base


def _check_words(at: PoolScope) -> None:
    """Refuse labels and taints that are not the inventory's to set."""
    for field in ("labels", "taints"):
        for path, layer in at.stated(field):
            settings = getattr(layer, field)
            keys = settings if field == "labels" else [taint.key for taint in settings]
            for place, key in enumerate(keys):
                where = (*path, field, key) if field == "labels" else (*path, field, place, "key")
                if len(key) > at.scope.traits.longest_key:
                    remedy = f"Use a key of at most {at.scope.traits.longest_key} characters."
                    at.refuse(where, f"too long for {at.scope.traits.title}", remedy, key)
                if is_reserved(key) or key in _ACCELERATOR_KEYS:
                    at.refuse(
                        where,
                        "belongs to Kubernetes, a cloud or gpufleet",
                        "Use a key of your own, such as example.org/team.",
                        key,
                    )


def _check_mode(at: PoolScope) -> None:
    """Refuse a way of handing over the card where the cloud has only one."""
    if at.pool.mode and not at.scope.traits.has_magnum:
        remedy = "Leave `mode` out: it is for OpenStack sites."
        at.refuse((*at.path, "mode"), f"{at.scope.traits.title} hands cards over in one way only", remedy, str(at.pool.mode))


def _labels(at: PoolScope, card: Card, capacity: CapacityType) -> Pairs:
    """Return the node labels of a pool, sorted."""
    return tuple(sorted((at.labels() | {CARD_LABEL: card.name, CAPACITY_LABEL: str(capacity)}).items()))


def _taints(at: PoolScope, kind: AcceleratorKind, capacity: CapacityType) -> tuple[Taint, ...]:
    """Return the node taints of a pool, sorted: the accelerator's, spot's, and the inventory's."""
    facts = KINDS[kind]
    own = [Taint(key=facts.taint_key, value=facts.taint_value)]
    if capacity is CapacityType.SPOT:
        own.append(SPOT_TAINT)
    return tuple(sorted([*own, *at.taints()]))


def _pool(at: PoolScope, part: _Part, capacity: CapacityType, *, is_pair: bool) -> NodePool:
    """Return one pool of an entry."""
    offer = part.choice.offer
    is_spot = capacity is CapacityType.SPOT
    size = replace(part.size, min_nodes=0) if is_spot and is_pair else part.size
    driver, _ = at.setting("gpu_driver")
    return NodePool(
        name=f"{part.name}-spot" if is_spot else part.name,
        card=part.card.name,
        kind=part.card.kind,
        resource=KINDS[part.card.kind].resource,
        machine=offer.machine,
        accelerator_type=offer.accelerator_type,
        accelerators=part.choice.accelerators,
        vcpus=offer.vcpus,
        memory_gib=offer.memory_gib,
        architecture=offer.architecture,
        min_nodes=size.min_nodes,
        max_nodes=size.max_nodes,
        capacity=capacity,
        reservation=at.pool.reservation,
        priority=_SPOT_PRIORITY if is_spot else _OTHER_PRIORITY,
        disk_gib=at.number("disk_gib", 100),
        zones=part.zones,
        topology=part.topology,
        hosts=part.hosts,
        labels=_labels(at, part.card, capacity),
        taints=_taints(at, part.card.kind, capacity),
        gpu_driver=driver if isinstance(driver, GpuDriver) else GpuDriver.CLOUD,
        mode=at.pool.mode or offer.mode,
        price=_price(offer, capacity),
    )


def _price(offer: Offer, capacity: CapacityType) -> Price:
    """Return what a node costs under a capacity type; a reservation's price is its own and not known here."""
    figures = {
        CapacityType.ON_DEMAND: (offer.on_demand_usd_per_hour, False),
        CapacityType.SPOT: (offer.spot_usd_per_hour, offer.spot_is_estimate),
        CapacityType.RESERVED: (None, False),
    }
    usd_per_hour, is_estimate = figures[capacity]
    return Price(usd_per_hour=usd_per_hour, is_estimate=is_estimate, source=offer.source, as_of=offer.as_of)


def _tell(at: PoolScope, part: _Part) -> None:
    """Note why the machine was chosen, what is doubtful about it, and how a spot pool comes to be preferred."""
    about = f"{at.scope.about}/{part.name}"
    findings = at.scope.findings
    findings.note(about, part.choice.why)
    for warning in part.choice.warnings:
        findings.note(about, warning, NoteLevel.WARNING)
    if at.setting("gpu_driver")[0] is GpuDriver.OPERATOR and at.scope.traits.no_operator:
        findings.note(about, at.scope.traits.no_operator, NoteLevel.WARNING)
    if at.setting("spot")[0] == "prefer":
        most = part.size.max_nodes
        findings.note(about, f"spot first: {at.scope.traits.spot_preference}; each of the two pools may grow to {most} nodes")
