"""The network of an EKS cluster: a VPC over its zones, with public subnets for gateways and private ones for nodes and pods.

Choices, and why:

* Nodes and pods share the private subnets, because the VPC CNI gives pods addresses of their node's subnet. `network.pods_cidr`
  therefore does not apply: it would need a second range, subnets and routes of its own (and AWS takes no range above /16).
* The node range is cut into eight equal parts by the *letter* of the zone (a to g), and the eighth is cut again for the public
  subnets. A zone that is added later so never moves, and thereby replaces, the subnet of another.
* One NAT gateway per zone: the loss of a zone cuts off no other, and image and data traffic does not pay for crossing zones.
  That is 0.045 USD an hour each in us-east-1 (32.85 a month; three zones 98.55), 0.005 for its
  address, and 0.045 USD per GB either way (cloudburn.io, 2026-02-24, and other pages on prices; AWS's own page was not seen).
* S3 is reached through a gateway endpoint, which is free: data sets and the layers of ECR images pass the NAT gateways by.
* A zone that only a pool names gets subnets for that pool's nodes and none for the control plane: EKS runs control planes in
  fewer zones than EC2 runs machines (not in us-east-1e, for one: cloudposse components changelog 1.203.0, read 2026-11-21).
* Subnets carry ``kubernetes.io/role/elb`` or ``internal-elb`` so that load balancers find them (EKS user guide, network-reqs).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi
import pulumi_aws as aws

from components.base import ClusterComponent
from components.contract import ClusterArgs
from components.eks_common import cost_tags
from fleet.records import ClusterPlan, NodePool

_PARTS_BITS = 3
_ZONE_LETTERS = "abcdefg"
_EVERYWHERE = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True, slots=True)
class ZoneRanges:
    """The address ranges of one zone, in CIDR notation."""

    private: str
    public: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """A declared network.

    Attributes:
        vpc: The VPC.
        private: Private subnet of each zone.
        ways_out: Routes and associations that a node needs to reach the world: what boots there depends on them.
    """

    vpc: aws.ec2.Vpc
    private: Mapping[str, aws.ec2.Subnet]
    ways_out: tuple[pulumi.Resource, ...]


def cluster_zones(plan: ClusterPlan) -> tuple[str, ...]:
    """Return the zones of the control plane and the system pool: the plan's, else those of its pools, sorted."""
    return plan.zones or tuple(sorted({zone for pool in plan.pools for zone in pool.zones}))


def network_zones(plan: ClusterPlan) -> tuple[str, ...]:
    """Return every zone that gets subnets: the cluster's and those that only a pool names, sorted."""
    return tuple(sorted({*cluster_zones(plan), *(zone for pool in plan.pools for zone in pool.zones)}))


def pool_zones(plan: ClusterPlan, pool: NodePool) -> tuple[str, ...]:
    """Return the zones of a pool's nodes: its own, else the cluster's; one alone where it draws on a reservation."""
    zones = pool.zones or cluster_zones(plan)
    return zones[:1] if pool.reservation else zones


def zone_ranges(nodes_cidr: str, zone: str) -> ZoneRanges:
    """Return the ranges of a zone within the node range (/16 to /22), the same whatever other zones there are.

    Raises:
        ValueError: The zone does not end in a letter from a to g, or the range is too small to be cut.
    """
    place = _ZONE_LETTERS.index(zone[-1])
    parts = list(IPv4Network(nodes_cidr).subnets(prefixlen_diff=_PARTS_BITS))
    publics = list(parts[-1].subnets(prefixlen_diff=_PARTS_BITS))
    return ZoneRanges(private=str(parts[place]), public=str(publics[place]))


def to_vpc_args(args: ClusterArgs, name: str) -> aws.ec2.VpcArgs:
    """Return the VPC's arguments; `name` is what the console shows."""
    return aws.ec2.VpcArgs(
        cidr_block=args.plan.network.nodes_cidr,
        enable_dns_hostnames=True,
        enable_dns_support=True,
        tags=cost_tags(args, name=name),
    )


def to_subnet_args(args: ClusterArgs, zone: str, *, vpc_id: pulumi.Input[str], public: bool, name: str) -> aws.ec2.SubnetArgs:
    """Return the arguments of a zone's public or private subnet. Nothing gets a public address by itself in either."""
    ranges = zone_ranges(args.plan.network.nodes_cidr, zone)
    role = "elb" if public else "internal-elb"
    return aws.ec2.SubnetArgs(
        vpc_id=vpc_id,
        availability_zone=zone,
        cidr_block=ranges.public if public else ranges.private,
        map_public_ip_on_launch=False,
        tags={**cost_tags(args, name=name), f"kubernetes.io/role/{role}": "1"},
    )


def to_s3_endpoint_args(
    args: ClusterArgs, *, vpc_id: pulumi.Input[str], route_table_ids: list[pulumi.Output[str]], name: str
) -> aws.ec2.VpcEndpointArgs:
    """Return the arguments of the gateway endpoint to S3, without a charge, for the given route tables."""
    return aws.ec2.VpcEndpointArgs(
        vpc_id=vpc_id,
        vpc_endpoint_type="Gateway",
        service_name=f"com.amazonaws.{args.plan.region}.s3",
        route_table_ids=route_table_ids,
        tags=cost_tags(args, name=name),
    )


