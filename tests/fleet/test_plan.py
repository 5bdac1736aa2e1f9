"""The plan: what is assumed where nothing is said, which setting wins, and how pools, zones and slices come out."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import CapacityType, Taint, TaintEffect
from fleet.load import load_plan
from fleet.records import ClusterPlan, GpuDriver, GpuMode, MagnumPlan, MaintenanceWindow, NetworkPlan, SystemPool
from tests.support.planning import mistakes, notes, planned, pools, told, warnings

ROOT = Path(__file__).parents[2]
SEED = ROOT / "examples" / "inventory-2021.yaml"


def cluster_of(text: str) -> ClusterPlan:
    """Return the only cluster of an inventory."""
    (cluster,) = planned(text).clusters
    return cluster


def test_the_seed_syntax_plans_with_every_default() -> None:
    """Site, cluster and cards are enough; all else is the default that docs and schema name."""
    cluster = cluster_of("clusters: {google: {gke-a: {gpus: [V100, t4]}}}")
    assert (cluster.site, cluster.name, cluster.cloud, cluster.region) == ("google", "gke-a", Cloud.GOOGLE, "us-central1")
    assert (cluster.kubernetes_version, cluster.account, cluster.zones, cluster.admins) == ("1.35", None, (), ())
    assert cluster.network == NetworkPlan(nodes_cidr="10.0.0.0/16", pods_cidr="10.64.0.0/14", services_cidr="10.112.0.0/20")
    assert cluster.system_pool == SystemPool(machine="e2-standard-4", min_nodes=2, max_nodes=5, disk_gib=100)
    assert cluster.tags == (("cluster", "gke-a"), ("managed-by", "gpufleet"), ("site", "google"))
    assert (cluster.maintenance, cluster.magnum, cluster.is_hub) == (None, None, True)
    assert cluster.cards == ("T4", "V100")
    t4, v100 = cluster.pools
    assert (t4.name, t4.card, t4.kind, t4.resource) == ("t4", "T4", AcceleratorKind.NVIDIA, "nvidia.com/gpu")
    assert (t4.machine, t4.accelerator_type, t4.accelerators) == ("n1-standard-4", "nvidia-tesla-t4", 1)
    assert (t4.min_nodes, t4.max_nodes, t4.capacity, t4.disk_gib) == (0, 4, CapacityType.ON_DEMAND, 100)
    assert t4.labels == (("gpu", "T4"), ("gpufleet.io/capacity-type", "on-demand"))
    assert t4.taints == (Taint(key="nvidia.com/gpu", value="present"),)
    assert (t4.gpu_driver, t4.mode, t4.topology, t4.hosts) == (GpuDriver.CLOUD, None, None, 1)
    assert t4.zones == ("us-central1-a", "us-central1-b", "us-central1-c", "us-central1-f")
    assert v100.machine == "n1-standard-8"


@pytest.mark.parametrize(
    ("site", "cloud", "region", "zones"),
    [
        ("google", Cloud.GOOGLE, "us-central1", ()),
        ("gcp", Cloud.GOOGLE, "us-central1", ()),
        ("aws", Cloud.AWS, "us-east-1", ("us-east-1a", "us-east-1b", "us-east-1c")),
        ("azure", Cloud.AZURE, "eastus", ()),
        ("cern", Cloud.OPENSTACK, "cern", ()),
        ("magnum", Cloud.OPENSTACK, "cern", ()),
    ],
)
def test_the_cloud_follows_from_the_site(site: str, cloud: Cloud, region: str, zones: tuple[str, ...]) -> None:
    """Known names need no word about their cloud."""
    cluster = cluster_of(f"clusters: {{{site}: {{one: {{gpus: []}}}}}}")
    assert (cluster.cloud, cluster.region, cluster.zones) == (cloud, region, zones)
    assert cluster.pools == ()
    assert (cluster.magnum is not None) == (cloud is Cloud.OPENSTACK)


def test_a_stated_cloud_beats_the_sites_name() -> None:
    """A site may be called anything, even after another cloud."""
    assert cluster_of("{sites: {google: {cloud: azure}}, clusters: {google: {one: {gpus: []}}}}").cloud is Cloud.AZURE


def test_magnum_defaults_are_stated() -> None:
    """What Magnum is told when a site says nothing, and the warning that a driver is assumed."""
    text = "clusters: {cern: {one: {gpus: []}}}"
    assert cluster_of(text).magnum == MagnumPlan(
        driver=MagnumDriver.HEAT,
        image="fedora-coreos-latest",
        external_network="public",
        control_plane_flavor="m2.large",
        control_plane_nodes=3,
        dns_nameservers=("8.8.8.8",),
    )
    assert cluster_of(text).network.services_cidr == "10.254.0.0/16"
    assert "no Magnum driver is stated, heat is assumed: sites.cern.openstack.driver" in warnings(text)


LAYERS = """
defaults: {{{defaults}}}
sites: {{google: {{{site}}}}}
clusters: {{google: {{one: {{{cluster} gpus: [{{card: t4, {pool}}}]}}}}}}
"""


def layered(setting: str, *values: str, pool: bool) -> str:
    """Return an inventory that states a setting in the outermost layers, one for each value."""
    words = [f"{setting}: {value}" for value in values] + [""] * (4 - len(values))
    if pool:
        words = [f"pools: {{{word}}}" if word else "" for word in words[:3]] + [words[3]]
    cluster = f"{words[2]}," if words[2] else ""
    return LAYERS.format(defaults=words[0], site=words[1], cluster=cluster, pool=words[3])


@pytest.mark.parametrize(
    ("setting", "values"),
    [("min_nodes", ("1", "2", "3", "4")), ("max_nodes", ("6", "7", "8", "9")), ("disk_gib", ("50", "60", "70", "80"))],
)
def test_the_nearest_pool_setting_wins(setting: str, values: tuple[str, ...]) -> None:
    """Entry before cluster before site before defaults."""
    name = {"min_nodes": "min", "max_nodes": "max"}.get(setting, setting)
    for count in range(1, 5):
        (pool,) = pools(layered(name, *values[:count], pool=True)).values()
        assert getattr(pool, setting) == int(values[count - 1])


@pytest.mark.parametrize(
    ("setting", "values", "field"),
    [
        ("kubernetes", ("'1.33'", "'1.34'", "'1.36'"), "kubernetes_version"),
        ("region", ("us-central1", "europe-west4", "us-central1"), "region"),
        ("billing_account", ("a", "b", "c"), "billing-account"),
    ],
)
def test_the_nearest_cluster_setting_wins(setting: str, values: tuple[str, ...], field: str) -> None:
    """Cluster before site before defaults."""
    for count in range(1, 4):
        cluster = cluster_of(layered(setting, *values[:count], pool=False))
        found = dict(cluster.tags).get(field) or getattr(cluster, field)
        assert found == values[count - 1].strip("'")


def test_parts_of_a_setting_are_layered_one_by_one() -> None:
    """A cluster's network or system pool takes over only what it states."""
    cluster = cluster_of("""
    defaults: {network: {nodes_cidr: 10.8.0.0/16, pods_cidr: 10.16.0.0/14}, system_pool: {machine: e2-standard-8, max: 9}}
    sites: {google: {network: {nodes_cidr: 10.9.0.0/16}, system_pool: {min: 1, max: 7}}}
    clusters: {google: {one: {gpus: [], network: {control_plane_cidrs: [10.1.0.0/16, 10.0.0.0/16]}, system_pool: {disk_gib: 50}}}}
    """)
    assert cluster.network == NetworkPlan(
        nodes_cidr="10.9.0.0/16",
        pods_cidr="10.16.0.0/14",
        services_cidr="10.112.0.0/20",
        control_plane_cidrs=("10.0.0.0/16", "10.1.0.0/16"),
    )
    assert cluster.system_pool == SystemPool(machine="e2-standard-8", min_nodes=1, max_nodes=7, disk_gib=50)


