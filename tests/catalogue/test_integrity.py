"""What must hold of the real data, row by row."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from fleet.accelerators import KINDS, AcceleratorKind
from fleet.catalogue import Attachment, Catalogue, Status
from fleet.catalogue_models import catalogue_schemas
from fleet.clouds import Cloud

FOLDER = Path(__file__).parents[2] / "catalogue"
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
EXTENDED_RESOURCE = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
RETIRED_SINCE_2021 = (
    (Cloud.GOOGLE, "K80"),
    (Cloud.AWS, "K80"),
    (Cloud.AWS, "M60"),
    (Cloud.AWS, "Gaudi"),
    (Cloud.AZURE, "K80"),
    (Cloud.AZURE, "P100"),
    (Cloud.AZURE, "M60"),
)


def test_every_kind_has_facts() -> None:
    """The table of kinds is exhaustive, sourced, and every resource is a name Kubernetes takes."""
    assert set(KINDS) == set(AcceleratorKind)
    for kind, facts in KINDS.items():
        assert EXTENDED_RESOURCE.fullmatch(facts.resource), kind
        assert facts.taint_key == facts.resource
        assert LABEL_VALUE.fullmatch(facts.taint_value)
        assert facts.source
        assert DATE.match(facts.as_of)


def test_every_kind_has_a_card(catalogue: Catalogue) -> None:
    """A site can ask for any kind by a card's name, also for kinds that only its own flavors carry."""
    assert {card.kind for card in catalogue.cards} == set(AcceleratorKind)


def test_card_names_are_label_values(catalogue: Catalogue) -> None:
    """A card's name can be the value of the node label ``gpu``."""
    for card in catalogue.cards:
        assert LABEL_VALUE.fullmatch(card.name), card.name


def test_every_row_is_sourced_and_dated(catalogue: Catalogue) -> None:
    """No fact stands without source and date, and none claims to be read after today."""
    for row in (*catalogue.cards, *catalogue.offers, *catalogue.not_offered, *catalogue.ceilings):
        assert row.source, row
        assert re.search(r"20\d\d", row.as_of), row
        assert row.as_of[:4] <= "2026", row


def test_prices_are_positive_and_spot_is_cheaper(catalogue: Catalogue) -> None:
    """A price is above zero, and spot never costs more than on-demand."""
    for offer in catalogue.offers:
        on_demand, spot = offer.on_demand_usd_per_hour, offer.spot_usd_per_hour
        assert on_demand is None or on_demand > 0, offer
        assert spot is None or spot > 0, offer
        assert on_demand is None or spot is None or spot <= on_demand, offer


def test_unknown_figures_are_none(catalogue: Catalogue) -> None:
    """Zero never stands for unknown."""
    for offer in catalogue.offers:
        assert 0 not in (offer.accelerators, offer.vcpus, offer.memory_gib), offer
        assert offer.zones != (), offer


def test_an_estimate_is_of_a_price(catalogue: Catalogue) -> None:
    """Only a spot price that exists can be an estimate; AWS and Azure spot prices are all estimates."""
    for offer in catalogue.offers:
        assert not (offer.spot_is_estimate and offer.spot_usd_per_hour is None), offer
        if offer.cloud in (Cloud.AWS, Cloud.AZURE) and offer.spot_usd_per_hour is not None:
            assert offer.spot_is_estimate, offer


def test_zones_are_full_names_of_their_region(catalogue: Catalogue) -> None:
    """A zone name starts with its region's and is longer: us-east-1a, europe-west4-a."""
    shapes = {Cloud.GOOGLE: r"-[a-z]", Cloud.AWS: r"[a-z]"}
    for offer in catalogue.offers:
        for zone in offer.zones or ():
            assert re.fullmatch(f"{offer.region}{shapes[offer.cloud]}", zone), offer
        assert list(offer.zones or ()) == sorted(set(offer.zones or ())), offer


def test_rows_are_unique(catalogue: Catalogue) -> None:
    """A cloud has one row for a machine with so many of a card in a region, at a site."""
    rows = Counter((o.cloud, o.machine, o.card, o.region, o.accelerators, o.site) for o in catalogue.offers)
    assert [row for row, count in rows.items() if count > 1] == []


def test_a_machine_has_one_shape(catalogue: Catalogue) -> None:
    """The same machine type has the same vCPUs, memory and architecture in all rows and regions."""
    shapes: dict[tuple[Cloud, str | None, str], set[tuple[int | None, float | None, str]]] = {}
    for o in catalogue.offers:
        shapes.setdefault((o.cloud, o.site, o.machine), set()).add((o.vcpus, o.memory_gib, o.architecture))
    assert {machine: shape for machine, shape in shapes.items() if len(shape) > 1} == {}


def test_retired_machines_say_when(catalogue: Catalogue) -> None:
    """A retired row has a date or says that it was not found, lists no region, and can so be previewed in any."""
    retired = [offer for offer in catalogue.offers if offer.status is Status.RETIRED]
    assert retired
    for offer in retired:
        assert offer.region is None, offer
        assert offer.zones is None, offer
        assert (offer.retired_on and DATE.fullmatch(offer.retired_on)) or "date" in offer.note, offer


@pytest.mark.parametrize(("cloud", "card"), RETIRED_SINCE_2021)
def test_known_retirements_are_in(catalogue: Catalogue, cloud: Cloud, card: str) -> None:
    """Cards that the 2021 inventory names and that are gone are known as gone."""
    offers = catalogue.offers_of(card, cloud)
    assert offers
    assert {offer.status for offer in offers} == {Status.RETIRED}


