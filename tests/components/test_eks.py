"""EKS: the translation by table, and the whole component under the recording monitor of the offline preview."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any

import pulumi
import pytest

from components.contract import ClusterArgs, ClusterFacts, builder
from components.eks import to_kubeconfig
from components.eks_common import cost_tags, minor_version, partition
from components.eks_identity import autoscaler_policy, policy_arn
from components.eks_network import cluster_zones, network_zones, pool_zones, zone_ranges
from components.eks_pools import (
    ACCELERATOR_LABEL,
    HINT_PREFIX,
    architecture_of,
    group_prefix,
    image_type,
    node_labels,
    scaling_hints,
    to_launch_template_args,
    to_taint_args,
)
from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint, TaintEffect
from fleet.records import ClusterPlan, GpuDriver, NetworkPlan, NodePool, SystemPool
from preview.graph import MASK, Resource
from preview.monitor import RecordingMonitor
from tests.support.declaring import run
from tests.support.plans import a_cluster, a_pool, a_spot_pool

# pulumi-aws 7.51.1 warns of a class of its own, which nobody here uses, when its ec2 module is first touched.
pytestmark = pytest.mark.filterwarnings("ignore:aws.ec2/encryptioncontrol.EncryptionControl:DeprecationWarning")

ADMIN = "arn:aws:iam::123456789012:role/platform"
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
CLUSTER = "aws:eks/cluster:Cluster"
ADDON = "aws:eks/addon:Addon"
TAG = "aws:autoscaling/tag:Tag"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
SUBNET = "aws:ec2/subnet:Subnet"
TAGLESS = {
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:kms/alias:Alias",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    TAG,
}


def an_eks_plan(**changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return a plan with an on-demand and a spot pool over three zones, with `changes` made to it."""
    pools = (a_pool(Cloud.AWS), a_spot_pool(Cloud.AWS))
    defaults: dict[str, Any] = {"zones": ZONES, "pools": pools, "admins": (ADMIN,), "account": "123456789012"}
    return a_cluster(Cloud.AWS, **(defaults | changes))


def some_args(*, protection: bool = False, **changes: Any) -> ClusterArgs:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return the arguments of a cluster."""
    return ClusterArgs(plan=an_eks_plan(**changes), deletion_protection=protection)


class Declared:
    """What a cluster declares, for tests to look things up in."""

    def __init__(self, resources: tuple[Resource, ...], monitor: RecordingMonitor) -> None:
        self.resources = resources
        self.monitor = monitor

    def of(self, kind: str) -> dict[str, Resource]:
        """Return the resources of a type by the part of their name after the component's."""
        return {item.name.removeprefix("aws-one-"): item for item in self.resources if item.type == kind}

    def inputs(self, kind: str, suffix: str) -> Mapping[str, Any]:
        """Return the inputs of one resource."""
        return self.of(kind)[suffix].inputs

    def later_than(self, first: Resource) -> set[str]:
        """Return the URNs of everything that waits for `first`, directly or not."""
        found: set[str] = set()
        fresh = {first.urn}
        while fresh:
            found |= fresh
            fresh = {item.urn for item in self.resources if fresh & {*item.dependencies, *item.options.depends_on}} - found
        return found - {first.urn}

    def node_groups(self) -> set[str]:
        """Return the URNs of all node groups."""
        return {item.urn for item in self.of(NODE_GROUP).values()}


def declare(args: ClusterArgs) -> Declared:
    """Return everything that a cluster of `args` declares; its facts are the stack's output ``facts``."""

    def program() -> None:
        module = builder(Cloud.AWS)
        facts: ClusterFacts = module.build(args, module.make_provider("aws-provider", args))
        pulumi.export("facts", facts.public())
        pulumi.export("kubeconfig", facts.kubeconfig)

    monitor = run(program).monitor
    return Declared(monitor.declared(), monitor)


@pytest.fixture(scope="module")
def declared() -> Declared:
    """Everything that the usual cluster declares, protected."""
    return declare(some_args(protection=True))


