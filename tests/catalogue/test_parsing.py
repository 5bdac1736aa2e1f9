"""Bad data is told, all of it, with file and path; good data becomes the records it means."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fleet.catalogue import Catalogue, Status, UnknownCard
from fleet.catalogue_parsing import parse_catalogue
from fleet.clouds import Cloud
from fleet.errors import FleetErrors

SOURCES = {"s": {"text": "a page", "as_of": "2026-11"}}


def small() -> dict[str, Any]:
    """Return a small catalogue's plain data, valid, and fresh on each call so that a test can spoil it."""
    cards = [
        {"name": "T4", "kind": "nvidia", "source": "s", "aliases": ["Tesla-T4"], "google_accelerator_type": "nvidia-tesla-t4"},
        {"name": "H100", "kind": "nvidia", "source": "s"},
    ]
    attached = {"machine": "n1-standard-4", "card": "T4", "kind": "attached", "accelerators": 1, "vcpus": 4, "memory_gib": 15}
    region = {"zones": ["r-1-b", "r-1-a"], "on_demand_usd_per_hour": 1.0, "spot_usd_per_hour": 0.4}
    gone = {"machine": "old", "card": "H100", "accelerators": 1, "vcpus": None, "memory_gib": None, "status": "retired"}
    return {
        "cards.yaml": {"sources": SOURCES, "cards": cards},
        "machines/google.yaml": {
            "cloud": "google",
            "sources": SOURCES,
            "attach_ceilings": [{"card": "T4", "accelerators": 1, "vcpus": 48, "memory_gib": 312, "source": "s"}],
            "not_offered": [],
            "machines": [
                {**attached, "status": "available", "source": "s", "regions": {"r-1": region}},
                {**gone, "retired_on": "2024-05-01", "last_on_demand_usd_per_hour": 0.9, "source": "s"},
            ],
        },
    }


def spoiled(file: str, *path: str | int, value: object) -> dict[str, Any]:
    """Return the small catalogue with one value replaced or added."""
    documents = copy.deepcopy(small())
    place = documents[file]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return documents


def test_rows_become_offers() -> None:
    """Zones are sorted, Google's type comes from the card, a spot price implies that spot is sold."""
    (offer, gone) = parse_catalogue(small()).offers
    assert offer.cloud is Cloud.GOOGLE
    assert offer.zones == ("r-1-a", "r-1-b")
    assert offer.accelerator_type == "nvidia-tesla-t4"
    assert offer.spot_sold is True
    assert (gone.region, gone.status, gone.retired_on) == (None, Status.RETIRED, "2024-05-01")
    assert gone.on_demand_usd_per_hour == 0.9
    assert (gone.spot_sold, gone.source, gone.as_of) == (None, "a page", "2026-11")


def test_a_machine_can_override_its_cards_accelerator_type() -> None:
    """The type on the machine wins over the type on the card."""
    documents = spoiled("machines/google.yaml", "machines", 0, "accelerator_type", value="nvidia-t4-mega")
    assert parse_catalogue(documents).offers[0].accelerator_type == "nvidia-t4-mega"


ROW = ("machines/google.yaml", "machines", 0)
IN_REGION = (*ROW, "regions", "r-1")


