"""Who may do what around an EKS cluster: IAM roles, the key of its secrets, and access entries.

Choices, and why:

* Pods get their rights through EKS Pod Identity, so there is no OIDC provider to make and no trust policy that names an issuer;
  the issuer's URL is still among the facts for those who need it elsewhere.
* The autoscaler may change only Auto Scaling groups that carry this cluster's discovery tags. EKS puts those on the groups of its
  managed node groups by itself (EKS user guide, managed-node-groups, 2024-12).
* The CNI's policy is on the node role, because pods have no network, and so no Pod Identity agent to ask, before it works.
* Nodes have no SSH key and no open port: `AmazonSSMManagedInstanceCore` lets an operator in through Session Manager.
* `AmazonEBSCSIDriverPolicyV2` limits the EBS driver to volumes it made itself; its ARN has no ``service-role/`` (AWS managed
  policy reference, 2026-04-16).
* Roles have names of their own, since policies and people refer to them. Other ARN partitions than ``aws`` are spelled, untested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from components.base import ClusterComponent
from components.contract import ClusterArgs
from components.eks_common import cost_tags, eks_cluster_name, partition, role_name

AUTOSCALER_NAMESPACE = "kube-system"
AUTOSCALER_SERVICE_ACCOUNT = "cluster-autoscaler"
_POLICY_VERSION = "2012-10-17"
_KEY_DELETION_DAYS = 30

CLUSTER_POLICIES = ("AmazonEKSClusterPolicy",)
NODE_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
VOLUME_POLICIES = ("AmazonEBSCSIDriverPolicyV2",)

# kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md, read 2026-11-21. They read, and IAM cannot narrow them.
_AUTOSCALER_READS = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeLaunchConfigurations",
    "autoscaling:DescribeScalingActivities",
    "autoscaling:DescribeTags",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:GetInstanceTypesFromInstanceRequirements",
)
_AUTOSCALER_WRITES = ("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup")


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantedRole:
    """A role, and the grants that whoever uses it has to wait for."""

    role: aws.iam.Role
    grants: tuple[pulumi.Resource, ...]


def policy_arn(region: str, policy: str) -> str:
    """Return the ARN of a policy that AWS manages."""
    return f"arn:{partition(region)}:iam::aws:policy/{policy}"


def service_trust(service: str) -> str:
    """Return the trust policy, JSON text, of a role that an AWS service takes on; pods also pass their session tags."""
    actions = ["sts:AssumeRole", "sts:TagSession"] if service == "pods.eks.amazonaws.com" else ["sts:AssumeRole"]
    return _policy({"Effect": "Allow", "Principal": {"Service": service}, "Action": actions})


def autoscaler_policy(args: ClusterArgs) -> str:
    """Return what the cluster autoscaler may do, JSON text: read, and resize this cluster's own groups."""
    plan, name = args.plan, eks_cluster_name(args.plan)
    groups = f"arn:{partition(plan.region)}:eks:{plan.region}:{plan.account or '*'}:nodegroup/{name}/*/*"
    owned = {
        "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "true",
        f"aws:ResourceTag/k8s.io/cluster-autoscaler/{name}": "owned",
    }
    return _policy(
        {"Effect": "Allow", "Action": list(_AUTOSCALER_READS), "Resource": "*"},
        {"Effect": "Allow", "Action": ["eks:DescribeNodegroup"], "Resource": groups},
        {"Effect": "Allow", "Action": list(_AUTOSCALER_WRITES), "Resource": "*", "Condition": {"StringEquals": owned}},
    )


def secrets_key_policy(key_arn: str) -> str:
    """Return what the cluster's role may do with the key of its secrets, JSON text."""
    actions = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:ListGrants"]
    return _policy({"Effect": "Allow", "Action": actions, "Resource": key_arn})


def to_role_args(args: ClusterArgs, purpose: str, service: str) -> aws.iam.RoleArgs:
    """Return the arguments of the role that `service` takes on for `purpose`, which is also the end of its name."""
    return aws.iam.RoleArgs(
        name=role_name(args.plan, purpose),
        description=f"gpufleet cluster {args.plan.name}: {purpose}",
        assume_role_policy=service_trust(service),
        tags=cost_tags(args),
    )


def to_key_args(args: ClusterArgs) -> aws.kms.KeyArgs:
    """Return the arguments of the key that envelopes the cluster's Kubernetes secrets."""
    return aws.kms.KeyArgs(
        description=f"Kubernetes secrets of gpufleet cluster {args.plan.name}",
        enable_key_rotation=True,
        deletion_window_in_days=_KEY_DELETION_DAYS,
        tags=cost_tags(args),
    )