def test_tags_labels_and_taints_add_up_and_the_inner_value_wins() -> None:
    """Outer ones are kept unless an inner layer states the same key."""
    cluster = cluster_of("""
    defaults: {tags: {a: '1', b: '1'}, pools: {labels: {a: '1', b: '1'}, taints: [{key: a, value: '1'}, {key: b, value: '1'}]}}
    sites: {google: {tags: {b: '2', c: '2'}, pools: {labels: {b: '2', c: '2'}, taints: [{key: b, value: '2'}]}}}
    clusters:
      google:
        one:
          tags: {c: '3'}
          pools: {labels: {c: '3'}, taints: [{key: b, value: '3', effect: NoExecute}]}
          gpus: [{card: t4, labels: {d: '4'}, taints: [{key: a, value: '4'}]}]
    """)
    own = (("cluster", "one"), ("managed-by", "gpufleet"), ("site", "google"))
    assert cluster.tags == tuple(sorted((*own, ("a", "1"), ("b", "2"), ("c", "3"))))
    (pool,) = cluster.pools
    assert dict(pool.labels) == {
        "a": "1", "b": "2", "c": "3", "d": "4", "gpu": "T4", "gpufleet.io/capacity-type": "on-demand",
    }  # fmt: skip
    assert pool.taints == tuple(
        sorted(
            [
                Taint(key="a", value="4"),
                Taint(key="b", value="2"),
                Taint(key="b", value="3", effect=TaintEffect.NO_EXECUTE),
                Taint(key="nvidia.com/gpu", value="present"),
            ]
        )
    )


