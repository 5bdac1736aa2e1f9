"""What a declared machine type is: from the catalogue, else from ``machines.yaml``, else a fallback that says that it is one.

The catalogue is asked by machine and by what the resource itself declares of the card; never by the fleet's plan. Only where no
row knows a machine at all (an OpenStack flavor that an inventory names) what the stack exports of the pool fills in for the card,
and the notes say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fleet.accelerators import KINDS, AcceleratorKind
from fleet.catalogue import Catalogue, Offer, UnknownCard
from fleet.clouds import Cloud
from fleet.labels import CapacityType
from fleet.load import load_catalogue

_TABLE = Path(__file__).with_name("machines.yaml")
_MIB_PER_GIB = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What a resource declares of its machine.

    Attributes:
        cloud: The cloud.
        machine: Machine type or flavor.
        region: Region, for the price.
        accelerator_type: Google's type of attached or bundled card; None where the machine says it all.
        accelerators: Cards that are declared beside the machine; None where the machine says it all.
        exported: What the stack exports of the pool, used only for a machine that nothing else knows.
    """

    cloud: Cloud
    machine: str
    region: str
    accelerator_type: str | None = None
    accelerators: int | None = None
    exported: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """A machine with its cards.

    Attributes:
        name: Machine type or flavor.
        vcpus: Virtual processors.
        memory_mib: Memory in MiB.
        architecture: ``amd64`` or ``arm64``.
        kind: Family of the card; None without.
        card: Canonical name of the card; None without.
        resource: Extended resource of the card; None without.
        accelerators: Cards.
        on_demand_usd_per_hour: Price, None when not known.
        spot_usd_per_hour: Spot price, None when not known.
        is_spot_estimated: Whether the spot price was derived and not read from a list.
        notes: What of this is a fallback.
    """

    name: str
    vcpus: int
    memory_mib: int
    architecture: str = "amd64"
    kind: AcceleratorKind | None = None
    card: str | None = None
    resource: str | None = None
    accelerators: int = 0
    on_demand_usd_per_hour: float | None = None
    spot_usd_per_hour: float | None = None
    is_spot_estimated: bool = False
    notes: tuple[str, ...] = ()

    def price(self, capacity: CapacityType) -> float | None:
        """Return US dollars by machine and hour; reserved capacity is paid for whether it runs or not, so None."""
        if capacity is CapacityType.RESERVED:
            return None
        return self.spot_usd_per_hour if capacity is CapacityType.SPOT else self.on_demand_usd_per_hour

    def notes_for(self, capacity: CapacityType) -> tuple[str, ...]:
        """Return the notes, with one more where the price under a capacity type is an estimate."""
        is_estimate = capacity is CapacityType.SPOT and self.is_spot_estimated
        return (*self.notes, *(("its spot price is an estimate",) if is_estimate else ()))


def find_machine(query: Query) -> Machine:
    """Return what is known of a declared machine; total, whatever the machine."""
    catalogue = load_catalogue()
    rows = _by_machine().get((query.cloud, query.machine), ())
    offer = _best(rows, query)
    vcpus, memory_gib, architecture, notes = _shape(query, offer or (rows[0] if rows else None))
    card = offer.card if offer else _declared_card(query, catalogue)
    accelerators = query.accelerators or (offer.accelerators if offer else 0)
    if (card is None or not accelerators) and _has_exported_card(query, rows):
        card, accelerators = str(query.exported["card"]), int(query.exported["accelerators"])
        notes += (f"that {query.machine} carries {accelerators} x {card} is what the stack exports: no source knows the machine",)
    kind = _kind(card, query, catalogue)
    if card is None or not accelerators or kind is None:
        return Machine(name=query.machine, vcpus=vcpus, memory_mib=_mib(memory_gib), architecture=architecture, notes=notes)
    priced = offer if offer and offer.region in (query.region, None) else None
    return Machine(
        name=query.machine,
        vcpus=vcpus,
        memory_mib=_mib(memory_gib),
        architecture=architecture,
        kind=kind,
        card=card,
        resource=KINDS[kind].resource,
        accelerators=accelerators,
        on_demand_usd_per_hour=priced.on_demand_usd_per_hour if priced else None,
        spot_usd_per_hour=priced.spot_usd_per_hour if priced else None,
        is_spot_estimated=bool(priced and priced.spot_is_estimate),
        notes=notes,
    )


