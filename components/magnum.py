"""Clusters on OpenStack Magnum: a cluster template, the cluster, and one node group per pool, made one after the other.

Choices that are not obvious, with what they rest on (openstack/magnum stable/2026.1 9f9c4b9f, terraform-provider-openstack
27f2612, magnum-capi-helm a8b82c2, magnum-cluster-api 3890a36; read 2026-11-21):

- The template has no name of ours and is replaced by every change. Magnum refuses to update a template in use
  (db/sqlalchemy/api.py ``_do_update_cluster_template``), so a new one must stand before the old one goes. The cluster is then
  upgraded in place: its template id does not replace it (resource_openstack_containerinfra_cluster_v1.go).
- ``default-worker`` has one node. The provider cannot give it limits but by labels, and labels replace the cluster; so the node
  group ``system`` holds the rest of the system pool, and its limits change in place.
- Groups are made in a chain: Magnum loses one of two groups created at once (launchpad 2097946). Only the order hangs on the
  chain, so a pool taken out of its middle leaves the others alone.
- A group is deleted before it is replaced: its name is unique in the cluster, and seldom is there quota for its cards twice.
- A group names no image and so has the template's. Stated, a new image would replace every group instead of upgrading them.
- ``server_type`` is always ``vm``. No driver of today provides ``bm`` (``provides`` of each; the Ironic driver went in 18.0.0);
  a bare metal node comes from its flavor. Bare metal pools get no Cinder volume.
- Neither template, cluster nor group takes tags, and labels would replace them, so cost tags do not apply.

What replaces the cluster: name, region, flavors, keypair, control plane nodes, system disk (Heat), and all in its labels. What
replaces a group: name, flavor, role (the card), disk, and labels: on Heat node labels, taints and a single zone. Limits change
in place, but Magnum refuses a minimum above the nodes that run at that moment.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pulumi
import pulumi_openstack as openstack
from pulumi_openstack import containerinfra

from components.base import CLOUD_KINDS, ClusterComponent
from components.contract import ClusterArgs, ClusterFacts
from components.magnum_labels import (
    DEFAULT_WORKER_NODES,
    cluster_labels,
    magnum_of,
    pool_labels,
    takes_volume,
    template_labels,
)
from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import CARD_LABEL
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan, NodePool

SYSTEM_ROLE = "system"
"""Role and name of the node group that holds what of the system pool ``default-worker`` does not."""

NODE_COUNT = ["nodeCount"]
"""Property path of a live node count: the autoscaler's."""


def pool_role(pool: NodePool) -> str:
    """Return a group's role, ``gpu-<card>``: cluster-api makes it the node label ``node-role.kubernetes.io/gpu-<card>``."""
    return cloud_name(NameKind.KUBERNETES_OBJECT, CARD_LABEL, pool.card)


def autoscaler_discovery(plan: ClusterPlan) -> str:
    """Return the autoscaler's ``--node-group-auto-discovery`` for every group that has limits."""
    roles = {pool_role(pool) for pool in plan.pools} | ({SYSTEM_ROLE} if _has_system_group(plan) else set())
    return "magnum:role=" + ",".join(sorted(roles))


def to_provider_args(args: ClusterArgs) -> openstack.ProviderArgs:
    """Return the provider of the cluster's clouds.yaml entry and region; without an entry the environment's credentials hold."""
    return openstack.ProviderArgs(cloud=args.plan.account, region=args.plan.region)


def to_template_args(plan: ClusterPlan) -> containerinfra.ClusterTemplateArgs:
    """Return the cluster template, with TLS on, a load balanced API server and nodes without floating addresses."""
    magnum = magnum_of(plan)
    is_heat = magnum.driver is MagnumDriver.HEAT
    return containerinfra.ClusterTemplateArgs(
        coe="kubernetes",
        image=magnum.image,
        external_network_id=magnum.external_network,
        # Calico is the one network all three drivers run; cluster-api refuses flannel
        network_driver="calico",
        # only Heat needs telling: the Cluster API drivers bring Cinder CSI and containerd by themselves
        volume_driver="cinder" if is_heat else None,
        docker_storage_driver="overlay2" if is_heat else None,
        dns_nameserver=",".join(magnum.dns_nameservers),
        server_type="vm",
        master_lb_enabled=True,
        floating_ip_enabled=False,
        tls_disabled=False,
        registry_enabled=False,
        public=False,
        hidden=False,
        labels=template_labels(plan) or None,
    )


def to_cluster_args(plan: ClusterPlan, template_id: pulumi.Input[str]) -> containerinfra.ClusterArgs:
    """Return the cluster with its control plane and its one default worker."""
    magnum = magnum_of(plan)
    return containerinfra.ClusterArgs(
        name=cloud_name(NameKind.MAGNUM_CLUSTER, plan.name),
        cluster_template_id=template_id,
        keypair=magnum.keypair,
        master_count=magnum.control_plane_nodes,
        master_flavor=magnum.control_plane_flavor,
        flavor=plan.system_pool.machine,
        node_count=DEFAULT_WORKER_NODES,
        docker_volume_size=plan.system_pool.disk_gib if magnum.driver is MagnumDriver.HEAT else None,
        master_lb_enabled=True,
        floating_ip_enabled=False,
        labels=cluster_labels(plan),
        merge_labels=True,
    )