def test_everything_that_can_be_said_is_heard() -> None:
    """Each setting of a cluster and an entry ends in its field of the plan."""
    cluster = cluster_of("""
    sites:
      lab:
        cloud: openstack
        account: lab
        openstack:
          {driver: cluster-api, image: ubuntu, keypair: ops, external_network: ext, control_plane_flavor: big,
           control_plane_nodes: 5, dns_nameservers: [10.1.1.2, 10.1.1.1], gpu_autoscaler: ours,
           flavors: {g9: {card: h100, accelerators: 4, vcpus: 64, memory_gib: 512, mode: vgpu, usd_per_hour: 3}}}
    clusters:
      lab:
        one:
          region: basel
          zones: [nova-2, nova-1]
          maintenance: {days: [Sunday, Monday, Sunday], start_hour_utc: 3, hours: 6}
          gpus: [{card: h100, name: fast, per_node: 4, min: 0, max: 2, gpu_driver: operator, mode: bare-metal, zones: [nova-1]}]
    """)
    assert (cluster.account, cluster.region, cluster.zones) == ("lab", "basel", ("nova-1", "nova-2"))
    assert cluster.maintenance == MaintenanceWindow(days=("Monday", "Sunday"), start_hour_utc=3, hours=6)
    assert cluster.magnum == MagnumPlan(
        driver=MagnumDriver.CLUSTER_API,
        image="ubuntu",
        external_network="ext",
        control_plane_flavor="big",
        control_plane_nodes=5,
        keypair="ops",
        gpu_autoscaler="ours",
        dns_nameservers=("10.1.1.2", "10.1.1.1"),
    )
    (pool,) = cluster.pools
    assert (pool.name, pool.machine, pool.accelerators, pool.vcpus, pool.memory_gib) == ("fast", "g9", 4, 64, 512)
    assert (pool.gpu_driver, pool.mode, pool.zones) == (GpuDriver.OPERATOR, GpuMode.BARE_METAL, ("nova-1",))
    assert (pool.min_nodes, pool.max_nodes, pool.price.usd_per_hour) == (0, 2, 3.0)


def test_a_hub_is_chosen_or_named() -> None:
    """The first cluster of the file, with a note; or the one that the inventory names, without."""
    two = "clusters: {google: {b: {gpus: []}, a: {gpus: []}}, aws: {c: {gpus: []}}}"
    assert planned(two).hub.name == "b"
    assert notes(two)["hub"] == ["b is the hub, as the first cluster of the inventory; `hub: NAME` chooses another"]
    named = f"hub: c\n{two}"
    assert [cluster.name for cluster in planned(named).clusters if cluster.is_hub] == ["c"]
    assert "hub" not in notes(named)


def test_clusters_and_pools_are_sorted() -> None:
    """By site and name, whatever the order of the file."""
    plan = planned("clusters: {google: {b: {gpus: [v100, p4]}, a: {gpus: []}}, aws: {c: {gpus: []}}}")
    assert [(cluster.site, cluster.name) for cluster in plan.clusters] == [("aws", "c"), ("google", "a"), ("google", "b")]
    assert plan.sites == ("aws", "google")
    assert [cluster.name for cluster in plan.of_site("google")] == ["a", "b"]
    assert [pool.name for pool in plan.of_site("google")[1].pools] == ["p4", "v100"]


