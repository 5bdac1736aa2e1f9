"""``gpufleet catalogue``: which cards can be had where, at what price, until when."""

from __future__ import annotations

import click

from cli.console import Column, Justify, output, table, usd
from fleet.catalogue import Catalogue, Offer, Status, UnknownCard
from fleet.clouds import Cloud
from fleet.errors import FleetErrors, Mistake
from fleet.load import load_catalogue

_RIGHT: Justify = "right"


@click.command("catalogue")
@click.option("--card", help="Only this card, in any case: T4, a100-80, tpu-v5e.")
@click.option("--region", help="Only machines sold in this region.")
@click.option("--cloud", type=click.Choice([str(cloud) for cloud in Cloud]), help="Only this cloud.")
@click.option("--all", "with_gone", is_flag=True, help="Also what is retired or could not be verified.")
def command(card: str | None, region: str | None, cloud: str | None, *, with_gone: bool) -> None:
    """Show which cards can be had where, at what price, until when.

    Prices are US dollars for one machine and hour; ~ marks an estimate and ? what no source gives. Exit codes: 0 something was
    found, 1 nothing was, 2 no such card.
    """
    catalogue = load_catalogue()
    name = None if card is None else _canonical(catalogue, card)
    offers = [
        offer
        for offer in catalogue.offers
        if name in {None, offer.card}
        and cloud in {None, str(offer.cloud)}
        and region in {None, offer.region}
        and (with_gone or offer.status in {Status.AVAILABLE, Status.ANNOUNCED})
    ]
    console = output()
    _offers(
        sorted(offers, key=lambda offer: (offer.card, offer.cloud, offer.region or "", offer.accelerators or 0, offer.machine))
    )
    for fact in catalogue.not_offered:
        if name == fact.card and cloud in {None, str(fact.cloud)}:
            console.print(f"{fact.card} is not offered on {fact.cloud}: {fact.reason} ({fact.source}, {fact.as_of})")
    if not offers:
        console.print("Nothing in the catalogue answers to that; --all adds what is retired or unverified.")
        raise click.exceptions.Exit(1)


def _canonical(catalogue: Catalogue, card: str) -> str:
    """Return a card's canonical name, or refuse it with those spelled most alike."""
    try:
        return catalogue.card(card).name
    except UnknownCard as unknown:
        near = ", ".join(unknown.nearest)
        remedy = f"Did you mean {near}?" if near else "`gpufleet catalogue` lists the cards."
        raise FleetErrors([Mistake(path="--card", value=card, reason="no such card", remedy=remedy)]) from unknown


def _offers(offers: list[Offer]) -> None:
    """Print offers as a table."""
    columns = [
        Column(title="card"),
        Column(title="cloud"),
        Column(title="region"),
        Column(title="machine"),
        Column(title="cards", justify=_RIGHT),
        Column(title="vCPU", justify=_RIGHT),
        Column(title="GiB", justify=_RIGHT),
        Column(title="USD/h", justify=_RIGHT),
        Column(title="spot", justify=_RIGHT),
        Column(title="zones"),
        Column(title="status"),
        Column(title="as of"),
    ]
    rows = [
        [
            offer.card,
            str(offer.cloud),
            offer.region or "-",
            offer.machine,
            "?" if offer.accelerators is None else str(offer.accelerators),
            "?" if offer.vcpus is None else str(offer.vcpus),
            "?" if offer.memory_gib is None else f"{offer.memory_gib:g}",
            usd(offer.on_demand_usd_per_hour),
            usd(offer.spot_usd_per_hour, is_estimate=offer.spot_is_estimate),
            _zones(offer),
            _status(offer),
            offer.as_of,
        ]
        for offer in offers
    ]
    if rows:
        table(output(), "", columns, rows)


def _zones(offer: Offer) -> str:
    """Return the endings of an offer's zones, ``?`` when they are not known."""
    if offer.zones is None:
        return "?"
    return " ".join(zone.removeprefix(offer.region or "").removeprefix("-") for zone in offer.zones)


def _status(offer: Offer) -> str:
    """Return whether an offer can be had, with the day it ended or will end."""
    day = offer.retired_on or offer.retires_on
    return f"{offer.status} {day}" if day else str(offer.status)
