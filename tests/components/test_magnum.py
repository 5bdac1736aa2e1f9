"""Magnum clusters: what each driver is told, and what the whole component declares."""

from __future__ import annotations

import base64
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pulumi
import pytest

from components.contract import ClusterArgs
from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import Taint, TaintEffect
from fleet.records import ClusterPlan, GpuMode, NetworkPlan, NodePool, SystemPool
from preview.graph import MASK, Resource, ResourceGraph
from tests.support.declaring import run
from tests.support.plans import NVIDIA_TAINT, a_cluster, a_pool

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # pulumi-openstack 5.5.3 warns of its own modules when imported
    from components import magnum, magnum_labels

GROUP = "openstack:containerinfra/nodeGroup:NodeGroup"
CLUSTER = "openstack:containerinfra/cluster:Cluster"
TEMPLATE = "openstack:containerinfra/clusterTemplate:ClusterTemplate"
DRIVERS = list(MagnumDriver)
HEAT_DEFAULT_PLUGINS = (
    "NamespaceLifecycle,LimitRanger,ServiceAccount,ResourceQuota,TaintNodesByCondition,Priority,DefaultTolerationSeconds,"
    "DefaultStorageClass,StorageObjectInUseProtection,PersistentVolumeClaimResize,MutatingAdmissionWebhook,"
    "ValidatingAdmissionWebhook,RuntimeClass"
)
"""As kubecluster.yaml has it (openstack/magnum stable/2026.1 9f9c4b9f)."""


