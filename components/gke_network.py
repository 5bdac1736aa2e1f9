"""The network of a GKE cluster: a VPC of its own, one subnetwork with ranges for pods and services, and NAT for the way out.

Nodes have no public address. They reach Google's APIs over private Google access and everything else over Cloud NAT. One VPC for
each cluster: two clusters never share a route or a firewall rule, and a cluster's network goes when the cluster goes.

NAT ports are given dynamically: a node that pulls one image holds the least, one that streams a data set from many servers can
grow. Flow logs are sampled thinly, because they are billed by volume and physics data is large; they show who talks to whom, not
every packet.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp

from components.base import Component
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan

PODS_RANGE = "pods"
SERVICES_RANGE = "services"

_FLOW_LOG_SAMPLING = 0.1
_FEWEST_NAT_PORTS = 64
_MOST_NAT_PORTS = 8192


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterNetwork:
    """The network resources that a cluster refers to or must wait for.

    Attributes:
        network: The VPC.
        subnetwork: Subnetwork of the nodes, with the pods' and services' ranges.
        nat: The way out, which nodes need before they can pull images from outside Google.
    """

    network: gcp.compute.Network
    subnetwork: gcp.compute.Subnetwork
    nat: gcp.compute.RouterNat


def network_name(plan: ClusterPlan, *parts: str) -> str:
    """Return the cloud name of one of the cluster's network resources."""
    return cloud_name(NameKind.GOOGLE_NETWORK, plan.name, *parts)


def to_network_args(plan: ClusterPlan) -> gcp.compute.NetworkArgs:
    """Return the VPC: no subnetworks of Google's choosing, routes within the cluster's region."""
    return gcp.compute.NetworkArgs(
        name=network_name(plan),
        description=f"GPU cluster {plan.name}",
        project=plan.account,
        auto_create_subnetworks=False,
        routing_mode="REGIONAL",
    )


def to_subnetwork_args(plan: ClusterPlan, network: pulumi.Input[str]) -> gcp.compute.SubnetworkArgs:
    """Return the subnetwork: nodes in its own range, pods and services in secondary ranges (VPC-native)."""
    return gcp.compute.SubnetworkArgs(
        name=network_name(plan, "nodes"),
        project=plan.account,
        region=plan.region,
        network=network,
        ip_cidr_range=plan.network.nodes_cidr,
        secondary_ip_ranges=[
            gcp.compute.SubnetworkSecondaryIpRangeArgs(range_name=PODS_RANGE, ip_cidr_range=plan.network.pods_cidr),
            gcp.compute.SubnetworkSecondaryIpRangeArgs(range_name=SERVICES_RANGE, ip_cidr_range=plan.network.services_cidr),
        ],
        private_ip_google_access=True,
        log_config=gcp.compute.SubnetworkLogConfigArgs(
            aggregation_interval="INTERVAL_5_MIN",
            flow_sampling=_FLOW_LOG_SAMPLING,
            metadata="INCLUDE_ALL_METADATA",
        ),
    )


def to_router_args(plan: ClusterPlan, network: pulumi.Input[str]) -> gcp.compute.RouterArgs:
    """Return the Cloud Router that carries the NAT."""
    return gcp.compute.RouterArgs(
        name=network_name(plan, "router"),
        project=plan.account,
        region=plan.region,
        network=network,
    )


def to_nat_args(plan: ClusterPlan, router: pulumi.Input[str], subnetwork: pulumi.Input[str]) -> gcp.compute.RouterNatArgs:
    """Return the NAT of the cluster's subnetwork: nodes and pods, which leave with addresses that Google picks."""
    return gcp.compute.RouterNatArgs(
        name=network_name(plan, "nat"),
        project=plan.account,
        region=plan.region,
        router=router,
        nat_ip_allocate_option="AUTO_ONLY",
        source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
        subnetworks=[
            gcp.compute.RouterNatSubnetworkArgs(name=subnetwork, source_ip_ranges_to_nats=["ALL_IP_RANGES"]),
        ],
        # Dynamic ports and endpoint-independent mapping exclude each other (SDK 10.2.0, RouterNatArgs).
        enable_dynamic_port_allocation=True,
        enable_endpoint_independent_mapping=False,
        min_ports_per_vm=_FEWEST_NAT_PORTS,
        max_ports_per_vm=_MOST_NAT_PORTS,
        log_config=gcp.compute.RouterNatLogConfigArgs(enable=True, filter="ERRORS_ONLY"),
    )


def declare_network(component: Component, plan: ClusterPlan) -> ClusterNetwork:
    """Declare the network as children of `component`."""
    options = component.child_options()
    network = gcp.compute.Network(component.child("network"), to_network_args(plan), opts=options)
    subnetwork = gcp.compute.Subnetwork(component.child("nodes"), to_subnetwork_args(plan, network.id), opts=options)
    router = gcp.compute.Router(component.child("router"), to_router_args(plan, network.id), opts=options)
    nat = gcp.compute.RouterNat(component.child("nat"), to_nat_args(plan, router.name, subnetwork.id), opts=options)
    return ClusterNetwork(network=network, subnetwork=subnetwork, nat=nat)
