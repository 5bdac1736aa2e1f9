"""The choice of a machine: the smallest that carries what a pool asks for, or a refusal that says what to ask for instead.

Nothing here depends on the order of the catalogue's rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fleet.catalogue import Card, Catalogue, Offer, Status, UnknownCard
from fleet.fitting import MachineQuery, matches, why_not
from fleet.refusals import Refusal, refuse, refuse_unknown_card

__all__ = ["Choice", "MachineQuery", "Refusal", "choose", "matches", "why_not"]

_RANK = {status: rank for rank, status in enumerate(Status)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The machine to take.

    Attributes:
        offer: The offer.
        accelerators: Cards in one node, from the offer, or from the query where the catalogue does not know.
        why: One sentence that says why this one.
        warnings: What may surprise, in sentences; empty when nothing does.
    """

    offer: Offer
    accelerators: int
    why: str
    warnings: tuple[str, ...] = ()


def choose(catalogue: Catalogue, query: MachineQuery) -> Choice | Refusal:
    """Return the smallest machine that answers a query, or why there is none.

    An available machine is preferred to one whose retirement is announced, that to an unverified one, and that to a retired one.
    Among equals the order is: fewest cards, fewest vCPUs, least memory, lowest price, name, region; unknown figures come last.

    Args:
        catalogue: What there is.
        query: What is asked for; `card` may be an alias.
    """
    try:
        card = catalogue.card(query.card)
    except UnknownCard as unknown:
        return refuse_unknown_card(unknown)
    asked = replace(query, card=card.name)
    fitting = [offer for offer in catalogue.offers_of(card.name, query.cloud) if matches(offer, asked)]
    if not fitting:
        return refuse(catalogue, asked, card)
    best = min(fitting, key=lambda offer: _preference(offer, asked))
    return Choice(
        offer=best,
        accelerators=_accelerators(best, asked),
        why=_why(best, asked, card, fitting),
        warnings=tuple(_warnings(best, asked)),
    )


def _accelerators(offer: Offer, query: MachineQuery) -> int:
    """Return the cards of one node; a fitting offer that does not know was asked for with a count."""
    return offer.accelerators or query.accelerators or 0


def _preference(offer: Offer, query: MachineQuery) -> tuple[float | str, ...]:
    """Return the sort key of an offer, least for the one to take; see `choose` for the order."""
    price = offer.spot_usd_per_hour if query.spot else offer.on_demand_usd_per_hour
    return (
        _RANK[offer.status],
        _accelerators(offer, query),
        *(math.inf if figure is None else figure for figure in (offer.vcpus, offer.memory_gib, price)),
        offer.machine,
        offer.region or "",
    )


def _why(offer: Offer, query: MachineQuery, card: Card, fitting: Sequence[Offer]) -> str:
    """Return the sentence that says why this offer was taken."""
    place = f"{query.cloud} in {offer.region}" if offer.region else str(query.cloud)
    shape = [f"{_accelerators(offer, query)} x {card.name}"]
    shape += [] if offer.vcpus is None else [f"{offer.vcpus} vCPUs"]
    shape += [] if offer.memory_gib is None else [f"{offer.memory_gib:g} GiB"]
    machines = {(other.machine, other.accelerators) for other in fitting}
    if query.machine:
        reason = "as named"
    elif len(machines) == 1:
        reason = "the only machine that fits"
    elif any(_RANK[other.status] > _RANK[offer.status] for other in fitting):
        reason = f"the smallest {offer.status} one of {len(machines)} machines that fit"
    else:
        reason = f"the smallest of {len(machines)} machines that fit"
    return f"{offer.machine} ({', '.join(shape)}) on {place}: {reason}."


def _warnings(offer: Offer, query: MachineQuery) -> Iterator[str]:
    """Yield what may surprise about an offer."""
    note = f" {offer.note}" if offer.note else ""
    if offer.status is Status.ANNOUNCED:
        date = f" for {offer.retires_on}" if offer.retires_on else "; the date was not found"
        yield f"The retirement of {offer.card} on {offer.cloud} is announced{date}.{note}"
    elif offer.status is Status.UNVERIFIED:
        yield f"{offer.machine} could not be verified.{note}"
    elif offer.status is Status.RETIRED:
        date = f"on {offer.retired_on}" if offer.retired_on else "(the date was not found)"
        yield f"{offer.machine} with {offer.card} was retired {date}: this can be previewed and not created.{note}"
    if query.zones and offer.zones is None and offer.status is not Status.RETIRED:
        yield f"Whether {offer.machine} is sold in {', '.join(query.zones)} is not known."
    if query.spot and offer.spot_sold is None:
        yield f"Whether {offer.machine} is sold as spot is not known."
    if offer.card_share < 1:
        yield f"{offer.machine} has {offer.card_share:.0%} of one {offer.card}.{note}"
    if offer.accelerators is None:
        yield f"The number of {offer.card} on {offer.machine} is the inventory's: the catalogue does not know it."
