"""Declared clusters, precedence among pools, graphs that are refused, and both inventories read whole."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pulumi
import pytest
import yaml

from components.compose import compose
from components.settings import Settings
from fleet.clouds import Cloud, MagnumDriver
from fleet.errors import FleetErrors
from fleet.records import FleetPlan
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes import READERS, NodeTemplate, read_templates, wakes
from rehearsal.nodes.clusters import DeclaredCluster, read_clusters
from rehearsal.nodes.priorities import CONFIG_MAP
from tests.support.declaring import declare
from tests.support.nodes import a_graph, a_magnum_graph, planted, told
from tests.support.planning import planned
from tests.support.plans import a_pool, a_spot_pool

ROOT = Path(__file__).parents[2]
INVENTORIES = {
    "today": (ROOT / "inventory.yaml").read_text(encoding="utf-8"),
    "2021": (ROOT / "examples/inventory-2021.yaml")
    .read_text(encoding="utf-8")
    .replace("allow_retired: false", "allow_retired: true"),
}


@pytest.fixture(scope="module", params=INVENTORIES)
def fleet(request: pytest.FixtureRequest) -> tuple[FleetPlan, tuple[ResourceGraph, ...]]:
    """Each inventory's plan, and what its site stacks declare."""
    plan = planned(INVENTORIES[request.param])
    graphs = []
    for site in plan.sites:
        settings = Settings(site=site, inventory=Path("inventory.yaml"), protect=False, file="stacks/test.yaml")

        def program(settings: Settings = settings) -> None:
            for name, value in compose(plan, settings).items():
                pulumi.export(name, value)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the SDKs' own, at the first use of their modules
            graphs.append(replace(declare(program), stack=site))
    return plan, tuple(graphs)


def a_hub(cluster: str, priorities: object) -> ResourceGraph:
    """Return a hub's graph with the priority expander's ConfigMap of one cluster."""
    component = "urn:pulumi:hub::gpufleet::gpufleet:index:PoolPriorities::p"
    inputs = {"metadata": {"name": CONFIG_MAP}, "data": {"priorities": yaml.safe_dump(priorities)}}
    shared = {"custom": True, "id": "x"}
    return ResourceGraph(
        project="gpufleet",
        stack="hub",
        resources=(
            Resource(
                urn=component,
                type="gpufleet:index:PoolPriorities",
                name=f"{cluster}-priorities",
                parent=None,
                custom=False,
                inputs={},
            ),
            Resource(urn="urn:map", type="kubernetes:core/v1:ConfigMap", name="map", parent=component, inputs=inputs, **shared),
        ),
    )


def only_cluster(graph: ResourceGraph) -> DeclaredCluster:
    """Return the one cluster of a graph."""
    (cluster,) = read_clusters([graph])
    return cluster


def by_pool(templates: tuple[NodeTemplate, ...]) -> Mapping[tuple[str, str], NodeTemplate]:
    """Return templates by cluster and pool."""
    return {(template.cluster, template.pool): template for template in templates}


def test_every_cloud_has_a_reader() -> None:
    """The table is exhaustive over the closed list of clouds."""
    assert set(READERS) == set(Cloud)


@pytest.mark.parametrize("cloud", Cloud)
def test_a_declared_cluster_knows_what_a_control_plane_needs(cloud: Cloud) -> None:
    """Name, site, version, region and admission are read from the declared resources of each cloud."""
    cluster = only_cluster(a_graph(cloud))
    assert (cluster.name, cluster.site, cluster.cloud) == (f"{cloud}-one", f"{cloud}-site", cloud)
    assert cluster.kubernetes_version.startswith("1.35")
    assert cluster.region == {"google": "us-central1", "aws": "us-east-1", "azure": "eastus", "openstack": "cern"}[cloud]
    assert cluster.extended_resource_toleration
    assert not cluster.is_private
    assert "t4" in {template.pool for template in cluster.templates}
    assert cluster.zones == tuple(sorted({zone for template in cluster.templates for zone in template.zones}))


def test_magnum_tolerates_only_where_its_label_says_so() -> None:
    """Two drivers take the label, capi-helm has none; what the label lists is what is asked for."""
    assert only_cluster(a_magnum_graph(MagnumDriver.CLUSTER_API)).admission == ("ExtendedResourceToleration",)
    helm = only_cluster(a_magnum_graph(MagnumDriver.CAPI_HELM, a_pool(Cloud.OPENSTACK, min_nodes=1)))
    assert (helm.admission, helm.extended_resource_toleration) == ((), False)
    without = planted(a_magnum_graph(MagnumDriver.HEAT), "openstack-one-cluster", "labels/admission_control_list", "LimitRanger")
    assert (only_cluster(without).admission, only_cluster(without).extended_resource_toleration) == (("LimitRanger",), False)


@pytest.mark.parametrize(
    ("cloud", "path", "value"),
    [
        (Cloud.GOOGLE, "privateClusterConfig/enablePrivateEndpoint", True),
        (Cloud.AWS, "vpcConfig/endpointPublicAccess", False),
        (Cloud.AZURE, "apiServerAccessProfile/enablePrivateCluster", True),
        (Cloud.OPENSTACK, "labels/master_lb_floating_ip_enabled", "false"),
    ],
)
def test_a_cluster_without_a_public_address_is_private(cloud: Cloud, path: str, value: object) -> None:
    """Each cloud says it by a property of its own."""
    assert only_cluster(planted(a_graph(cloud), f"{cloud}-one-cluster", path, value)).is_private