def to_access_entry_args(args: ClusterArgs, admin: str, *, cluster_name: pulumi.Input[str]) -> aws.eks.AccessEntryArgs:
    """Return the arguments that let an IAM principal log in to the cluster."""
    return aws.eks.AccessEntryArgs(cluster_name=cluster_name, principal_arn=admin, type="STANDARD", tags=cost_tags(args))


def to_admin_args(args: ClusterArgs, admin: str, *, cluster_name: pulumi.Input[str]) -> aws.eks.AccessPolicyAssociationArgs:
    """Return the arguments that make an IAM principal administrator of the whole cluster."""
    return aws.eks.AccessPolicyAssociationArgs(
        cluster_name=cluster_name,
        principal_arn=admin,
        policy_arn=f"arn:{partition(args.plan.region)}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
    )


def to_autoscaler_identity_args(
    args: ClusterArgs, *, cluster_name: pulumi.Input[str], role_arn: pulumi.Input[str]
) -> aws.eks.PodIdentityAssociationArgs:
    """Return the arguments that give the autoscaler's service account its role."""
    return aws.eks.PodIdentityAssociationArgs(
        cluster_name=cluster_name,
        namespace=AUTOSCALER_NAMESPACE,
        service_account=AUTOSCALER_SERVICE_ACCOUNT,
        role_arn=role_arn,
        tags=cost_tags(args),
    )


def declare_role(component: ClusterComponent, purpose: str, service: str, policies: tuple[str, ...] = ()) -> GrantedRole:
    """Declare a role with policies that AWS manages."""
    name = component.child(purpose)
    role = aws.iam.Role(name, to_role_args(component.args, purpose, service), component.child_options())
    grants = [
        aws.iam.RolePolicyAttachment(
            f"{name}-{policy}",
            aws.iam.RolePolicyAttachmentArgs(role=role.name, policy_arn=policy_arn(component.plan.region, policy)),
            component.child_options(),
        )
        for policy in policies
    ]
    return GrantedRole(role=role, grants=tuple(grants))


def declare_key(component: ClusterComponent) -> aws.kms.Key:
    """Declare the key of the secrets and its alias. Without the key the cluster is lost, so it is protected as the cluster is."""
    name = component.child("secrets")
    protect = component.args.deletion_protection
    key = aws.kms.Key(name, to_key_args(component.args), component.child_options(protect=protect))
    alias = aws.kms.AliasArgs(name=f"alias/{eks_cluster_name(component.plan)}-secrets", target_key_id=key.key_id)
    aws.kms.Alias(name, alias, component.child_options())
    return key


def declare_cluster_role(component: ClusterComponent, key: aws.kms.Key) -> GrantedRole:
    """Declare the control plane's role, which also uses the key of the secrets."""
    granted = declare_role(component, "cluster", "eks.amazonaws.com", CLUSTER_POLICIES)
    use_key = aws.iam.RolePolicy(
        component.child("cluster-secrets"),
        aws.iam.RolePolicyArgs(role=granted.role.name, policy=key.arn.apply(secrets_key_policy)),
        component.child_options(),
    )
    return GrantedRole(role=granted.role, grants=(*granted.grants, use_key))


def declare_autoscaler(component: ClusterComponent, cluster: aws.eks.Cluster) -> aws.iam.Role:
    """Declare the cluster autoscaler's role and tie it to its service account; the autoscaler itself comes with the hub stack."""
    args, name = component.args, component.child("autoscaler")
    granted = declare_role(component, "autoscaler", "pods.eks.amazonaws.com")
    policy = aws.iam.RolePolicyArgs(role=granted.role.name, policy=autoscaler_policy(args))
    aws.iam.RolePolicy(name, policy, component.child_options())
    identity = to_autoscaler_identity_args(args, cluster_name=cluster.name, role_arn=granted.role.arn)
    aws.eks.PodIdentityAssociation(name, identity, component.child_options())
    return granted.role


def declare_admins(component: ClusterComponent, cluster: aws.eks.Cluster) -> None:
    """Declare the administrators. A logical name holds the ARN, so that no admin's place depends on another's."""
    for admin in component.plan.admins:
        name = component.child(f"admin-{admin}")
        entry_args = to_access_entry_args(component.args, admin, cluster_name=cluster.name)
        entry = aws.eks.AccessEntry(name, entry_args, component.child_options())
        admin_args = to_admin_args(component.args, admin, cluster_name=cluster.name)
        aws.eks.AccessPolicyAssociation(name, admin_args, component.child_options(depends_on=[entry]))


def _policy(*statements: Mapping[str, Any]) -> str:
    """Return an IAM policy as JSON text, the same text for the same statements."""
    return json.dumps({"Version": _POLICY_VERSION, "Statement": statements}, sort_keys=True)
