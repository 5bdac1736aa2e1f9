"""Magnum labels: what each driver really reads, for the template, the cluster and each node group.

A Magnum label is an instruction to the driver, not a node label, and every value is a string. Where a label goes decides what a
later change does (terraform-provider-openstack 27f2612, 2026-07-16; openstack/magnum stable/2026.1 9f9c4b9f, 2026-07-08):

- on the template: a new template and Magnum's *upgrade* of the cluster. Only ``kube_tag`` goes here: cluster-api's upgrade takes
  that label and the image from the new template and nothing else; Heat refuses upgrades since 18.0.0. capi-helm gets none, as it
  reads the version from the image's ``kube_version`` property, and a template label that differs from the cluster's copy would be
  read back as a change of the cluster's labels, which replaces it;
- on the cluster: a *replacement* of the cluster. So here is only what cannot change in a living cluster: address ranges, zones,
  disks, the API server's admission plugins and allowed addresses;
- on a node group: a *replacement* of the group. So here is only what a node gets once, when it registers.

Sizes are never labels. Magnum's default group ``default-worker`` cannot be changed through this provider, so it is held at one
node by two labels that never change, and the rest of the system pool is a node group of its own.

Sources of the labels: magnum doc/source/user/index.rst and drivers/heat/*_template_def.py at 9f9c4b9f (Heat); magnum-capi-helm
conf.py a8b82c2, 2026-06-08; magnum-cluster-api docs/user/labels.md and resources.py 3890a36, 2026-07-23. Read 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import CARD_LABEL, spell_effect
from fleet.records import ClusterPlan, GpuMode, MagnumPlan, NodePool

Labels = dict[str, str]

HEAT_ADMISSION_PLUGINS = (
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "ResourceQuota",
    "TaintNodesByCondition",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PersistentVolumeClaimResize",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionWebhook",
    "RuntimeClass",
)
"""Heat's own list, which the label replaces as a whole; the driver puts NodeRestriction before it.

Source: k8s_fedora_coreos_v1/templates/kubecluster.yaml, parameter admission_control_list, the same in 2025.2 and 2026.1.
"""

TOLERATION_PLUGIN = "ExtendedResourceToleration"
"""Adds the toleration for an accelerator's own taint to pods that request it; on in GKE, EKS and AKS, off in Magnum."""

DEFAULT_WORKER_NODES = 1
"""Size of the group that Magnum makes by itself: capi-helm refuses 0."""

_FULL_VERSION_DOTS = 2


def template_labels(plan: ClusterPlan) -> Labels:
    """Return the labels of the cluster template: the Kubernetes version where the driver takes it from there."""
    tag = _KUBE_TAGS[magnum_of(plan).driver]
    return {} if tag is None else {"kube_tag": tag(_full_version(plan.kubernetes_version))}


def cluster_labels(plan: ClusterPlan) -> Labels:
    """Return the labels of the cluster, each of which replaces the cluster when it changes."""
    own = {
        "auto_healing_enabled": "true",
        "fixed_subnet_cidr": plan.network.nodes_cidr,
        "min_node_count": str(DEFAULT_WORKER_NODES),
        "max_node_count": str(DEFAULT_WORKER_NODES),
    }
    return own | _CLUSTER_LABELS[magnum_of(plan).driver](plan)


def pool_labels(plan: ClusterPlan, pool: NodePool) -> Labels:
    """Return the labels of an accelerator pool's node group, each of which replaces the group when it changes."""
    return _POOL_LABELS[magnum_of(plan).driver](pool)


def kubelet_options(pool: NodePool) -> str:
    """Return the kubelet's flags that register a node with the pool's labels and taints.

    The Heat driver hands the label ``kubelet_options`` of the node group itself to the kubelet (heat/template_def.py
    ``_get_relevant_labels``), after two ``--node-labels`` of its own: it relies on the kubelet merging them, and so do we
    (configure-kubernetes-minion.sh).
    """
    labels = ",".join(f"{key}={value}" for key, value in pool.labels)
    taints = ",".join(f"{taint.key}={taint.value}:{spell_effect(taint.effect, Cloud.OPENSTACK)}" for taint in sorted(pool.taints))
    flags = (f"--node-labels={labels}" if labels else "", f"--register-with-taints={taints}" if taints else "")
    return " ".join(flag for flag in flags if flag)


def takes_volume(pool: NodePool) -> bool:
    """Return whether a node's disk can be a Cinder volume: bare metal keeps its own disk."""
    return pool.mode is not GpuMode.BARE_METAL


def magnum_of(plan: ClusterPlan) -> MagnumPlan:
    """Return what only Magnum is told.

    Raises:
        ValueError: The cluster is not on OpenStack; the plan sets the field exactly there.
    """
    if plan.magnum is None:
        raise ValueError(f"{plan.name} has no Magnum settings")
    return plan.magnum


def _full_version(version: str) -> str:
    """Return ``1.N.P``: both image tags and Cluster API want a patch level; the first stands in when none is stated."""
    return version if version.count(".") >= _FULL_VERSION_DOTS else f"{version}.0"


