"""Who reaches an AKS cluster, and with what: Entra, the API server's allowed addresses, and the kubeconfig.

People and programs log in with Entra alone: local accounts are off, so no certificate that opens the cluster exists anywhere, and
the kubeconfig holds no credential: it calls ``kubelogin``. How that logs in where nobody sits at a browser is for the environment
to say: ``AAD_LOGIN_METHOD`` (``azurecli``, ``spn``, ``workloadidentity``, ``msi``) goes before the flag in the file (kubelogin's
options source, read 2026-11-21). Whoever runs the hub stack has to be in one of the plan's admin groups or to hold an "Azure
Kubernetes Service RBAC" role.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import pulumi
import yaml
from pulumi_azure_native import containerservice

from fleet.records import ClusterPlan

ENTRA_SERVER_APPLICATION = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""Application id that tokens for any AKS cluster are issued for. Source: AKS, kubelogin-authentication.md, 2026-08."""


def to_entra_profile(plan: ClusterPlan) -> containerservice.ManagedClusterAADProfileArgs:
    """Return the login through Entra, with Azure roles for all and full rights for the plan's groups."""
    return containerservice.ManagedClusterAADProfileArgs(
        managed=True, enable_azure_rbac=True, admin_group_object_ids=list(plan.admins)
    )


def to_api_server_access(
    plan: ClusterPlan, egress_ip: pulumi.Input[str]
) -> containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Return who may reach the API server: the plan's ranges, all addresses when it names none.

    If every range is private, the API server is private too, and its name still resolves outside (to an inner address), so
    that the endpoint in the facts stays right. Azure fixes that at creation and refuses a later change.

    With ranges the nodes' own way out is let in too; they reach the API server through it, and AKS adds it by itself only for a
    load balancer (AKS, api-server-authorized-ip-ranges.md, 2026-08). Commands run through Azure's own API, past the ranges and
    past Entra's conditions, are off.
    """
    if plan.network.is_private:
        return containerservice.ManagedClusterAPIServerAccessProfileArgs(
            enable_private_cluster=True, enable_private_cluster_public_fqdn=True, disable_run_command=True
        )
    ranges: list[pulumi.Input[str]] = list(plan.network.public_control_plane_cidrs)
    if ranges:
        ranges.append(pulumi.Output.concat(egress_ip, "/32"))
    return containerservice.ManagedClusterAPIServerAccessProfileArgs(
        authorized_ip_ranges=ranges or None, disable_run_command=True
    )


def to_kubeconfig(credentials: Sequence[containerservice.outputs.CredentialResultResponse]) -> str:
    """Return the kubeconfig among a cluster's credentials as text.

    Args:
        credentials: What Azure's listClusterUserCredential answers: files in base64, decoded below.
    """
    return base64.b64decode(credentials[0].value).decode()


def to_ca_certificate(kubeconfig: str) -> str:
    """Return the API server's certificate authority from a kubeconfig: PEM in base64. Azure tells it nowhere else."""
    return yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]["certificate-authority-data"]
