"""Why no machine fits, and what to ask for instead.

The checks of `fleet.fitting` are applied one after the other; the one that leaves no offer over is explained, and its remedy is
made of the offers that had passed until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fleet.catalogue import Card, Catalogue, Offer, Status, UnknownCard
from fleet.fitting import CHECKS, MachineQuery, matches

_SHOWN = 6
_NAME_THE_FLAVOR = "Name the flavor and its cards in the inventory."


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """No machine fits.

    Attributes:
        reason: Why not, a clause without full stop.
        remedy: What to ask for instead, in sentences.
    """

    reason: str
    remedy: str


def refuse_unknown_card(unknown: UnknownCard) -> Refusal:
    """Return the refusal of a card that does not exist, naming the cards spelled most alike."""
    remedy = f"Did you mean {_either(unknown.nearest)}?" if unknown.nearest else "See catalogue/cards.yaml for the names."
    return Refusal(reason=f"no card is called {unknown.name}", remedy=remedy)


def refuse(catalogue: Catalogue, query: MachineQuery, card: Card) -> Refusal:
    """Return the refusal of a query that no offer answers.

    Args:
        catalogue: What there is.
        query: What was asked for, with the canonical name of the card.
        card: That card.
    """
    left: Sequence[Offer] = catalogue.offers_of(card.name, query.cloud)
    if not left:
        return _never_sold(catalogue, query, card)
    for name, check in CHECKS.items():
        passed = [offer for offer in left if not check(offer, query)]
        if not passed:
            return _EXPLAIN[name](catalogue, query, card, left)
        left = passed
    raise AssertionError("a query that an offer answers is not refused")


def nearest_sold(catalogue: Catalogue, query: MachineQuery, card: Card) -> Card | None:
    """Return the card to take instead: one of the same kind that is available on the same cloud in the same region.

    Of these, cards with at least as much memory come before smaller ones, then the closest memory, then the cheapest machine by
    the hour, then the name. Where the wanted card's memory was not found, the closest in the order of cards.yaml, which goes from
    old to new, stands in for the closest memory.
    """
    wanted = MachineQuery(cloud=query.cloud, card=card.name, region=query.region, site=query.site)
    best: tuple[tuple[bool, float, float, str], Card] | None = None
    for other in catalogue.cards:
        if other.kind is not card.kind or other.name == card.name:
            continue
        asked = replace(wanted, card=other.name)
        offers = [
            offer
            for offer in catalogue.offers_of(other.name, query.cloud)
            if offer.status is not Status.RETIRED and matches(offer, asked)
        ]
        available = [offer for offer in offers if offer.status is Status.AVAILABLE]
        if not available:
            continue
        key = (*_distance(catalogue, card, other), min(_price(offer) for offer in available), other.name)
        if best is None or key < best[0]:
            best = (key, other)
    return best[1] if best else None


def _distance(catalogue: Catalogue, card: Card, other: Card) -> tuple[bool, float]:
    """Return how far another card is: whether it has less memory, and the difference in GiB, or in places when not known."""
    if card.memory_gib is None:
        return (False, abs(catalogue.cards.index(card) - catalogue.cards.index(other)))
    if other.memory_gib is None:
        return (True, math.inf)
    return (other.memory_gib < card.memory_gib, abs(other.memory_gib - card.memory_gib))


def _price(offer: Offer) -> float:
    """Return the on-demand price in US dollars an hour, infinite when not known."""
    return math.inf if offer.on_demand_usd_per_hour is None else offer.on_demand_usd_per_hour


def _instead(catalogue: Catalogue, query: MachineQuery, card: Card) -> str:
    """Return the sentence that names the nearest card, or where else the card is sold."""
    near = nearest_sold(catalogue, query, card)
    place = f"{query.cloud} in {query.region}" if query.region else str(query.cloud)
    if near is not None:
        memory = "" if near.memory_gib is None else f" ({near.memory_gib:g} GiB)"
        return f"The nearest card sold on {place} is {near.name}{memory}."
    return f"No other card of the kind {card.kind} is sold on {place}."


def _elsewhere(catalogue: Catalogue, query: MachineQuery, card: Card) -> str:
    """Return the sentence that names the other clouds with the card, empty when there is none."""
    clouds = sorted(
        {
            str(offer.cloud)
            for offer in catalogue.offers
            if offer.card == card.name and offer.cloud is not query.cloud and offer.status is Status.AVAILABLE
        }
    )
    return f" {card.name} is sold on {_either(clouds)}." if clouds else ""


def _never_sold(catalogue: Catalogue, query: MachineQuery, card: Card) -> Refusal:
    """Explain a card that the cloud has never had, as far as is known."""
    known = [fact for fact in catalogue.not_offered if fact.card == card.name and fact.cloud is query.cloud]
    reason = (
        f"{query.cloud} does not sell {card.name}" if known else f"the catalogue has no machine with {card.name} on {query.cloud}"
    )
    detail = f": {known[0].reason} (as of {known[0].as_of})" if known else ""
    if any(offer.site for offer in catalogue.offers if offer.cloud is query.cloud):
        return Refusal(reason=reason + detail, remedy=_NAME_THE_FLAVOR)
    return Refusal(reason=reason + detail, remedy=_instead(catalogue, query, card) + _elsewhere(catalogue, query, card))


def _retired(catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain machines that are gone, with the last date, and name what is left of the card, or the nearest card."""
    dates = sorted({offer.retired_on for offer in left if offer.retired_on})
    when = f"on {dates[-1]}" if dates else "(the date was not found)"
    anywhere = MachineQuery(cloud=query.cloud, card=card.name, region=query.region, site=query.site)
    still = {offer.machine for offer in catalogue.offers_of(card.name, query.cloud) if matches(offer, anywhere)}
    instead = f"{card.name} is still sold with {_listed(still)}." if still else _instead(catalogue, query, card)
    return Refusal(
        reason=f"{query.machine or card.name} is no longer sold on {query.cloud}: it was retired {when}",
        remedy=f"{instead}{_elsewhere(catalogue, query, card)} To preview it all the same, set `allow_retired: true`.",
    )