def aws_pods(machine: str) -> tuple[int, tuple[str, ...]]:
    """Return the most pods that EKS' network plugin allows on a machine, and a note when that is a fallback."""
    table = _table()["aws_pods"]
    known = table["pods"].get(machine)
    if known is not None:
        return int(known), ()
    return int(table["fallback"]), (f"how many pods {machine} takes was not found: {table['fallback']} stand in",)


def _best(rows: tuple[Offer, ...], query: Query) -> Offer | None:
    """Return the row that fits the declared card best, that of the region first; None when none has the card."""
    fitting = [row for row in rows if _has_card(row, query)]
    ranked = sorted(fitting, key=lambda row: (row.region != query.region, row.region is not None, row.card_share < 1))
    return ranked[0] if ranked else None


def _has_card(row: Offer, query: Query) -> bool:
    """Return whether a row's card is the declared one; where it has a type of its own, the resource has to state that type."""
    if row.accelerator_type is None:
        return query.accelerator_type is None
    return row.accelerator_type == query.accelerator_type and row.accelerators in (None, query.accelerators)


def _shape(query: Query, offer: Offer | None) -> tuple[int, float, str, tuple[str, ...]]:
    """Return processors, memory in GiB, architecture and notes of a machine."""
    known = _table()["machines"][query.cloud]["sizes"].get(query.machine, {})
    vcpus = (offer.vcpus if offer else None) or known.get("vcpus")
    memory_gib = (offer.memory_gib if offer else None) or known.get("memory_gib")
    architecture = offer.architecture if offer else known.get("architecture", "amd64")
    if vcpus and memory_gib:
        return vcpus, memory_gib, architecture, ()
    fallback = _table()["fallback"]
    vcpus, memory_gib = vcpus or fallback["vcpus"], memory_gib or fallback["memory_gib"]
    note = f"the size of {query.machine} was not found: {vcpus} vCPUs and {memory_gib} GiB stand in"
    return vcpus, memory_gib, architecture, (note,)


def _declared_card(query: Query, catalogue: Catalogue) -> str | None:
    """Return the card of a declared accelerator type on a machine that has no row with it."""
    if query.accelerator_type is None:
        return None
    named = [card.name for card in catalogue.cards if card.google_accelerator_type == query.accelerator_type]
    rows = [offer.card for offer in catalogue.offers if offer.accelerator_type == query.accelerator_type]
    return next(iter((*named, *rows)), query.accelerator_type)


def _has_exported_card(query: Query, rows: tuple[Offer, ...]) -> bool:
    """Return whether the stack exports the cards of exactly this machine, and no row could know better."""
    unsourced = not rows or all(row.accelerators is None for row in rows)
    return unsourced and query.exported.get("machine") == query.machine and bool(query.exported.get("accelerators"))


def _kind(card: str | None, query: Query, catalogue: Catalogue) -> AcceleratorKind | None:
    """Return the family of a card; a Google accelerator type that no card has is NVIDIA's by its name."""
    if card is None:
        return None
    try:
        return catalogue.card(card).kind
    except UnknownCard:
        is_nvidia = (query.accelerator_type or "").startswith("nvidia-")
        return AcceleratorKind.NVIDIA if is_nvidia else None


def _mib(gib: float) -> int:
    """Return GiB as whole MiB."""
    return round(gib * _MIB_PER_GIB)


@cache
def _table() -> Mapping[str, Any]:
    """Return ``machines.yaml``."""
    return yaml.load(_TABLE.read_bytes(), yaml.CSafeLoader)


@cache
def _by_machine() -> Mapping[tuple[Cloud, str], tuple[Offer, ...]]:
    """Return the catalogue's rows by cloud and machine, made once."""
    found: dict[tuple[Cloud, str], list[Offer]] = {}
    for offer in load_catalogue().offers:
        found.setdefault((offer.cloud, offer.machine), []).append(offer)
    return {place: tuple(offers) for place, offers in found.items()}