def declare_network(component: ClusterComponent) -> Network:
    """Declare the VPC and all in it, as children of `component`."""
    args, vpc_name = component.args, component.child("vpc")
    vpc = aws.ec2.Vpc(vpc_name, to_vpc_args(args, vpc_name), component.child_options())
    gateway_name = component.child("internet")
    gateway = aws.ec2.InternetGateway(
        gateway_name,
        aws.ec2.InternetGatewayArgs(vpc_id=vpc.id, tags=cost_tags(args, name=gateway_name)),
        component.child_options(),
    )
    public_table, public_route = _public_routes(component, vpc, gateway)
    zones = {
        zone: _declare_zone(component, zone, vpc=vpc, public_table=public_table, public_route=public_route)
        for zone in network_zones(args.plan)
    }
    endpoint_name = component.child("s3")
    aws.ec2.VpcEndpoint(
        endpoint_name,
        to_s3_endpoint_args(args, vpc_id=vpc.id, route_table_ids=[zone.table.id for zone in zones.values()], name=endpoint_name),
        component.child_options(),
    )
    return Network(
        vpc=vpc,
        private={name: zone.private for name, zone in zones.items()},
        ways_out=(public_route, *(way for zone in zones.values() for way in zone.ways_out)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Zone:
    """What is declared for one zone."""

    private: aws.ec2.Subnet
    table: aws.ec2.RouteTable
    ways_out: tuple[pulumi.Resource, ...]


def _public_routes(
    component: ClusterComponent, vpc: aws.ec2.Vpc, gateway: aws.ec2.InternetGateway
) -> tuple[aws.ec2.RouteTable, aws.ec2.Route]:
    """Declare the one route table of all public subnets, and its way to the internet."""
    name = component.child("public")
    table = aws.ec2.RouteTable(
        name,
        aws.ec2.RouteTableArgs(vpc_id=vpc.id, tags=cost_tags(component.args, name=name)),
        component.child_options(),
    )
    route = aws.ec2.Route(
        name,
        aws.ec2.RouteArgs(route_table_id=table.id, destination_cidr_block=_EVERYWHERE, gateway_id=gateway.id),
        component.child_options(),
    )
    return table, route


def _declare_zone(
    component: ClusterComponent,
    zone: str,
    *,
    vpc: aws.ec2.Vpc,
    public_table: aws.ec2.RouteTable,
    public_route: aws.ec2.Route,
) -> _Zone:
    """Declare a zone's subnets, its NAT gateway, and the private subnet's way out through it."""
    args = component.args
    public_name, private_name = component.child(f"public-{zone}"), component.child(f"private-{zone}")
    public = aws.ec2.Subnet(
        public_name,
        to_subnet_args(args, zone, vpc_id=vpc.id, public=True, name=public_name),
        component.child_options(),
    )
    private = aws.ec2.Subnet(
        private_name,
        to_subnet_args(args, zone, vpc_id=vpc.id, public=False, name=private_name),
        component.child_options(),
    )
    published = _associate(component, f"public-{zone}", subnet=public, table=public_table)
    gateway = _declare_nat(component, zone, subnet=public, after=[public_route, published])
    table = aws.ec2.RouteTable(
        private_name,
        aws.ec2.RouteTableArgs(vpc_id=vpc.id, tags=cost_tags(args, name=private_name)),
        component.child_options(),
    )
    route = aws.ec2.Route(
        private_name,
        aws.ec2.RouteArgs(route_table_id=table.id, destination_cidr_block=_EVERYWHERE, nat_gateway_id=gateway.id),
        component.child_options(),
    )
    associated = _associate(component, f"private-{zone}", subnet=private, table=table)
    return _Zone(private=private, table=table, ways_out=(published, route, associated))


def _declare_nat(
    component: ClusterComponent, zone: str, *, subnet: aws.ec2.Subnet, after: list[pulumi.Resource]
) -> aws.ec2.NatGateway:
    """Declare a zone's NAT gateway and its address, once its subnet has a way to the internet."""
    name = component.child(f"nat-{zone}")
    tags = cost_tags(component.args, name=name)
    address = aws.ec2.Eip(name, aws.ec2.EipArgs(domain="vpc", tags=tags), component.child_options(depends_on=after))
    return aws.ec2.NatGateway(
        name,
        aws.ec2.NatGatewayArgs(allocation_id=address.id, subnet_id=subnet.id, tags=tags),
        component.child_options(depends_on=after),
    )


def _associate(
    component: ClusterComponent, suffix: str, *, subnet: aws.ec2.Subnet, table: aws.ec2.RouteTable
) -> aws.ec2.RouteTableAssociation:
    """Declare that a subnet uses a route table."""
    return aws.ec2.RouteTableAssociation(
        component.child(suffix),
        aws.ec2.RouteTableAssociationArgs(subnet_id=subnet.id, route_table_id=table.id),
        component.child_options(),
    )