def _wrong_machine(_catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain a machine that does not carry the card."""
    sold = {offer.machine for offer in left if offer.status is not Status.RETIRED}
    return Refusal(
        reason=f"{query.machine} does not carry {card.name} on {query.cloud}",
        remedy=f"Machines with {card.name}: {_listed(sold or {offer.machine for offer in left})}.",
    )


def _wrong_site(_catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain flavors that other sites have."""
    asker = f"the site {query.site}" if query.site else "a site that is not named"
    return Refusal(
        reason=f"the catalogue has no flavor with {card.name} of {asker}",
        remedy=f"{_NAME_THE_FLAVOR} Sites with one: {_listed({str(offer.site) for offer in left})}.",
    )


def _wrong_region(catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain a region without the card, and name the regions that have it."""
    regions = f"Regions with {card.name}: {_listed({offer.region or '' for offer in left})}."
    if not any(offer.region == query.region for offer in catalogue.offers if offer.cloud is query.cloud):
        return Refusal(
            reason=f"the catalogue lists nothing on {query.cloud} in {query.region}",
            remedy=f"{regions} Or add the region, with its source, to catalogue/machines/{query.cloud}.yaml.",
        )
    return Refusal(
        reason=f"{query.machine or card.name} is not sold on {query.cloud} in {query.region}",
        remedy=f"{regions} {_instead(catalogue, query, card)}",
    )


def _wrong_zones(_catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain zones without the card, and name those that have it."""
    wanted = query.zones or query.any_zone or ()
    sold = {zone for offer in left for zone in offer.zones or ()}
    without = [zone for zone in wanted if zone not in sold] or list(wanted)
    every = "every zone" if query.zones else "any zone"
    return Refusal(
        reason=f"no machine with {card.name} is sold in {every} asked for, {', '.join(without)} being without",
        remedy=f"Zones with it: {_listed(sold)}.",
    )


def _wrong_count(catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain a count of cards that no machine has, and name those that exist."""
    counts = sorted({offer.accelerators for offer in left if offer.accelerators is not None and offer.card_share == 1})
    if not counts:
        return Refusal(
            reason=f"how many {card.name} the machines of {query.cloud} have was not found",
            remedy=f"Name the machine and its count: {_listed({offer.machine for offer in left})}.",
        )
    remedy = f"Counts that exist: {', '.join(map(str, counts))}."
    gone = _retired_fits(catalogue, query, card)
    if gone is not None:
        remedy += f" {gone.machine} had it, and was retired" + (f" on {gone.retired_on}." if gone.retired_on else ".")
    return Refusal(reason=f"no machine of {query.cloud} has {query.accelerators} x {card.name}", remedy=remedy)


def _retired_fits(catalogue: Catalogue, query: MachineQuery, card: Card) -> Offer | None:
    """Return the smallest retired machine that would have fitted, or None."""
    asked = replace(query, allow_retired=True)
    fits = [offer for offer in catalogue.offers_of(card.name, query.cloud) if matches(offer, asked)]
    return min(fits, key=lambda offer: (offer.vcpus or 0, offer.machine), default=None)


def _part_of_card(_catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain machines that have part of a card only."""
    return Refusal(
        reason=f"{query.cloud} sells parts of {card.name} only, for what is asked",
        remedy=f"Name the machine to take a part: {_listed({offer.machine for offer in left})}.",
    )


def _too_few_vcpus(_catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain a wish for more virtual processors than any machine has."""
    return _too_small(query, card, [(offer.vcpus, offer.machine) for offer in left], f"{query.vcpus} vCPUs", "vCPUs")


def _too_little_memory(_catalogue: Catalogue, query: MachineQuery, card: Card, left: Sequence[Offer]) -> Refusal:
    """Explain a wish for more memory than any machine has."""
    rows = [(offer.memory_gib, offer.machine) for offer in left]
    return _too_small(query, card, rows, f"{query.memory_gib:g} GiB of memory", "GiB")


def _too_small(query: MachineQuery, card: Card, rows: Sequence[tuple[float | None, str]], wish: str, unit: str) -> Refusal:
    """Explain a wish that is too large, and name the largest machine."""
    known = [(figure, machine) for figure, machine in rows if figure is not None]
    largest = (
        f"The most is {max(known)[0]:g} {unit}, with {max(known)[1]}."
        if known
        else f"Leave it out: no figure in {unit} was found."
    )
    return Refusal(reason=f"no machine with {card.name} on {query.cloud} is known to have {wish}", remedy=largest)


def _no_spot(_catalogue: Catalogue, query: MachineQuery, card: Card, _left: Sequence[Offer]) -> Refusal:
    """Explain machines that are not sold as spot."""
    return Refusal(reason=f"{card.name} is not sold as spot on {query.cloud} for what is asked", remedy="Ask for on-demand.")


def _not_reached(_catalogue: Catalogue, query: MachineQuery, card: Card, _left: Sequence[Offer]) -> Refusal:
    """Explain another cloud or card, which the choice of offers has ruled out already."""
    return Refusal(reason=f"no machine has {card.name} on {query.cloud}", remedy="See the catalogue.")


def _either(names: Iterable[str]) -> str:
    """Return names joined with "or"."""
    return " or ".join(names)


def _listed(names: Iterable[str]) -> str:
    """Return names sorted and joined with commas, long lists cut short."""
    ordered = sorted(names)
    more = f" and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else ""
    return ", ".join(ordered[:_SHOWN]) + more


_EXPLAIN: Mapping[str, Callable[[Catalogue, MachineQuery, Card, Sequence[Offer]], Refusal]] = {
    "cloud": _not_reached,
    "card": _not_reached,
    "site": _wrong_site,
    "machine": _wrong_machine,
    "status": _retired,
    "region": _wrong_region,
    "zones": _wrong_zones,
    "accelerators": _wrong_count,
    "card_share": _part_of_card,
    "vcpus": _too_few_vcpus,
    "memory_gib": _too_little_memory,
    "spot": _no_spot,
}