@pytest.mark.parametrize("cloud", [cloud for cloud in Cloud if cloud is not Cloud.OPENSTACK])
def test_each_cloud_sells_something(catalogue: Catalogue, cloud: Cloud) -> None:
    """Every public cloud has an available machine with a price and a region."""
    sold = [o for o in catalogue.offers if o.cloud is cloud and o.status is Status.AVAILABLE and o.on_demand_usd_per_hour]
    assert {offer.region for offer in sold} - {None}


def test_openstack_rows_belong_to_a_site(catalogue: Catalogue) -> None:
    """Flavors are a site's own; nobody else has sites or modes."""
    for offer in catalogue.offers:
        assert (offer.site is not None) == (offer.cloud is Cloud.OPENSTACK), offer
        assert offer.mode is None or offer.cloud is Cloud.OPENSTACK, offer


def test_attached_rows_respect_their_ceiling(catalogue: Catalogue) -> None:
    """A machine with attached cards is no larger than that many of the card allow, and the count is one that exists."""
    ceilings = {(c.cloud, c.card, c.accelerators): c for c in catalogue.ceilings}
    attached = [offer for offer in catalogue.offers if offer.attachment is Attachment.ATTACHED]
    assert {offer.card for offer in attached} == {"K80", "P4", "P100", "V100", "T4"}
    for offer in attached:
        assert offer.accelerators is not None
        ceiling = ceilings[offer.cloud, offer.card, offer.accelerators]
        assert offer.vcpus is not None
        assert offer.vcpus <= ceiling.vcpus, offer
        assert offer.memory_gib is not None
        assert offer.memory_gib <= ceiling.memory_gib, offer
        assert offer.machine.startswith("n1-"), offer


def test_google_rows_name_an_accelerator_type_except_tpus(catalogue: Catalogue) -> None:
    """GKE wants `guest_accelerators` for all cards but TPUs, which the machine type selects; TPUs have a label instead."""
    for offer in (o for o in catalogue.offers if o.cloud is Cloud.GOOGLE):
        card = catalogue.card(offer.card)
        assert (offer.accelerator_type is None) == (card.kind is AcceleratorKind.TPU), offer
        assert (card.gke_tpu_accelerator is not None) == (card.kind is AcceleratorKind.TPU), offer


def test_the_mega_machine_overrides_its_accelerator_type(catalogue: Catalogue) -> None:
    """a3-megagpu-8g carries H100 under a name of its own."""
    types = {o.machine: o.accelerator_type for o in catalogue.offers_of("H100", Cloud.GOOGLE)}
    assert types["a3-megagpu-8g"] == "nvidia-h100-mega-80gb"
    assert types["a3-highgpu-8g"] == "nvidia-h100-80gb"


def test_only_google_rows_have_accelerator_types(catalogue: Catalogue) -> None:
    """Elsewhere the machine's name says it all."""
    assert {o.cloud for o in catalogue.offers if o.accelerator_type} == {Cloud.GOOGLE}


def test_what_is_not_offered_is_not_offered(catalogue: Catalogue) -> None:
    """A card that a cloud is said not to sell has no row there, and each such fact stands once."""
    facts = [(fact.cloud, fact.card) for fact in catalogue.not_offered]
    assert len(facts) == len(set(facts))
    assert [fact for fact in facts if catalogue.offers_of(fact[1], fact[0])] == []


def test_every_card_is_accounted_for_on_google_aws_and_azure(catalogue: Catalogue) -> None:
    """For each card a public cloud has a machine or a reason why not; the exceptions are cards of which nothing was found."""
    sites_own = {"IPU", "FPGA"}
    silent = {
        (cloud, card.name)
        for cloud in (Cloud.GOOGLE, Cloud.AWS, Cloud.AZURE)
        for card in catalogue.cards
        if card.name not in sites_own
        and not catalogue.offers_of(card.name, cloud)
        and not any(fact.cloud is cloud and fact.card == card.name for fact in catalogue.not_offered)
    }
    assert silent == {(Cloud.AWS, "A10"), (Cloud.AWS, "GB200")}


def test_tpu_cores_by_chip(catalogue: Catalogue) -> None:
    """The versions whose machines are rented by the core have two to a chip."""
    cores = {card.name: card.tpu_cores_per_chip for card in catalogue.cards if card.kind is AcceleratorKind.TPU}
    assert cores == {"TPU-v2": 2, "TPU-v3": 2, "TPU-v4": 2, "TPU-v5e": 1, "TPU-v5p": 2, "TPU-v6e": 1}


@pytest.mark.parametrize("name", sorted(catalogue_schemas()))
def test_schemas_are_up_to_date(name: str) -> None:
    """The committed JSON Schemas are those of the models; GPUFLEET_UPDATE_GOLDEN=1 rewrites them."""
    path = FOLDER / "schema" / name
    wanted = json.dumps(catalogue_schemas()[name], indent=2, sort_keys=True) + "\n"
    if os.environ.get("GPUFLEET_UPDATE_GOLDEN") == "1":
        path.write_text(wanted)
    assert path.read_text() == wanted


def test_files_name_their_schema() -> None:
    """An editor finds the schema through the first line of each file."""
    for path in FOLDER.rglob("*.yaml"):
        header = path.read_text().split("\n", 1)[0]
        assert header.startswith("# yaml-language-server: $schema="), path
        assert (path.parent / header.split("=", 1)[1]).resolve().is_file(), path
