"""Who the nodes of a GKE cluster are: a service account of their own with two roles, and nothing else.

`roles/container.defaultNodeServiceAccount` is the least that GKE asks of a node's service account; it stands for the older list
of single logging and monitoring roles. `roles/artifactregistry.reader` lets nodes pull private images
of the project. Source: GKE page "Configure GKE node service accounts", read 2026-11-21. Workloads never use this account: they
get Google identities through Workload Identity Federation, and the GKE metadata server hides the node's.

Access scopes are a legacy that GKE advises against; the account carries `cloud-platform`, and IAM decides (GKE page "Access
scopes in GKE", read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp

from components.base import Component
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan

NODE_ROLES = {
    "node": "roles/container.defaultNodeServiceAccount",
    "images": "roles/artifactregistry.reader",
}
"""The nodes' roles in the project, by the suffix of the resource that grants each."""

NODE_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeIdentity:
    """The nodes' service account, with what a node pool must wait for.

    Attributes:
        email: The account's address.
        project: The project everything is in: the plan's, else the one that the credentials stand for.
        roles: The grants; a node that boots before them writes no logs and pulls no private image.
    """

    email: pulumi.Output[str]
    project: pulumi.Input[str]
    roles: tuple[gcp.projects.IAMMember, ...]

    @property
    def workload_pool(self) -> pulumi.Output[str]:
        """The pool of Kubernetes service accounts that IAM knows, one for each project."""
        return pulumi.Output.concat(self.project, ".svc.id.goog")


def to_service_account_args(plan: ClusterPlan) -> gcp.serviceaccount.AccountArgs:
    """Return the nodes' service account."""
    return gcp.serviceaccount.AccountArgs(
        account_id=cloud_name(NameKind.GOOGLE_SERVICE_ACCOUNT, plan.name, "nodes"),
        display_name=f"Nodes of GKE cluster {plan.name}",
        project=plan.account,
    )


def to_role_args(project: pulumi.Input[str], role: str, email: pulumi.Input[str]) -> gcp.projects.IAMMemberArgs:
    """Return the grant of one role: a member added to the project's policy, which leaves everybody else's alone."""
    return gcp.projects.IAMMemberArgs(
        project=project,
        role=role,
        member=pulumi.Output.concat("serviceAccount:", email),
    )


def declare_identity(component: Component, plan: ClusterPlan) -> NodeIdentity:
    """Declare the nodes' service account and its roles as children of `component`."""
    options = component.child_options()
    account = gcp.serviceaccount.Account(component.child("account"), to_service_account_args(plan), opts=options)
    project: pulumi.Input[str] = plan.account or account.project
    roles = tuple(
        gcp.projects.IAMMember(component.child(f"role-{suffix}"), to_role_args(project, role, account.email), opts=options)
        for suffix, role in NODE_ROLES.items()
    )
    return NodeIdentity(email=account.email, project=project, roles=roles)