def test_spot_only_and_prefer() -> None:
    """`only` makes one spot pool, `prefer` a spot pool tried first and its on-demand twin, which alone keeps the min."""
    only = pools("clusters: {google: {one: {gpus: [{card: t4, spot: only, min: 1}]}}}")
    assert {name: (pool.capacity, pool.min_nodes) for name, pool in only.items()} == {"t4-spot": (CapacityType.SPOT, 1)}
    text = "clusters: {google: {one: {gpus: [{card: t4, spot: prefer, min: 1, max: 6}]}}}"
    both = pools(text)
    assert {name: (pool.capacity, pool.min_nodes, pool.max_nodes) for name, pool in both.items()} == {
        "t4": (CapacityType.ON_DEMAND, 1, 6),
        "t4-spot": (CapacityType.SPOT, 0, 6),
    }
    spot, other = both["t4-spot"], both["t4"]
    assert spot.priority > other.priority
    assert Taint(key="gpufleet.io/capacity-type", value="spot") in spot.taints
    assert other.taints == (Taint(key="nvidia.com/gpu", value="present"),)
    assert spot.price.usd_per_hour != other.price.usd_per_hour
    assert any(note.startswith("spot first: ") and note.endswith("may grow to 6 nodes") for note in notes(text)["google/one/t4"])


GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r"


@pytest.mark.parametrize(
    ("cloud", "name", "zones"),
    [("google", "r-1", ""), ("aws", "cr-0123456789abcdef0", ", zones: [us-east-1a]"), ("azure", GROUP, "")],
)
def test_reservations_make_reserved_pools(cloud: str, name: str, zones: str) -> None:
    """Reserved capacity has no price of ours and is no spot capacity."""
    (pool,) = pools(f"clusters: {{{cloud}: {{one: {{gpus: [{{card: t4, reservation: {name}{zones}}}]}}}}}}").values()
    assert (pool.capacity, pool.reservation, pool.price.usd_per_hour) == (CapacityType.RESERVED, name, None)
    assert dict(pool.labels)["gpufleet.io/capacity-type"] == "reserved"


@pytest.mark.parametrize(
    ("entry", "machine", "accelerators", "hosts", "zones", "size"),
    [
        ("card: tpu-v5e", "ct5lp-hightpu-1t", 1, 1, 1, (0, 4)),
        ("card: tpu-v5e, topology: 2x2", "ct5lp-hightpu-4t", 4, 1, 1, (0, 4)),
        ("card: tpu-v5e, topology: 2x4", "ct5lp-hightpu-8t", 8, 1, 1, (0, 4)),
        ("card: tpu-v5e, topology: 2x4, per_node: 4", "ct5lp-hightpu-4t", 4, 2, 1, (0, 2)),
        ("card: tpu-v5e, topology: 4x4", "ct5lp-hightpu-4t", 4, 4, 1, (0, 4)),
        ("card: tpu-v5e, topology: 4x8, min: 8, max: 8", "ct5lp-hightpu-4t", 4, 8, 1, (8, 8)),
        ("card: tpu-v6e, topology: 4x4", "ct6e-standard-4t", 4, 4, 1, (0, 4)),
        ("card: tpu-v6e", "ct6e-standard-1t", 1, 1, 3, (0, 4)),
        ("card: tpu-v3, topology: 2x2, spot: only", "ct3-hightpu-4t", 4, 1, 3, (0, 4)),
    ],
)
def test_tpu_slices(entry: str, machine: str, accelerators: int, hosts: int, zones: int, size: tuple[int, int]) -> None:
    """One host, or all hosts of a slice in one zone, made and lost together."""
    (pool,) = pools(f"clusters: {{google: {{one: {{gpus: [{{{entry}}}]}}}}}}").values()
    assert (pool.machine, pool.accelerators, pool.hosts) == (machine, accelerators, hosts)
    assert (pool.min_nodes, pool.max_nodes) == size
    assert pool.is_multi_host == (hosts > 1)
    assert len(pool.zones) == zones
    assert Taint(key="google.com/tpu", value="present") in pool.taints
    assert pool.resource == "google.com/tpu"


