"""What holds for any inventory: random ones, made of the real catalogue's cards and regions and of settings right and wrong."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.accelerators import KINDS
from fleet.clouds import TRAITS, Cloud
from fleet.documents import parse_document
from fleet.errors import FleetErrors
from fleet.labels import CAPACITY_LABEL, CARD_LABEL, SPOT_TAINT, CapacityType, Taint
from fleet.load import load_catalogue
from fleet.naming import CLUSTER_NAMES, NAME_RULES, POOL_NAMES, cloud_name
from fleet.plan import plan
from fleet.reading import read_inventory
from fleet.records import ClusterPlan, FleetPlan, NodePool

CATALOGUE = load_catalogue()
CARDS = [card.name for card in CATALOGUE.cards] + [alias for card in CATALOGUE.cards for alias in card.aliases]
REGIONS = sorted({offer.region for offer in CATALOGUE.offers if offer.region})
ZONES = sorted({zone for offer in CATALOGUE.offers for zone in offer.zones or ()})
MACHINES = sorted({offer.machine for offer in CATALOGUE.offers})
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
LEGAL = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


def sometimes(**settings_: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return mappings that have any of some keys."""
    return st.fixed_dictionaries({}, optional=settings_)


KEYS = st.sampled_from(["team", "a.example.org/x", "gpu", "node.kubernetes.io/x", "nvidia.com/gpu", "zz"])
VALUES = st.sampled_from(["", "a", "B-1", "x" * 63])
TAINTS = st.lists(sometimes(key=KEYS, value=VALUES, effect=st.sampled_from(["NoSchedule", "NoExecute"])), max_size=3)
POOL_WORDS = {
    "min": st.integers(-1, 6),
    "max": st.integers(0, 6),
    "spot": st.sampled_from(["never", "only", "prefer"]),
    "disk_gib": st.integers(20, 200),
    "gpu_driver": st.sampled_from(["cloud", "operator"]),
    "labels": st.dictionaries(KEYS, VALUES, max_size=3),
    "taints": TAINTS,
}
RARE = {
    "name": st.sampled_from(["t4", "fast", "a-b", "ab", "system", "t4-spot"]),
    "per_node": st.sampled_from([1, 2, 4, 8, 3]),
    "machine": st.sampled_from([*MACHINES, "g.any"]),
    "zones": st.lists(st.sampled_from([*ZONES, "1", "nova"]), max_size=2),
    "topology": st.sampled_from(["2x2", "2x4", "4x4", "2x2x2", "3x3", "99x99"]),
    "reservation": st.sampled_from(["r-1", "cr-0123456789abcdef0"]),
    "mode": st.sampled_from(["vgpu", "bare-metal"]),
}
ENTRIES = st.one_of(
    st.sampled_from([*CARDS, "t44"]),
    st.tuples(st.sampled_from(CARDS), sometimes(**POOL_WORDS)).map(lambda both: {"card": both[0], **both[1]}),
    st.tuples(st.sampled_from(CARDS), sometimes(**POOL_WORDS, **RARE)).map(lambda both: {"card": both[0], **both[1]}),
)
RANGES = st.sampled_from(["10.0.0.0/16", "10.1.0.0/16", "10.64.0.0/14", "10.0.0.0/8", "10.254.0.0/16", "10.9.0.0/28"])
LAYER = {
    "region": st.sampled_from(REGIONS),
    "zones": st.lists(st.sampled_from([*ZONES, "1"]), max_size=3),
    "kubernetes": st.sampled_from(["1.35", "1.28.9"]),
    "network": sometimes(
        nodes_cidr=RANGES, pods_cidr=RANGES, services_cidr=RANGES, control_plane_cidrs=st.lists(RANGES, max_size=2)
    ),
    "system_pool": sometimes(min=st.integers(1, 6), max=st.integers(1, 6)),
    "pools": sometimes(**POOL_WORDS),
    "tags": st.dictionaries(st.sampled_from(["team", "site", "x"]), VALUES, max_size=2),
    "billing_account": VALUES,
}
OPENSTACK = sometimes(driver=st.sampled_from(["heat", "capi-helm", "cluster-api"]), gpu_autoscaler=st.just("ours"))
CLUSTERS = st.one_of(
    st.fixed_dictionaries({"gpus": st.lists(ENTRIES, max_size=3)}),
    st.fixed_dictionaries({"gpus": st.lists(ENTRIES, max_size=3)}, optional=LAYER),
)
NAMES = st.sampled_from(["a", "b", "one", "x" * 63, "gke-uscentral1-c"])
SITE_NAMES = st.sampled_from(["google", "aws", "azure", "cern"])
ANY_SITE = st.one_of(SITE_NAMES, SITE_NAMES, SITE_NAMES, st.sampled_from(["lab", "hub"]))
INVENTORIES = st.fixed_dictionaries(
    {"clusters": st.dictionaries(ANY_SITE, st.dictionaries(NAMES, CLUSTERS, max_size=2), max_size=3)},
    optional={
        "sites": st.dictionaries(SITE_NAMES, sometimes(openstack=OPENSTACK, **LAYER), max_size=2),
        "hub": NAMES,
        "allow_retired": st.booleans(),
    },
)
OWN_KEYS = st.sampled_from(["team", "a.example.org/x", "zz"])
SOUND_WORDS = {
    "spot": st.sampled_from(["never", "only", "prefer"]),
    "min": st.integers(1, 3),
    "max": st.integers(3, 6),
    "disk_gib": st.integers(20, 200),
    "labels": st.dictionaries(OWN_KEYS, VALUES, max_size=3),
    "taints": st.lists(st.fixed_dictionaries({"key": OWN_KEYS}, optional={"value": VALUES}), max_size=3),
}
SOUND_LAYER = {
    "kubernetes": st.sampled_from(["1.34", "1.28.9"]),
    "system_pool": sometimes(min=st.integers(1, 3), max=st.integers(3, 6)),
    "pools": sometimes(**{name: words for name, words in SOUND_WORDS.items() if name != "spot"}),
    "tags": st.dictionaries(st.sampled_from(["team", "x"]), VALUES, max_size=2),
    "billing_account": VALUES,
    "network": sometimes(nodes_cidr=st.just("10.4.0.0/16"), control_plane_cidrs=st.lists(RANGES, max_size=2)),
}