# --- the translation by table


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "AL2023_x86_64_NVIDIA"),
        ({"architecture": "arm64"}, "AL2023_ARM_64_NVIDIA"),
        ({"gpu_driver": GpuDriver.OPERATOR}, "AL2023_x86_64_STANDARD"),
        ({"gpu_driver": GpuDriver.OPERATOR, "architecture": "arm64"}, "AL2023_ARM_64_STANDARD"),
        ({"kind": AcceleratorKind.NEURON}, "AL2023_x86_64_NEURON"),
        ({"kind": AcceleratorKind.AMD}, "AL2023_x86_64_STANDARD"),
    ],
)
def test_image_type_follows_kind_architecture_and_driver(changes: dict[str, Any], expected: str) -> None:
    """The image has a driver in it exactly where AWS installs one for that kind and architecture."""
    assert image_type(a_pool(Cloud.AWS, **changes)) == expected


@pytest.mark.parametrize("kind", list(AcceleratorKind))
@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
@pytest.mark.parametrize("driver", list(GpuDriver))
def test_every_kind_has_an_image(kind: AcceleratorKind, architecture: str, driver: GpuDriver) -> None:
    """Translation is total: no kind, architecture or driver is without an image type."""
    assert image_type(a_pool(Cloud.AWS, kind=kind, architecture=architecture, gpu_driver=driver)).startswith("AL2023_")


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        ("m7i.xlarge", "amd64"),
        ("m7g.xlarge", "arm64"),
        ("c7gn.large", "arm64"),
        ("im4gn.large", "arm64"),
        ("t4g.medium", "arm64"),
        ("a1.large", "arm64"),
        ("g4dn.xlarge", "amd64"),
        ("g5g.xlarge", "arm64"),
        ("gr6.4xlarge", "amd64"),
        ("m7i-flex.large", "amd64"),
        ("p6-b200.48xlarge", "amd64"),
    ],
)
def test_graviton_machines_are_told_from_their_names(machine: str, expected: str) -> None:
    """A system pool of Graviton machines gets an image that boots there, and a GPU family's g is not mistaken for it."""
    assert architecture_of(machine) == expected


def test_hints_speak_kubernetes_and_hold_every_label_taint_and_resource() -> None:
    """An empty group's tags say all that its node will be, in the spelling that the autoscaler reads."""
    pool = replace(a_spot_pool(Cloud.AWS), labels=(("gpu", "T4"), ("team", "pyhf")), accelerators=4, disk_gib=200)
    assert scaling_hints(pool) == {
        f"{HINT_PREFIX}/label/gpu": "T4",
        f"{HINT_PREFIX}/label/k8s.amazonaws.com/accelerator": "nvidia-t4",
        f"{HINT_PREFIX}/label/team": "pyhf",
        f"{HINT_PREFIX}/resources/ephemeral-storage": "170Gi",
        f"{HINT_PREFIX}/resources/nvidia.com/gpu": "4",
        f"{HINT_PREFIX}/taint/gpufleet.io/capacity-type": "spot:NoSchedule",
        f"{HINT_PREFIX}/taint/nvidia.com/gpu": "present:NoSchedule",
    }


def test_hint_holds_the_stronger_of_two_taints_with_one_key() -> None:
    """A tag has room for one taint of a key: the one that keeps more pods away."""
    weak, strong = Taint(key="k", value="v", effect=TaintEffect.PREFER_NO_SCHEDULE), Taint(key="k", value="v")
    for taints in ((weak, strong), (strong, weak)):
        assert scaling_hints(a_pool(Cloud.AWS, taints=taints))[f"{HINT_PREFIX}/taint/k"] == "v:NoSchedule"


def test_only_nvidia_nodes_carry_the_accelerator_label() -> None:
    """The autoscaler waits for nvidia.com/gpu on any node with that label: another kind's would stay unready for ever."""
    assert node_labels(a_pool(Cloud.AWS))[ACCELERATOR_LABEL] == "nvidia-t4"
    neuron = a_pool(Cloud.AWS, kind=AcceleratorKind.NEURON, resource="aws.amazon.com/neuron", card="Trainium")
    assert ACCELERATOR_LABEL not in node_labels(neuron)
    assert f"{HINT_PREFIX}/resources/aws.amazon.com/neuron" in scaling_hints(neuron)


@pytest.mark.parametrize("effect", list(TaintEffect))
def test_taints_are_spelled_for_eks(effect: TaintEffect) -> None:
    """The group's own taints have EKS's upper case effects."""
    (taint,) = to_taint_args([Taint(key="k", value="v", effect=effect)])
    assert (
        taint.effect == {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}[effect]
    )