ZONES = [
    ("google", "zones: [us-central1-a, us-central1-b],", "card: p4", ("us-central1-a",)),
    ("google", "zones: [us-central1-a, us-central1-b],", "card: p4, zones: [us-central1-c]", ("us-central1-c",)),
    ("google", "zones: [us-central1-b, us-central1-a],", "card: t4", ("us-central1-a", "us-central1-b")),
    ("google", "", "card: p4", ("us-central1-a", "us-central1-c")),
    ("aws", "", "card: trainium1", ("us-east-1c",)),
    ("aws", "zones: [us-east-1a, us-east-1f],", "card: trainium1", ("us-east-1f",)),
    ("aws", "", "card: t4, zones: [us-east-1d]", ("us-east-1d",)),
    ("azure", "zones: ['2', '1'],", "card: t4", ()),
    ("azure", "", "card: t4, zones: ['3', '1', '1']", ("1", "3")),
    ("cern", "zones: [nova],", "card: t4", ("nova",)),
]


@pytest.mark.parametrize(("site", "cluster", "entry", "zones"), ZONES)
def test_pools_keep_to_the_zones_that_have_the_card(site: str, cluster: str, entry: str, zones: tuple[str, ...]) -> None:
    """Those of the entry, else those of the cluster in which the card is sold."""
    (pool,) = pools(f"clusters: {{{site}: {{one: {{{cluster} gpus: [{{{entry}}}]}}}}}}").values()
    assert pool.zones == zones


@pytest.mark.parametrize(
    ("zones", "machine", "kept"),
    [
        ("us-east-1a, us-east-1b", "trn1.32xlarge", ("us-east-1b",)),
        ("us-east-1b, us-east-1c", "trn1.2xlarge", ("us-east-1c",)),
    ],
)
def test_the_smallest_machine_sold_in_any_zone_of_the_cluster_is_taken(zones: str, machine: str, kept: tuple[str, ...]) -> None:
    """A machine that none of the cluster's zones has is passed over; one that some have is enough."""
    (pool,) = pools(f"clusters: {{aws: {{one: {{zones: [{zones}], gpus: [trainium1]}}}}}}").values()
    assert (pool.machine, pool.zones) == (machine, kept)


@pytest.mark.parametrize("driver", list(MagnumDriver))
@pytest.mark.parametrize("autoscaler", [False, True])
@pytest.mark.parametrize("least", [None, 0, 1])
def test_min_zero_on_magnum(driver: MagnumDriver, autoscaler: bool, least: int | None) -> None:
    """Zero nodes only where somebody can wake them; else 1 with the reason, or a refusal of a stated 0."""
    ours = ", gpu_autoscaler: our own" if autoscaler else ""
    entry = "card: t4" if least is None else f"card: t4, min: {least}"
    text = f"{{sites: {{cern: {{openstack: {{driver: {driver}{ours}}}}}}}, clusters: {{cern: {{one: {{gpus: [{{{entry}}}]}}}}}}}}"
    may_be_empty = autoscaler and driver is not MagnumDriver.CAPI_HELM
    if least == 0 and not may_be_empty:
        (mistake,) = mistakes(text)
        assert mistake.path == "clusters.cern.one.gpus[0].min"
        assert mistake.reason.startswith("a pool with min 0 would never wake: ")
        has_way_out = driver is not MagnumDriver.CAPI_HELM
        assert mistake.remedy.endswith("sites.cern.openstack.gpu_autoscaler." if has_way_out else "or another driver.")
        return
    assert pools(text)["t4"].min_nodes == (0 if may_be_empty and least != 1 else 1)
    told_of = notes(text)["cern/one/t4"]
    assert any(note.startswith("min is 1, not 0: ") for note in told_of) == (least is None and not may_be_empty)
    assert ("woken from zero by the site's own word: our own" in told_of) == (may_be_empty and least != 1)


