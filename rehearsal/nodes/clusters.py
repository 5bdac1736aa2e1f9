"""Declared clusters, each with its pools' nodes: what a rehearsal makes control planes of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fleet.clouds import Cloud
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes import aws, azure, google, openstack, read_templates
from rehearsal.nodes.reading import at, component_of, facts_of, labels_at, site_of, text
from rehearsal.nodes.template import NodeTemplate

TOLERATION_PLUGIN = "ExtendedResourceToleration"
"""Admission plugin that gives a pod the toleration for the accelerator it requests."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredCluster:
    """A cluster as a stack declares it.

    Attributes:
        name: Name of its component.
        site: Site of the inventory.
        cloud: Its cloud.
        urn: URN of the cluster's own resource.
        kubernetes_version: As asked for, such as ``1.35`` or ``1.28.9``; empty when the image decides.
        region: Region.
        zones: Zones of all its nodes, sorted.
        extended_resource_toleration: Whether its API server gives pods the toleration for the accelerator they request.
        admission: Admission plugins that the resource itself asks for, beside the cloud's own; empty where it cannot.
        is_private: Whether the API server has no public address.
        templates: Nodes of its pools, sorted by pool.
    """

    name: str
    site: str
    cloud: Cloud
    urn: str
    kubernetes_version: str
    region: str
    zones: tuple[str, ...]
    extended_resource_toleration: bool
    admission: tuple[str, ...]
    is_private: bool
    templates: tuple[NodeTemplate, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """How one cloud's cluster resource is read.

    Attributes:
        token: Type of the resource.
        tags: Path of its cost tags; empty where it takes none.
        version: The Kubernetes version.
        region: The region.
        is_private: Whether the API server has no public address.
        admission: Admission plugins it asks for.
        always_tolerates: Whether the cloud runs `TOLERATION_PLUGIN` everywhere.
    """

    token: str
    tags: str
    version: Callable[[ResourceGraph, Resource], str]
    region: Callable[[ResourceGraph, Resource], str]
    is_private: Callable[[Resource], bool]
    admission: Callable[[Resource], tuple[str, ...]] = lambda _: ()
    always_tolerates: bool = True


def read_clusters(graphs: Iterable[ResourceGraph]) -> tuple[DeclaredCluster, ...]:
    """Return every declared cluster, sorted by name; raises FleetErrors as `read_templates` does."""
    given = tuple(graphs)
    pools: dict[str, list[NodeTemplate]] = {}
    for template in read_templates(given):
        pools.setdefault(template.cluster, []).append(template)
    found = [
        _cluster(graph, resource, cloud, pools)
        for graph in given
        for cloud, kind in _KINDS.items()
        for resource in graph.of_type(kind.token)
    ]
    return tuple(sorted(found, key=lambda cluster: cluster.name))


def _cluster(graph: ResourceGraph, resource: Resource, cloud: Cloud, pools: Mapping[str, list[NodeTemplate]]) -> DeclaredCluster:
    """Return one cluster with its pools' nodes."""
    kind, component = _KINDS[cloud], component_of(graph, resource)
    templates = tuple(pools.get(component.name, ()))
    admission = kind.admission(resource)
    return DeclaredCluster(
        name=component.name,
        site=site_of(graph, resource, component, kind.tags),
        cloud=cloud,
        urn=resource.urn,
        kubernetes_version=kind.version(graph, resource),
        region=kind.region(graph, resource),
        zones=tuple(sorted({zone for template in templates for zone in template.zones})),
        extended_resource_toleration=kind.always_tolerates or TOLERATION_PLUGIN in admission,
        admission=admission,
        is_private=kind.is_private(resource),
        templates=templates,
    )


def _magnum_version(graph: ResourceGraph, cluster: Resource) -> str:
    """Return the version that Magnum's template asks for, else what the stack exports."""
    tag = openstack.kube_tag(graph, cluster).removeprefix("v").partition("-")[0]
    return tag or str(facts_of(graph, component_of(graph, cluster).name).get("kubernetes_version") or "")


def _magnum_admission(cluster: Resource) -> tuple[str, ...]:
    """Return the plugins of Magnum's label."""
    return tuple(name for name in labels_at(cluster, "labels").get("admission_control_list", "").split(",") if name)


_KINDS: Mapping[Cloud, _Kind] = {
    Cloud.GOOGLE: _Kind(
        token=google.CLUSTER,
        tags="resourceLabels",
        version=lambda _, cluster: str(at(cluster.inputs, "minMasterVersion") or ""),
        region=lambda _, cluster: google.region_of(text(cluster, "location")),
        is_private=lambda cluster: bool(at(cluster.inputs, "privateClusterConfig.enablePrivateEndpoint")),
    ),
    Cloud.AWS: _Kind(
        token=aws.CLUSTER,
        tags="tags",
        version=lambda _, cluster: str(at(cluster.inputs, "version") or ""),
        region=aws.region_of,
        is_private=lambda cluster: at(cluster.inputs, "vpcConfig.endpointPublicAccess") is False,
    ),
    Cloud.AZURE: _Kind(
        token=azure.CLUSTER,
        tags="tags",
        version=lambda _, cluster: str(at(cluster.inputs, "kubernetesVersion") or ""),
        region=lambda _, cluster: text(cluster, "location"),
        is_private=lambda cluster: bool(at(cluster.inputs, "apiServerAccessProfile.enablePrivateCluster")),
    ),
    Cloud.OPENSTACK: _Kind(
        token=openstack.CLUSTER,
        tags="",
        version=_magnum_version,
        region=openstack.region_of,
        is_private=lambda cluster: labels_at(cluster, "labels").get("master_lb_floating_ip_enabled") == "false",
        admission=_magnum_admission,
        always_tolerates=False,
    ),
}
"""Every cloud's cluster. `TOLERATION_PLUGIN` runs on GKE and EKS (Azure/AKS issue 1449; aws/containers-roadmap issue 739 and EKS
platform versions 1.29 to 1.31) and on AKS (its faq.yml, fb060ab, 2026-08-21); on Magnum where the cluster's label
``admission_control_list`` names it (kubecluster.yaml, stable/2026.1 9f9c4b9f)."""
