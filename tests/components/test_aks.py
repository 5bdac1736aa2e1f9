"""AKS clusters: what each translation says, and what the whole component declares under the offline preview's monitor."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from pulumi_azure_native import containerservice

from components import aks, aks_access, aks_common, aks_maintenance, aks_network, aks_pools
from components.contract import ClusterArgs
from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint, TaintEffect
from fleet.naming import NAME_RULES, NameKind, cloud_name
from fleet.records import ClusterPlan, GpuDriver, MaintenanceWindow, NetworkPlan, NodePool, SystemPool
from preview.checks import check
from preview.graph import MASK, Resource, ResourceGraph
from tests.support.declaring import declare, only
from tests.support.plans import NVIDIA_TAINT, a_cluster, a_pool, a_spot_pool

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
MAINTENANCE = "azure-native:containerservice:MaintenanceConfiguration"
LOCK = "azure-native:authorization:ManagementLockByScope"
ROLE = "azure-native:authorization:RoleAssignment"
RESERVATION = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/reserved"
    "/providers/Microsoft.Compute/capacityReservationGroups/h100"
)
WEEKEND = MaintenanceWindow(days=("Saturday", "Sunday"), start_hour_utc=2, hours=6)
PLACE = aks_common.ClusterPlace(resource_group="group", cluster="cluster", subnet_id="subnet")


def plan_of(**changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return an Azure cluster with one T4 pool."""
    return a_cluster(Cloud.AZURE, **changes)


def pool_of(**changes: Any) -> NodePool:  # noqa: ANN401 -- the fields of NodePool
    """Return a T4 pool on Azure."""
    return a_pool(Cloud.AZURE, **changes)


def reserved_pool() -> NodePool:
    """Return a pool that draws on a capacity reservation group."""
    return pool_of(name="h100", card="H100", capacity=CapacityType.RESERVED, reservation=RESERVATION)


def args_of(plan: ClusterPlan, *, deletion_protection: bool = True) -> ClusterArgs:
    """Return the arguments of a component for a plan."""
    return ClusterArgs(plan=plan, deletion_protection=deletion_protection)


def declared(plan: ClusterPlan, *, deletion_protection: bool = True) -> ResourceGraph:
    """Return all that a cluster declares, its facts as stack outputs."""

    def program() -> None:
        args = args_of(plan, deletion_protection=deletion_protection)
        facts = aks.build(args, aks.make_provider("azure", args))
        pulumi.export("facts", facts.public())
        pulumi.export("kubeconfig", facts.kubeconfig)

    return declare(program)


def pools_of(graph: ResourceGraph) -> dict[str, Resource]:
    """Return the declared node pools by their name on Azure."""
    return {str(pool.inputs["agentPoolName"]): pool for pool in graph.of_type(POOL)}


@pytest.fixture(scope="module")
def full() -> ResourceGraph:
    """Return a cluster with every kind of pool, a window, allowed ranges and protection."""
    network = NetworkPlan(
        nodes_cidr="10.1.0.0/20",
        pods_cidr="10.64.0.0/14",
        services_cidr="10.112.0.0/20",
        control_plane_cidrs=("192.0.2.0/24",),
    )
    pools = (reserved_pool(), pool_of(), a_spot_pool(Cloud.AZURE))
    return declared(plan_of(pools=pools, maintenance=WEEKEND, network=network, admins=("group-1",), zones=("1", "2", "3")))


def test_everything_a_cluster_needs_is_declared_once(full: ResourceGraph) -> None:
    """The resources of one cluster, by type: no more, no less."""
    kinds = sorted(resource.type for resource in full.resources if resource.type.startswith("azure-native:"))
    assert kinds == sorted(
        [
            "azure-native:resources:ResourceGroup",
            "azure-native:network:PublicIPAddress",
            "azure-native:network:NatGateway",
            "azure-native:network:VirtualNetwork",
            "azure-native:network:Subnet",
            "azure-native:managedidentity:UserAssignedIdentity",
            *[ROLE] * 2,
            CLUSTER,
            *[POOL] * 4,
            *[MAINTENANCE] * 3,
        ]
    )


