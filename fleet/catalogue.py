"""What can be had: cards, and the machines that carry them on each cloud, with price, zones, status and source.

`fleet.catalogue_models.parse_catalogue` makes a `Catalogue` from plain data; `fleet.choosing` picks a machine from it. A value of
None means that no source was found; it never means zero or no.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from enum import StrEnum

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.records import GpuMode

_NAMES_SUGGESTED = 3
_LEAST_LIKENESS = 0.5


class Status(StrEnum):
    """Whether a machine can be had. The order is that of preference when several fit."""

    AVAILABLE = "available"
    ANNOUNCED = "announced"
    UNVERIFIED = "unverified"
    RETIRED = "retired"


class Attachment(StrEnum):
    """Whether a card is part of the machine type, or added to a machine type that exists without it."""

    BUNDLED = "bundled"
    ATTACHED = "attached"


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """One model of accelerator.

    Attributes:
        name: Canonical name, which is also the value of the node label ``gpu``.
        kind: Family, and with it the extended resource.
        source: Where the facts are from.
        as_of: When the source was right, as it dates itself.
        aliases: Other names people write, lower case.
        memory_gib: Memory of one card in GiB; None when no source was found.
        google_accelerator_type: Google's ``guest_accelerators`` type; None for TPUs and for cards Google has not.
        gke_tpu_accelerator: Value of GKE's node label ``cloud.google.com/gke-tpu-accelerator``; None for all but TPUs.
        tpu_cores_per_chip: TensorCores in one TPU chip; None when not a TPU or not sourced.
        note: What else is worth knowing, one or two sentences, may be empty.
    """

    name: str
    kind: AcceleratorKind
    source: str
    as_of: str
    aliases: tuple[str, ...] = ()
    memory_gib: float | None = None
    google_accelerator_type: str | None = None
    gke_tpu_accelerator: str | None = None
    tpu_cores_per_chip: int | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """One machine with its cards in one region.

    Attributes:
        cloud: Who sells it.
        card: Canonical card name.
        machine: Machine type or OpenStack flavor.
        attachment: Whether the card belongs to the machine type.
        status: Whether it can be had.
        source: Where the facts are from.
        as_of: When the source was right, as it dates itself.
        accelerators: Cards in one machine; None when not sourced, and then the asker has to know.
        card_share: Part of one card that the machine has, 1.0 for whole cards.
        vcpus: Virtual processors; None when not sourced.
        memory_gib: Memory in GiB; None when not sourced.
        architecture: ``amd64`` or ``arm64``.
        region: Region; None when none is listed: a retired machine, a flavor of a site, or regions not known. None fits any.
        zones: Full zone names, sorted; None when not known.
        on_demand_usd_per_hour: Price of one machine; None when not sourced. Of a retired machine, the last one seen.
        spot_usd_per_hour: Spot price of one machine; None when not sourced, which says nothing about whether spot is sold.
        spot_is_estimate: Whether the spot price was derived and not read from a list.
        spot_sold: Whether it is sold as spot; None when not known.
        retired_on: ISO date or month it was gone at the latest; None unless retired and dated.
        retires_on: ISO date or month of an announced end; None when not announced or not dated.
        note: What else is worth knowing, may be empty.
        mode: How OpenStack hands over the card; None elsewhere and when not known.
        site: The site whose flavor it is; None where machines are the same for all.
        accelerator_type: What the cloud calls the card in the node pool's own argument; None where the machine says it all.
    """

    cloud: Cloud
    card: str
    machine: str
    attachment: Attachment
    status: Status
    source: str
    as_of: str
    accelerators: int | None = None
    card_share: float = 1.0
    vcpus: int | None = None
    memory_gib: float | None = None
    architecture: str = "amd64"
    region: str | None = None
    zones: tuple[str, ...] | None = None
    on_demand_usd_per_hour: float | None = None
    spot_usd_per_hour: float | None = None
    spot_is_estimate: bool = False
    spot_sold: bool | None = None
    retired_on: str | None = None
    retires_on: str | None = None
    note: str = ""
    mode: GpuMode | None = None
    site: str | None = None
    accelerator_type: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NotOffered:
    """A card that a cloud does not sell.

    Attributes:
        cloud: The cloud.
        card: Canonical card name.
        reason: Why, in a clause that can follow "because".
        source: Where that is from.
        as_of: When the source was right.
    """

    cloud: Cloud
    card: str
    reason: str
    source: str
    as_of: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachCeiling:
    """How large a machine may be for so many attached cards; the counts listed for a card are the only ones that exist.

    Attributes:
        cloud: The cloud.
        card: Canonical card name.
        accelerators: Cards on one machine.
        vcpus: Most virtual processors with that many cards.
        memory_gib: Most memory in GiB with that many cards.
        source: Where that is from.
        as_of: When the source was right.
    """

    cloud: Cloud
    card: str
    accelerators: int
    vcpus: int
    memory_gib: float
    source: str
    as_of: str


class UnknownCard(KeyError):  # noqa: N818 -- says what is wrong, as the other refusals do
    """No card goes by a name.

    Args:
        name: The name as asked for.
        nearest: Canonical names spelled most alike, best first, may be empty.
    """

    def __init__(self, name: str, nearest: tuple[str, ...]) -> None:
        self.name = name
        self.nearest = nearest
        super().__init__(name)

    def __str__(self) -> str:
        """Return one sentence that names the nearest cards."""
        hint = f"; did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        return f"no card is called {self.name}{hint}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """All that is known, checked: every card an offer names exists, and names and aliases are unique.

    Attributes:
        cards: Cards in the order of the file.
        offers: Machines by region, in the order of the files.
        not_offered: What clouds do not sell.
        ceilings: Limits of attached cards.
    """

    cards: tuple[Card, ...]
    offers: tuple[Offer, ...] = ()
    not_offered: tuple[NotOffered, ...] = ()
    ceilings: tuple[AttachCeiling, ...] = ()
    _by_name: dict[str, Card] = field(init=False, repr=False, compare=False)
    _by_card: dict[tuple[str, Cloud], tuple[Offer, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the look-up tables once, so that a fleet of a thousand clusters does not search lists."""
        by_name = {name.lower(): card for card in self.cards for name in (card.name, *card.aliases)}
        by_card: dict[tuple[str, Cloud], list[Offer]] = {}
        for offer in self.offers:
            by_card.setdefault((offer.card, offer.cloud), []).append(offer)
        object.__setattr__(self, "_by_name", by_name)
        object.__setattr__(self, "_by_card", {key: tuple(offers) for key, offers in by_card.items()})

    def card(self, name: str) -> Card:
        """Return the card with a name or alias, upper and lower case being the same.

        Raises:
            UnknownCard: No card has that name.
        """
        found = self._by_name.get(name.strip().lower())
        if found is None:
            raise UnknownCard(name, self.nearest(name))
        return found

    def nearest(self, name: str) -> tuple[str, ...]:
        """Return up to three canonical names spelled most like a name, best first, each once; may be empty."""
        close = difflib.get_close_matches(
            name.strip().lower(), sorted(self._by_name), n=len(self._by_name) or 1, cutoff=_LEAST_LIKENESS
        )
        return tuple(dict.fromkeys(self._by_name[spelling].name for spelling in close))[:_NAMES_SUGGESTED]

    def offers_of(self, card: str, cloud: Cloud) -> tuple[Offer, ...]:
        """Return a cloud's offers with a card, by its canonical name, retired ones included; empty when there are none."""
        return self._by_card.get((card, cloud), ())

    def regions_of(self, card: str, cloud: Cloud) -> tuple[str, ...]:
        """Return the listed regions where a cloud sells a card today, by its canonical name, sorted."""
        return tuple(
            sorted({offer.region for offer in self.offers_of(card, cloud) if offer.region and offer.status is not Status.RETIRED})
        )
