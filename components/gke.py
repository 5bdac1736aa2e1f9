"""A GKE cluster: the regional cluster, its network, its nodes' identity and its pools, with the facts that others may know.

Built for each planned cluster: a VPC with a subnetwork, router and NAT (`components.gke_network`), the nodes' service account and
its roles (`components.gke_identity`), the cluster (`components.gke_cluster`), a system pool and one pool per card and capacity
type (`components.gke_pools`). The reasons for each choice stand in those modules.

The kubeconfig holds no token: `gke-gcloud-auth-plugin` asks for one with the caller's own Google credentials. It names the
endpoint by address, whose certificate the cluster's own authority signs; the DNS endpoint has a public certificate, so the same
file would not do for both. The DNS name is among the identity details.

The project needs the APIs compute, container and iam switched on; they are shared by all that lives in it and thus not ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from components.base import CLOUD_KINDS, ClusterComponent
from components.contract import ClusterArgs, ClusterFacts
from components.gke_cluster import CLUSTER_IGNORES, ClusterRefs, cluster_name, to_cluster_args
from components.gke_identity import NodeIdentity, declare_identity
from components.gke_network import ClusterNetwork, declare_network
from components.gke_pools import declare_pools
from fleet.clouds import Cloud
from fleet.records import ClusterPlan


def to_provider_args(plan: ClusterPlan) -> gcp.ProviderArgs:
    """Return the provider's settings: the plan's project, or the credentials' own, and its region."""
    return gcp.ProviderArgs(project=plan.account, region=plan.region)


def to_kubeconfig(name: str, endpoint: str, ca_certificate: str) -> str:
    """Return a kubeconfig file, as JSON, that asks Google's plugin for a token at each use.

    Args:
        name: The cluster's name in Google Cloud; names the context too.
        endpoint: URL of the API server.
        ca_certificate: Its certificate authority, PEM in base64.
    """
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "gke-gcloud-auth-plugin",
        "installHint": "Install gke-gcloud-auth-plugin: https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl",
        "provideClusterInfo": True,
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": ca_certificate}}],
        "users": [{"name": name, "user": {"exec": plugin}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(config, indent=2)


class GkeCluster(ClusterComponent):
    """A GKE cluster with everything it needs.

    Args:
        args: The cluster as planned.
        provider: Google's provider for the cluster's project and region.
    """

    def __init__(self, args: ClusterArgs, provider: pulumi.ProviderResource) -> None:
        super().__init__(CLOUD_KINDS[Cloud.GOOGLE], args, provider)
        network = declare_network(self, self.plan)
        identity = declare_identity(self, self.plan)
        cluster = self._declare_cluster(network, identity)
        declare_pools(self, args, cluster, identity, network.nat)
        self.finish(self._facts(cluster, identity))

    def _declare_cluster(self, network: ClusterNetwork, identity: NodeIdentity) -> gcp.container.Cluster:
        """Declare the cluster; it waits for the roles, since its passing first node runs as the nodes' account."""
        refs = ClusterRefs(
            network=network.network.id,
            subnetwork=network.subnetwork.id,
            node_account=identity.email,
            workload_pool=identity.workload_pool,
        )
        options = self.child_options(
            depends_on=list(identity.roles),
            ignore_changes=list(CLUSTER_IGNORES),
            protect=self.args.deletion_protection,
        )
        return gcp.container.Cluster(self.child("cluster"), to_cluster_args(self.args, refs), opts=options)

    def _facts(self, cluster: gcp.container.Cluster, identity: NodeIdentity) -> ClusterFacts:
        """Return what others may know of the cluster."""
        endpoint = pulumi.Output.concat("https://", cluster.endpoint)
        ca_certificate = cluster.master_auth.apply(lambda auth: auth.cluster_ca_certificate or "")
        kubeconfig = pulumi.Output.all(endpoint, ca_certificate).apply(self._kubeconfig)
        return ClusterFacts.of(
            self.plan,
            endpoint=endpoint,
            ca_certificate=ca_certificate,
            kubeconfig=kubeconfig,
            identity={
                "project": identity.project,
                "workload_pool": identity.workload_pool,
                "node_service_account": identity.email,
                "dns_endpoint": cluster.control_plane_endpoints_config.apply(_dns_name),
            },
        )

    def _kubeconfig(self, known: Sequence[str]) -> str:
        """Return the kubeconfig from endpoint and certificate authority."""
        endpoint, ca_certificate = known
        return to_kubeconfig(cluster_name(self.plan), endpoint, ca_certificate)


def _dns_name(endpoints: gcp.container.outputs.ClusterControlPlaneEndpointsConfig) -> str:
    """Return the cluster's DNS name, empty where Google gave none."""
    config = endpoints.dns_endpoint_config
    return (config.endpoint if config else None) or ""


def make_provider(name: str, args: ClusterArgs) -> gcp.Provider:
    """Return Google's provider for the cluster's project and region; `name` is its logical name."""
    return gcp.Provider(name, to_provider_args(args.plan))


def build(args: ClusterArgs, provider: pulumi.ProviderResource) -> ClusterFacts:
    """Declare the cluster and everything it needs, and return its facts."""
    return GkeCluster(args, provider).facts
