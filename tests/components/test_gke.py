"""GKE clusters: what each pure function says, and what the whole component declares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pulumi
import pytest
import yaml

from components import gke, gke_cluster, gke_labels, gke_pools
from components.contract import ClusterArgs, builder
from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import SPOT_TAINT, CapacityType, Taint, TaintEffect
from fleet.records import ClusterPlan, GpuDriver, MaintenanceWindow, NetworkPlan, NodePool, SystemPool
from preview.checks import check
from preview.graph import MASK, Resource, ResourceGraph
from tests.support.declaring import run
from tests.support.plans import NVIDIA_TAINT, a_cluster, a_pool, a_spot_pool

# The SDK warns of two deprecated names of its own on the first import of gcp.compute; nothing here uses them.
pytestmark = pytest.mark.filterwarnings(
    "ignore:gcp.compute.(MangedSslCertificate|RouterStatus) has been deprecated:DeprecationWarning"
)

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
MEMBER = "gcp:projects/iAMMember:IAMMember"
COMPONENT = "gpufleet:index:GkeCluster"
TPU_TAINT = Taint(key="google.com/tpu", value="present")


def declare(plan: ClusterPlan, *, deletion_protection: bool = True) -> ResourceGraph:
    """Run the component offline, its facts exported, and return all it declared."""

    def program() -> None:
        args = ClusterArgs(plan=plan, deletion_protection=deletion_protection)
        facts = gke.build(args, gke.make_provider("google", args))
        pulumi.export("facts", facts.public())
        pulumi.export("kubeconfig", facts.kubeconfig)

    monitor = run(program).monitor
    assert any(urn.endswith(f"::{COMPONENT}::{plan.name}") for urn in monitor.outputs_registered)
    return monitor.graph()


def a_plan(*pools: NodePool, **changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return a GKE cluster in project `physics`, with `pools` or the T4 pool."""
    return a_cluster(Cloud.GOOGLE, **{"account": "physics", "pools": pools or (a_pool(Cloud.GOOGLE),)} | changes)


def a_gpu_pool(**changes: Any) -> NodePool:  # noqa: ANN401 -- the fields of NodePool
    """Return a GKE pool of T4s, with `changes` made to it."""
    return a_pool(Cloud.GOOGLE, **changes)


def a_tpu_pool(**changes: Any) -> NodePool:  # noqa: ANN401 -- the fields of NodePool
    """Return a TPU v6e slice over four hosts, with `changes` made to it."""
    slice_ = {
        "name": "tpu",
        "card": "TPU-v6e",
        "kind": AcceleratorKind.TPU,
        "resource": "google.com/tpu",
        "machine": "ct6e-standard-4t",
        "accelerator_type": None,
        "accelerators": 4,
        "max_nodes": 4,
        "hosts": 4,
        "topology": "4x4",
        "zones": ("us-central1-a",),
        "taints": (TPU_TAINT,),
    }
    return a_gpu_pool(**slice_ | changes)


def the_cluster(graph: ResourceGraph) -> Resource:
    """Return the cluster."""
    (cluster,) = graph.of_type(CLUSTER)
    return cluster