def test_children_belong_to_the_component(full: ResourceGraph) -> None:
    """Each child's name starts with the component's, its parent is the component, its provider the given one."""
    component = only(full, "gpufleet:index:AksCluster")
    provider = only(full, "pulumi:providers:azure-native")
    children = [resource for resource in full.resources if resource.type.startswith("azure-native:")]
    assert all(child.name.startswith("azure-one-") for child in children)
    assert {child.parent for child in children} == {component.urn}
    assert {child.provider for child in children} == {provider.urn}
    assert full.findings == ()


def test_inputs_are_what_the_sdk_knows(full: ResourceGraph) -> None:
    """No property, type or enumerated word is one that azure-native's own classes lack."""
    assert [str(finding) for finding in check(full.resources)] == []


def test_cost_tags_are_on_all_that_takes_them(full: ResourceGraph) -> None:
    """Every resource but those that Azure keeps no tags on carries the cluster's tags, card pools their card too."""
    untagged = {"azure-native:network:Subnet", ROLE, MAINTENANCE}
    wanted = dict(plan_of().tags)
    for resource in full.resources:
        if resource.type.startswith("azure-native:") and resource.type not in untagged:
            assert wanted.items() <= resource.inputs["tags"].items(), resource.name
    tagged = {name: pool.inputs["tags"].get("card") for name, pool in pools_of(full).items()}
    assert tagged == {"general": None, "h100": "H100", "t4": "T4", "t4spot": "T4"}
    assert only(full, CLUSTER).inputs["agentPoolProfiles"][0]["tags"] == wanted


