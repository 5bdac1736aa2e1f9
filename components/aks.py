"""Builds a cluster on Azure Kubernetes Service, with everything it stands on.

Declared per cluster: a resource group; a virtual network, the nodes' subnet and a NAT gateway with its address (`aks_network`
says why not the load balancer); the control plane's identity with Network Contributor on that subnet alone, and Contributor on
the resource group of each capacity reservation that a pool draws on; the managed cluster; the pools (`aks_pools`: the plan's
system pool becomes `system`, which is inline and AKS' own, and `general`, where the infra class lives); three maintenance
schedules (`aks_maintenance`).

Choices that are not plain:
- SKU Base, tier Standard: the tier with an uptime agreement. Automatic, the other SKU, chooses machines itself.
- Overlay addresses and Cilium: pods take nothing from the virtual network, and network policies are enforced.
- The autoscaler's profile counts for all pools. Local storage does not hold a node (every job that uses an emptyDir would keep a
  paid card up) and daemon sets do not count as load; an idle card is given back after ten minutes.
- Azure's metrics are off, as this fleet brings Prometheus.
- The inline pool list is ignored after creation. AKS answers it with all pools, other resources' included, so that the first
  refresh would show them as changes, and a list that then lost its first pool is refused ("A new agent pool was introduced",
  pulumi-azure-native issue 2719). The cost: later changes of the plan's system pool reach `general` at once, and `system`, its
  minor Kubernetes version included, only by ``az aks nodepool update|upgrade --name system``.
- Deletion protection is Pulumi's own. Azure's lock would be inherited by every node pool (Azure REST reference, Management Locks,
  read 2026-11-21), so that no card could be taken out of a protected cluster; it has no narrower one (ADR 0006).
- Whoever deploys needs Owner or User Access Administrator, for the role assignments.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_azure_native
from pulumi_azure_native import authorization, containerservice, managedidentity, network, resources

from components import aks_access, aks_maintenance, aks_network, aks_pools
from components.aks_common import ClusterPlace, keywords, to_tags
from components.base import CLOUD_KINDS, ClusterComponent
from components.contract import ClusterArgs, ClusterFacts
from fleet.clouds import Cloud
from fleet.naming import NameKind, cloud_name
from fleet.records import NodePool

LONGEST_DNS_PREFIX = 54
"""Most characters of a cluster's DNS prefix. Source: cluster-api-provider-azure, validateDNSPrefix, read 2026-11-21."""


def to_cluster_args(
    args: ClusterArgs, place: ClusterPlace, identity_id: pulumi.Input[str], egress_ip: pulumi.Input[str]
) -> containerservice.ManagedClusterArgs:
    """Return the managed cluster; `identity_id` is its identity's ARM id, `egress_ip` the address its nodes come from."""
    plan = args.plan
    name = cloud_name(NameKind.AKS_CLUSTER, plan.name)
    return containerservice.ManagedClusterArgs(
        resource_group_name=place.resource_group,
        resource_name=place.cluster,
        location=plan.region,
        node_resource_group=f"{name}-nodes",
        dns_prefix=name[:LONGEST_DNS_PREFIX].rstrip("-"),
        kubernetes_version=plan.kubernetes_version,
        sku=containerservice.ManagedClusterSKUArgs(
            name=containerservice.ManagedClusterSKUName.BASE, tier=containerservice.ManagedClusterSKUTier.STANDARD
        ),
        identity=containerservice.ManagedClusterIdentityArgs(
            type=containerservice.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity_id]
        ),
        enable_rbac=True,
        disable_local_accounts=True,
        aad_profile=aks_access.to_entra_profile(plan),
        api_server_access_profile=aks_access.to_api_server_access(plan, egress_ip),
        oidc_issuer_profile=containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
        security_profile=to_security_profile(),
        network_profile=aks_network.to_network_profile(plan),
        agent_pool_profiles=[aks_pools.to_system_profile(args, place)],
        auto_scaler_profile=to_autoscaler_profile(args),
        auto_upgrade_profile=aks_maintenance.to_upgrade_profile(plan),
        azure_monitor_profile=containerservice.ManagedClusterAzureMonitorProfileArgs(
            metrics=containerservice.ManagedClusterAzureMonitorProfileMetricsArgs(enabled=False)
        ),
        tags=to_tags(args),
    )