def test_the_hubs_config_map_decides_the_precedence() -> None:
    """Patterns are matched against the names the autoscaler knows; a pool that none matches comes last."""
    graph = a_graph(Cloud.AZURE, a_pool(Cloud.AZURE), a_spot_pool(Cloud.AZURE))
    pools = by_pool(read_templates([graph, a_hub("azure-one", {1: [".*"], 20: [".*t4spot.*"]})]))
    assert (pools["azure-one", "t4-spot"].priority, pools["azure-one", "t4"].priority) == (20, 1)
    narrow = by_pool(read_templates([graph, a_hub("azure-one", {20: ["aks-t4-.*"]})]))
    assert (narrow["azure-one", "t4"].priority, narrow["azure-one", "t4-spot"].priority) == (20, 0)
    other = by_pool(read_templates([graph, a_hub("azure-two", {20: [".*"]})]))
    assert other["azure-one", "t4-spot"].priority == other["azure-one", "t4"].priority


def test_a_config_map_that_the_autoscaler_would_ignore_is_refused() -> None:
    """Broken text is told by its URN and not taken for no preference."""
    with pytest.raises(FleetErrors, match=r"urn:map\.data\.priorities"):
        read_templates([a_graph(Cloud.AZURE), a_hub("azure-one", ["t4-spot"])])


def test_a_graph_of_another_version_is_refused() -> None:
    """Nothing is read from a form that may mean something else."""
    with pytest.raises(FleetErrors, match=r"version = 99.*it would have to be 1"):
        read_templates([replace(a_graph(Cloud.GOOGLE), version=99)])


@pytest.mark.parametrize(
    "token",
    ["oci:ContainerEngine/nodePool:NodePool", "azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool"],
)
def test_a_pool_without_a_reader_is_refused_by_name(token: str) -> None:
    """A pool that nobody would boot must not be passed over in silence."""
    stranger = Resource(urn="urn:stranger", type=token, name="n", parent=None, custom=True, inputs={})
    with pytest.raises(FleetErrors, match=f"urn:stranger = '{token}'.*no reader makes nodes"):
        read_templates([ResourceGraph(project="p", stack="s", resources=(stranger,))])


def test_objects_inside_kubernetes_are_no_pools() -> None:
    """Karpenter's NodePool is an object of a cluster and not a pool of a cloud."""
    inside = Resource(urn="urn:k", type="kubernetes:karpenter.sh/v1:NodePool", name="n", parent=None, custom=True, inputs={})
    assert read_templates([ResourceGraph(project="p", stack="s", resources=(inside,))]) == ()


def test_a_pool_outside_a_cluster_is_refused() -> None:
    """A pool whose component is not there belongs to no cluster."""
    graph = a_graph(Cloud.GOOGLE)
    orphans = tuple(
        replace(resource, parent=None) if resource.name == "google-one-t4" else resource for resource in graph.resources
    )
    with pytest.raises(FleetErrors, match="no cluster component declares it"):
        read_templates([replace(graph, resources=orphans)])


def test_every_pool_of_both_inventories_is_read(fleet: tuple[FleetPlan, tuple[ResourceGraph, ...]]) -> None:
    """The node that is read from the declaration agrees with what was planned, for every pool; no reader saw the plan."""
    plan, graphs = fleet
    pools = by_pool(read_templates(graphs))
    for cluster in plan.clusters:
        for planned_pool in cluster.pools:
            node = pools[cluster.name, planned_pool.name]
            assert (node.card, node.resource, node.machine) == (planned_pool.card, planned_pool.resource, planned_pool.machine)
            assert (node.accelerators, node.hosts) == (planned_pool.accelerators, planned_pool.hosts)
            assert (node.min_nodes, node.max_nodes) == (planned_pool.min_nodes, planned_pool.max_nodes)
            assert (node.capacity_type, node.usd_per_hour) == (planned_pool.capacity, planned_pool.price.usd_per_hour)
            assert set(planned_pool.taints) <= set(node.taints)
            assert dict(planned_pool.labels).items() <= node.labels.items()
            assert set(planned_pool.zones) <= set(node.zones)
            is_sized = planned_pool.vcpus is not None and planned_pool.memory_gib is not None
            assert is_sized == (not any("stand in" in note and "size of" in note for note in node.notes))
            assert node.capacity["cpu"] == str(planned_pool.vcpus or 4)


def test_every_pool_of_both_inventories_wakes(fleet: tuple[FleetPlan, tuple[ResourceGraph, ...]]) -> None:
    """All hints are declared; a Magnum group that starts from zero wakes once the stack exports the site's word."""
    plan, graphs = fleet
    said = [
        told(graph, cluster.name, gpu_autoscaler=cluster.magnum.gpu_autoscaler)
        if (cluster := next((one for one in plan.clusters if one.site == graph.stack and one.magnum), None)) and cluster.magnum
        else graph
        for graph in graphs
    ]
    assert [template.seen.missing for template in read_templates(said) if not wakes(template)] == []


def test_allocatable_is_less_than_capacity_everywhere(fleet: tuple[FleetPlan, tuple[ResourceGraph, ...]]) -> None:
    """Some memory and disk are always kept, and never more than there is; cards are handed out whole."""
    for template in read_templates(fleet[1]):
        for resource in ("memory", "ephemeral-storage"):
            assert 0 < int(template.allocatable[resource][:-2]) < int(template.capacity[resource][:-2])
        if template.resource:
            assert template.allocatable[template.resource] == template.capacity[template.resource]