def pool_of(pool: NodePool, **changes: Any) -> Mapping[str, Any]:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return the inputs that a planned pool is declared with."""
    graph = declare(a_plan(pool, **changes))
    return next(found.inputs for found in graph.of_type(POOL) if found.name == f"google-one-{pool.name}")


def test_component_is_made_of_these() -> None:
    """A cluster is its network, identity, cluster, system pool and one pool per planned pool, and nothing else."""
    graph = declare(a_plan(a_gpu_pool(), a_spot_pool(Cloud.GOOGLE)))
    assert sorted((found.type.rpartition(":")[2], found.name) for found in graph.resources) == [
        ("Account", "google-one-account"),
        ("Cluster", "google-one-cluster"),
        ("GkeCluster", "google-one"),
        ("IAMMember", "google-one-role-images"),
        ("IAMMember", "google-one-role-node"),
        ("Network", "google-one-network"),
        ("NodePool", "google-one-system"),
        ("NodePool", "google-one-t4"),
        ("NodePool", "google-one-t4-spot"),
        ("Router", "google-one-router"),
        ("RouterNat", "google-one-nat"),
        ("Subnetwork", "google-one-nodes"),
        ("gcp", "google"),
    ]


def test_children_hang_on_the_component_and_use_its_provider() -> None:
    """Each child names the component as parent and the explicit provider; nothing falls to a default one."""
    graph = declare(a_plan())
    (component,) = graph.of_type(COMPONENT)
    (provider,) = graph.of_type("pulumi:providers:gcp")
    children = [found for found in graph.resources if found not in (component, provider)]
    assert {found.parent for found in children} == {component.urn}
    assert {found.provider for found in children} == {provider.urn}
    assert (provider.inputs["project"], provider.inputs["region"]) == ("physics", "us-central1")


def test_declared_inputs_pass_the_preview_checks() -> None:
    """No property is unknown to the provider SDK, missing, or of a wrong type."""
    graph = declare(a_plan(a_gpu_pool(), a_tpu_pool(), a_gpu_pool(name="gb200", architecture="arm64")))
    assert check(graph.resources) == []


def test_module_is_the_builder_of_google() -> None:
    """The contract's table leads here."""
    assert builder(Cloud.GOOGLE) is gke