def to_system_args(plan: ClusterPlan, cluster_id: pulumi.Input[str]) -> containerinfra.NodeGroupArgs | None:
    """Return the node group of the system pool's nodes beyond the default worker; None when there are none.

    capi-helm refuses a minimum of 0, so there an elastic system pool has at least two nodes.
    """
    if not _has_system_group(plan):
        return None
    pool, magnum = plan.system_pool, magnum_of(plan)
    fewest = 1 if magnum.driver is MagnumDriver.CAPI_HELM else 0
    min_nodes = max(fewest, pool.min_nodes - DEFAULT_WORKER_NODES)
    return containerinfra.NodeGroupArgs(
        cluster_id=cluster_id,
        name=cloud_name(NameKind.MAGNUM_NODE_GROUP, SYSTEM_ROLE),
        role=SYSTEM_ROLE,
        flavor_id=pool.machine,
        docker_volume_size=pool.disk_gib if magnum.driver is MagnumDriver.HEAT else None,
        node_count=min_nodes,
        min_node_count=min_nodes,
        max_node_count=pool.max_nodes - DEFAULT_WORKER_NODES,
    )


def to_pool_args(plan: ClusterPlan, pool: NodePool, cluster_id: pulumi.Input[str]) -> containerinfra.NodeGroupArgs:
    """Return a pool's node group. The node count is stated since the provider's default is 1."""
    labels = pool_labels(plan, pool)
    has_volume = magnum_of(plan).driver is MagnumDriver.HEAT and takes_volume(pool)
    return containerinfra.NodeGroupArgs(
        cluster_id=cluster_id,
        name=cloud_name(NameKind.MAGNUM_NODE_GROUP, pool.name),
        role=pool_role(pool),
        flavor_id=pool.machine,
        docker_volume_size=pool.disk_gib if has_volume else None,
        node_count=pool.min_nodes,
        min_node_count=pool.min_nodes,
        max_node_count=pool.max_nodes,
        labels=labels or None,
        merge_labels=True if labels else None,
    )


def ca_certificate(kubeconfig: Mapping[str, str]) -> str:
    """Return the CA of the provider's kubeconfig map in base64: Magnum hands out the bare PEM."""
    return base64.b64encode(kubeconfig["cluster_ca_certificate"].encode()).decode()


class MagnumCluster(ClusterComponent):
    """A Magnum cluster: template, cluster and the chain of its node groups.

    Args:
        args: The cluster as planned.
        provider: The OpenStack provider of its clouds.yaml entry and region.
    """

    def __init__(self, args: ClusterArgs, provider: pulumi.ProviderResource) -> None:
        super().__init__(CLOUD_KINDS[Cloud.OPENSTACK], args, provider)
        self.cluster = self._cluster()
        self._node_groups()
        self.finish(self._facts())

    def _cluster(self) -> containerinfra.Cluster:
        """Declare the template and the cluster."""
        template = containerinfra.ClusterTemplate(
            self.child("template"),
            to_template_args(self.plan),
            # Magnum updates no template in use, so any change makes a new one
            opts=self.child_options(replace_on_changes=["*"]),
        )
        return containerinfra.Cluster(
            self.child("cluster"),
            to_cluster_args(self.plan, template.id),
            # Magnum has no lock against deletion of its own
            opts=self.child_options(protect=self.args.deletion_protection, ignore_changes=NODE_COUNT),
        )

    def _node_groups(self) -> None:
        """Declare the node groups, the system's first, each after the one before it."""
        groups: dict[str, containerinfra.NodeGroupArgs] = {}
        system = to_system_args(self.plan, self.cluster.id)
        if system is not None:
            groups[SYSTEM_ROLE] = system
        groups |= {pool.name: to_pool_args(self.plan, pool, self.cluster.id) for pool in self.plan.pools}
        before: pulumi.Resource = self.cluster
        for name, group in groups.items():
            options = self.child_options(depends_on=[before], ignore_changes=NODE_COUNT, delete_before_replace=True)
            before = containerinfra.NodeGroup(self.child(name), group, opts=options)

    def _facts(self) -> ClusterFacts:
        """Return the facts. The kubeconfig holds an administrator's certificate: Magnum offers no exec plugin."""
        driver = magnum_of(self.plan).driver
        discovery = {"autoscaler_discovery": autoscaler_discovery(self.plan)} if driver is MagnumDriver.HEAT else {}
        return ClusterFacts.of(
            self.plan,
            endpoint=self.cluster.api_address,
            # the map is a secret as a whole; a CA certificate is not
            ca_certificate=pulumi.Output.unsecret(self.cluster.kubeconfig.apply(ca_certificate)),
            kubeconfig=self.cluster.kubeconfig.apply(lambda files: files["raw_config"]),
            identity={
                "cluster_id": self.cluster.id,
                "stack_id": self.cluster.stack_id,
                "project_id": self.cluster.project_id,
                "driver": str(driver),
                **discovery,
                **self._gpu_autoscaler(),
            },
        )

    def _gpu_autoscaler(self) -> Mapping[str, str]:
        """Return the site's word for the autoscaler that can wake an empty GPU group; nothing when it has none."""
        word = magnum_of(self.plan).gpu_autoscaler
        return {"gpu_autoscaler": word} if word else {}


def make_provider(name: str, args: ClusterArgs) -> openstack.Provider:
    """Return the OpenStack provider of a cluster's account and region; `name` is its logical name."""
    return openstack.Provider(name, to_provider_args(args))


def build(args: ClusterArgs, provider: pulumi.ProviderResource) -> ClusterFacts:
    """Declare the cluster and everything it needs, and return its facts."""
    return MagnumCluster(args, provider).facts


def _has_system_group(plan: ClusterPlan) -> bool:
    """Return whether the system pool may have more nodes than the default worker."""
    return plan.system_pool.max_nodes > DEFAULT_WORKER_NODES