_KUBE_TAGS: Mapping[MagnumDriver, Callable[[str], str] | None] = {
    # Heat pulls docker.io/rancher/hyperkube, whose tags end so (kubecluster.yaml, hyperkube_prefix and kube_tag)
    MagnumDriver.HEAT: lambda version: f"v{version}-rancher1",
    MagnumDriver.CAPI_HELM: None,
    MagnumDriver.CLUSTER_API: lambda version: f"v{version}",
}


def _heat_cluster(plan: ClusterPlan) -> Labels:
    """Return Heat's cluster labels.

    Its own autoscaler is off: it manages ``default-worker`` alone, between limits fixed at creation, and would hold the lease of
    the site's autoscaler. Auto-healing is by magnum-auto-healer, since draino, the default, brings that autoscaler back
    (enable-auto-scaling.sh).
    """
    allowed = plan.network.control_plane_cidrs
    return {
        "admission_control_list": ",".join((*HEAT_ADMISSION_PLUGINS, TOLERATION_PLUGIN)),
        "auto_healing_controller": "magnum-auto-healer",
        "auto_scaling_enabled": "false",
        "calico_ipv4pool": plan.network.pods_cidr,
        "cinder_csi_enabled": "true",
        "cloud_provider_enabled": "true",
        "container_runtime": "containerd",
        "kube_dashboard_enabled": "false",
        "master_lb_floating_ip_enabled": "true",
        "monitoring_enabled": "false",
        "service_cluster_ip_range": plan.network.services_cidr,
        **({"master_lb_allowed_cidrs": ",".join(allowed)} if allowed else {}),
        **_one_zone(plan.zones),
    }


def _capi_helm_cluster(plan: ClusterPlan) -> Labels:
    """Return capi-helm's cluster labels: it has none for pods, services, zones or admission plugins."""
    allowed = plan.network.control_plane_cidrs
    return {
        "auto_scaling_enabled": "true",
        "boot_volume_size": str(plan.system_pool.disk_gib),
        "kube_dashboard_enabled": "false",
        "master_lb_floating_ip_enabled": "true",
        "monitoring_enabled": "false",
        **({"api_master_lb_allowed_cidrs": ",".join(allowed)} if allowed else {}),
    }


def _cluster_api_cluster(plan: ClusterPlan) -> Labels:
    """Return cluster-api's cluster labels.

    Its admission list is added to Kubernetes' own (``enable-admission-plugins``), so it names one plugin. It cannot restrict who
    reaches the API server, so a cluster that asks for that gets no public address, rather than one that is open to all.
    """
    zones = {"control_plane_availability_zones": ",".join(plan.zones)} if plan.zones else {}
    return {
        "admission_control_list": TOLERATION_PLUGIN,
        "auto_scaling_enabled": "true",
        "boot_volume_size": str(plan.system_pool.disk_gib),
        "calico_ipv4pool": plan.network.pods_cidr,
        "master_lb_floating_ip_enabled": "false" if plan.network.control_plane_cidrs else "true",
        "service_cluster_ip_range": plan.network.services_cidr,
        **zones,
        **_one_zone(plan.zones),
    }


_CLUSTER_LABELS: Mapping[MagnumDriver, Callable[[ClusterPlan], Labels]] = {
    MagnumDriver.HEAT: _heat_cluster,
    MagnumDriver.CAPI_HELM: _capi_helm_cluster,
    MagnumDriver.CLUSTER_API: _cluster_api_cluster,
}


def _heat_pool(pool: NodePool) -> Labels:
    """Return Heat's group labels: the kubelet's flags, and the node labels once more for the autoscaler.

    The autoscaler's magnum provider takes a group's Magnum labels for node labels when the group is empty (magnum_nodegroup.go
    55c37cd). Only keys that cannot be a Magnum label are repeated: ``gpu`` and those with a slash.
    """
    repeated = {key: value for key, value in pool.labels if key == CARD_LABEL or "/" in key}
    options = kubelet_options(pool)
    return repeated | ({"kubelet_options": options} if options else {}) | _one_zone(pool.zones)


def _capi_helm_pool(pool: NodePool) -> Labels:  # noqa: ARG001 -- the table's functions are called alike
    """Return capi-helm's group labels: it reads none (driver.py ``_process_node_groups``)."""
    return {}


def _cluster_api_pool(pool: NodePool) -> Labels:
    """Return cluster-api's group labels; a boot volume of 0 GiB means the flavor's own disk."""
    return {"boot_volume_size": str(pool.disk_gib if takes_volume(pool) else 0)} | _one_zone(pool.zones)


_POOL_LABELS: Mapping[MagnumDriver, Callable[[NodePool], Labels]] = {
    MagnumDriver.HEAT: _heat_pool,
    MagnumDriver.CAPI_HELM: _capi_helm_pool,
    MagnumDriver.CLUSTER_API: _cluster_api_pool,
}


def _one_zone(zones: tuple[str, ...]) -> Labels:
    """Return the zone label for exactly one zone: it takes a single name, so among several Nova chooses by flavor."""
    return {"availability_zone": zones[0]} if len(zones) == 1 else {}