@pytest.mark.parametrize(
    ("place", "value", "path", "reason"),
    [
        ((*ROW, "vcpus"), 0, "machines[0].vcpus", "greater than 0"),
        ((*ROW, "colour"), "red", "machines[0].colour", "Extra inputs"),
        ((*ROW, "status"), "sold-out", "machines[0].status", "Input should be"),
        ((*ROW, "card"), "T5", "machines[0].card", "no such card"),
        ((*ROW, "source"), "x", "machines[0].source", "no such source"),
        ((*ROW, "accelerators"), 2, "machines[0]", "no ceiling"),
        ((*ROW, "vcpus"), 64, "machines[0]", "above the ceiling"),
        ((*ROW, "memory_gib"), 400, "machines[0]", "above the ceiling"),
        ((*ROW, "retired_on"), "2024-05-01", "machines[0]", "for retired machines"),
        ((*ROW, "status"), "unverified", "machines[0]", "needs a note"),
        ((*ROW, "status"), "retired", "machines[0]", "lists no regions"),
        ((*IN_REGION, "zones"), ["q-1-a"], "machines[0].regions.r-1.zones", "not in the region"),
        ((*IN_REGION, "zones"), ["r-1"], "machines[0].regions.r-1.zones", "not in the region"),
        ((*IN_REGION, "spot_usd_per_hour"), 2.0, "machines[0].regions.r-1.spot_usd_per_hour", "more than on-demand"),
        ((*IN_REGION, "on_demand_usd_per_hour"), -1.0, "machines[0].regions.r-1.on_demand_usd_per_hour", "greater than 0"),
        ((*IN_REGION, "source"), "x", "machines[0].regions.r-1.source", "no such source"),
        (("machines/google.yaml", "machines", 1, "retired_on"), "May 2024", "machines[1].retired_on", "match pattern"),
        (("machines/google.yaml", "attach_ceilings", 0, "source"), "x", "attach_ceilings[0].source", "no such source"),
        (("cards.yaml", "cards", 1, "name"), "H100/NVL", "cards[1].name", "match pattern"),
        (("cards.yaml", "cards", 1, "aliases"), ["tesla-t4"], "cards[1]", "already means T4"),
        (("cards.yaml", "cards", 1, "aliases"), ["t4"], "cards[1]", "already means T4"),
        (("cards.yaml", "cards", 1, "source"), "x", "cards[1].source", "no such source"),
    ],
)
def test_each_mistake_is_told_with_its_place(place: tuple[str | int, ...], value: object, path: str, reason: str) -> None:
    """A wrong value is refused, and the mistake names the file, the path and what is wrong."""
    file, *steps = place
    with pytest.raises(FleetErrors) as caught:
        parse_catalogue(spoiled(str(file), *steps, value=value))
    (mistake,) = [mistake for mistake in caught.value.mistakes if mistake.path == path]
    assert mistake.file == file
    assert reason in mistake.reason
    assert mistake.remedy


def test_a_reason_lets_spot_cost_more() -> None:
    """Spot above on-demand is taken when the data says why."""
    documents = spoiled(*IN_REGION, "spot_usd_per_hour", value=2.0)
    documents["machines/google.yaml"]["machines"][0]["regions"]["r-1"]["spot_above_on_demand"] = "seen so"
    assert parse_catalogue(documents).offers[0].spot_usd_per_hour == 2.0


def test_all_mistakes_are_told_at_once() -> None:
    """Mistakes in two files come in one error."""
    documents = spoiled(*ROW, "vcpus", value="many")
    documents["cards.yaml"]["cards"][0]["kind"] = "abacus"
    with pytest.raises(FleetErrors) as caught:
        parse_catalogue(documents)
    assert {mistake.file for mistake in caught.value.mistakes} == {"cards.yaml", "machines/google.yaml"}


def test_the_same_row_twice_is_a_mistake() -> None:
    """A machine with the same card and count stands in a file once."""
    documents = small()
    rows = documents["machines/google.yaml"]["machines"]
    rows.append(copy.deepcopy(rows[0]))
    with pytest.raises(FleetErrors, match="twice"):
        parse_catalogue(documents)


@pytest.mark.parametrize("documents", [{}, {"cards.yaml": None}, {"cards.yaml": []}, {"cards.yaml": "T4"}])
def test_missing_or_shapeless_files_are_told(documents: dict[str, object]) -> None:
    """A catalogue without cards, or with a file that is no mapping, is refused without a traceback of another kind."""
    with pytest.raises(FleetErrors) as caught:
        parse_catalogue(documents)
    assert caught.value.mistakes[0].file == "cards.yaml"


@pytest.mark.parametrize(
    ("name", "card"), [("a100", "A100-40"), ("K80", "K80"), ("k80", "K80"), ("V5E", "TPU-v5e"), (" t4 ", "T4")]
)
def test_cards_are_found_by_any_spelling(catalogue: Catalogue, name: str, card: str) -> None:
    """Names and aliases are the same in upper and lower case."""
    assert catalogue.card(name).name == card


def test_an_unknown_card_names_the_nearest(catalogue: Catalogue) -> None:
    """A misspelt name is answered with the cards it may mean; the family name of two cards with both."""
    with pytest.raises(UnknownCard, match="did you mean H100") as caught:
        catalogue.card("h10O")
    assert isinstance(caught.value, KeyError)
    assert set(catalogue.nearest("trainium")[:2]) == {"Trainium1", "Trainium2"}
    assert catalogue.nearest("qqqqqq") == ()


def test_regions_of_lists_where_a_card_is_sold(catalogue: Catalogue) -> None:
    """Retired machines sell nowhere."""
    assert catalogue.regions_of("TPU-v4", Cloud.GOOGLE) == ("us-central2",)
    assert catalogue.regions_of("K80", Cloud.GOOGLE) == ()
    assert "eu-west-1" in catalogue.regions_of("T4", Cloud.AWS)