def test_notes_go_by_the_pools_name() -> None:
    """An entry with a name of its own is called by it in every note."""
    text = "clusters: {cern: {one: {gpus: [{card: t4, name: small}]}}}"
    assert any(note.startswith("min is 1, not 0") for note in notes(text)["cern/one/small"])
    assert "cern/one/t4" not in notes(text)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("clusters: {google: {one: {gpus: [t4]}}}", "needs quota in us-central1 for 4 T4 (on-demand) at full scale"),
        ("clusters: {google: {one: {gpus: [t4, {card: t4, per_node: 4}]}}}", "t4 and t4-x4 both answer to gpu=T4"),
        ("clusters: {google: {one: {gpus: [p100]}}}", "The retirement of P100 on google is announced"),
        ("clusters: {cern: {one: {gpus: [t4]}}}", "g2.5xlarge could not be verified."),
        ("{allow_retired: true, clusters: {aws: {one: {gpus: [k80]}}}}", "this can be previewed and not created"),
        ("clusters: {cern: {one: {gpus: [{card: h100, machine: g9}]}}}", "flavor g9 is taken at its word"),
        ("clusters: {cern: {one: {gpus: []}}}", "Magnum's Heat driver is deprecated"),
        ("clusters: {cern: {one: {gpus: []}}}", "Kubernetes 1.35 is newer than 1.28, the newest that the driver's"),
        ("clusters: {cern: {one: {gpus: []}}}", "Kubernetes 1.35 is asked for as 1.35.0: state the patch version"),
        (
            "{sites: {cern: {openstack: {driver: capi-helm}}}, clusters: {cern: {one: {gpus: []}}}}",
            "the magnum-capi-helm driver passes no taints to nodes",
        ),
        (
            "{sites: {cern: {openstack: {driver: cluster-api}}}, clusters: {cern: {one: {gpus: []}}}}",
            "the magnum-cluster-api driver passes no labels to nodes",
        ),
        (
            "clusters: {aws: {one: {gpus: [], maintenance: {days: [Monday], start_hour_utc: 1}}}}",
            "`maintenance` does nothing on Amazon EKS",
        ),
        ("clusters: {aws: {one: {gpus: [{card: t4, gpu_driver: operator}]}}}", "NVIDIA's operator has no driver for"),
    ],
)
def test_notes_tell_what_may_surprise(text: str, note: str) -> None:
    """Each note is there when its reason is."""
    assert any(note in given for texts in notes(text).values() for given in texts), notes(text)


def test_the_fleet_of_today_plans() -> None:
    """inventory.yaml can be bought: no refusal, and every cluster has its site."""
    plan = load_plan(ROOT / "inventory.yaml")
    assert plan.sites == ("aws", "azure", "cern", "google")
    assert plan.hub.name == "cern-main"
    assert all(pool.min_nodes == 0 for cluster in plan.clusters for pool in cluster.pools)


def test_the_seed_inventory_is_refused_with_dates_and_nearest_cards() -> None:
    """Every retired card of 2021 is told at once, with the day and the nearest card still sold there."""
    text = SEED.read_text()
    found = {mistake.path: mistake for mistake in mistakes(text)}
    assert sorted(found) == [
        "clusters.aws.eks-eastus.gpus[0].card",
        "clusters.aws.eks-eastus.gpus[1].card",
        "clusters.azure.aks-eastus.gpus[0].card",
        "clusters.azure.aks-eastus.gpus[1].card",
        "clusters.azure.aks-eastus.gpus[2].card",
        "clusters.azure.aks-eastus.gpus[3].card",
        "clusters.google.gke-uscentral1-c.gpus[1].card",
    ]
    k80 = found["clusters.google.gke-uscentral1-c.gpus[1].card"]
    assert k80.reason == "K80 is no longer sold on google: it was retired on 2024-05-01"
    assert k80.remedy.startswith("The nearest card sold on google in us-central1 is T4 (16 GiB).")
    assert all("set `allow_retired: true`" in line for line in told(text))


def test_the_seed_inventory_plans_when_retired_cards_are_allowed() -> None:
    """With `allow_retired` every card of 2021 is planned, each retired one with a warning."""
    text = SEED.read_text().replace("allow_retired: false", "allow_retired: true")
    plan = planned(text)
    assert sum(len(cluster.pools) for cluster in plan.clusters) == 17
    assert sum("was retired" in warning for warning in warnings(text)) == 7