def test_network_is_vpc_native_and_private() -> None:
    """Ranges come from the plan; nodes reach Google privately and the rest through the NAT of their subnetwork."""
    graph = declare(a_plan())
    (subnetwork,) = graph.of_type("gcp:compute/subnetwork:Subnetwork")
    (nat,) = graph.of_type("gcp:compute/routerNat:RouterNat")
    cluster = the_cluster(graph).inputs
    assert subnetwork.inputs["ipCidrRange"] == "10.0.0.0/20"
    assert {found["rangeName"]: found["ipCidrRange"] for found in subnetwork.inputs["secondaryIpRanges"]} == {
        cluster["ipAllocationPolicy"]["clusterSecondaryRangeName"]: "10.64.0.0/14",
        cluster["ipAllocationPolicy"]["servicesSecondaryRangeName"]: "10.112.0.0/20",
    }
    assert subnetwork.inputs["privateIpGoogleAccess"] is True
    assert nat.inputs["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS"
    assert [(found["name"], found["sourceIpRangesToNats"]) for found in nat.inputs["subnetworks"]] == [
        (subnetwork.id, ["ALL_IP_RANGES"])
    ]
    assert cluster["privateClusterConfig"]["enablePrivateNodes"] is True


def test_nodes_have_two_roles_and_an_account_of_their_own() -> None:
    """All pools, and the default pool in passing, run as the account that holds exactly the documented roles."""
    graph = declare(a_plan())
    (account,) = graph.of_type("gcp:serviceaccount/account:Account")
    email = "google-one-nodes@physics.iam.gserviceaccount.com"
    assert account.inputs["accountId"] == "google-one-nodes"
    assert {(found.inputs["project"], found.inputs["role"], found.inputs["member"]) for found in graph.of_type(MEMBER)} == {
        ("physics", "roles/container.defaultNodeServiceAccount", f"serviceAccount:{email}"),
        ("physics", "roles/artifactregistry.reader", f"serviceAccount:{email}"),
    }
    nodes = [found.inputs["nodeConfig"] for found in (*graph.of_type(POOL), the_cluster(graph))]
    assert {config["serviceAccount"] for config in nodes} == {email}


def test_project_of_the_credentials_serves_where_none_is_planned() -> None:
    """Without an account, roles and workload pool take the project that the service account came to be in."""
    graph = declare(a_plan(account=None))
    (account,) = graph.of_type("gcp:serviceaccount/account:Account")
    assert "project" not in account.inputs
    email = graph.outputs["facts"]["identity"]["node_service_account"]
    project = email.partition("@")[2].removesuffix(".iam.gserviceaccount.com")
    assert {found.inputs["project"] for found in graph.of_type(MEMBER)} == {project}
    assert the_cluster(graph).inputs["workloadIdentityConfig"] == {"workloadPool": f"{project}.svc.id.goog"}


def test_pools_wait_for_roles_and_nat() -> None:
    """A node that boots before its roles writes no logs, one that boots before the NAT pulls no images."""
    graph = declare(a_plan())
    needed = {found.urn for found in (*graph.of_type(MEMBER), *graph.of_type("gcp:compute/routerNat:RouterNat"))}
    assert len(needed) == 3
    for pool in graph.of_type(POOL):
        assert needed <= set(pool.options.depends_on), pool.name


@pytest.mark.parametrize("protection", [True, False])
def test_protection_is_the_engines_and_googles(protection: bool) -> None:
    """The stack's setting reaches both; pools stay deletable, so that a card can be taken out."""
    graph = declare(a_plan(), deletion_protection=protection)
    cluster = the_cluster(graph)
    assert (cluster.options.protect, cluster.inputs["deletionProtection"]) == (protection, protection)
    assert not any(pool.options.protect for pool in graph.of_type(POOL))


def test_live_counts_never_show() -> None:
    """Counts belong to the autoscaler; the removed default pool's settings read back as another pool's."""
    graph = declare(a_plan())
    assert the_cluster(graph).options.ignore_changes == ("initialNodeCount", "nodeConfig")
    for pool in graph.of_type(POOL):
        assert {"initialNodeCount", "nodeCount"} <= set(pool.options.ignore_changes)
        assert pool.options.delete_before_replace is True


def test_cluster_is_regional_and_keeps_no_default_pool() -> None:
    """Its own zones are the plan's, its version the plan's minor in the regular channel, its default pool goes."""
    found = the_cluster(declare(a_plan())).inputs
    assert (found["location"], found["nodeLocations"]) == ("us-central1", ["us-central1-a", "us-central1-c"])
    assert (found["minMasterVersion"], found["releaseChannel"]) == ("1.35", {"channel": "REGULAR"})
    assert (found["removeDefaultNodePool"], found["initialNodeCount"]) == (True, 1)
    assert "nodeVersion" not in found
    assert found["datapathProvider"] == "ADVANCED_DATAPATH"
    assert found["clusterAutoscaling"] == {"enabled": False, "autoscalingProfile": "OPTIMIZE_UTILIZATION"}
    assert "nodeLocations" not in the_cluster(declare(a_plan(zones=()))).inputs


OPEN = ({"cidrBlock": "0.0.0.0/0", "displayName": "everyone"},)
OFFICE = {"cidrBlock": "192.0.2.0/24", "displayName": "range-1"}


@pytest.mark.parametrize(
    ("cidrs", "blocks", "is_private", "is_open"),
    [
        ((), OPEN, False, True),
        (("192.0.2.0/24",), (OFFICE,), False, False),
        (("192.0.2.0/24", "10.0.0.0/8"), (OFFICE, {"cidrBlock": "10.0.0.0/8", "displayName": "range-2"}), False, False),
        (("10.1.0.0/16",), ({"cidrBlock": "10.1.0.0/16", "displayName": "range-1"},), True, False),
        (("100.64.0.0/10",), ({"cidrBlock": "100.64.0.0/10", "displayName": "range-1"},), True, False),
        (("0.0.0.0/0",), OPEN, False, False),
    ],
)
def test_only_planned_ranges_reach_the_api_server(
    cidrs: tuple[str, ...], blocks: tuple[dict[str, str], ...], is_private: bool, is_open: bool
) -> None:
    """No endpoint is open unless the plan names no ranges; ranges that are all private leave the private endpoint alone."""
    network = replace(a_plan().network, control_plane_cidrs=cidrs)
    found = the_cluster(declare(a_plan(network=network))).inputs
    allowed = found["masterAuthorizedNetworksConfig"]
    assert tuple(allowed["cidrBlocks"]) == blocks
    assert allowed["gcpPublicCidrsAccessEnabled"] is is_open
    assert allowed["privateEndpointEnforcementEnabled"] is not is_open
    assert found["privateClusterConfig"]["enablePrivateEndpoint"] is is_private
    assert found["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["allowExternalTraffic"] is is_open


@pytest.mark.parametrize(
    ("window", "start", "end", "rule"),
    [
        (("Saturday", "Sunday"), "2026-01-10T22:00:00Z", "2026-01-11T04:00:00Z", "FREQ=WEEKLY;BYDAY=SA,SU"),
        (("Monday",), "2026-01-05T22:00:00Z", "2026-01-06T04:00:00Z", "FREQ=WEEKLY;BYDAY=MO"),
        (("Thursday", "Tuesday"), "2026-01-06T22:00:00Z", "2026-01-07T04:00:00Z", "FREQ=WEEKLY;BYDAY=TU,TH"),
    ],
)
def test_maintenance_window_is_a_rule(window: tuple[str, ...], start: str, end: str, rule: str) -> None:
    """The window starts on the first of its days, ends its hours later, and recurs every week in UTC."""
    plan = a_plan(maintenance=MaintenanceWindow(days=window, start_hour_utc=22, hours=6))
    assert the_cluster(declare(plan)).inputs["maintenancePolicy"] == {
        "recurringWindow": {"startTime": start, "endTime": end, "recurrence": rule}
    }


def test_no_window_and_no_group_are_left_to_google() -> None:
    """What the plan does not say is not declared."""
    found = the_cluster(declare(a_plan())).inputs
    assert not {"maintenancePolicy", "authenticatorGroupsConfig"} & set(found)
    grouped = the_cluster(declare(a_plan(admins=("gke-security-groups@cern.ch",)))).inputs
    assert grouped["authenticatorGroupsConfig"] == {"securityGroup": "gke-security-groups@cern.ch"}


def test_gpu_pool_in_full() -> None:
    """A T4 pool carries its limits, card, driver, label, taint and cost labels, and starts from zero."""
    found = pool_of(a_gpu_pool())
    assert (found["name"], found["cluster"], found["location"]) == ("t4", "google-one", "us-central1")
    assert found["nodeLocations"] == ["us-central1-a", "us-central1-c"]
    assert found["autoscaling"] == {"totalMinNodeCount": 0, "totalMaxNodeCount": 4, "locationPolicy": "ANY"}
    assert not {"initialNodeCount", "nodeCount", "placementPolicy", "version"} & set(found)
    assert found["management"] == {"autoRepair": True, "autoUpgrade": True}
    assert found["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
    nodes = found["nodeConfig"]
    assert nodes["guestAccelerators"] == [
        {"type": "nvidia-tesla-t4", "count": 1, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}
    ]
    assert nodes["labels"] == {"gpu": "T4", "gpufleet.io/capacity-type": "on-demand"}
    assert nodes["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert (nodes["machineType"], nodes["imageType"], nodes["spot"]) == ("n1-standard-4", "COS_CONTAINERD", False)
    assert (nodes["diskSizeGb"], nodes["diskType"]) == (100, "pd-balanced")
    assert nodes["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
    assert nodes["shieldedInstanceConfig"] == {"enableSecureBoot": True, "enableIntegrityMonitoring": True}
    assert not {"reservationAffinity", "taintConfig"} & set(nodes)


def test_bundled_card_is_declared_like_an_attached_one() -> None:
    """A machine that comes with its cards still says which and how many: the driver is set there."""
    nodes = pool_of(a_gpu_pool(machine="a2-highgpu-4g", accelerator_type="nvidia-tesla-a100", accelerators=4))["nodeConfig"]
    assert nodes["guestAccelerators"][0]["count"] == 4
    assert nodes["guestAccelerators"][0]["type"] == "nvidia-tesla-a100"


def test_operator_pool_is_left_to_the_operator() -> None:
    """Neither Google's driver nor its device plugin, a node image the operator supports, and no Secure Boot in its way."""
    nodes = pool_of(a_gpu_pool(gpu_driver=GpuDriver.OPERATOR))["nodeConfig"]
    assert nodes["guestAccelerators"][0]["gpuDriverInstallationConfig"] == {"gpuDriverVersion": "INSTALLATION_DISABLED"}
    assert nodes["labels"]["gke-no-default-nvidia-gpu-device-plugin"] == "true"
    assert nodes["imageType"] == "UBUNTU_CONTAINERD"
    assert nodes["shieldedInstanceConfig"]["enableSecureBoot"] is False


def test_tpu_pool_knows_no_operator() -> None:
    """A TPU's driver is in Google's image, whoever installs those of GPUs."""
    assert pool_of(a_tpu_pool(gpu_driver=GpuDriver.OPERATOR)) == pool_of(a_tpu_pool())


def test_spot_pool_says_so_and_keeps_others_off() -> None:
    """Google labels spot nodes but taints none, so the taint is the plan's."""
    nodes = pool_of(a_spot_pool(Cloud.GOOGLE))["nodeConfig"]
    assert nodes["spot"] is True
    assert {"key": SPOT_TAINT.key, "value": "spot", "effect": "NO_SCHEDULE"} in nodes["taints"]


def test_reserved_pool_draws_on_its_reservation_alone() -> None:
    """A named reservation is specific, found by its name."""
    nodes = pool_of(a_gpu_pool(capacity=CapacityType.RESERVED, reservation="t4-block"))["nodeConfig"]
    assert nodes["reservationAffinity"] == {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["t4-block"],
    }


@pytest.mark.parametrize(("least", "total"), [(0, 0), (1, 4), (4, 4)])
def test_multi_host_slice_is_whole_or_nothing(least: int, total: int) -> None:
    """A slice has no accelerator block, all its hosts or none, one zone, and its topology as placement."""
    found = pool_of(a_tpu_pool(min_nodes=least, zones=("us-central1-a", "us-central1-b")))
    assert found["autoscaling"] == {"totalMinNodeCount": total, "totalMaxNodeCount": 4, "locationPolicy": "ANY"}
    assert found["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert found["nodeLocations"] == ["us-central1-a"]
    assert found.get("initialNodeCount") == (total or None)
    assert "guestAccelerators" not in found["nodeConfig"]
    assert found["nodeConfig"]["taints"] == [{"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}]


def test_single_host_tpu_has_no_placement() -> None:
    """The machine type fixes the topology of one host, and such nodes scale one by one."""
    found = pool_of(a_tpu_pool(hosts=1, topology="2x2", max_nodes=3))
    assert "placementPolicy" not in found
    assert found["autoscaling"]["totalMaxNodeCount"] == 3


def test_arm_pool_has_no_taint_but_the_plans() -> None:
    """Google would taint Arm nodes with a key that nothing here tolerates."""
    nodes = pool_of(a_gpu_pool(architecture="arm64", machine="a4x-highgpu-4g"))["nodeConfig"]
    assert nodes["taintConfig"] == {"architectureTaintBehavior": "NONE"}


@pytest.mark.parametrize(
    ("least", "most", "zones", "first"),
    [(0, 4, 2, None), (1, 4, 2, 1), (1, 1, 2, None), (3, 4, 2, 2), (3, 3, 2, 1), (2, 2, 1, 2), (1, 3, 0, 1), (4, 9, 0, 2)],
)
def test_minimum_stands_from_the_start(least: int, most: int, zones: int, first: int | None) -> None:
    """The first count per zone reaches the minimum, never passes the maximum, and is absent for zero; no zones mean three."""
    assert gke_pools.first_nodes_per_zone(least, most, ["zone"] * zones) == first
    assert (first or 0) * (zones or 3) <= most


@pytest.mark.parametrize(
    ("machine", "disk"),
    [
        ("n1-standard-4", "pd-balanced"),
        ("g2-standard-4", "pd-balanced"),
        ("a2-ultragpu-1g", "pd-balanced"),
        ("a3-highgpu-8g", "pd-balanced"),
        ("a3-ultragpu-8g", "hyperdisk-balanced"),
        ("a4-highgpu-8g", "hyperdisk-balanced"),
        ("a4x-highgpu-4g", "hyperdisk-balanced"),
        ("g4-standard-48", "hyperdisk-balanced"),
        ("ct5lp-hightpu-4t", "pd-balanced"),
        ("ct6e-standard-4t", "hyperdisk-balanced"),
    ],
)
def test_boot_disk_is_one_the_machine_takes(machine: str, disk: str) -> None:
    """Newer families take Hyperdisk alone, and older ones persistent disk alone."""
    assert gke_pools.boot_disk_type(machine) == disk


@pytest.mark.parametrize("effect", list(TaintEffect))
def test_every_effect_is_spelled_for_google(effect: TaintEffect) -> None:
    """Kubernetes' words never reach Google."""
    (taint,) = pool_of(a_gpu_pool(taints=(Taint(key="k", value="v", effect=effect),)))["nodeConfig"]["taints"]
    assert taint == {"key": "k", "value": "v", "effect": effect.name}


def test_system_pool_carries_no_card() -> None:
    """Cluster pods live on a pool without accelerators, taints or card label, which upgrades by adding a node first."""
    (found,) = (pool.inputs for pool in declare(a_plan()).of_type(POOL) if pool.name == "google-one-system")
    assert found["autoscaling"] == {"totalMinNodeCount": 1, "totalMaxNodeCount": 3, "locationPolicy": "BALANCED"}
    assert found["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1, "maxUnavailable": 0}
    assert not {"guestAccelerators", "taints", "labels"} & set(found["nodeConfig"])
    assert "card" not in found["nodeConfig"]["resourceLabels"]


def test_cost_tags_are_on_all_that_takes_labels() -> None:
    """Cluster and nodes are billed to their site, cluster and account, and the nodes of a pool to their card."""
    graph = declare(a_plan())
    common = {"billing-account": "physics", "cluster": "google-one", "managed-by": "gpufleet", "site": "google-site"}
    assert the_cluster(graph).inputs["resourceLabels"] == common
    labels = {found.name: found.inputs["nodeConfig"]["resourceLabels"] for found in graph.of_type(POOL)}
    assert labels == {"google-one-system": common, "google-one-t4": common | {"card": "t4"}}


@pytest.mark.parametrize(
    ("tags", "labels"),
    [
        ({"Team": "ATLAS & CMS"}, {"team": "atlas---cms"}),
        ({"2nd": "x"}, {"l2nd": "x"}),
        ({"": "x"}, {"l": "x"}),
        ({"a": "é" * 70}, {"a": "-" * 63}),
        ({"k" * 70: ""}, {"k" * 63: ""}),
    ],
)
def test_labels_keep_to_googles_rules(tags: dict[str, str], labels: dict[str, str]) -> None:
    """Case, characters, first letter and length are Google's."""
    assert gke_labels.to_resource_labels(tags) == labels


def test_no_tag_is_lost_when_two_become_one() -> None:
    """Keys that Google cannot tell apart stay two labels, the same in every run."""
    labels = gke_labels.to_resource_labels({"Team": "a", "team": "b"})
    assert labels == gke_labels.to_resource_labels({"team": "b", "Team": "a"})
    assert sorted(labels.values()) == ["a", "b"]
    assert all(key.startswith("team") and len(key) <= 63 for key in labels)


def test_facts_hold_what_others_need() -> None:
    """Endpoint with scheme, authority, and the identity details by name."""
    facts = declare(a_plan()).outputs["facts"]
    assert facts["endpoint"].startswith("https://")
    assert "https://" not in facts["endpoint"][8:]
    assert facts["ca_certificate"]
    assert facts["identity"]["workload_pool"] == "physics.svc.id.goog"
    assert set(facts["identity"]) == {"project", "workload_pool", "node_service_account", "dns_endpoint"}
    assert all(facts["identity"].values())


def test_kubeconfig_is_secret_wherever_it_goes() -> None:
    """The stack's output is masked, and it is no part of the public facts."""
    outputs = declare(a_plan()).outputs
    assert outputs["kubeconfig"] == MASK
    assert "kubeconfig" not in outputs["facts"]


def test_kubeconfig_asks_googles_plugin() -> None:
    """The file is YAML that kubectl reads, names one context, and holds no token."""
    text = gke.to_kubeconfig("one", "https://192.0.2.1", "Q0E=")
    config = yaml.safe_load(text)
    assert config == json.loads(text)
    assert config["clusters"][0]["cluster"] == {"server": "https://192.0.2.1", "certificate-authority-data": "Q0E="}
    (user,) = config["users"]
    assert list(user["user"]) == ["exec"]
    assert user["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert user["user"]["exec"]["provideClusterInfo"] is True
    assert config["current-context"] == config["contexts"][0]["name"]
    assert config["contexts"][0]["context"] == {"cluster": config["clusters"][0]["name"], "user": user["name"]}


def test_long_names_keep_to_googles_limits() -> None:
    """Cloud names are cut, logical names are not, and two long names stay two."""
    names = ["a-cluster-of-a-very-long-name-indeed-for-physics-one", "a-cluster-of-a-very-long-name-indeed-for-physics-two"]
    clusters = [the_cluster(declare(a_plan(name=name))) for name in names]
    assert [found.name for found in clusters] == [f"{name}-cluster" for name in names]
    assert len({found.inputs["name"] for found in clusters}) == 2
    assert all(len(found.inputs["name"]) <= 40 for found in clusters)
    assert gke_cluster.cluster_name(a_plan()) == "google-one"


WINDOW = MaintenanceWindow(days=("Saturday", "Sunday"), start_hour_utc=2, hours=6)
BASE = a_plan(maintenance=WINDOW)
PLAN_CHANGES: dict[str, Any] = {
    "name": "other",
    "site": "other",
    "region": "europe-west4",
    "kubernetes_version": "1.36",
    "account": "chemistry",
    "zones": ("us-central1-f",),
    "tags": (("site", "other"),),
    "admins": ("gke-security-groups@cern.ch",),
    "maintenance": None,
    "pools": (),
}
POOL_CHANGES: dict[str, Any] = {
    "name": "other",
    "card": "P4",
    "machine": "n1-standard-8",
    "accelerator_type": "nvidia-tesla-p4",
    "accelerators": 2,
    "architecture": "arm64",
    "min_nodes": 1,
    "max_nodes": 5,
    "capacity": CapacityType.SPOT,
    "reservation": "block",
    "disk_gib": 200,
    "zones": ("us-central1-f",),
    "labels": (("gpu", "T4"),),
    "taints": (NVIDIA_TAINT, SPOT_TAINT),
    "gpu_driver": GpuDriver.OPERATOR,
}
NOT_APPLYING = {"mode", "topology", "hosts", "kind", "resource", "vcpus", "memory_gib", "price", "priority"}
"""Fields of a GPU pool that no resource shows: `topology` and `hosts` are a TPU slice's, tested above; `mode` is OpenStack's."""


def changed_plans() -> dict[str, ClusterPlan]:
    """Return the base plan with one field changed, for each field of the plan's records, by its path."""
    plans = {f"plan.{name}": replace(BASE, **{name: value}) for name, value in PLAN_CHANGES.items()}
    for name, value in POOL_CHANGES.items():
        plans[f"pool.{name}"] = replace(BASE, pools=(replace(BASE.pools[0], **{name: value}),))
    network = {"nodes_cidr": "10.1.0.0/20", "pods_cidr": "10.4.0.0/14", "services_cidr": "10.1.16.0/20"}
    for name, value in {**network, "control_plane_cidrs": ("192.0.2.0/24",)}.items():
        plans[f"network.{name}"] = replace(BASE, network=replace(BASE.network, **{name: value}))
    for name, value in {"machine": "e2-standard-8", "min_nodes": 2, "max_nodes": 9, "disk_gib": 50}.items():
        plans[f"system_pool.{name}"] = replace(BASE, system_pool=replace(BASE.system_pool, **{name: value}))
    for name, value in {"days": ("Monday",), "start_hour_utc": 3, "hours": 9}.items():
        plans[f"maintenance.{name}"] = replace(BASE, maintenance=replace(WINDOW, **{name: value}))
    return plans


@pytest.mark.parametrize("path", sorted(changed_plans()))
def test_no_field_is_dead(path: str) -> None:
    """Changing the field changes some declared resource."""
    base, changed = (
        {(found.name, json.dumps(found.inputs, sort_keys=True)) for found in declare(plan).resources}
        for plan in (BASE, changed_plans()[path])
    )
    assert base != changed


def test_every_field_is_changed_or_does_not_apply() -> None:
    """A field that is new in the plan must be taken up here."""
    told = {*changed_plans(), *(f"pool.{name}" for name in NOT_APPLYING)}
    told |= {"plan.cloud", "plan.magnum", "plan.is_hub", "plan.network", "plan.system_pool"}
    records = {
        "plan": ClusterPlan,
        "pool": NodePool,
        "network": NetworkPlan,
        "system_pool": SystemPool,
        "maintenance": MaintenanceWindow,
    }
    assert told == {f"{path}.{field.name}" for path, record in records.items() for field in fields(record)}