def test_zone_ranges_lie_apart_within_the_node_range() -> None:
    """No two subnets overlap, whatever the zones, and all lie in the VPC."""
    ranges = [zone_ranges("10.0.0.0/20", f"us-east-1{letter}") for letter in "abcdefg"]
    networks = [IPv4Network(text) for found in ranges for text in (found.private, found.public)]
    assert all(network.subnet_of(IPv4Network("10.0.0.0/20")) for network in networks)
    assert not any(one.overlaps(other) for index, one in enumerate(networks) for other in networks[index + 1 :])


@pytest.mark.parametrize(("prefix", "public_prefix"), [(16, 22), (22, 28)])
def test_every_node_range_of_a_vpc_can_be_cut(prefix: int, public_prefix: int) -> None:
    """The largest and the smallest range give public subnets that AWS takes, /28 at the least."""
    assert IPv4Network(zone_ranges(f"10.0.0.0/{prefix}", "us-east-1a").public).prefixlen == public_prefix


def test_zones_of_pools_join_the_network_and_not_the_control_plane() -> None:
    """A card sold in one more zone gets a subnet there; without zones of its own the cluster takes its pools'."""
    plan = an_eks_plan(pools=(a_pool(Cloud.AWS, zones=("us-east-1f",)),))
    assert (cluster_zones(plan), network_zones(plan)) == (ZONES, (*ZONES, "us-east-1f"))
    assert cluster_zones(replace(plan, zones=())) == ("us-east-1f",)


def test_pool_zones_are_its_own_then_the_clusters_and_one_for_a_reservation() -> None:
    """A capacity block lies in one zone, so its group has that one subnet."""
    plan = an_eks_plan()
    assert pool_zones(plan, a_pool(Cloud.AWS, zones=("us-east-1b",))) == ("us-east-1b",)
    assert pool_zones(plan, a_pool(Cloud.AWS, zones=())) == ZONES
    reserved = a_pool(Cloud.AWS, zones=ZONES[1:], capacity=CapacityType.RESERVED, reservation="cr-1")
    assert pool_zones(plan, reserved) == ZONES[1:2]


def test_tags_are_made_legal() -> None:
    """Characters AWS refuses become underscores, lengths are kept, and the reserved prefix is left to AWS."""
    args = some_args(tags=(("aws:owner", "AWS:a"), ("billing (main)", "50% é*"), ("long", "x" * 300)))
    assert cost_tags(args, "T4", name="n") == {
        "_aws:owner": "_AWS:a",
        "billing _main_": "50_ é_",
        "long": "x" * 256,
        "card": "T4",
        "Name": "n",
    }


def test_group_prefix_leaves_room_for_the_providers_ending() -> None:
    """A long pool name still gives a group name of at most 63 characters with the 26 that the provider adds."""
    assert group_prefix("t4") == "t4-"
    assert len(group_prefix("a" * 80)) + 26 <= 63


@pytest.mark.parametrize(("version", "expected"), [("1.35", "1.35"), ("1.35.2", "1.35")])
def test_eks_is_told_the_minor_version_only(version: str, expected: str) -> None:
    """EKS refuses a patch version."""
    assert minor_version(version) == expected


