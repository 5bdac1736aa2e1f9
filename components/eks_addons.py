"""Add-ons of an EKS cluster, managed by EKS, and the order they come in.

The cluster is made without EKS's own unmanaged copies (`bootstrap_self_managed_addons` is False), so each is here or nowhere:

* before the nodes, since they are daemons that a node needs to be ready: vpc-cni, kube-proxy, eks-pod-identity-agent;
* after the system group, since they are deployments and not ACTIVE until a node runs them: coredns, aws-ebs-csi-driver.

Versions are not pinned: EKS takes its default for the cluster's Kubernetes version when an add-on is made, and an update
overwrites what others changed in its own fields. The CNI keeps two spare addresses a node and not a whole spare interface
(WARM_IP_TARGET and MINIMUM_IP_TARGET, amazon-vpc-cni-k8s datastore code, read 2026-11-21), since pods share the nodes' subnets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from components.base import ClusterComponent
from components.contract import ClusterArgs
from components.eks_common import cost_tags

POD_IDENTITY_AGENT = "eks-pod-identity-agent"
BEFORE_NODES = ("vpc-cni", "kube-proxy", POD_IDENTITY_AGENT)
COREDNS = "coredns"
VOLUME_DRIVER = "aws-ebs-csi-driver"
VOLUME_SERVICE_ACCOUNT = "ebs-csi-controller-sa"

_CONFIGURATION: Mapping[str, Mapping[str, object]] = {
    "vpc-cni": {"env": {"MINIMUM_IP_TARGET": "10", "WARM_IP_TARGET": "2"}},
}


def to_addon_args(
    args: ClusterArgs, addon: str, *, cluster_name: pulumi.Input[str], role_arn: pulumi.Input[str] | None = None
) -> aws.eks.AddonArgs:
    """Return an add-on's arguments; `role_arn` is what the EBS driver's controller acts as."""
    configuration = _CONFIGURATION.get(addon)
    identity = (
        [aws.eks.AddonPodIdentityAssociationArgs(service_account=VOLUME_SERVICE_ACCOUNT, role_arn=role_arn)] if role_arn else None
    )
    return aws.eks.AddonArgs(
        cluster_name=cluster_name,
        addon_name=addon,
        configuration_values=json.dumps(configuration, sort_keys=True) if configuration else None,
        pod_identity_associations=identity,
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        tags=cost_tags(args),
    )


def declare_addons_before_nodes(component: ClusterComponent, cluster: aws.eks.Cluster) -> tuple[aws.eks.Addon, ...]:
    """Declare the daemons that a node needs to be ready."""
    return tuple(
        aws.eks.Addon(
            component.child(addon),
            to_addon_args(component.args, addon, cluster_name=cluster.name),
            component.child_options(),
        )
        for addon in BEFORE_NODES
    )


def declare_addons_after_nodes(
    component: ClusterComponent,
    cluster: aws.eks.Cluster,
    *,
    volume_role_arn: pulumi.Input[str],
    after: Sequence[pulumi.Resource],
) -> None:
    """Declare the deployments that need a node to run on: `after` holds the system group and the grants they use."""
    for addon, role_arn in ((COREDNS, None), (VOLUME_DRIVER, volume_role_arn)):
        aws.eks.Addon(
            component.child(addon),
            to_addon_args(component.args, addon, cluster_name=cluster.name, role_arn=role_arn),
            component.child_options(depends_on=list(after)),
        )
