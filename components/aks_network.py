"""The network of an AKS cluster: a resource group, a virtual network, the nodes' subnet, and a NAT gateway for the way out.

Nodes leave through a NAT gateway and not through the load balancer. The load balancer hands each node a fixed share of its ports
when the node joins, and a pool that wakes from zero to a hundred nodes pulls many gigabytes of images on each at once; a NAT
gateway gives all 64,512 flows of an address on demand (AKS, nat-gateway.md, 2026-08), and its one address can be put on
allow-lists. The gateway is our own (`userAssignedNATGateway`), because AKS cannot manage one in a network that it did not make.
Its SKU is Standard: StandardV2, which is zone-redundant, is not in the SDK's API version (`NatGatewaySkuName`, 3.29.0). Azure
puts a Standard gateway into one zone, so the loss of that zone cuts the way out until the gateway is made anew.
"""

from __future__ import annotations

import ipaddress

import pulumi
from pulumi_azure_native import authorization, containerservice, managedidentity, network, resources

from components.aks_common import to_tags
from components.contract import ClusterArgs
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan, NodePool

NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
"""Built-in role Network Contributor. Source: Microsoft's mspnp/aks-jumpbox-imagebuilder, parameters file; read 2026-11-21."""
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
"""Built-in role Contributor. Source: same file; same date."""

DNS_SERVICE_HOST = 10
"""Which address of the service range the cluster's DNS gets; the first one is the API server's own."""


def to_resource_group_args(args: ClusterArgs) -> resources.ResourceGroupArgs:
    """Return the group that holds all of a cluster but its nodes, which AKS keeps in a group of its own."""
    plan = args.plan
    return resources.ResourceGroupArgs(
        resource_group_name=cloud_name(NameKind.AZURE_RESOURCE_GROUP, plan.name),
        location=plan.region,
        tags=to_tags(args),
    )


def to_virtual_network_args(args: ClusterArgs, group: pulumi.Input[str]) -> network.VirtualNetworkInitArgs:
    """Return the virtual network; pods are in an overlay, so the nodes' range is all it needs."""
    plan = args.plan
    return network.VirtualNetworkInitArgs(
        resource_group_name=group,
        virtual_network_name=cloud_name(NameKind.AZURE_NETWORK, plan.name),
        location=plan.region,
        address_space=network.AddressSpaceArgs(address_prefixes=[plan.network.nodes_cidr]),
        tags=to_tags(args),
    )


def to_public_ip_args(args: ClusterArgs, group: pulumi.Input[str]) -> network.PublicIPAddressInitArgs:
    """Return the one address that the nodes' traffic comes from."""
    plan = args.plan
    return network.PublicIPAddressInitArgs(
        resource_group_name=group,
        public_ip_address_name=cloud_name(NameKind.AZURE_NETWORK, plan.name, "egress"),
        location=plan.region,
        sku=network.PublicIPAddressSkuArgs(name=network.PublicIPAddressSkuName.STANDARD),
        public_ip_allocation_method=network.IPAllocationMethod.STATIC,
        public_ip_address_version=network.IPVersion.I_PV4,
        tags=to_tags(args),
    )


def to_nat_gateway_args(args: ClusterArgs, group: pulumi.Input[str], address_id: pulumi.Input[str]) -> network.NatGatewayInitArgs:
    """Return the gateway through which nodes reach the internet; `address_id` is its public address's ARM id."""
    plan = args.plan
    return network.NatGatewayInitArgs(
        resource_group_name=group,
        nat_gateway_name=cloud_name(NameKind.AZURE_NETWORK, plan.name, "nat"),
        location=plan.region,
        sku=network.NatGatewaySkuArgs(name=network.NatGatewaySkuName.STANDARD),
        public_ip_addresses=[network.SubResourceArgs(id=address_id)],
        tags=to_tags(args),
    )


def to_subnet_args(
    plan: ClusterPlan, group: pulumi.Input[str], virtual_network: pulumi.Input[str], gateway_id: pulumi.Input[str]
) -> network.SubnetInitArgs:
    """Return the nodes' subnet, whose only way out is the gateway. Azure keeps no tags on subnets."""
    return network.SubnetInitArgs(
        resource_group_name=group,
        virtual_network_name=virtual_network,
        subnet_name="nodes",
        address_prefix=plan.network.nodes_cidr,
        nat_gateway=network.SubResourceArgs(id=gateway_id),
        default_outbound_access=False,
    )


def to_network_profile(plan: ClusterPlan) -> containerservice.ContainerServiceNetworkProfileArgs:
    """Return overlay Azure CNI with Cilium as data plane and policy engine; each node takes a /24 of the pods' range."""
    return containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin=containerservice.NetworkPlugin.AZURE,
        network_plugin_mode=containerservice.NetworkPluginMode.OVERLAY,
        network_dataplane=containerservice.NetworkDataplane.CILIUM,
        network_policy=containerservice.NetworkPolicy.CILIUM,
        pod_cidr=plan.network.pods_cidr,
        service_cidr=plan.network.services_cidr,
        dns_service_ip=to_dns_service_ip(plan.network.services_cidr),
        load_balancer_sku=containerservice.LoadBalancerSku.STANDARD,
        outbound_type=containerservice.OutboundType.USER_ASSIGNED_NAT_GATEWAY,
    )


def to_dns_service_ip(services_cidr: str) -> str:
    """Return the address of the cluster's DNS: the tenth of the range, or the last but one of a range smaller than that."""
    addresses = ipaddress.ip_network(services_cidr)
    return str(addresses[min(DNS_SERVICE_HOST, addresses.num_addresses - 2)])


def to_identity_args(args: ClusterArgs, group: pulumi.Input[str]) -> managedidentity.UserAssignedIdentityArgs:
    """Return the control plane's identity, made beforehand so that it has its roles when the cluster comes up."""
    return managedidentity.UserAssignedIdentityArgs(
        resource_group_name=group,
        resource_name=cloud_name(NameKind.AZURE_NETWORK, args.plan.name, "control-plane"),
        location=args.plan.region,
        tags=to_tags(args),
    )


def to_role_assignment_args(
    role: str, scope: pulumi.Input[str], principal_id: pulumi.Input[str], definition_id: pulumi.Input[str]
) -> authorization.RoleAssignmentArgs:
    """Return the grant of a role on `scope` to an identity; `role` is its name for people.

    The principal's type is said, or Azure looks for the new identity in a directory that may not have heard of it yet.
    """
    return authorization.RoleAssignmentArgs(
        scope=scope,
        principal_id=principal_id,
        principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
        role_definition_id=definition_id,
        description=f"{role} for the control plane of an AKS cluster",
    )


def to_role_definition_id(resource_id: str, role_id: str) -> str:
    """Return the ARM id of a built-in role, in the subscription that `resource_id` is in."""
    subscription = "/".join(resource_id.split("/")[:3])
    return f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{role_id}"


def to_reservation_scope(pool: NodePool) -> str | None:
    """Return the resource group of a pool's capacity reservation group; None for a pool that draws on none.

    AKS asks for Contributor on that group, and for nothing narrower (AKS, use-capacity-reservation-groups.md, 2026-08).
    """
    return pool.reservation.partition("/providers/")[0] if pool.reservation else None
