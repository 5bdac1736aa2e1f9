"""Whether a machine answers what a pool asks for: one table of checks, each of which can say no with a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fleet.catalogue import Offer, Status
from fleet.clouds import Cloud

_WHOLE_CARD = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineQuery:
    """What a pool asks of one node. None means "no wish".

    Attributes:
        cloud: The cloud.
        card: Name or alias for `fleet.choosing.choose`; the canonical name for `why_not` and `matches`.
        region: The cloud's region.
        zones: Zones of which every one must have the card.
        any_zone: Zones of which one at least must have it.
        accelerators: Cards in one node.
        machine: This machine type and no other.
        spot: Whether nodes are to be spot.
        allow_retired: Whether machines that are no longer sold may be taken, to preview an old inventory.
        vcpus: At least so many virtual processors.
        memory_gib: At least so much memory in GiB.
        site: The site that asks, which matters where flavors are a site's own.
    """

    cloud: Cloud
    card: str
    region: str | None = None
    zones: tuple[str, ...] | None = None
    any_zone: tuple[str, ...] | None = None
    accelerators: int | None = None
    machine: str | None = None
    spot: bool = False
    allow_retired: bool = False
    vcpus: int | None = None
    memory_gib: float | None = None
    site: str | None = None


Check = Callable[[Offer, MachineQuery], str | None]
"""Returns why an offer does not answer a query in one respect, or None when it does."""


def _cloud(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to another cloud."""
    return None if offer.cloud is query.cloud else f"it is on {offer.cloud}"


def _card(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to another card."""
    return None if offer.card == query.card else f"it carries {offer.card}"


def _site(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to a flavor of another site."""
    return None if offer.site in (None, query.site) else f"it is a flavor of the site {offer.site}"


def _machine(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to another machine type than the one named."""
    return None if query.machine in (None, offer.machine) else f"it is {offer.machine}"


def _status(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to what is no longer sold, unless that is wanted."""
    if offer.status is not Status.RETIRED or query.allow_retired:
        return None
    return f"it was retired on {offer.retired_on}" if offer.retired_on else "it was retired; the date was not found"


def _region(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to another region; an offer without region fits any."""
    return None if offer.region is None or query.region in (None, offer.region) else f"it is in {offer.region}"


def _zones(offer: Offer, query: MachineQuery) -> str | None:
    """Say no when a wanted zone is known not to have it, or none of those that would do."""
    if offer.zones is None:
        return None
    missing = [zone for zone in query.zones or () if zone not in offer.zones]
    if query.any_zone and not set(query.any_zone) & set(offer.zones):
        missing += query.any_zone
    return f"it is not sold in {', '.join(missing)}" if missing else None


def _accelerators(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to another count; where the count is not known, the query has to name both machine and count."""
    if offer.accelerators is None:
        stated = query.machine is not None and query.accelerators is not None
        return None if stated else "how many cards it has was not found; name the machine and its count to take it"
    if query.accelerators in (None, offer.accelerators):
        return None
    return f"it has {offer.accelerators} x {offer.card}"


def _share(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to part of a card, unless the machine is named."""
    if offer.card_share == _WHOLE_CARD or query.machine is not None:
        return None
    return f"it has {offer.card_share:.0%} of a card; name the machine to take it"


def _vcpus(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to too few virtual processors, or to an unknown number when some are asked for."""
    if query.vcpus is None or (offer.vcpus is not None and offer.vcpus >= query.vcpus):
        return None
    return "its vCPUs were not found" if offer.vcpus is None else f"it has {offer.vcpus} vCPUs"


def _memory(offer: Offer, query: MachineQuery) -> str | None:
    """Say no to too little memory, or to an unknown amount when some is asked for."""
    if query.memory_gib is None or (offer.memory_gib is not None and offer.memory_gib >= query.memory_gib):
        return None
    return "its memory was not found" if offer.memory_gib is None else f"it has {offer.memory_gib:g} GiB of memory"


def _spot(offer: Offer, query: MachineQuery) -> str | None:
    """Say no when spot is wanted and known not to be sold; a price that was not found says nothing."""
    return "it is not sold as spot" if query.spot and offer.spot_sold is False else None


CHECKS: Mapping[str, Check] = {
    "cloud": _cloud,
    "card": _card,
    "site": _site,
    "machine": _machine,
    "status": _status,
    "region": _region,
    "zones": _zones,
    "accelerators": _accelerators,
    "card_share": _share,
    "vcpus": _vcpus,
    "memory_gib": _memory,
    "spot": _spot,
}
"""What is checked, in the order in which a refusal looks for the wish that cannot be met."""


def why_not(offer: Offer, query: MachineQuery) -> tuple[str, ...]:
    """Return every reason why an offer does not answer a query; empty when it does."""
    return tuple(reason for check in CHECKS.values() if (reason := check(offer, query)))


def matches(offer: Offer, query: MachineQuery) -> bool:
    """Return whether an offer answers a query."""
    return not why_not(offer, query)