def to_security_profile() -> containerservice.ManagedClusterSecurityProfileArgs:
    """Return workload identity, and a weekly removal of unused images with known holes: GPU images fill disks."""
    return containerservice.ManagedClusterSecurityProfileArgs(
        workload_identity=containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True),
        image_cleaner=containerservice.ManagedClusterSecurityProfileImageCleanerArgs(enabled=True, interval_hours=168),
    )


def to_autoscaler_profile(args: ClusterArgs) -> containerservice.ManagedClusterPropertiesAutoScalerProfileArgs:
    """Return the autoscaler's settings; its API takes truth values as words."""
    return containerservice.ManagedClusterPropertiesAutoScalerProfileArgs(
        expander=aks_pools.to_expander(args.plan),
        skip_nodes_with_local_storage="false",
        ignore_daemonsets_utilization=True,
        scale_down_unneeded_time="10m",
        scale_down_delay_after_add="10m",
        max_node_provision_time="15m",
    )


class AksCluster(ClusterComponent):
    """An AKS cluster with its network, identity, pools and maintenance schedules.

    Args:
        args: The cluster as planned.
        provider: An azure-native provider for the cluster's subscription and region.
    """

    def __init__(self, args: ClusterArgs, provider: pulumi.ProviderResource) -> None:
        super().__init__(CLOUD_KINDS[Cloud.AZURE], args, provider)
        self.group = resources.ResourceGroup(self.child("group"), aks_network.to_resource_group_args(args), self.child_options())
        self._declare_network()
        self._declare_identity()
        self._declare_cluster()
        self._declare_pools()
        self._declare_schedules()
        self.finish(self._facts())

    def _declare_network(self) -> None:
        """Declare the way out, the network and the nodes' subnet."""
        group = self.group.name
        self.address = network.PublicIPAddress(
            self.child("egress"), aks_network.to_public_ip_args(self.args, group), self.child_options()
        )
        gateway = network.NatGateway(
            self.child("nat"), aks_network.to_nat_gateway_args(self.args, group, self.address.id), self.child_options()
        )
        virtual_network = network.VirtualNetwork(
            self.child("network"), aks_network.to_virtual_network_args(self.args, group), self.child_options()
        )
        self.subnet = network.Subnet(
            self.child("subnet"),
            aks_network.to_subnet_args(self.plan, group, virtual_network.name, gateway.id),
            self.child_options(),
        )

    def _declare_identity(self) -> None:
        """Declare the control plane's identity and its roles."""
        self.identity = managedidentity.UserAssignedIdentity(
            self.child("identity"),
            opts=self.child_options(),
            **keywords(aks_network.to_identity_args(self.args, self.group.name)),
        )
        self.network_role = self._grant("network-role", "Network Contributor", aks_network.NETWORK_CONTRIBUTOR, self.subnet.id)
        scopes = sorted({scope for pool in self.plan.pools if (scope := aks_network.to_reservation_scope(pool))})
        self.reservation_roles = {
            scope: self._grant(f"reservation-role-{scope.split('/')[-1]}", "Contributor", aks_network.CONTRIBUTOR, scope)
            for scope in scopes
        }

    def _grant(self, suffix: str, role: str, role_id: str, scope: pulumi.Input[str]) -> authorization.RoleAssignment:
        """Declare that the control plane's identity has a role on `scope`."""
        definition_id = self.group.id.apply(lambda group_id: aks_network.to_role_definition_id(group_id, role_id))
        return authorization.RoleAssignment(
            self.child(suffix),
            aks_network.to_role_assignment_args(role, scope, self.identity.principal_id, definition_id),
            self.child_options(),
        )

    def _declare_cluster(self) -> None:
        """Declare the managed cluster, which needs its role on the subnet before it can put nodes there."""
        place = self._place(cloud_name(NameKind.AKS_CLUSTER, self.plan.name))
        self.cluster = containerservice.ManagedCluster(
            self.child("cluster"),
            opts=self.child_options(
                protect=self.args.deletion_protection,
                depends_on=[self.network_role],
                ignore_changes=["agentPoolProfiles"],
            ),
            **keywords(to_cluster_args(self.args, place, self.identity.id, self._egress_ip())),
        )

    def _declare_pools(self) -> None:
        """Declare the pool for general work and one pool for each pool of the plan."""
        place = self._place(self.cluster.name)
        self._pool(aks_pools.GENERAL_POOL, aks_pools.to_general_pool_args(self.args, place), ())
        for pool in self.plan.pools:
            pool_args = aks_pools.to_pool_args(self.args, pool, place)
            self._pool(pool.name, pool_args, self._roles_of(pool))

    def _pool(self, suffix: str, args: containerservice.AgentPoolArgs, needs: tuple[pulumi.Resource, ...]) -> None:
        """Declare one node pool, whose live count is the autoscaler's."""
        options = self.child_options(
            ignore_changes=list(aks_pools.LIVE_COUNT),
            replace_on_changes=list(aks_pools.REPLACING),
            delete_before_replace=True,
            depends_on=list(needs),
        )
        containerservice.AgentPool(self.child(suffix), opts=options, **keywords(args))

    def _roles_of(self, pool: NodePool) -> tuple[pulumi.Resource, ...]:
        """Return the roles that must be there before a pool can be made."""
        scope = aks_network.to_reservation_scope(pool)
        return (self.reservation_roles[scope],) if scope else ()

    def _declare_schedules(self) -> None:
        """Declare when Azure may change the cluster."""
        schedules = aks_maintenance.to_maintenance_args(self.plan, self.group.name, self.cluster.name)
        for name, schedule in schedules.items():
            containerservice.MaintenanceConfiguration(
                self.child(f"maintenance-{name}"), opts=self.child_options(), **keywords(schedule)
            )

    def _place(self, cluster: pulumi.Input[str]) -> ClusterPlace:
        """Return where the parts of the cluster called `cluster` are put."""
        return ClusterPlace(resource_group=self.group.name, cluster=cluster, subnet_id=self.subnet.id)

    def _egress_ip(self) -> pulumi.Output[str]:
        """Return the address that nodes come from; Azure gives a static one when it makes it."""
        return self.address.ip_address.apply(lambda address: address or "")

    def _facts(self) -> ClusterFacts:
        """Return what others may know, once the cluster stands."""
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=self.group.name,
            resource_name=self.cluster.name,
            format="exec",
            opts=pulumi.InvokeOutputOptions(parent=self, depends_on=[self.cluster]),
        )
        kubeconfig = credentials.kubeconfigs.apply(aks_access.to_kubeconfig)
        return ClusterFacts.of(
            self.plan,
            endpoint=pulumi.Output.concat("https://", self.cluster.fqdn),
            ca_certificate=pulumi.Output.unsecret(kubeconfig.apply(aks_access.to_ca_certificate)),
            kubeconfig=kubeconfig,
            identity=self._identity_facts(),
        )

    def _identity_facts(self) -> Mapping[str, pulumi.Input[str]]:
        """Return what workload identity and the registration of the cluster need."""
        issuer = self.cluster.oidc_issuer_profile.apply(lambda profile: profile.issuer_url if profile else "")
        return {
            "oidc_issuer": issuer,
            "tenant_id": self.identity.tenant_id,
            "control_plane_client_id": self.identity.client_id,
            "entra_server_application": aks_access.ENTRA_SERVER_APPLICATION,
            "resource_group": self.group.name,
            "egress_ip": self._egress_ip(),
        }


def make_provider(name: str, args: ClusterArgs) -> pulumi.ProviderResource:
    """Return the provider for a cluster's subscription and region; without a subscription, the credentials' own."""
    return pulumi_azure_native.Provider(name, subscription_id=args.plan.account, location=args.plan.region)


def build(args: ClusterArgs, provider: pulumi.ProviderResource) -> ClusterFacts:
    """Declare the cluster and everything it needs, and return its facts."""
    return AksCluster(args, provider).facts