def a_plan(driver: MagnumDriver = MagnumDriver.HEAT, **changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return a Magnum cluster of one driver."""
    plan = a_cluster(Cloud.OPENSTACK, **changes)
    assert plan.magnum is not None
    return replace(plan, magnum=replace(plan.magnum, driver=driver))


def declare(plan: ClusterPlan, *, deletion_protection: bool = True) -> ResourceGraph:
    """Run the component offline, its facts exported, and return all it declared."""

    def program() -> None:
        args = ClusterArgs(plan=plan, deletion_protection=deletion_protection)
        facts = magnum.build(args, magnum.make_provider("openstack", args))
        pulumi.export("facts", facts.public())
        pulumi.export("kubeconfig", facts.kubeconfig)

    monitor = run(program).monitor
    assert any(urn.endswith("::gpufleet:index:MagnumCluster::" + plan.name) for urn in monitor.outputs_registered)
    return monitor.graph()


def groups(graph: ResourceGraph) -> dict[str, Resource]:
    """Return the node groups by their name in Magnum, in the order they were declared."""
    return {resource.inputs["name"]: resource for resource in graph.of_type(GROUP)}


def three_pools() -> tuple[NodePool, ...]:
    """Return three pools, sorted by name."""
    return tuple(a_pool(Cloud.OPENSTACK, name=name, card=name.upper()) for name in ("a100", "t4", "v100"))


@pytest.mark.parametrize(
    ("driver", "version", "labels"),
    [
        (MagnumDriver.HEAT, "1.28", {"kube_tag": "v1.28.0-rancher1"}),
        (MagnumDriver.HEAT, "1.28.9", {"kube_tag": "v1.28.9-rancher1"}),
        (MagnumDriver.CLUSTER_API, "1.35", {"kube_tag": "v1.35.0"}),
        (MagnumDriver.CLUSTER_API, "1.35.2", {"kube_tag": "v1.35.2"}),
        (MagnumDriver.CAPI_HELM, "1.35", {}),
    ],
)
def test_version_goes_where_the_driver_reads_it(driver: MagnumDriver, version: str, labels: dict[str, str]) -> None:
    """The template alone carries the version, in the driver's spelling, and capi-helm's none: a changed one would replace it."""
    plan = a_plan(driver, kubernetes_version=version)
    assert magnum_labels.template_labels(plan) == labels
    assert "kube_tag" not in magnum_labels.cluster_labels(plan)


@pytest.mark.parametrize("driver", DRIVERS)
def test_every_label_is_a_string(driver: MagnumDriver) -> None:
    """The provider refuses any label value but strings."""
    plan = a_plan(driver, zones=("one",))
    every = (
        magnum_labels.template_labels(plan),
        magnum_labels.cluster_labels(plan),
        magnum_labels.pool_labels(plan, plan.pools[0]),
    )
    assert all(isinstance(value, str) for labels in every for value in labels.values())


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_size_is_ever_a_label(driver: MagnumDriver) -> None:
    """Labels replace cluster and group, so no limit of any pool may reach them."""
    plan = a_plan(driver)
    pool = plan.pools[0]
    grown = replace(plan, system_pool=replace(plan.system_pool, min_nodes=5, max_nodes=50))
    assert magnum_labels.cluster_labels(grown) == magnum_labels.cluster_labels(plan)
    assert magnum_labels.template_labels(grown) == magnum_labels.template_labels(plan)
    assert magnum_labels.pool_labels(plan, replace(pool, min_nodes=3, max_nodes=99)) == magnum_labels.pool_labels(plan, pool)


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        (
            MagnumDriver.HEAT,
            f"{HEAT_DEFAULT_PLUGINS},ExtendedResourceToleration",
        ),
        (MagnumDriver.CLUSTER_API, "ExtendedResourceToleration"),
        (MagnumDriver.CAPI_HELM, None),
    ],
)
def test_admission_list(driver: MagnumDriver, expected: str | None) -> None:
    """Heat's list replaces the default and so repeats it whole; cluster-api's adds to it; capi-helm has none."""
    assert magnum_labels.cluster_labels(a_plan(driver)).get("admission_control_list") == expected


@pytest.mark.parametrize(
    ("driver", "label"), [(MagnumDriver.HEAT, "master_lb_allowed_cidrs"), (MagnumDriver.CAPI_HELM, "api_master_lb_allowed_cidrs")]
)
def test_allowed_addresses_are_a_label(driver: MagnumDriver, label: str) -> None:
    """Stated ranges reach the load balancer; without any, every address may, as the plan says."""
    plan = a_plan(driver)
    closed = replace(plan, network=replace(plan.network, control_plane_cidrs=("192.0.2.0/24", "198.51.100.0/24")))
    assert label not in magnum_labels.cluster_labels(plan)
    assert magnum_labels.cluster_labels(closed)[label] == "192.0.2.0/24,198.51.100.0/24"
    assert magnum_labels.cluster_labels(closed)["master_lb_floating_ip_enabled"] == "true"


def test_cluster_api_closes_what_it_cannot_restrict() -> None:
    """cluster-api filters no addresses, so a cluster that asks for it has no public endpoint at all."""
    plan = a_plan(MagnumDriver.CLUSTER_API)
    closed = replace(plan, network=replace(plan.network, control_plane_cidrs=("192.0.2.0/24",)))
    assert magnum_labels.cluster_labels(plan)["master_lb_floating_ip_enabled"] == "true"
    assert magnum_labels.cluster_labels(closed)["master_lb_floating_ip_enabled"] == "false"


@pytest.mark.parametrize(
    ("driver", "autoscaling"),
    [(MagnumDriver.HEAT, "false"), (MagnumDriver.CAPI_HELM, "true"), (MagnumDriver.CLUSTER_API, "true")],
)
def test_only_a_useful_autoscaler_is_asked_for(driver: MagnumDriver, autoscaling: str) -> None:
    """Heat's own autoscaler knows default-worker alone and must not come in through draino either."""
    labels = magnum_labels.cluster_labels(a_plan(driver))
    assert labels["auto_scaling_enabled"] == autoscaling
    assert labels.get("auto_healing_controller") == ("magnum-auto-healer" if driver is MagnumDriver.HEAT else None)
    assert (labels["min_node_count"], labels["max_node_count"]) == ("1", "1")


def test_network_ranges_reach_the_drivers_that_take_them() -> None:
    """Nodes' range is a label of all drivers, pods' and services' of two."""
    network = NetworkPlan(nodes_cidr="10.1.0.0/20", pods_cidr="10.2.0.0/16", services_cidr="10.3.0.0/20")
    for driver in DRIVERS:
        labels = magnum_labels.cluster_labels(a_plan(driver, network=network))
        takes_others = driver is not MagnumDriver.CAPI_HELM
        assert labels["fixed_subnet_cidr"] == "10.1.0.0/20"
        assert labels.get("calico_ipv4pool") == ("10.2.0.0/16" if takes_others else None)
        assert labels.get("service_cluster_ip_range") == ("10.3.0.0/20" if takes_others else None)


@pytest.mark.parametrize(
    ("zones", "cluster_zone", "control_plane"), [((), None, None), (("b",), "b", "b"), (("a", "b"), None, "a,b")]
)
def test_zones(zones: tuple[str, ...], cluster_zone: str | None, control_plane: str | None) -> None:
    """Nodes take one zone by name; cluster-api spreads the control plane over several."""
    labels = magnum_labels.cluster_labels(a_plan(MagnumDriver.CLUSTER_API, zones=zones))
    assert labels.get("availability_zone") == cluster_zone
    assert labels.get("control_plane_availability_zones") == control_plane
    pool = a_pool(Cloud.OPENSTACK, zones=zones)
    assert magnum_labels.pool_labels(a_plan(), pool).get("availability_zone") == cluster_zone


def test_heat_hands_labels_and_taints_to_the_kubelet() -> None:
    """Labels and taints stand in the kubelet's own spelling, taints sorted."""
    pool = a_pool(
        Cloud.OPENSTACK,
        labels=(("gpu", "T4"), ("team", "physics")),
        taints=(NVIDIA_TAINT, Taint(key="burst", effect=TaintEffect.NO_EXECUTE)),
    )
    assert magnum_labels.kubelet_options(pool) == (
        "--node-labels=gpu=T4,team=physics --register-with-taints=burst=:NoExecute,nvidia.com/gpu=present:NoSchedule"
    )


def test_heat_repeats_labels_for_the_autoscaler_but_none_that_steers_magnum() -> None:
    """The autoscaler reads Magnum labels as node labels; a person's label must never act as one of Magnum's own."""
    pool = a_pool(Cloud.OPENSTACK, labels=(("gpu", "T4"), ("gpufleet.io/capacity-type", "on-demand"), ("kube_tag", "v1.0.0")))
    labels = magnum_labels.pool_labels(a_plan(), pool)
    assert labels.pop("kubelet_options").startswith("--node-labels=gpu=T4,")
    assert labels == {"gpu": "T4", "gpufleet.io/capacity-type": "on-demand"}


def test_drivers_that_pass_no_node_labels_are_sent_none() -> None:
    """A label no driver reads would replace the group for nothing when it changes."""
    pool = a_pool(Cloud.OPENSTACK)
    assert magnum_labels.pool_labels(a_plan(MagnumDriver.CAPI_HELM), pool) == {}
    assert magnum_labels.pool_labels(a_plan(MagnumDriver.CLUSTER_API), pool) == {"boot_volume_size": "100"}


@pytest.mark.parametrize(
    ("mode", "volume", "boot"), [(GpuMode.PASSTHROUGH, 70, "70"), (GpuMode.VGPU, 70, "70"), (GpuMode.BARE_METAL, None, "0")]
)
def test_disk_is_a_volume_but_on_bare_metal(mode: GpuMode, volume: int | None, boot: str) -> None:
    """Virtual nodes get a Cinder volume; bare metal keeps the disk of its flavor."""
    pool = a_pool(Cloud.OPENSTACK, mode=mode, disk_gib=70)
    assert magnum.to_pool_args(a_plan(), pool, "id").docker_volume_size == volume
    assert magnum_labels.pool_labels(a_plan(MagnumDriver.CLUSTER_API), pool)["boot_volume_size"] == boot
    assert magnum.to_pool_args(a_plan(MagnumDriver.CLUSTER_API), pool, "id").docker_volume_size is None


@pytest.mark.parametrize(("card", "role"), [("T4", "gpu-t4"), ("A100-80", "gpu-a100-80"), ("RTX-PRO-6000", "gpu-rtx-pro-6000")])
def test_role_names_the_card(card: str, role: str) -> None:
    """The role is the one word of ours that cluster-api puts on a node, as part of a label key."""
    assert magnum.pool_role(a_pool(Cloud.OPENSTACK, card=card)) == role


@pytest.mark.parametrize(
    ("driver", "limits", "expected"),
    [
        (MagnumDriver.HEAT, (1, 1), None),
        (MagnumDriver.HEAT, (1, 3), (0, 2)),
        (MagnumDriver.CLUSTER_API, (3, 6), (2, 5)),
        (MagnumDriver.CAPI_HELM, (1, 3), (1, 2)),
        (MagnumDriver.CAPI_HELM, (3, 3), (2, 2)),
    ],
)
def test_system_group_holds_the_rest(driver: MagnumDriver, limits: tuple[int, int], expected: tuple[int, int] | None) -> None:
    """With the default worker's one node the group makes up the system pool's limits; capi-helm's never has 0."""
    low, high = limits
    plan = a_plan(driver, system_pool=SystemPool(machine="m2.xlarge", min_nodes=low, max_nodes=high, disk_gib=50))
    group = magnum.to_system_args(plan, "id")
    assert (None if group is None else (group.min_node_count, group.max_node_count)) == expected
    assert group is None or group.node_count == group.min_node_count


@pytest.mark.parametrize("driver", DRIVERS)
def test_whole_cluster(driver: MagnumDriver) -> None:
    """Names start with the component's, all are its children, one provider serves them, and the state protects the cluster."""
    plan = a_plan(driver)
    graph = declare(plan)
    component = next(resource for resource in graph.resources if not resource.custom)
    provider = next(resource for resource in graph.resources if resource.type == "pulumi:providers:openstack")
    children = graph.children[component.urn]
    assert {child.name for child in children} == {f"{plan.name}-{suffix}" for suffix in ("template", "cluster", "system", "t4")}
    assert {child.provider for child in children} == {provider.urn}
    assert provider.inputs["region"] == "cern"
    (cluster,) = graph.of_type(CLUSTER)
    assert cluster.options.protect is True
    assert cluster.options.ignore_changes == ("nodeCount",)
    assert cluster.inputs["masterLbEnabled"] is True
    assert cluster.inputs["floatingIpEnabled"] is False
    assert not [finding for finding in graph.findings if finding.severity == "error"]


def test_protection_is_the_stacks_choice() -> None:
    """Without deletion protection the cluster is not protected."""
    (cluster,) = declare(a_plan(), deletion_protection=False).of_type(CLUSTER)
    assert cluster.options.protect is False


def test_template_is_replaced_and_never_updated() -> None:
    """Magnum refuses to update a template in use; without a name of ours the new one stands beside the old."""
    (template,) = declare(a_plan()).of_type(TEMPLATE)
    assert template.options.replace_on_changes == ("*",)
    assert "name" not in template.inputs
    assert template.inputs["serverType"] == "vm"
    assert template.inputs["tlsDisabled"] is False
    assert template.inputs["dnsNameserver"] == "8.8.8.8"


def test_groups_are_made_one_after_the_other() -> None:
    """Each group waits for the one before it, the system's first."""
    graph = declare(a_plan(pools=three_pools()))
    made = groups(graph)
    assert set(made) == {"system", "a100", "t4", "v100"}
    (cluster,) = graph.of_type(CLUSTER)
    chain = [cluster, made["system"], made["a100"], made["t4"], made["v100"]]
    for before, after in pairwise(chain):
        assert before.urn in after.options.depends_on
        assert after.options.ignore_changes == ("nodeCount",)
        assert after.options.delete_before_replace is True


def test_a_pool_taken_out_leaves_the_others_as_they_were() -> None:
    """Only the order of creation hangs on the chain: no input of another group changes."""
    whole = groups(declare(a_plan(pools=three_pools())))
    fewer = groups(declare(a_plan(pools=tuple(pool for pool in three_pools() if pool.name != "t4"))))
    assert {name: group.inputs for name, group in whole.items() if name != "t4"} == {
        name: group.inputs for name, group in fewer.items()
    }


def test_an_empty_group_says_so() -> None:
    """The provider's default count is 1, so 0 is stated, and no image, lest a new one replaces the group."""
    inputs = groups(declare(a_plan()))["t4"].inputs
    assert (inputs["nodeCount"], inputs["minNodeCount"], inputs["maxNodeCount"]) == (0, 0, 4)
    assert inputs["mergeLabels"] is True
    assert "imageId" not in inputs


def test_facts() -> None:
    """The kubeconfig is secret, the endpoint and the CA are not, and the CA is base64 of Magnum's PEM."""
    outputs = declare(a_plan(pools=three_pools())).outputs
    facts = outputs["facts"]
    assert outputs["kubeconfig"] == MASK
    assert facts["endpoint"].startswith("https://")
    assert base64.b64decode(facts["ca_certificate"]).startswith(b"-----BEGIN CERTIFICATE-----")
    assert facts["identity"]["driver"] == "heat"
    assert facts["identity"]["cluster_id"]
    assert facts["identity"]["autoscaler_discovery"] == "magnum:role=gpu-a100,gpu-t4,gpu-v100,system"
    assert set(facts["pools"]) == {"a100", "t4", "v100"}


def changed_pool(**changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of NodePool
    """Return the plan with its pool changed."""
    return a_plan(pools=(a_pool(Cloud.OPENSTACK, **changes),))


def changed_magnum(**changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of MagnumPlan
    """Return the plan with its Magnum settings changed."""
    plan = a_plan()
    assert plan.magnum is not None
    return replace(plan, magnum=replace(plan.magnum, **changes))


def changed_part(part: str, **changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of the part
    """Return the plan with its network or system pool changed."""
    plan = a_plan()
    return replace(plan, **{part: replace(getattr(plan, part), **changes)})


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(changed, id=name)
        for name, changed in {
            "account": a_plan(account="other"),
            "region": a_plan(region="other"),
            "zones": a_plan(zones=("a",)),
            "kubernetes_version": a_plan(kubernetes_version="1.34"),
            "nodes_cidr": changed_part("network", nodes_cidr="10.9.0.0/20"),
            "pods_cidr": changed_part("network", pods_cidr="10.9.0.0/16"),
            "services_cidr": changed_part("network", services_cidr="10.9.0.0/20"),
            "control_plane_cidrs": changed_part("network", control_plane_cidrs=("192.0.2.0/24",)),
            "system_pool.machine": changed_part("system_pool", machine="other"),
            "system_pool.min_nodes": changed_part("system_pool", min_nodes=2),
            "system_pool.max_nodes": changed_part("system_pool", max_nodes=9),
            "system_pool.disk_gib": changed_part("system_pool", disk_gib=9),
            "driver": changed_magnum(driver=MagnumDriver.CLUSTER_API),
            "image": changed_magnum(image="other"),
            "external_network": changed_magnum(external_network="other"),
            "control_plane_flavor": changed_magnum(control_plane_flavor="other"),
            "control_plane_nodes": changed_magnum(control_plane_nodes=5),
            "keypair": changed_magnum(keypair=None),
            "dns_nameservers": changed_magnum(dns_nameservers=("192.0.2.1", "192.0.2.2")),
            "pool.name": changed_pool(name="other"),
            "pool.card": changed_pool(card="V100"),
            "pool.machine": changed_pool(machine="other"),
            "pool.min_nodes": changed_pool(min_nodes=1),
            "pool.max_nodes": changed_pool(max_nodes=9),
            "pool.zones": changed_pool(zones=("a",)),
            "pool.disk_gib": changed_pool(disk_gib=9),
            "pool.labels": changed_pool(labels=(("gpu", "T4"),)),
            "pool.taints": changed_pool(taints=()),
            "pool.mode": changed_pool(mode=GpuMode.BARE_METAL),
        }.items()
    ],
)
def test_no_field_is_dead(changed: ClusterPlan) -> None:
    """Changing any field that applies on Magnum changes what is declared."""
    before, after = (
        {resource.urn: (resource.type, resource.inputs) for resource in declare(plan).resources} for plan in (a_plan(), changed)
    )
    assert before != after


def test_account_is_the_clouds_yaml_entry() -> None:
    """The provider takes the named entry, or leaves the choice to the environment."""
    args = ClusterArgs(plan=a_plan(account="cern-prod"), deletion_protection=False)
    assert magnum.to_provider_args(args).cloud == "cern-prod"


def test_other_clouds_are_refused() -> None:
    """A plan without Magnum settings is a mistake of the program."""
    with pytest.raises(ValueError, match="no Magnum settings"):
        magnum_labels.cluster_labels(a_cluster(Cloud.GOOGLE))
