"""Amazon EKS: one cluster in a network of its own, with a system node group and one node group per pool.

Siblings hold the parts: `eks_network` (VPC, subnets, NAT), `eks_identity` (roles, key, administrators), `eks_addons`,
`eks_pools` (node groups and what wakes them from zero). Choices of this file, and why:

* Access is by entries alone (authentication mode API; no aws-auth map to break). Whoever runs the first `up` becomes
  administrator, because the hub stack has to register the cluster under the same credentials; `admins` must not name that
  principal again, since EKS refuses a second entry for one.
* The API server answers inside the VPC and outside it to `control_plane_cidrs`; when there are none, to every address.
* The control plane's subnets are those of its first day: EKS takes no subnet of another zone later (aws/containers-roadmap#2330,
  read 2026-11-21), so a new zone is for nodes only and the list is ignored afterwards. A first zone cannot be given up.
* Support is STANDARD: EKS upgrades a cluster whose version runs out, instead of keeping it at a higher price (EKS
  user guide, view-upgrade-policy, read 2026-11-21).
* All five control plane logs are kept for 90 days, in a group declared first: EKS would make one without end and without tags.
* EKS has no maintenance windows. The patch version is EKS's own: of a version ``1.N.P`` it gets ``1.N``.
"""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from components.base import CLOUD_KINDS, ClusterComponent
from components.contract import ClusterArgs, ClusterFacts
from components.eks_addons import declare_addons_after_nodes, declare_addons_before_nodes
from components.eks_common import cost_tags, eks_cluster_name, minor_version
from components.eks_identity import (
    AUTOSCALER_NAMESPACE,
    AUTOSCALER_SERVICE_ACCOUNT,
    NODE_POLICIES,
    VOLUME_POLICIES,
    GrantedRole,
    declare_admins,
    declare_autoscaler,
    declare_cluster_role,
    declare_key,
    declare_role,
)
from components.eks_network import Network, cluster_zones, declare_network, pool_zones
from components.eks_pools import (
    IGNORED,
    declare_hints,
    template_reference,
    to_launch_template_args,
    to_node_group_args,
    to_system_group_args,
)
from fleet.clouds import Cloud
from fleet.records import ClusterPlan, NodePool

_EVERY_ADDRESS = ("0.0.0.0/0",)
_LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_LOG_DAYS = 90


def to_cluster_args(
    args: ClusterArgs,
    *,
    role_arn: pulumi.Input[str],
    key_arn: pulumi.Input[str],
    subnet_ids: list[pulumi.Output[str]],
) -> aws.eks.ClusterArgs:
    """Return the cluster's arguments."""
    plan = args.plan
    key = aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=key_arn)
    return aws.eks.ClusterArgs(
        name=eks_cluster_name(plan),
        version=minor_version(plan.kubernetes_version),
        role_arn=role_arn,
        access_config=aws.eks.ClusterAccessConfigArgs(
            authentication_mode="API", bootstrap_cluster_creator_admin_permissions=True
        ),
        bootstrap_self_managed_addons=False,
        deletion_protection=args.deletion_protection,
        enabled_cluster_log_types=list(_LOGS),
        encryption_config=aws.eks.ClusterEncryptionConfigArgs(provider=key, resources=["secrets"]),
        kubernetes_network_config=aws.eks.ClusterKubernetesNetworkConfigArgs(
            ip_family="ipv4", service_ipv4_cidr=plan.network.services_cidr
        ),
        upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type="STANDARD"),
        vpc_config=aws.eks.ClusterVpcConfigArgs(
            subnet_ids=subnet_ids,
            endpoint_private_access=True,
            endpoint_public_access=not plan.network.is_private,
            public_access_cidrs=_public_access(plan),
        ),
        tags=cost_tags(args),
    )


def _public_access(plan: ClusterPlan) -> list[str] | None:
    """Return who may use the public endpoint; private ranges reach the private one, and EKS takes none of them here."""
    if plan.network.is_private:
        return None
    return list(plan.network.public_control_plane_cidrs or _EVERY_ADDRESS)


def to_log_group_args(args: ClusterArgs) -> aws.cloudwatch.LogGroupArgs:
    """Return the arguments of the log group, whose name EKS prescribes."""
    return aws.cloudwatch.LogGroupArgs(
        name=f"/aws/eks/{eks_cluster_name(args.plan)}/cluster", retention_in_days=_LOG_DAYS, tags=cost_tags(args)
    )


