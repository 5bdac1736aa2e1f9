"""Node groups of an EKS cluster: one per pool, each with a launch template and the hints that wake it from zero.

Choices, and why:

* Disk, instance metadata and instance tags stand in a launch template; EKS refuses them on the group beside one. The group
  names the template's own version number, because ``$Latest`` is read back as a number and shows a diff.
* Metadata takes version 2 tokens and one hop: no pod reaches the node's role. AL2023 managed groups have one hop by default
  (kubernetes-sigs/aws-load-balancer-controller#3695), so pods that ask for region or VPC there have to be told them.
* EKS does not hand a group's tags to its Auto Scaling group, so each hint is an `aws.autoscaling.Tag`: every label, every taint
  in Kubernetes' spelling, the accelerators, and the ephemeral storage, without which a pod that asks for some wakes no pool.
* ``k8s.amazonaws.com/accelerator`` is set on NVIDIA nodes only: the autoscaler holds any node with that label to be unready
  until it has ``nvidia.com/gpu``, for ever on others (kubernetes/autoscaler gpu_processor.go, read 2026-11-21).
* Group names are a prefix and the provider's unique ending, so that a group that must be replaced does not collide with itself;
  the prefix is cut, since autonaming allows 255 characters and EKS 63 (pulumi-aws resources.go, read 2026-11-21; SDK 7.51.1).
* Updates terminate before they launch (``MINIMAL``) on pools with accelerators, where no second set of machines can be had.
* Reserved pools draw on a capacity block: the machine type and the market stand in the launch template, and there is one subnet.
* The image's release is not pinned: EKS takes the newest of the Kubernetes version when a group is made or its version changes.
* EFA is out of scope: pools that need it (several p4d, p5 or trn1 nodes working as one) run without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws
from pulumi_aws.eks.outputs import NodeGroupResource

from components.base import ClusterComponent
from components.contract import ClusterArgs
from components.eks_common import cost_tags, minor_version
from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import CapacityType, Taint, TaintEffect, spell_effect
from fleet.naming import NameKind, cloud_name
from fleet.records import GpuDriver, NodePool

ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"
HINT_PREFIX = "k8s.io/cluster-autoscaler/node-template"
IGNORED = ["scalingConfig.desiredSize"]
_ROOT_DEVICE = "/dev/xvda"
_STORAGE_SHARE = 0.85
_GROUP_PREFIX_LONGEST = 36
_WEAKEST_FIRST = (TaintEffect.PREFER_NO_SCHEDULE, TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE)

CAPACITY_TYPES: Mapping[CapacityType, str] = {
    CapacityType.ON_DEMAND: "ON_DEMAND",
    CapacityType.SPOT: "SPOT",
    CapacityType.RESERVED: "CAPACITY_BLOCK",
}
"""EKS's word for each capacity type (botocore 1.44.5, eks CapacityTypes)."""

