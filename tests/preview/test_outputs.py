"""Stand-in outputs: whatever a fleet's components read downstream is there, stable, and clearly not real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from preview.graph import UNKNOWN
from tests.support.declaring import run_text

READS = {
    "google": """
        import pulumi_gcp as gcp
        account = gcp.serviceaccount.Account("a", account_id="nodes")
        cluster = gcp.container.Cluster("c", location="us-central1")
        pool = gcp.container.NodePool("p", cluster=cluster.id, location="us-central1", node_locations=["us-central1-a"])
        network = gcp.compute.Network("n")
        read = [account.email, account.member, cluster.name, cluster.endpoint, cluster.self_link, network.self_link, pool.name,
            cluster.master_auth.cluster_ca_certificate, pool.managed_instance_group_urls[0],
            cluster.control_plane_endpoints_config.dns_endpoint_config.endpoint]
        """,
    "aws": """
        import pulumi_aws as aws
        role = aws.iam.Role("r", assume_role_policy="{}")
        cluster = aws.eks.Cluster("c", role_arn=role.arn, vpc_config=aws.eks.ClusterVpcConfigArgs(subnet_ids=["s"]))
        template = aws.ec2.LaunchTemplate("t")
        group = aws.eks.NodeGroup("g", cluster_name=cluster.name, node_role_arn=role.arn, subnet_ids=["s"],
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=0, max_size=4, desired_size=0))
        oidc = aws.iam.OpenIdConnectProvider("o", url=cluster.identities[0].oidcs[0].issuer, client_id_lists=["sts"])
        vpc = aws.ec2.Vpc("v", cidr_block="10.0.0.0/16")
        read = [role.arn, role.name, cluster.arn, cluster.endpoint, cluster.certificate_authority.data, oidc.arn, template.id,
            template.latest_version, template.name, group.resources[0].autoscaling_groups[0].name, group.node_group_name,
            cluster.identities[0].oidcs[0].issuer, cluster.vpc_config.cluster_security_group_id, vpc.arn,
            vpc.default_security_group_id, aws.kms.Key("k").arn, aws.ec2.Eip("e").id, aws.get_caller_identity_output().account_id,
            aws.get_availability_zones_output().names[2]]
        """,
    "azure": """
        import pulumi_azure_native as azure
        group = azure.resources.ResourceGroup("rg")
        subnet = azure.network.Subnet("s", resource_group_name=group.name, virtual_network_name="v")
        identity = azure.managedidentity.UserAssignedIdentity("i", resource_group_name=group.name)
        cluster = azure.containerservice.ManagedCluster("c", resource_group_name=group.name,
            identity=azure.containerservice.ManagedClusterIdentityArgs(
                type="UserAssigned", user_assigned_identities=[identity.id]),
            oidc_issuer_profile=azure.containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True))
        credentials = azure.containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group.name, resource_name=cluster.name)
        read = [group.name, subnet.id, identity.client_id, identity.principal_id, cluster.name, cluster.fqdn,
            cluster.oidc_issuer_profile.issuer_url, cluster.identity_profile["kubeletidentity"].object_id,
            cluster.node_resource_group, credentials.kubeconfigs[0].value]
        """,
    "openstack": """
        import pulumi_openstack as openstack
        template = openstack.containerinfra.ClusterTemplate("t", coe="kubernetes", image="i")
        cluster = openstack.containerinfra.Cluster("c", cluster_template_id=template.id)
        read = [template.id, cluster.name, cluster.api_address, cluster.kubeconfig["raw_config"], cluster.stack_id,
            cluster.kubeconfig["cluster_ca_certificate"], openstack.compute.Keypair("k").name,
            openstack.containerinfra.NodeGroup("g", cluster_id=cluster.id, max_node_count=2).name,
            openstack.images.get_image_output(name="fcos").id]
        """,
    "kubernetes": """
        import pulumi_kubernetes as kubernetes
        named = kubernetes.core.v1.Namespace("n", metadata={"name": "argocd"})
        secret = kubernetes.core.v1.Secret("s", type="kubernetes.io/service-account-token",
            metadata={"namespace": named.metadata.name})
        account = kubernetes.core.v1.ServiceAccount("auto")
        read = [named.metadata.name, account.metadata.name, account.metadata.namespace, secret.metadata.name,
            secret.data["token"], secret.data["ca.crt"]]
        """,
}


@pytest.mark.parametrize("cloud", READS)
def test_nothing_downstream_is_none(cloud: str, tmp_path: Path) -> None:
    """Every output that components of this cloud read has a value, the same in every run."""
    body = READS[cloud] + "\n        pulumi.export('read', pulumi.Output.unsecret(pulumi.Output.all(*read)))"
    values = [run_text(body, tmp_path).monitor.stack_outputs.masked["read"] for _ in range(2)]
    assert values[0] == values[1]
    assert isinstance(values[0], list)
    assert not [index for index, value in enumerate(values[0]) if value in (None, "", UNKNOWN)]


def test_names_are_given_or_made_from_the_logical_name(tmp_path: Path) -> None:
    """A given name stays; an absent one is the logical name and seven digits that come from the URN."""
    body = """
        import pulumi_gcp as gcp
        pulumi.export("given", gcp.compute.Network("a", name="mine").name)
        pulumi.export("made", gcp.compute.Network("b").name)
    """
    outputs = run_text(body, tmp_path).monitor.stack_outputs.masked
    assert outputs["given"] == "mine"
    prefix, _, digits = outputs["made"].rpartition("-")
    assert prefix == "b"
    assert len(digits) == 7
    assert int(digits, 16) >= 0


def test_a_type_without_a_row_still_answers_plain_text(tmp_path: Path) -> None:
    """A computed text output that no row covers gets a stand-in from the SDK class, so that `apply` runs."""
    body = """
        import pulumi_gcp as gcp
        bucket = gcp.storage.Bucket("b", location="EU")
        pulumi.export("url", bucket.url.apply(lambda url: f"seen {url}"))
    """
    assert run_text(body, tmp_path).monitor.stack_outputs.masked["url"].startswith("seen simulated-url-")


def test_a_function_without_a_row_is_told(tmp_path: Path) -> None:
    """A provider function that nothing covers leaves a warning with its token."""
    body = """
        import pulumi_gcp as gcp
        gcp.storage.get_bucket_output(name="b")
    """
    (finding,) = run_text(body, tmp_path).monitor.findings
    assert finding.path == "gcp:storage/getBucket:getBucket"


def test_the_registry_imports_no_provider_sdk() -> None:
    """Stand-ins for five providers cost no import of any."""
    code = "import json, sys, preview.worker, preview.outputs.aws, preview.outputs.azure; print(json.dumps(sorted(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not {name for name in loaded if name.startswith("pulumi_")}
    assert "components" not in loaded