@pytest.mark.parametrize(
    ("region", "expected"), [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")]
)
def test_arns_follow_the_regions_partition(region: str, expected: str) -> None:
    """Policies of AWS's own are named in the partition of the region."""
    assert partition(region) == expected
    assert policy_arn(region, "X").startswith(f"arn:{expected}:iam::aws:policy/")


def test_autoscaler_may_change_this_clusters_groups_only() -> None:
    """Every action that changes something has the tag condition, and DescribeNodegroup names this cluster's groups."""
    reads, describes, writes = json.loads(autoscaler_policy(some_args()))["Statement"]
    assert all(action.split(":")[1].startswith(("Describe", "Get")) for action in reads["Action"])
    assert describes["Action"] == ["eks:DescribeNodegroup"]
    assert describes["Resource"] == "arn:aws:eks:us-east-1:123456789012:nodegroup/aws-one/*/*"
    assert writes["Condition"]["StringEquals"] == {
        "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "true",
        "aws:ResourceTag/k8s.io/cluster-autoscaler/aws-one": "owned",
    }


def test_kubeconfig_asks_the_aws_cli_and_holds_no_token() -> None:
    """The exec plugin is of the API version that kubectl still takes, and nothing lasting is written down."""
    config = json.loads(to_kubeconfig("c", "r", "https://e", "Q0E="))
    user = config["users"][0]["user"]
    assert set(user) == {"exec"}
    assert user["exec"]["apiVersion"] == "client.authentication.k8s.io/v1beta1"
    assert user["exec"]["command"] == "aws"
    assert user["exec"]["args"] == ["--region", "r", "eks", "get-token", "--cluster-name", "c", "--output", "json"]
    assert config["clusters"][0]["cluster"] == {"server": "https://e", "certificate-authority-data": "Q0E="}


def test_plain_launch_template_reserves_nothing() -> None:
    """Only a reserved pool names a market, a reservation and the machine in its template."""
    template = to_launch_template_args(some_args(), disk_gib=50, name="n", pool=a_pool(Cloud.AWS))
    assert template.instance_type is None
    assert template.instance_market_options is None
    assert template.capacity_reservation_specification is None


# --- the whole component


def test_names_and_parents(declared: Declared) -> None:
    """Each child hangs on the component, starts with its name, and uses the one explicit provider."""
    component = next(item for item in declared.resources if item.type == "gpufleet:index:EksCluster")
    provider = next(item for item in declared.resources if item.type == "pulumi:providers:aws")
    children = [item for item in declared.resources if item not in (component, provider)]
    assert component.name == "aws-one"
    assert {item.parent for item in children} == {component.urn}
    assert all(item.name.startswith("aws-one-") for item in children)
    assert {item.provider for item in children} == {provider.urn}
    assert component.urn in declared.monitor.outputs_registered


def test_provider_is_of_the_region_and_refuses_other_accounts(declared: Declared) -> None:
    """A wrong set of credentials is refused before anything is made."""
    provider = next(item for item in declared.resources if item.type == "pulumi:providers:aws")
    assert provider.inputs["region"] == "us-east-1"
    assert json.loads(provider.inputs["allowedAccountIds"]) == ["123456789012"]


def test_everything_that_takes_tags_carries_the_cost_tags(declared: Declared) -> None:
    """No child that AWS can bill or list by tag is without the plan's tags; pools name their card."""
    expected = dict(an_eks_plan().tags)
    children = [item for item in declared.resources if item.type.startswith("aws:") and item.type not in TAGLESS]
    assert children
    for item in children:
        assert expected.items() <= item.inputs["tags"].items(), item.name
    assert declared.inputs(NODE_GROUP, "t4")["tags"]["card"] == "T4"
    for specification in declared.inputs(TEMPLATE, "t4")["tagSpecifications"]:
        assert specification["tags"]["card"] == "T4"


def test_each_zone_has_its_subnets_and_its_own_way_out(declared: Declared) -> None:
    """A private subnet's default route is the NAT gateway of its own zone; load balancers find both subnets."""
    subnets = declared.of(SUBNET)
    assert {f"{kind}-{zone}" for kind in ("public", "private") for zone in ZONES} == set(subnets)
    gateways, routes = declared.of("aws:ec2/natGateway:NatGateway"), declared.of("aws:ec2/route:Route")
    for zone in ZONES:
        assert subnets[f"private-{zone}"].inputs["tags"]["kubernetes.io/role/internal-elb"] == "1"
        assert subnets[f"public-{zone}"].inputs["tags"]["kubernetes.io/role/elb"] == "1"
        assert gateways[f"nat-{zone}"].inputs["subnetId"] == subnets[f"public-{zone}"].id
        assert routes[f"private-{zone}"].inputs["natGatewayId"] == gateways[f"nat-{zone}"].id
        assert subnets[f"private-{zone}"].inputs["mapPublicIpOnLaunch"] is False


def test_adding_a_zone_moves_no_subnet(declared: Declared) -> None:
    """A subnet that moved would be replaced, and all nodes in it."""
    before = {name: item.inputs["cidrBlock"] for name, item in declared.of(SUBNET).items()}
    wider = declare(some_args(zones=(*ZONES, "us-east-1d")))
    after = {name: item.inputs["cidrBlock"] for name, item in wider.of(SUBNET).items()}
    assert len(after) == len(before) + 2
    assert before.items() <= after.items()


def test_cluster_is_what_a_production_cluster_is(declared: Declared) -> None:
    """Access by entries, secrets encrypted, all logs, nothing unmanaged, the plan's own service range."""
    inputs = declared.inputs(CLUSTER, "cluster")
    key = declared.of("aws:kms/key:Key")["secrets"]
    assert inputs["version"] == "1.35"
    assert inputs["accessConfig"] == {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True}
    assert inputs["encryptionConfig"]["resources"] == ["secrets"]
    assert inputs["encryptionConfig"]["provider"]["keyArn"].endswith(f"key/{key.id}")
    assert inputs["bootstrapSelfManagedAddons"] is False
    assert len(inputs["enabledClusterLogTypes"]) == 5
    assert inputs["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "10.112.0.0/20"
    assert inputs["upgradePolicy"] == {"supportType": "STANDARD"}
    private = [declared.of(SUBNET)[f"private-{zone}"].id for zone in ZONES]
    assert inputs["vpcConfig"]["subnetIds"] == private
    assert declared.of(CLUSTER)["cluster"].options.ignore_changes == ("vpcConfig.subnetIds",)
    assert key.inputs["enableKeyRotation"] is True


@pytest.mark.parametrize(("cidrs", "expected"), [((), ["0.0.0.0/0"]), (("10.0.0.0/8", "192.0.2.0/24"), ["192.0.2.0/24"])])
def test_api_server_is_open_only_when_no_range_is_given(cidrs: tuple[str, ...], expected: list[str]) -> None:
    """Ranges that are given are the only ones; the private endpoint is always there."""
    network = replace(an_eks_plan().network, control_plane_cidrs=cidrs)
    config = declare(some_args(network=network)).inputs(CLUSTER, "cluster")["vpcConfig"]
    assert config["publicAccessCidrs"] == expected
    assert config["endpointPublicAccess"] is True
    assert config["endpointPrivateAccess"] is True


def test_private_ranges_alone_close_the_public_endpoint() -> None:
    """EKS takes no private range for its public endpoint, which would serve nobody then."""
    network = replace(an_eks_plan().network, control_plane_cidrs=("10.20.0.0/16",))
    config = declare(some_args(network=network)).inputs(CLUSTER, "cluster")["vpcConfig"]
    assert config["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in config


@pytest.mark.parametrize("protection", [True, False])
def test_deletion_protection_reaches_engine_and_cloud(protection: bool) -> None:
    """The cluster, and the key without which it cannot be read, are protected exactly when asked."""
    found = declare(some_args(protection=protection))
    assert found.inputs(CLUSTER, "cluster")["deletionProtection"] is protection
    assert found.of(CLUSTER)["cluster"].options.protect is protection
    assert found.of("aws:kms/key:Key")["secrets"].options.protect is protection


def test_pool_becomes_a_node_group(declared: Declared) -> None:
    """Size, machine, labels, taints and image are the plan's; the live count never shows."""
    group = declared.of(NODE_GROUP)["t4"]
    assert group.inputs["scalingConfig"] == {"minSize": 0, "maxSize": 4, "desiredSize": 0}
    assert group.options.ignore_changes == ("scalingConfig.desiredSize",)
    assert group.inputs["instanceTypes"] == ["g4dn.xlarge"]
    assert group.inputs["capacityType"] == "ON_DEMAND"
    assert group.inputs["amiType"] == "AL2023_x86_64_NVIDIA"
    assert group.inputs["version"] == "1.35"
    assert group.inputs["labels"]["gpu"] == "T4"
    assert group.inputs["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert group.inputs["subnetIds"] == [declared.of(SUBNET)[f"private-{zone}"].id for zone in ZONES[:2]]
    assert group.inputs["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}
    assert "nodeGroupName" not in group.inputs


def test_spot_pool_is_spot_and_tainted(declared: Declared) -> None:
    """EKS adds no spot taint by itself, so the declared one is the only thing that keeps other pods away."""
    inputs = declared.inputs(NODE_GROUP, "t4-spot")
    assert inputs["capacityType"] == "SPOT"
    assert {"key": "gpufleet.io/capacity-type", "value": "spot", "effect": "NO_SCHEDULE"} in inputs["taints"]


@pytest.mark.parametrize("pool", ["t4", "t4-spot"])
def test_hints_on_the_group_say_what_its_node_group_says(declared: Declared, pool: str) -> None:
    """Each label, taint and the cards of a node group stand on its own Auto Scaling group, and go no further."""
    inputs, hints = declared.inputs(NODE_GROUP, pool), hints_on_group_of(declared, pool)
    assert {key: value for key, value in hints.items() if key.startswith("label/")} == {
        f"label/{key}": value for key, value in inputs["labels"].items()
    }
    assert {key for key in hints if key.startswith("taint/")} == {f"taint/{taint['key']}" for taint in inputs["taints"]}
    assert hints["taint/nvidia.com/gpu"] == "present:NoSchedule"
    assert hints["resources/nvidia.com/gpu"] == "1"


def hints_on_group_of(declared: Declared, pool: str) -> dict[str, str]:
    """Return the hints whose Auto Scaling group is that of `pool`; none may reach the machines."""
    group_urn = declared.of(NODE_GROUP)[pool].urn
    tags = [item for item in declared.of(TAG).values() if group_urn in item.dependencies]
    assert all(item.inputs["autoscalingGroupName"].startswith("eks-") for item in tags)
    assert not any(item.inputs["tag"]["propagateAtLaunch"] for item in tags)
    return {item.inputs["tag"]["key"].removeprefix(f"{HINT_PREFIX}/"): item.inputs["tag"]["value"] for item in tags}


def test_launch_template_holds_disk_and_hardened_metadata(declared: Declared) -> None:
    """The disk is the plan's and encrypted, no pod can ask for the node's credentials, and the group names the version."""
    template = declared.of(TEMPLATE)["t4"]
    disk = template.inputs["blockDeviceMappings"][0]["ebs"]
    assert (disk["volumeSize"], disk["volumeType"], disk["encrypted"]) == (100, "gp3", "true")
    assert template.inputs["metadataOptions"]["httpTokens"] == "required"
    assert template.inputs["metadataOptions"]["httpPutResponseHopLimit"] == 1
    assert declared.inputs(NODE_GROUP, "t4")["launchTemplate"] == {"id": template.id, "version": "1"}


def test_reserved_pool_draws_on_its_capacity_block() -> None:
    """The block's id, market and machine stand in the template; the group has its one zone and names no machine."""
    pool: NodePool = a_pool(Cloud.AWS, zones=ZONES[:1], capacity=CapacityType.RESERVED, reservation="cr-0123")
    found = declare(some_args(pools=(pool,)))
    template, group = found.inputs(TEMPLATE, "t4"), found.inputs(NODE_GROUP, "t4")
    assert template["instanceType"] == "g4dn.xlarge"
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {"capacityReservationTarget": {"capacityReservationId": "cr-0123"}}
    assert group["capacityType"] == "CAPACITY_BLOCK"
    assert group["subnetIds"] == [found.of(SUBNET)["private-us-east-1a"].id]
    assert "instanceTypes" not in group


def test_system_group_takes_everything(declared: Declared) -> None:
    """The group for infra has no taint, the plan's size, and a count that is the autoscaler's."""
    group = declared.of(NODE_GROUP)["system"]
    assert "taints" not in group.inputs
    assert group.inputs["scalingConfig"] == {"minSize": 1, "maxSize": 3, "desiredSize": 1}
    assert group.inputs["instanceTypes"] == ["m7i.xlarge"]
    assert group.inputs["amiType"] == "AL2023_x86_64_STANDARD"
    assert group.options.ignore_changes == ("scalingConfig.desiredSize",)


def test_system_group_of_graviton_machines_boots() -> None:
    """The image follows the machine's architecture, and the disk is the plan's."""
    found = declare(some_args(system_pool=SystemPool(machine="m7g.xlarge", min_nodes=2, max_nodes=5, disk_gib=80)))
    assert found.inputs(NODE_GROUP, "system")["amiType"] == "AL2023_ARM_64_STANDARD"
    assert found.inputs(TEMPLATE, "system")["blockDeviceMappings"][0]["ebs"]["volumeSize"] == 80


@pytest.mark.parametrize("addon", ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"])
def test_daemons_come_before_nodes(declared: Declared, addon: str) -> None:
    """A node without them is never ready, and EKS would give the group up."""
    assert len(declared.node_groups()) == 3
    assert declared.node_groups() <= declared.later_than(declared.of(ADDON)[addon])


@pytest.mark.parametrize("addon", ["coredns", "aws-ebs-csi-driver"])
def test_deployments_come_after_the_system_group(declared: Declared, addon: str) -> None:
    """Without a node to run on they are never ACTIVE."""
    assert declared.of(ADDON)[addon].urn in declared.later_than(declared.of(NODE_GROUP)["system"])


def test_nodes_wait_for_their_way_out_and_their_rights(declared: Declared) -> None:
    """A node that boots without a route or a policy does not join; a cluster loses its role's rights last."""
    groups, cluster = declared.node_groups(), declared.of(CLUSTER)["cluster"].urn
    for name, item in declared.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment").items():
        if name.startswith("nodes-"):
            assert groups <= declared.later_than(item), name
    for zone in ZONES:
        assert groups <= declared.later_than(declared.of("aws:ec2/route:Route")[f"private-{zone}"])
    attachment = declared.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")["cluster-AmazonEKSClusterPolicy"]
    assert cluster in declared.later_than(attachment)
    assert cluster in declared.later_than(declared.of("aws:cloudwatch/logGroup:LogGroup")["logs"])


def test_pods_get_their_rights_by_pod_identity(declared: Declared) -> None:
    """The autoscaler and the EBS driver have roles of their own, which pods alone can take on."""
    association = declared.inputs("aws:eks/podIdentityAssociation:PodIdentityAssociation", "autoscaler")
    assert (association["namespace"], association["serviceAccount"]) == ("kube-system", "cluster-autoscaler")
    assert association["roleArn"].endswith("role/aws-one-autoscaler")
    driver = declared.inputs(ADDON, "aws-ebs-csi-driver")["podIdentityAssociations"]
    assert [item["serviceAccount"] for item in driver] == ["ebs-csi-controller-sa"]
    for purpose in ("autoscaler", "volumes"):
        trust = json.loads(declared.inputs("aws:iam/role:Role", purpose)["assumeRolePolicy"])["Statement"][0]
        assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
        assert trust["Action"] == ["sts:AssumeRole", "sts:TagSession"]


def test_each_admin_has_an_entry_and_the_whole_cluster(declared: Declared) -> None:
    """The plan's principals, and none else, administer the cluster."""
    entries = declared.of("aws:eks/accessEntry:AccessEntry")
    policies = declared.of("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert [item.inputs["principalArn"] for item in entries.values()] == [ADMIN]
    (policy,) = policies.values()
    assert policy.inputs["policyArn"] == "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    assert policy.inputs["accessScope"] == {"type": "cluster"}


def test_facts_are_whole_and_the_kubeconfig_secret(declared: Declared) -> None:
    """Readers of the stack's outputs find endpoint, CA and identities, and no kubeconfig in clear."""
    outputs = declared.monitor.stack_outputs.masked
    facts = outputs["facts"]
    assert outputs["kubeconfig"] == MASK
    assert facts["endpoint"].startswith("https://")
    assert facts["ca_certificate"]
    assert facts["identity"]["oidc_issuer"].startswith("https://")
    assert facts["identity"]["autoscaler_role_arn"].endswith("role/aws-one-autoscaler")
    assert facts["pools"]["t4"]["resource"] == "nvidia.com/gpu"
    assert all(facts["identity"].values())


def test_network_follows_the_plan() -> None:
    """Another node range moves the VPC and its subnets; another service range the cluster's."""
    network = NetworkPlan(nodes_cidr="10.8.0.0/16", pods_cidr="10.64.0.0/14", services_cidr="10.120.0.0/20")
    found = declare(some_args(network=network))
    assert found.inputs("aws:ec2/vpc:Vpc", "vpc")["cidrBlock"] == "10.8.0.0/16"
    assert found.inputs(SUBNET, "private-us-east-1b")["cidrBlock"] == "10.8.32.0/19"
    assert found.inputs(CLUSTER, "cluster")["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "10.120.0.0/20"