_STANDARD_IMAGES: Mapping[str, str] = {"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}
_ACCELERATED_IMAGES: Mapping[tuple[AcceleratorKind, str], str] = {
    (AcceleratorKind.NVIDIA, "amd64"): "AL2023_x86_64_NVIDIA",
    (AcceleratorKind.NVIDIA, "arm64"): "AL2023_ARM_64_NVIDIA",
    (AcceleratorKind.NEURON, "amd64"): "AL2023_x86_64_NEURON",
}


def image_type(pool: NodePool) -> str:
    """Return the EKS image type of a pool: with the driver in it where AWS installs the driver, else the standard one."""
    accelerated = _ACCELERATED_IMAGES.get((pool.kind, pool.architecture))
    if accelerated is None or pool.gpu_driver is GpuDriver.OPERATOR:
        return _STANDARD_IMAGES[pool.architecture]
    return accelerated


def architecture_of(machine: str) -> str:
    """Return ``arm64`` for a Graviton machine type, else ``amd64``.

    A ``g`` among the letters after the generation stands for Graviton: m7g, c7gn, im4gn; a1 is the first generation (families
    as aws/aws-graviton-getting-started lists them, and the CDK's InstanceClass for a1; read 2026-11-21).
    """
    family = machine.partition(".")[0]
    is_graviton = family == "a1" or re.fullmatch(r"[a-z]+\d+[a-z]*g[a-z]*", family.partition("-")[0])
    return "arm64" if is_graviton else "amd64"


def node_labels(pool: NodePool) -> dict[str, str]:
    """Return a pool's node labels: its own, and on NVIDIA nodes what keeps the autoscaler from scaling up twice."""
    if pool.kind is not AcceleratorKind.NVIDIA:
        return dict(pool.labels)
    return dict(pool.labels) | {ACCELERATOR_LABEL: f"nvidia-{pool.card.lower()}"}


def scaling_hints(pool: NodePool) -> dict[str, str]:
    """Return what the cluster autoscaler reads of a group without nodes: tag keys of the Auto Scaling group, and values.

    Of two taints with one key the tag holds the stronger; the autoscaler adds the other from DescribeNodegroup. Storage is 85 %
    of the disk, a guess on the safe side: kubelet and system keep a part, and too high a hint would wake nodes in vain.
    """
    strongest_last = sorted(pool.taints, key=lambda taint: _WEAKEST_FIRST.index(taint.effect))
    labels = {f"label/{key}": value for key, value in node_labels(pool).items()}
    taints = {f"taint/{taint.key}": f"{taint.value}:{taint.effect.value}" for taint in strongest_last}
    resources = {
        f"resources/{pool.resource}": str(pool.accelerators),
        "resources/ephemeral-storage": f"{int(pool.disk_gib * _STORAGE_SHARE)}Gi",
    }
    return {f"{HINT_PREFIX}/{key}": value for key, value in sorted((labels | taints | resources).items())}


def to_taint_args(taints: Sequence[Taint]) -> list[aws.eks.NodeGroupTaintArgs]:
    """Return taints in EKS's spelling."""
    return [
        aws.eks.NodeGroupTaintArgs(key=taint.key, value=taint.value, effect=spell_effect(taint.effect, Cloud.AWS))
        for taint in taints
    ]


def to_launch_template_args(
    args: ClusterArgs, *, disk_gib: int, name: str, pool: NodePool | None = None
) -> aws.ec2.LaunchTemplateArgs:
    """Return the launch template of a pool, or of the system pool; `name` is what the console shows of its machines."""
    tags = cost_tags(args, pool.card if pool else None, name=name)
    reservation = pool.reservation if pool else None
    disk = aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
        volume_size=disk_gib, volume_type="gp3", encrypted="true", delete_on_termination="true"
    )
    template = aws.ec2.LaunchTemplateArgs(
        update_default_version=True,
        block_device_mappings=[aws.ec2.LaunchTemplateBlockDeviceMappingArgs(device_name=_ROOT_DEVICE, ebs=disk)],
        metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
            http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
        ),
        tag_specifications=[
            aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=tags)
            for kind in ("instance", "volume", "network-interface")
        ],
        tags=tags,
    )
    if pool and reservation:
        template.instance_type = pool.machine
        template.instance_market_options = aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")
        target = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
            capacity_reservation_id=reservation
        )
        template.capacity_reservation_specification = aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
            capacity_reservation_target=target
        )
    return template


