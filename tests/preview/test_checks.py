"""Right resources of all five SDKs pass; what mocks let through is found, with path, value and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from preview.checks import check
from preview.graph import Finding
from tests.support.declaring import by_path, run_text

RIGHT = {
    "google": """
        import pulumi_gcp as gcp
        network = gcp.compute.Network("n", auto_create_subnetworks=False)
        cluster = gcp.container.Cluster(
            "c", network=network.id, location="us-central1", initial_node_count=1, remove_default_node_pool=True,
            release_channel=gcp.container.ClusterReleaseChannelArgs(channel="REGULAR"), resource_labels={"any key": "v"})
        gcp.container.NodePool(
            "p", cluster=cluster.id, autoscaling=gcp.container.NodePoolAutoscalingArgs(
                total_min_node_count=0, total_max_node_count=4, location_policy="ANY"),
            node_config=gcp.container.NodePoolNodeConfigArgs(
                machine_type="n1-standard-4", labels={"gpu": "T4"}, spot=True,
                taints=[gcp.container.NodePoolNodeConfigTaintArgs(
                    key="nvidia.com/gpu", value="present", effect="NO_SCHEDULE")],
                guest_accelerators=[{"type": "nvidia-tesla-t4", "count": 1,
                    "gpu_driver_installation_config": {"gpu_driver_version": "LATEST"}}]))
        """,
    "aws": """
        import pulumi_aws as aws
        role = aws.iam.Role("r", assume_role_policy="{}")
        cluster = aws.eks.Cluster("c", role_arn=role.arn, vpc_config={"subnet_ids": ["subnet-1"]},
            access_config={"authentication_mode": "API"})
        group = aws.eks.NodeGroup("g", cluster_name=cluster.name, node_role_arn=role.arn, subnet_ids=["subnet-1"],
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=0, max_size=4, desired_size=0),
            update_config={"max_unavailable": 1}, ami_type="AL2023_x86_64_NVIDIA", capacity_type="SPOT",
            taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}], labels={"gpu": "T4"})
        aws.autoscaling.Tag("t", autoscaling_group_name=group.resources[0].autoscaling_groups[0].name,
            tag={"key": "a/b", "value": "1", "propagate_at_launch": True})
        """,
    "azure": """
        import pulumi_azure_native as azure
        group = azure.resources.ResourceGroup("rg", location="westeurope")
        cluster = azure.containerservice.ManagedCluster("c", resource_group_name=group.name, dns_prefix="c",
            identity={"type": "UserAssigned", "user_assigned_identities": ["/subscriptions/x/id"]},
            agent_pool_profiles=[{"name": "system", "count": 2, "mode": "System", "vm_size": "Standard_D4s_v5"}],
            oidc_issuer_profile={"enabled": True}, sku={"name": "Base", "tier": "Standard"})
        azure.containerservice.AgentPool("p", resource_group_name=group.name, resource_name_=cluster.name,
            agent_pool_name="t4spot", count=0, min_count=0, max_count=3, enable_auto_scaling=True,
            scale_set_priority="Spot", scale_set_eviction_policy="Delete", spot_max_price=-1, mode="User",
            node_labels={"gpu": "T4"}, node_taints=["nvidia.com/gpu=present:NoSchedule"])
        """,
    "openstack": """
        import pulumi_openstack as openstack
        template = openstack.containerinfra.ClusterTemplate("t", coe="kubernetes", image="fcos", labels={"a": "b"})
        cluster = openstack.containerinfra.Cluster("c", cluster_template_id=template.id, master_count=3)
        openstack.containerinfra.NodeGroup("g", cluster_id=cluster.id, node_count=0, min_node_count=0, max_node_count=4,
            flavor_id="g1", labels={"gpu": "T4"}, merge_labels=True)
        """,
    "kubernetes": """
        import pulumi_kubernetes as kubernetes
        provider = kubernetes.Provider("k", kubeconfig="{}", cluster_identifier="c", enable_server_side_apply=True)
        opts = pulumi.ResourceOptions(provider=provider)
        account = kubernetes.core.v1.ServiceAccount("sa", metadata={"namespace": "kube-system", "labels": {"x/y": "z"}},
            opts=opts)
        kubernetes.core.v1.Secret("s", type="kubernetes.io/service-account-token", metadata={
            "annotations": {"kubernetes.io/service-account.name": account.metadata.name}}, opts=opts)
        kubernetes.apps.v1.Deployment("d", spec={"selector": {"match_labels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i",
                "ports": [{"container_port": 80}], "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}, opts=opts)
        kubernetes.apiextensions.CustomResource("x", api_version="a.b/v1", kind="K", spec={"any": {"thing": [1]}})
        """,
}


def _findings(body: str, folder: Path) -> list[Finding]:
    """Run a program and check what it declares."""
    return check(run_text(body, folder).monitor.declared())


@pytest.mark.parametrize("cloud", RIGHT)
def test_right_resources_pass(cloud: str, tmp_path: Path) -> None:
    """Resources as a careful engineer writes them raise no finding, dict literals and free maps included."""
    assert _findings(RIGHT[cloud], tmp_path) == []


WRONG = [
    ("google", '"LATEST"', '"LATSET"', "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "LATEST"),
    ("google", '"NO_SCHEDULE"', '"NoSchedule"', "nodeConfig.taints[0].effect", "NO_SCHEDULE"),
    ("google", 'location_policy="ANY"', 'location_policy="SOME"', "autoscaling.locationPolicy", "ANY"),
    ("google", '"count": 1,', "", "nodeConfig.guestAccelerators[0].count", "Give it a value"),
    ("google", '"count": 1,', '"cuont": 1,', "nodeConfig.guestAccelerators[0].cuont", "count"),
    ("google", '"count": 1,', '"count": "one",', "nodeConfig.guestAccelerators[0].count", "whole number"),
    ("google", "total_min_node_count=0", "total_min_node_count=9", "autoscaling.totalMinNodeCount", "Raise"),
    ("google", "location_policy=", "min_node_count=0, location_policy=", "autoscaling", "one pair"),
    ("google", '"gpu": "T4"', '"gpu": "H100/NVL 80GB"', 'nodeConfig.labels["gpu"]', "63"),
    ("aws", "max_size=4", "max_size=0", "scalingConfig.maxSize", "at least 1"),
    ("aws", '"SPOT"', '"SPOTTY"', "capacityType", "SPOT"),
    ("aws", "AL2023_x86_64_NVIDIA", "AL2023_NVIDIA", "amiType", "AL2023_x86_64_NVIDIA"),
    ("aws", '"authentication_mode": "API"', '"authenticationMode": "IAM"', "accessConfig.authenticationMode", "CONFIG_MAP"),
    ("aws", '"max_unavailable": 1', "", "updateConfig", "one of"),
    ("aws", '"propagate_at_launch": True', '"propagateAtLaunch": "yes"', "tag.propagateAtLaunch", "true or false"),
    ("aws", 'subnet_ids=["subnet-1"],', 'subnet_ids="subnet-1",', "subnetIds", "list"),
    ("azure", '"Spot"', '"Spotty"', "scaleSetPriority", "Spot"),
    ("azure", "count=0, ", "", "count", "count=0"),
    ("azure", '"t4spot"', '"T4-spot-of-a-long-name"', "agentPoolName", "12"),
    ("azure", "present:NoSchedule", "present:NO_SCHEDULE", "nodeTaints[0]", "NoSchedule"),
    ("azure", "max_count=3", 'max_count="x"', "maxCount", "whole number"),
    ("azure", '"name": "system", ', "", "agentPoolProfiles[0].name", "Give it a value"),
    ("azure", '"tier": "Standard"', '"tire": "Standard"', "sku.tire", "tier"),
    ("openstack", "cluster_template_id=template.id, ", "", "clusterTemplateId", "template"),
    ("openstack", "min_node_count=0", "min_node_count=1", "minNodeCount", "Raise"),
    ("openstack", '"a": "b"', '"a": True', 'labels["a"]', "text"),
    (
        "kubernetes",
        '"container_port"',
        '"containerport"',
        "spec.template.spec.containers[0].ports[0].containerport",
        "containerPort",
    ),
    ("kubernetes", '"name": "c", ', "", "spec.template.spec.containers[0].name", "Give it a value"),
    ("kubernetes", '"namespace"', '"namespaec"', "metadata.namespaec", "namespace"),
]


@pytest.mark.parametrize(("cloud", "right", "wrong", "path", "remedy"), WRONG, ids=lambda value: str(value)[:40])
def test_what_mocks_let_through_is_found(cloud: str, right: str, wrong: str, path: str, remedy: str, tmp_path: Path) -> None:
    """One slip in a right program yields a finding at that path whose remedy says what would be right."""
    assert right in RIGHT[cloud]
    found = by_path(_findings(RIGHT[cloud].replace(right, wrong, 1), tmp_path))
    assert path in found, sorted(found)
    assert remedy in found[path].remedy
    assert found[path].urn.startswith("urn:pulumi:dev::toy::")


def test_values_that_nobody_may_see_are_not_judged(tmp_path: Path) -> None:
    """A secret in place of an enum is skipped: its value must not reach a message."""
    body = RIGHT["aws"].replace('"SPOT"', 'pulumi.Output.secret("SPOTTY")')
    assert _findings(body, tmp_path) == []