def test_cluster_is_fit_for_production(full: ResourceGraph) -> None:
    """Tier, login, identity, network and metrics are as the module's docstring says."""
    inputs = only(full, CLUSTER).inputs
    assert inputs["sku"] == {"name": "Base", "tier": "Standard"}
    assert inputs["disableLocalAccounts"] is True
    assert inputs["enableRBAC"] is True
    assert inputs["aadProfile"] == {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": ["group-1"]}
    assert inputs["oidcIssuerProfile"] == {"enabled": True}
    assert inputs["securityProfile"]["workloadIdentity"] == {"enabled": True}
    assert inputs["azureMonitorProfile"] == {"metrics": {"enabled": False}}
    assert inputs["identity"]["type"] == "UserAssigned"
    assert inputs["networkProfile"] == {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "networkDataplane": "cilium",
        "networkPolicy": "cilium",
        "podCidr": "10.64.0.0/14",
        "serviceCidr": "10.112.0.0/20",
        "dnsServiceIP": "10.112.0.10",
        "loadBalancerSku": "standard",
        "outboundType": "userAssignedNATGateway",
    }


def test_cluster_waits_for_its_role_and_ignores_the_inline_list(full: ResourceGraph) -> None:
    """The role on the subnet comes first; other resources' pools in the inline list never show."""
    cluster = only(full, CLUSTER)
    role = next(role for role in full.of_type(ROLE) if role.name == "azure-one-network-role")
    assert role.urn in cluster.options.depends_on
    assert cluster.options.ignore_changes == ("agentPoolProfiles",)


def test_roles_are_the_least(full: ResourceGraph) -> None:
    """Network Contributor on the subnet alone; Contributor on the reservations' group, which its pool waits for."""
    roles = {role.name: role for role in full.of_type(ROLE)}
    network_role, reservation_role = roles["azure-one-network-role"], roles["azure-one-reservation-role-reserved"]
    assert network_role.inputs["scope"].endswith("/virtualNetworks/azure-one/subnets/nodes")
    assert network_role.inputs["roleDefinitionId"] == (
        "/subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.Authorization"
        "/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"
    )
    assert reservation_role.inputs["scope"] == RESERVATION.partition("/providers/")[0]
    assert reservation_role.inputs["roleDefinitionId"].endswith("b24988ac-6180-42a0-ab88-20f7382dd24c")
    assert {role.inputs["principalType"] for role in roles.values()} == {"ServicePrincipal"}
    assert reservation_role.urn in pools_of(full)["h100"].options.depends_on
    assert reservation_role.urn not in pools_of(full)["t4"].options.depends_on


def test_two_reservations_of_one_group_share_a_role() -> None:
    """Azure refuses the same grant twice, so pools that draw on one resource group share it."""
    other = replace(reserved_pool(), name="h200", reservation=RESERVATION.replace("/h100", "/h200"))
    assert len(declared(plan_of(pools=(reserved_pool(), other))).of_type(ROLE)) == 2


@pytest.mark.parametrize("name", ["general", "h100", "t4", "t4spot"])
def test_pools_scale_without_showing(full: ResourceGraph, name: str) -> None:
    """Each pool is autoscaled, its count is sent once and then the autoscaler's, what Azure cannot change replaces it."""
    pool = pools_of(full)[name]
    assert pool.inputs["enableAutoScaling"] is True
    assert pool.inputs["count"] == pool.inputs["minCount"]
    assert pool.inputs["maxCount"] >= 1
    assert pool.inputs["mode"] == "User"
    assert pool.inputs["resourceName"] == "azure-one"
    assert pool.options.ignore_changes == ("count",)
    assert pool.options.delete_before_replace is True
    assert set(pool.options.replace_on_changes) == set(aks_pools.REPLACING)


def test_replacing_paths_are_the_providers(full: ResourceGraph) -> None:
    """Each path that replaces a pool is spelled as the provider spells it: the pools declared here have them all."""
    spot = {**pools_of(full)["t4spot"].inputs, "availabilityZones": []}
    for path in aks_pools.REPLACING:
        found: Any = spot
        for part in path.split("."):
            assert part in found, path
            found = found[part]


def test_card_pool_starts_from_zero(full: ResourceGraph) -> None:
    """What the autoscaler reads of an empty pool is on the pool: label and taint of the card, and no node."""
    inputs = pools_of(full)["t4"].inputs
    assert (inputs["count"], inputs["minCount"], inputs["maxCount"]) == (0, 0, 4)
    assert inputs["vmSize"] == "Standard_NC4as_T4_v3"
    assert inputs["nodeLabels"] == {"gpu": "T4", "gpufleet.io/capacity-type": "on-demand"}
    assert inputs["nodeTaints"] == ["nvidia.com/gpu=present:NoSchedule"]
    assert inputs["scaleSetPriority"] == "Regular"
    assert inputs["upgradeSettings"] == {"maxSurge": "0", "maxUnavailable": "1"}
    assert not {"spotMaxPrice", "scaleSetEvictionPolicy", "capacityReservationGroupID"} & set(inputs)


def test_spot_pool_says_all_that_azure_adds(full: ResourceGraph) -> None:
    """Priority, eviction and price are said, AKS' own taint and label too, and there is no surge to ask for."""
    inputs = pools_of(full)["t4spot"].inputs
    assert (inputs["scaleSetPriority"], inputs["scaleSetEvictionPolicy"], inputs["spotMaxPrice"]) == ("Spot", "Delete", -1)
    assert inputs["nodeTaints"] == [
        "gpufleet.io/capacity-type=spot:NoSchedule",
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        "nvidia.com/gpu=present:NoSchedule",
    ]
    assert inputs["nodeLabels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert "upgradeSettings" not in inputs


def test_reserved_pool_names_its_reservation(full: ResourceGraph) -> None:
    """A reserved pool is tied to the capacity reservation group, at the ordinary priority."""
    inputs = pools_of(full)["h100"].inputs
    assert inputs["capacityReservationGroupID"] == RESERVATION
    assert inputs["scaleSetPriority"] == "Regular"


def test_system_pool_becomes_two(full: ResourceGraph) -> None:
    """AKS' own pool has two nodes at least and its taint; the infra class has a pool of the planned size without any."""
    system = only(full, CLUSTER).inputs["agentPoolProfiles"][0]
    general = pools_of(full)["general"].inputs
    assert (system["mode"], system["nodeTaints"]) == ("System", ["CriticalAddonsOnly=true:NoSchedule"])
    assert (system["count"], system["minCount"], system["maxCount"]) == (2, 2, 3)
    assert (general["minCount"], general["maxCount"]) == (1, 3)
    assert not {"nodeTaints", "nodeLabels"} & set(general)
    assert system["vmSize"] == general["vmSize"] == "Standard_D4s_v5"
    assert system["availabilityZones"] == general["availabilityZones"] == ["1", "2", "3"]


def test_a_system_pool_of_one_node_still_gives_azure_two() -> None:
    """A plan of one to one nodes does not end in a largest count below the smallest."""
    system = SystemPool(machine="Standard_D4s_v5", min_nodes=1, max_nodes=1, disk_gib=64)
    profile = aks_pools.to_system_profile(args_of(plan_of(system_pool=system)), PLACE)
    assert (profile.count, profile.min_count, profile.max_count) == (2, 2, 2)


@pytest.mark.parametrize(
    ("kind", "gpu_driver", "driver"),
    [
        (AcceleratorKind.NVIDIA, GpuDriver.CLOUD, "Install"),
        (AcceleratorKind.NVIDIA, GpuDriver.OPERATOR, "None"),
        (AcceleratorKind.AMD, GpuDriver.CLOUD, "None"),
        (AcceleratorKind.AMD, GpuDriver.OPERATOR, "None"),
        (AcceleratorKind.FPGA, GpuDriver.CLOUD, "None"),
    ],
)
def test_driver_is_always_said(kind: AcceleratorKind, gpu_driver: GpuDriver, driver: str) -> None:
    """AKS installs NVIDIA's driver when the plan wants it to, and refuses to make an AMD pool unless told not to."""
    profile = aks_pools.to_gpu_profile(pool_of(kind=kind, gpu_driver=gpu_driver))
    assert profile.driver == containerservice.GPUDriver(driver)


def test_every_effect_is_spelled_for_kubernetes() -> None:
    """Taints are ``key=value:Effect`` strings, sorted, an empty value included."""
    taints = (Taint(key="z"), *(Taint(key="a", value="b", effect=effect) for effect in TaintEffect), NVIDIA_TAINT)
    assert aks_pools.to_taints(taints) == [
        "a=b:NoExecute",
        "a=b:NoSchedule",
        "a=b:PreferNoSchedule",
        "nvidia.com/gpu=present:NoSchedule",
        "z=:NoSchedule",
    ]


@pytest.mark.parametrize(
    ("pools", "expander"),
    [
        ((pool_of(), a_spot_pool(Cloud.AZURE)), "priority"),
        ((pool_of(), pool_of(name="h100", card="H100", priority=20)), "least-waste"),
        ((a_spot_pool(Cloud.AZURE),), "least-waste"),
        ((), "least-waste"),
    ],
)
def test_expander_follows_priorities_within_a_card(pools: tuple[NodePool, ...], expander: str) -> None:
    """Only pools that stand in for each other make the autoscaler go by priority."""
    assert aks_pools.to_expander(plan_of(pools=pools)).value == expander


def test_allowed_ranges_let_the_nodes_in(full: ResourceGraph) -> None:
    """With ranges, only they and the nodes' own way out reach the API server."""
    access = only(full, CLUSTER).inputs["apiServerAccessProfile"]
    egress_ip = full.outputs["facts"]["identity"]["egress_ip"]
    assert access == {"authorizedIPRanges": ["192.0.2.0/24", f"{egress_ip}/32"], "disableRunCommand": True}


def test_private_ranges_alone_make_a_private_api_server() -> None:
    """Azure's allowed ranges are of the internet: with private ones alone the API server is not there at all."""
    network = replace(plan_of().network, control_plane_cidrs=("10.20.0.0/16",))
    access = only(declared(plan_of(network=network)), CLUSTER).inputs["apiServerAccessProfile"]
    assert access == {"enablePrivateCluster": True, "enablePrivateClusterPublicFQDN": True, "disableRunCommand": True}


def test_no_ranges_leave_the_endpoint_open() -> None:
    """Without ranges none are declared: a list with the nodes' address alone would shut everybody out."""
    access = only(declared(plan_of()), CLUSTER).inputs["apiServerAccessProfile"]
    assert access == {"disableRunCommand": True}


def test_nodes_leave_through_the_gateway_alone(full: ResourceGraph) -> None:
    """The subnet is the plan's range, has the gateway, and no other way out."""
    subnet = only(full, "azure-native:network:Subnet").inputs
    gateway = only(full, "azure-native:network:NatGateway")
    assert subnet["addressPrefix"] == "10.1.0.0/20"
    assert subnet["natGateway"]["id"] == gateway.id
    assert subnet["defaultOutboundAccess"] is False
    assert only(full, "azure-native:network:VirtualNetwork").inputs["addressSpace"]["addressPrefixes"] == ["10.1.0.0/20"]
    assert gateway.inputs["publicIpAddresses"] == [{"id": only(full, "azure-native:network:PublicIPAddress").id}]


@pytest.mark.parametrize(
    ("cidr", "address"), [("10.112.0.0/20", "10.112.0.10"), ("10.0.0.0/28", "10.0.0.10"), ("10.0.0.0/29", "10.0.0.6")]
)
def test_dns_address_is_within_the_range(cidr: str, address: str) -> None:
    """The DNS address is in the services' range and neither its first nor its last."""
    assert aks_network.to_dns_service_ip(cidr) == address


def test_protection_is_of_the_cluster_alone(full: ResourceGraph) -> None:
    """The engine protects the cluster and no pool: a card can still be taken out of a protected cluster."""
    assert only(full, CLUSTER).options.protect is True
    assert not any(pool.options.protect for pool in full.of_type(POOL))
    assert full.of_type(LOCK) == ()


def test_without_protection_nothing_is_protected() -> None:
    """A stack that is to be torn down has no protection."""
    graph = declared(plan_of(), deletion_protection=False)
    assert not any(resource.options.protect for resource in graph.resources)


def schedules_of(*days: str) -> dict[str, Any]:
    """Return the schedule of each maintenance configuration for these days, as the provider gets it."""
    plan = plan_of(maintenance=MaintenanceWindow(days=days, start_hour_utc=2, hours=6))
    found = declared(plan).of_type(MAINTENANCE)
    return {resource.inputs["configName"]: resource.inputs["maintenanceWindow"] for resource in found}


def test_maintenance_days_are_dealt_out() -> None:
    """Three kinds of change take turns on the plan's days."""
    windows = schedules_of("Monday", "Tuesday", "Friday")
    days = {name: window["schedule"]["weekly"]["dayOfWeek"] for name, window in windows.items()}
    assert days == {
        "default": "Monday",
        "aksManagedAutoUpgradeSchedule": "Tuesday",
        "aksManagedNodeOSUpgradeSchedule": "Friday",
    }
    window = windows["default"]
    assert (window["startTime"], window["utcOffset"], window["durationHours"]) == ("02:00", "+00:00", 6)


def test_all_seven_days_let_node_images_come_daily() -> None:
    """With every day allowed, security fixes of nodes wait for none."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    assert schedules_of(*days)["aksManagedNodeOSUpgradeSchedule"]["schedule"] == {"daily": {"intervalDays": 1}}


def test_no_window_declares_no_schedule() -> None:
    """A plan without a window leaves the time to Azure."""
    assert declared(plan_of(maintenance=None)).of_type(MAINTENANCE) == ()


@pytest.mark.parametrize(("version", "channel"), [("1.35", "patch"), ("1.35.2", "none")])
def test_a_named_patch_version_is_kept(version: str, channel: str) -> None:
    """AKS moves on within a minor version unless the plan pins the patch."""
    profile = aks_maintenance.to_upgrade_profile(plan_of(kubernetes_version=version))
    assert profile.upgrade_channel == containerservice.UpgradeChannel(channel)
    assert profile.node_os_upgrade_channel == containerservice.NodeOSUpgradeChannel.NODE_IMAGE


def test_facts_are_whole_and_the_kubeconfig_secret(full: ResourceGraph) -> None:
    """No fact is empty or unknown, the endpoint is a URL, the certificate readable, the kubeconfig masked."""
    facts = full.outputs["facts"]
    assert facts["endpoint"].startswith("https://azure-one-")
    assert facts["ca_certificate"] not in ("", MASK)
    assert full.outputs["kubeconfig"] == MASK
    assert all(facts["identity"].values())
    assert facts["identity"]["oidc_issuer"].startswith("https://")
    assert MASK not in json.dumps(facts)


def test_certificate_is_taken_out_of_the_kubeconfig() -> None:
    """The certificate authority is that of the kubeconfig's one cluster."""
    text = "clusters:\n- name: one\n  cluster:\n    server: https://one:443\n    certificate-authority-data: UEVN\n"
    assert aks_access.to_ca_certificate(text) == "UEVN"


def test_tags_keep_to_azures_rules() -> None:
    """Forbidden characters, reserved prefixes, lengths, and names that differ in case alone."""
    given = (
        ("Azure-thing", "a"),
        ("Site", "upper"),
        ("a/b?c<d>e%f&g\\h", "b"),
        ("long", "v" * 300),
        ("n" * 600, "c"),
        ("site", "lower"),
    )
    legal = aks_common.to_tags(args_of(plan_of(tags=given)), "T4")
    assert legal == {
        "x-Azure-thing": "a",
        "Site": "upper",
        "a-b-c-d-e-f-g-h": "b",
        "long": "v" * 256,
        "n" * 512: "c",
        "card": "T4",
    }


@pytest.mark.parametrize("name", ["t4", "a100-80-spot", "rtx-pro-6000-spot"])
def test_pool_names_are_what_azure_takes(name: str) -> None:
    """A pool's name has letters and digits alone, at most twelve."""
    made = aks_pools.to_pool_name(pool_of(name=name))
    assert made.isalnum()
    assert made == made.lower()
    assert len(made) <= 12


def test_long_cluster_names_keep_within_every_limit() -> None:
    """The DNS prefix, cut, is still a DNS label; the other names come from the naming table."""
    plan = plan_of(name="a" * 53 + "-" + "b" * 40)
    inputs = only(declared(plan), CLUSTER).inputs
    assert inputs["resourceName"] == cloud_name(NameKind.AKS_CLUSTER, plan.name)
    assert len(inputs["dnsPrefix"]) <= 54
    assert not inputs["dnsPrefix"].endswith("-")
    assert len(inputs["nodeResourceGroup"]) <= NAME_RULES[NameKind.AZURE_RESOURCE_GROUP].longest


def test_provider_is_the_plans_subscription() -> None:
    """The provider is told subscription and region; without a subscription it goes by the credentials."""
    own = only(declared(plan_of(account="11111111-2222-3333-4444-555555555555")), "pulumi:providers:azure-native")
    assert own.inputs["subscriptionId"] == "11111111-2222-3333-4444-555555555555"
    assert own.inputs["location"] == "eastus"
    assert "subscriptionId" not in only(declared(plan_of()), "pulumi:providers:azure-native").inputs


def shape(graph: ResourceGraph) -> str:
    """Return what would change on Azure: inputs of all resources, in a stable form."""
    return json.dumps(sorted((resource.type, resource.name, resource.inputs) for resource in graph.resources), sort_keys=True)


@pytest.fixture(scope="module")
def plain() -> str:
    """Return the shape of the cluster that the tests below change."""
    return shape(declared(plan_of(maintenance=WEEKEND)))


PLAN_CHANGES: dict[str, dict[str, Any]] = {
    "account": {"account": "11111111-2222-3333-4444-555555555555"},
    "region": {"region": "westeurope"},
    "zones": {"zones": ("1", "2")},
    "kubernetes_version": {"kubernetes_version": "1.34"},
    "tags": {"tags": (("billing-account", "chemistry"),)},
    "admins": {"admins": ("group-2",)},
    "maintenance": {"maintenance": None},
    "maintenance.days first": {"maintenance": replace(WEEKEND, days=("Friday", "Sunday"))},
    "maintenance.days last": {"maintenance": replace(WEEKEND, days=("Saturday", "Monday"))},
    "maintenance.start_hour_utc": {"maintenance": replace(WEEKEND, start_hour_utc=3)},
    "maintenance.hours": {"maintenance": replace(WEEKEND, hours=8)},
    "network.nodes_cidr": {"network": replace(plan_of().network, nodes_cidr="10.9.0.0/20")},
    "network.pods_cidr": {"network": replace(plan_of().network, pods_cidr="10.32.0.0/14")},
    "network.services_cidr": {"network": replace(plan_of().network, services_cidr="10.96.0.0/20")},
    "network.control_plane_cidrs": {"network": replace(plan_of().network, control_plane_cidrs=("192.0.2.0/24",))},
    "system_pool.machine": {"system_pool": replace(plan_of().system_pool, machine="Standard_D8s_v5")},
    "system_pool.min_nodes": {"system_pool": replace(plan_of().system_pool, min_nodes=2)},
    "system_pool.max_nodes": {"system_pool": replace(plan_of().system_pool, max_nodes=5)},
    "system_pool.disk_gib": {"system_pool": replace(plan_of().system_pool, disk_gib=200)},
}


@pytest.mark.parametrize("field", sorted(PLAN_CHANGES))
def test_every_field_of_the_plan_reaches_azure(field: str, plain: str) -> None:
    """Changing a field of the plan changes some declared input."""
    changes = {"maintenance": WEEKEND} | PLAN_CHANGES[field]
    assert shape(declared(plan_of(**changes))) != plain


POOL_CHANGES: dict[str, dict[str, Any]] = {
    "card": {"card": "H100"},
    "kind": {"kind": AcceleratorKind.AMD},
    "machine": {"machine": "Standard_NC8as_T4_v3"},
    "min_nodes": {"min_nodes": 1},
    "max_nodes": {"max_nodes": 9},
    "capacity": {"capacity": CapacityType.SPOT},
    "reservation": {"reservation": RESERVATION},
    "disk_gib": {"disk_gib": 256},
    "zones": {"zones": ("2",)},
    "labels": {"labels": (("gpu", "T4"), ("team", "atlas"))},
    "taints": {"taints": (replace(NVIDIA_TAINT, effect=TaintEffect.NO_EXECUTE),)},
    "gpu_driver": {"gpu_driver": GpuDriver.OPERATOR},
}


def test_every_field_of_a_pool_reaches_azure() -> None:
    """Pools that differ from another in one field differ in some declared input besides their names."""
    changed = {f"p{turn}": changes for turn, changes in enumerate(POOL_CHANGES.values())}
    pools = (pool_of(), *(pool_of(name=name, **changes) for name, changes in changed.items()))
    inputs = {name: {**pool.inputs, "agentPoolName": ""} for name, pool in pools_of(declared(plan_of(pools=pools))).items()}
    dead = [changes for name, changes in changed.items() if inputs[name] == inputs["t4"]]
    assert dead == []


def test_cards_that_are_not_nvidias_are_told_to_the_autoscaler() -> None:
    """Azure's autoscaler takes every card for NVIDIA's: an empty AMD pool needs the tag to wake for amd.com/gpu."""
    amd = a_pool(Cloud.AZURE, name="mi300x", card="MI300X", kind=AcceleratorKind.AMD, resource="amd.com/gpu", accelerators=8)
    pools = {pool.name: pool for pool in declared(plan_of(pools=(a_pool(Cloud.AZURE), amd))).of_type(POOL)}
    hint = "k8s.io_cluster-autoscaler_node-template_resources_amd.com_gpu"
    assert next(pool for name, pool in pools.items() if name.endswith("mi300x")).inputs["tags"][hint] == "8"
    assert not any("node-template" in tag for tag in next(p for n, p in pools.items() if n.endswith("t4")).inputs["tags"])
