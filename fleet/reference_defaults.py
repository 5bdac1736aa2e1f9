"""What an inventory that states next to nothing comes to on each cloud: the defaults that the settings reference shows.

An inventory of one card is planned on every cloud, and on OpenStack with every driver, so a default is what the plan does and
not what a second list says it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from fleet.accelerators import AcceleratorKind
from fleet.catalogue import Attachment, Card, Catalogue, Offer, Status
from fleet.clouds import TRAITS, Cloud, MagnumDriver
from fleet.documents import Document, Path, path_text
from fleet.inventory import (
    ClusterSettings,
    Inventory,
    Model,
    NetworkSettings,
    OpenstackSettings,
    PoolDefaults,
    SystemPoolSettings,
)
from fleet.labels import CapacityType
from fleet.plan import plan
from fleet.records import ClusterPlan, MagnumPlan
from fleet.scope import Findings, Scope

Place = tuple[Cloud, MagnumDriver | None]
PLACES: tuple[Place, ...] = (
    *((cloud, None) for cloud in Cloud if not TRAITS[cloud].has_magnum),
    *((cloud, driver) for cloud in Cloud if TRAITS[cloud].has_magnum for driver in (None, *MagnumDriver)),
)
"""Every cloud, and on OpenStack the drivers besides: None is a site that names none."""

_CARD = "T4"
_SITE = "site"
_CLUSTER = "cluster"

_READERS: Mapping[tuple[type[Model], str], Callable[[ClusterPlan], object]] = {
    (PoolDefaults, "min"): lambda cluster: cluster.pools[0].min_nodes,
    (PoolDefaults, "max"): lambda cluster: cluster.pools[0].max_nodes,
    (PoolDefaults, "spot"): lambda cluster: {CapacityType.ON_DEMAND: "never"}[cluster.pools[0].capacity],
    (PoolDefaults, "disk_gib"): lambda cluster: cluster.pools[0].disk_gib,
    (PoolDefaults, "gpu_driver"): lambda cluster: cluster.pools[0].gpu_driver,
    (ClusterSettings, "region"): lambda cluster: cluster.region,
    (ClusterSettings, "zones"): lambda cluster: ", ".join(cluster.zones) or "the cloud's choice",
    (ClusterSettings, "kubernetes"): lambda cluster: cluster.kubernetes_version,
    (SystemPoolSettings, "machine"): lambda cluster: cluster.system_pool.machine,
    (SystemPoolSettings, "min"): lambda cluster: cluster.system_pool.min_nodes,
    (SystemPoolSettings, "max"): lambda cluster: cluster.system_pool.max_nodes,
    (SystemPoolSettings, "disk_gib"): lambda cluster: cluster.system_pool.disk_gib,
    (NetworkSettings, "nodes_cidr"): lambda cluster: cluster.network.nodes_cidr,
    (NetworkSettings, "pods_cidr"): lambda cluster: cluster.network.pods_cidr,
    (NetworkSettings, "services_cidr"): lambda cluster: cluster.network.services_cidr,
    (OpenstackSettings, "driver"): lambda cluster: _magnum(cluster).driver,
    (OpenstackSettings, "image"): lambda cluster: _magnum(cluster).image,
    (OpenstackSettings, "external_network"): lambda cluster: _magnum(cluster).external_network,
    (OpenstackSettings, "control_plane_flavor"): lambda cluster: _magnum(cluster).control_plane_flavor,
    (OpenstackSettings, "control_plane_nodes"): lambda cluster: _magnum(cluster).control_plane_nodes,
    (OpenstackSettings, "dns_nameservers"): lambda cluster: ", ".join(_magnum(cluster).dns_nameservers),
}
"""Where in a plan the default of a setting shows that its model leaves open."""


def default_of(model: type[Model], name: str) -> str | None:
    """Return the default of a setting as plans show it, in Markdown; None where the setting's model says it all.

    One value if it is the same wherever there is one, else a value for each place.
    """
    read = _READERS.get((model, name))
    if read is None:
        return None
    values: dict[str, list[Place]] = {}
    for place, cluster in _plans().items():
        if cluster.magnum is not None or not _is_of_magnum(read, cluster):
            values.setdefault(str(read(cluster)), []).append(place)
    if (model, name) == (OpenstackSettings, "driver"):
        values = {value: places for value, places in values.items() if any(driver is None for _, driver in places)}
    if len(values) == 1:
        return f"`{next(iter(values))}`"
    return "; ".join(f"`{value}` on {places_in_words(places)}" for value, places in values.items())


@cache
def _plans() -> Mapping[Place, ClusterPlan]:
    """Return the plan of each place."""
    return {place: _planned(place) for place in PLACES}


def _is_of_magnum(read: Callable[[ClusterPlan], object], cluster: ClusterPlan) -> bool:
    """Return whether what `read` looks for is not there on a cluster that is not Magnum's."""
    try:
        read(cluster)
    except LookupError:
        return True
    return False


def _magnum(cluster: ClusterPlan) -> MagnumPlan:
    """Return what only Magnum is told; raises LookupError where the cluster is not Magnum's."""
    if cluster.magnum is None:
        raise LookupError(cluster.name)
    return cluster.magnum


def places_in_words(places: Sequence[Place]) -> str:
    """Return clouds in words; a cloud with drivers by its name alone when all of them are meant."""
    words: list[str] = []
    for cloud in Cloud:
        drivers = [driver for at, driver in places if at is cloud]
        if len(drivers) == sum(at is cloud for at, _ in PLACES):
            words.append(str(cloud))
        elif drivers:
            words.append(f"{cloud} with {' or '.join(str(driver) for driver in drivers if driver)}")
    return ", ".join(words)


def _planned(place: Place) -> ClusterPlan:
    """Return the plan of a cluster whose inventory states a card and nothing else."""
    scope = scope_of(place)
    card = Card(name=_CARD, kind=AcceleratorKind.NVIDIA, source="", as_of="")
    offer = Offer(
        cloud=scope.cloud,
        card=card.name,
        machine="machine",
        attachment=Attachment.BUNDLED,
        status=Status.AVAILABLE,
        source="",
        as_of="",
        accelerators=1,
    )
    fleet = plan(scope.inventory, Catalogue(cards=(card,), offers=(offer,)), scope.findings.document)
    return fleet.clusters[0]


def scope_of(place: Place, settings: Mapping[str, Any] = MappingProxyType({})) -> Scope:
    """Return a cluster with one card, with settings of its own."""
    cloud, driver = place
    site = {"cloud": str(cloud)} | ({"openstack": {"driver": str(driver)}} if driver else {})
    names = {"clusters": {_SITE: {_CLUSTER: {"gpus": [_CARD], **settings}}}}
    inventory = Inventory.model_validate({**names, "sites": {_SITE: site}})
    findings = Findings(document=Document(file="", data=None, lines={}))
    return Scope(inventory=inventory, site_name=_SITE, cluster_name=_CLUSTER, cloud=cloud, findings=findings)


def pool_layers() -> Iterator[tuple[Path, PoolDefaults]]:
    """Yield the layers of an entry of `gpus`."""
    scope = scope_of(PLACES[0])
    return scope.pool_layers(scope.cluster.gpus[0], 0)


def place_in_words(path: Path) -> str:
    """Return a place of the inventories here as the page writes it: names in capitals, N for a number."""
    capitals = {_SITE: _SITE.upper(), _CLUSTER: _CLUSTER.upper()}
    return path_text(tuple(capitals.get(str(part), part) for part in path)).replace("[0]", "[N]")