def to_kubeconfig(name: str, region: str, endpoint: str, ca_certificate: str) -> str:
    """Return a kubeconfig, JSON text, that has the AWS CLI fetch a short-lived token at each use."""
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
        "interactiveMode": "Never",
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": ca_certificate}}],
        "users": [{"name": name, "user": {"exec": login}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(config, sort_keys=True)


class EksCluster(ClusterComponent):
    """An EKS cluster with everything it needs.

    Args:
        args: The cluster as planned.
        provider: AWS provider of the cluster's account and region.
    """

    def __init__(self, args: ClusterArgs, provider: pulumi.ProviderResource) -> None:
        super().__init__(CLOUD_KINDS[Cloud.AWS], args, provider)
        self.network = declare_network(self)
        cluster = self._declare_cluster(self.network)
        autoscaler = declare_autoscaler(self, cluster)
        declare_admins(self, cluster)
        self.node_role = declare_role(self, "nodes", "ec2.amazonaws.com", NODE_POLICIES)
        volumes = declare_role(self, "volumes", "pods.eks.amazonaws.com", VOLUME_POLICIES)
        daemons = declare_addons_before_nodes(self, cluster)
        ready: list[pulumi.Resource] = [*self.network.ways_out, *self.node_role.grants, *daemons]
        system = self._declare_system_group(cluster, ready)
        for pool in self.plan.pools:
            self._declare_pool(cluster, pool, ready)
        declare_addons_after_nodes(self, cluster, volume_role_arn=volumes.role.arn, after=[system, *volumes.grants])
        self.finish(self._facts_of(cluster, autoscaler))

    def _declare_cluster(self, network: Network) -> aws.eks.Cluster:
        """Declare the control plane, its role, the key of its secrets and its log group."""
        key = declare_key(self)
        granted: GrantedRole = declare_cluster_role(self, key)
        logs = aws.cloudwatch.LogGroup(self.child("logs"), to_log_group_args(self.args), self.child_options())
        cluster_args = to_cluster_args(
            self.args,
            role_arn=granted.role.arn,
            key_arn=key.arn,
            subnet_ids=[network.private[zone].id for zone in cluster_zones(self.plan)],
        )
        options = self.child_options(
            depends_on=[*granted.grants, logs],
            protect=self.args.deletion_protection,
            ignore_changes=["vpcConfig.subnetIds"],
        )
        return aws.eks.Cluster(self.child("cluster"), cluster_args, options)

    def _declare_system_group(self, cluster: aws.eks.Cluster, ready: list[pulumi.Resource]) -> aws.eks.NodeGroup:
        """Declare the group without accelerators, once nodes can become ready."""
        name = self.child("system")
        template = aws.ec2.LaunchTemplate(
            name,
            to_launch_template_args(self.args, disk_gib=self.plan.system_pool.disk_gib, name=name),
            self.child_options(),
        )
        group_args = to_system_group_args(
            self.args,
            cluster_name=cluster.name,
            node_role_arn=self.node_role.role.arn,
            subnet_ids=[self.network.private[zone].id for zone in cluster_zones(self.plan)],
            template=template_reference(template),
        )
        return aws.eks.NodeGroup(name, group_args, self.child_options(depends_on=ready, ignore_changes=IGNORED))

    def _declare_pool(self, cluster: aws.eks.Cluster, pool: NodePool, ready: list[pulumi.Resource]) -> None:
        """Declare a pool's node group, launch template and hints, once nodes can become ready."""
        name = self.child(pool.name)
        template = aws.ec2.LaunchTemplate(
            name,
            to_launch_template_args(self.args, disk_gib=pool.disk_gib, name=name, pool=pool),
            self.child_options(),
        )
        group_args = to_node_group_args(
            self.args,
            pool,
            cluster_name=cluster.name,
            node_role_arn=self.node_role.role.arn,
            subnet_ids=[self.network.private[zone].id for zone in pool_zones(self.plan, pool)],
            template=template_reference(template),
        )
        group = aws.eks.NodeGroup(name, group_args, self.child_options(depends_on=ready, ignore_changes=IGNORED))
        declare_hints(self, pool, group)

    def _facts_of(self, cluster: aws.eks.Cluster, autoscaler: aws.iam.Role) -> ClusterFacts:
        """Return what others may know of the cluster."""
        certificate = cluster.certificate_authority.apply(lambda authority: authority.data or "")
        issuer = cluster.identities.apply(
            lambda identities: next((oidc.issuer or "" for found in identities for oidc in found.oidcs or ()), "")
        )
        kubeconfig = pulumi.Output.all(cluster.name, cluster.endpoint, certificate).apply(
            lambda found: to_kubeconfig(found[0], self.plan.region, found[1], found[2])
        )
        return ClusterFacts.of(
            self.plan,
            endpoint=cluster.endpoint,
            ca_certificate=certificate,
            kubeconfig=kubeconfig,
            identity={
                "cluster_name": cluster.name,
                "cluster_arn": cluster.arn,
                "oidc_issuer": issuer,
                "node_role_arn": self.node_role.role.arn,
                "autoscaler_role_arn": autoscaler.arn,
                "autoscaler_namespace": AUTOSCALER_NAMESPACE,
                "autoscaler_service_account": AUTOSCALER_SERVICE_ACCOUNT,
                "vpc_id": self.network.vpc.id,
            },
        )


def make_provider(name: str, args: ClusterArgs) -> pulumi.ProviderResource:
    """Return the AWS provider of the cluster's region, which refuses any other account than the plan's where it names one."""
    plan = args.plan
    accounts = [plan.account] if plan.account else None
    return aws.Provider(name, aws.ProviderArgs(region=plan.region, allowed_account_ids=accounts))


def build(args: ClusterArgs, provider: pulumi.ProviderResource) -> ClusterFacts:
    """Declare the cluster and everything it needs, and return its facts."""
    return EksCluster(args, provider).facts