def to_node_group_args(
    args: ClusterArgs,
    pool: NodePool,
    *,
    cluster_name: pulumi.Input[str],
    node_role_arn: pulumi.Input[str],
    subnet_ids: Sequence[pulumi.Input[str]],
    template: aws.eks.NodeGroupLaunchTemplateArgs,
) -> aws.eks.NodeGroupArgs:
    """Return the arguments of a pool's node group."""
    return aws.eks.NodeGroupArgs(
        cluster_name=cluster_name,
        node_group_name_prefix=group_prefix(pool.name),
        node_role_arn=node_role_arn,
        subnet_ids=list(subnet_ids),
        launch_template=template,
        version=minor_version(args.plan.kubernetes_version),
        ami_type=image_type(pool),
        capacity_type=CAPACITY_TYPES[pool.capacity],
        instance_types=None if pool.reservation else [pool.machine],
        scaling_config=to_scaling_args(pool.min_nodes, pool.max_nodes),
        update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1, update_strategy="MINIMAL"),
        node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=True),
        labels=node_labels(pool),
        taints=to_taint_args(pool.taints),
        tags=cost_tags(args, pool.card),
    )


def to_system_group_args(
    args: ClusterArgs,
    *,
    cluster_name: pulumi.Input[str],
    node_role_arn: pulumi.Input[str],
    subnet_ids: Sequence[pulumi.Input[str]],
    template: aws.eks.NodeGroupLaunchTemplateArgs,
) -> aws.eks.NodeGroupArgs:
    """Return the arguments of the group without accelerators. It has no taint: what tolerates nothing lands here."""
    pool = args.plan.system_pool
    return aws.eks.NodeGroupArgs(
        cluster_name=cluster_name,
        node_group_name_prefix=group_prefix("system"),
        node_role_arn=node_role_arn,
        subnet_ids=list(subnet_ids),
        launch_template=template,
        version=minor_version(args.plan.kubernetes_version),
        ami_type=_STANDARD_IMAGES[architecture_of(pool.machine)],
        capacity_type=CAPACITY_TYPES[CapacityType.ON_DEMAND],
        instance_types=[pool.machine],
        scaling_config=to_scaling_args(pool.min_nodes, pool.max_nodes),
        update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=True),
        tags=cost_tags(args),
    )


def to_scaling_args(min_nodes: int, max_nodes: int) -> aws.eks.NodeGroupScalingConfigArgs:
    """Return the limits of a group; it starts at its minimum, and from then on the count is the autoscaler's."""
    return aws.eks.NodeGroupScalingConfigArgs(min_size=min_nodes, max_size=max_nodes, desired_size=min_nodes)


def group_prefix(name: str) -> str:
    """Return the start of a node group's name: EKS takes 63 characters, of which the provider adds 26.

    Source of the latter: terraform-plugin-sdk v2.37.0, helper/id, UniqueIDSuffixLength, read 2026-11-21.
    """
    return cloud_name(NameKind.EKS_NODE_GROUP, name)[:_GROUP_PREFIX_LONGEST].rstrip("-") + "-"


def template_reference(template: aws.ec2.LaunchTemplate) -> aws.eks.NodeGroupLaunchTemplateArgs:
    """Return a group's reference to the newest version of its launch template, by number."""
    return aws.eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version.apply(str))


def to_hint_args(group_name: pulumi.Input[str], key: str, value: str) -> aws.autoscaling.TagArgs:
    """Return the arguments of one hint. It stays on the group: a machine has no use for it."""
    tag = aws.autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=False)
    return aws.autoscaling.TagArgs(autoscaling_group_name=group_name, tag=tag)


def declare_hints(component: ClusterComponent, pool: NodePool, group: aws.eks.NodeGroup) -> None:
    """Declare the hints of a pool on the Auto Scaling group that EKS made for it."""
    scaling_group = group.resources.apply(_scaling_group)
    for key, value in scaling_hints(pool).items():
        aws.autoscaling.Tag(
            component.child(f"{pool.name}-{key.removeprefix(HINT_PREFIX + '/')}"),
            to_hint_args(scaling_group, key, value),
            component.child_options(),
        )


def _scaling_group(made: Sequence[NodeGroupResource]) -> str:
    """Return the name of the one Auto Scaling group behind a node group."""
    return next(group.name for resource in made for group in resource.autoscaling_groups or () if group.name)