def sound(site: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return inventories of one site, of cards that are sold there in the usual region and of settings that are right."""
    cloud = next(cloud for cloud, traits in TRAITS.items() if site in traits.site_names)
    usual = {None, TRAITS[cloud].region}
    words = {name: given_ for name, given_ in SOUND_WORDS.items() if name != "spot" or not TRAITS[cloud].no_spot}
    sold = sorted(
        {offer.card for offer in CATALOGUE.offers if offer.cloud is cloud and offer.region in usual and offer.accelerators}
    )
    entry = st.tuples(st.sampled_from(sold), sometimes(**words)).map(lambda both: {"card": both[0], **both[1]})
    entries = st.lists(entry, min_size=1, max_size=3, unique_by=lambda made: made["card"])
    cluster = st.fixed_dictionaries({"gpus": entries}, optional=SOUND_LAYER)
    return st.fixed_dictionaries(
        {"clusters": st.fixed_dictionaries({site: st.dictionaries(NAMES, cluster, min_size=1, max_size=2)})},
        optional={"sites": st.fixed_dictionaries({site: sometimes(**SOUND_LAYER)}), "defaults": sometimes(**SOUND_LAYER)},
    ).map(lambda data: {**data, "allow_retired": True})


SOUND = SITE_NAMES.flatmap(sound)


def outcome(data: object) -> FleetPlan | FleetErrors:
    """Return the plan of plain data, or why there is none."""
    try:
        document = parse_document(json.dumps(data, ensure_ascii=False, indent=1).encode(), "inventory.yaml")
        return plan(read_inventory(document), CATALOGUE, document)
    except FleetErrors as errors:
        return errors


def shuffled(data: Any, chance: random.Random) -> Any:  # noqa: ANN401 -- plain data
    """Return plain data with the keys of every mapping in another order."""
    if isinstance(data, dict):
        items = list(data.items())
        chance.shuffle(items)
        return {key: shuffled(value, chance) for key, value in items}
    return [shuffled(item, chance) for item in data] if isinstance(data, list) else data


def with_hub(data: dict[str, Any]) -> dict[str, Any]:
    """Return an inventory whose hub is stated, so that it does not follow from the order of the file."""
    names = sorted(name for clusters in data["clusters"].values() for name in clusters)
    return data if "hub" in data or not names else {**data, "hub": names[0]}


def check_pool(pool: NodePool) -> None:
    """Hold what every pool of a plan is."""
    assert 0 <= pool.min_nodes <= pool.max_nodes
    assert pool.max_nodes >= 1
    assert pool.accelerators >= 1
    keys = [key for key, _ in pool.labels]
    assert keys == sorted(set(keys))
    assert all(LABEL_VALUE.fullmatch(value) for _, value in pool.labels)
    assert dict(pool.labels)[CARD_LABEL] == pool.card
    assert dict(pool.labels)[CAPACITY_LABEL] == pool.capacity
    assert list(pool.taints) == sorted(set(pool.taints))
    assert len({(taint.key, taint.effect) for taint in pool.taints}) == len(pool.taints)
    facts = KINDS[pool.kind]
    assert Taint(key=facts.taint_key, value="present") in pool.taints
    assert pool.resource == facts.resource
    assert (SPOT_TAINT in pool.taints) == pool.is_spot
    assert (pool.reservation is not None) == (pool.capacity is CapacityType.RESERVED)
    assert list(pool.zones) == sorted(set(pool.zones))
    assert pool.hosts == 1 or (pool.max_nodes == pool.hosts and pool.min_nodes in {0, pool.hosts} and len(pool.zones) <= 1)


def check_cluster(cluster: ClusterPlan) -> None:
    """Hold what every cluster of a plan is."""
    names = [pool.name for pool in cluster.pools]
    assert names == sorted(set(names))
    rule = NAME_RULES[POOL_NAMES[cluster.cloud]]
    cloud_names = [cloud_name(POOL_NAMES[cluster.cloud], name) for name in names]
    assert len(set(cloud_names)) == len(names)
    for name in cloud_names:
        assert LEGAL.fullmatch(name)
        assert rule.shortest <= len(name) <= rule.longest
        assert rule.dashes or "-" not in name
    assert (cluster.magnum is not None) == (cluster.cloud is Cloud.OPENSTACK)
    assert [key for key, _ in cluster.tags] == sorted({key for key, _ in cluster.tags})
    for pool in cluster.pools:
        check_pool(pool)


def check_plan(found: FleetPlan) -> None:
    """Hold what every plan is."""
    assert [(cluster.site, cluster.name) for cluster in found.clusters] == sorted(
        (cluster.site, cluster.name) for cluster in found.clusters
    )
    assert sum(cluster.is_hub for cluster in found.clusters) == 1
    names = {(cluster.cloud, cloud_name(CLUSTER_NAMES[cluster.cloud], cluster.name)) for cluster in found.clusters}
    assert len(names) == len(found.clusters)
    assert list(found.notes) == sorted(set(found.notes))
    assert "None" not in " ".join(note.text for note in found.notes)
    hash(found)
    for cluster in found.clusters:
        check_cluster(cluster)


@settings(max_examples=250, deadline=None)
@given(INVENTORIES)
def test_any_inventory_plans_or_is_refused_with_paths(data: dict[str, Any]) -> None:
    """Never another exception; each mistake has a path that stands in the file, and a line."""
    found = outcome(data)
    if isinstance(found, FleetPlan):
        check_plan(found)
        return
    assert found.mistakes
    for mistake in found.mistakes:
        assert mistake.path.split(".")[0].split("[")[0] in {"clusters", "sites", "defaults", "hub", "allow_retired"}
        assert mistake.line >= 1
        assert mistake.reason
        assert mistake.remedy


@settings(max_examples=200, deadline=None)
@given(SOUND)
def test_inventories_of_what_is_sold_plan_soundly(data: dict[str, Any]) -> None:
    """Right settings of cards sold there are planned, whatever their combination, unless spot is not sold of one."""
    found = outcome(data)
    if isinstance(found, FleetErrors):
        assert all("spot" in mistake.reason for mistake in found.mistakes), found
        return
    check_plan(found)
    stated = [entry["card"] for clusters in data["clusters"].values() for one in clusters.values() for entry in one["gpus"]]
    assert sorted({card for cluster in found.clusters for card in cluster.cards}) == sorted(set(stated))


@settings(max_examples=120, deadline=None)
@given(st.one_of(INVENTORIES, SOUND).map(with_hub), st.randoms(use_true_random=False))
def test_plans_do_not_depend_on_the_order_of_keys(data: dict[str, Any], chance: random.Random) -> None:
    """Equal inventories give equal plans, or the same mistakes, however their keys are ordered."""
    first, again, other = outcome(data), outcome(data), outcome(shuffled(data, chance))
    assert type(first) is type(again) is type(other)
    if isinstance(first, FleetPlan):
        assert first == again == other
    elif isinstance(first, FleetErrors) and isinstance(again, FleetErrors) and isinstance(other, FleetErrors):
        assert first.mistakes == again.mistakes
        assert {(one.path, one.reason) for one in first.mistakes} == {(one.path, one.reason) for one in other.mistakes}
