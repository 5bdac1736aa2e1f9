"""Every card on every cloud under every way to pay, driver and fewest nodes: a plan, or a stated refusal."""

from __future__ import annotations

from itertools import product

import pytest

from fleet.catalogue import Catalogue
from fleet.clouds import Cloud, MagnumDriver
from fleet.documents import Document
from fleet.errors import FleetErrors
from fleet.inventory import Cluster, Inventory, OpenstackSettings, Pool, Site
from fleet.labels import CapacityType
from fleet.load import load_catalogue
from fleet.plan import plan
from fleet.records import FleetPlan

CARDS = tuple(card.name for card in load_catalogue().cards)
SPOTS = ("never", "only", "prefer")
DRIVERS = (None, *MagnumDriver)
NOWHERE = Document(file="inventory.yaml", data=None, lines={(): 1})


def attempt(catalogue: Catalogue, cloud: Cloud, site: Site, pool: Pool, *, allow_retired: bool) -> FleetPlan | FleetErrors:
    """Return the plan of one pool, or why there is none."""
    inventory = Inventory(
        sites={"site": site.model_copy(update={"cloud": cloud})},
        clusters={"site": {"one": Cluster(gpus=[pool])}},
        allow_retired=allow_retired,
    )
    try:
        return plan(inventory, catalogue, NOWHERE)
    except FleetErrors as errors:
        return errors


def check_refusal(errors: FleetErrors) -> None:
    """Hold that each mistake says where, why and what next."""
    assert errors.mistakes
    for mistake in errors.mistakes:
        assert mistake.path.startswith("clusters.site.one.gpus[0].")
        assert mistake.reason
        assert not mistake.reason.endswith(".")
        assert mistake.remedy.endswith((".", "?")), mistake
        assert "None" not in str(mistake)


def check_plan(found: FleetPlan, cloud: Cloud, pool: Pool, driver: MagnumDriver | None) -> None:
    """Hold that the pools are what was asked for."""
    (cluster,) = found.clusters
    capacities = {
        "never": {CapacityType.ON_DEMAND},
        "only": {CapacityType.SPOT},
        "prefer": {CapacityType.SPOT, CapacityType.ON_DEMAND},
    }
    assert {made.capacity for made in cluster.pools} == capacities[str(pool.spot)]
    assert max(made.min_nodes for made in cluster.pools) == pool.min
    assert {made.card for made in cluster.pools} == {pool.card}
    assert (cluster.magnum.driver if cluster.magnum else None) == (
        (driver or MagnumDriver.HEAT) if cloud is Cloud.OPENSTACK else None
    )


@pytest.mark.parametrize("allow_retired", [False, True])
@pytest.mark.parametrize("cloud", list(Cloud))
def test_every_combination_plans_or_is_refused(cloud: Cloud, allow_retired: bool) -> None:
    """Nothing ends in another exception, and both ends are met on every cloud."""
    catalogue = load_catalogue()
    ends = set()
    flavors = (None, "g.any") if cloud is Cloud.OPENSTACK else (None,)
    drivers = DRIVERS if cloud is Cloud.OPENSTACK else (None,)
    for card, spot, least, driver, machine in product(CARDS, SPOTS, (0, 1), drivers, flavors):
        site = Site(openstack=OpenstackSettings(driver=driver)) if driver else Site()
        pool = Pool.model_validate({"card": card, "spot": spot, "min": least, "machine": machine})
        found = attempt(catalogue, cloud, site, pool, allow_retired=allow_retired)
        ends.add(type(found))
        if isinstance(found, FleetErrors):
            check_refusal(found)
        else:
            check_plan(found, cloud, pool, driver)
    assert ends == {FleetPlan, FleetErrors}


@pytest.mark.parametrize("cloud", list(Cloud))
def test_allowing_retired_cards_only_adds(cloud: Cloud) -> None:
    """What plans without plans with it too, on a machine that is still sold."""
    catalogue = load_catalogue()
    added = 0
    for card, spot in product(CARDS, SPOTS):
        pool = Pool.model_validate({"card": card, "spot": spot})
        without = attempt(catalogue, cloud, Site(), pool, allow_retired=False)
        with_it = attempt(catalogue, cloud, Site(), pool, allow_retired=True)
        if isinstance(without, FleetPlan):
            assert isinstance(with_it, FleetPlan)
            assert without.clusters == with_it.clusters
        else:
            added += isinstance(with_it, FleetPlan)
    assert bool(added) == (cloud is not Cloud.OPENSTACK)


def test_every_card_of_the_catalogue_can_be_had_somewhere() -> None:
    """A card that no cloud sells and no flavor carries is planned with a flavor of the site's own."""
    catalogue = load_catalogue()
    for card in CARDS:
        pool = Pool.model_validate({"card": card, "machine": "g.any", "per_node": 2})
        found = attempt(catalogue, Cloud.OPENSTACK, Site(), pool, allow_retired=False)
        assert isinstance(found, FleetPlan)
        assert found.clusters[0].pools[0].accelerators == 2


def test_every_machine_sold_can_be_named() -> None:
    """Naming machine, count and region of any offer that is sold plans exactly that machine."""
    catalogue = load_catalogue()
    for offer in catalogue.offers:
        if offer.status == "retired" or offer.cloud is Cloud.OPENSTACK:
            continue
        site = Site(region=offer.region)
        words = {"card": offer.card, "machine": offer.machine, "per_node": offer.accelerators or 1}
        if offer.zones:
            words["zones"] = [offer.zones[0]]
        found = attempt(catalogue, offer.cloud, site, Pool.model_validate(words), allow_retired=False)
        assert isinstance(found, FleetPlan), (offer, found)
        (pool,) = found.clusters[0].pools
        assert (pool.machine, pool.accelerators) == (offer.machine, words["per_node"])
        assert not offer.zones or pool.zones == (offer.zones[0],)
