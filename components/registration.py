"""A cluster becomes known to ArgoCD: an account for it in the cluster, and a cluster Secret on the hub.

The account's token is bound to a Secret of the cluster and leaves Pulumi's encrypted state for the hub's Secret alone. ArgoCD
finds the cluster by the Secret's labels: one for each card, so that an ApplicationSet can put work where its card is.

The Kubernetes provider waits until the token's Secret is filled in (pulumi-kubernetes PR 2048, 2022-06).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import Secret, ServiceAccount
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRuleArgs,
    RoleRefArgs,
    SubjectArgs,
)

from components.base import Component
from fleet.labels import CapacityType
from fleet.records import ClusterPlan

ARGOCD_NAMESPACE = "argocd"
_ACCOUNT = "gpufleet-argocd"
_ACCOUNT_NAMESPACE = "kube-system"
_PREFIX = "gpufleet.io"
_YES = "1"
_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
"""What ArgoCD may do with any object. Not among them are escalate, bind and impersonate: it cannot give itself more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RegistrationArgs:
    """What a registration is given.

    Attributes:
        plan: The cluster as planned.
        endpoint: URL of its API server.
        ca_certificate: The API server's certificate authority, PEM in base64.
        spoke: Provider for the cluster.
        hub: Provider for the hub.
        namespace: Namespace of ArgoCD on the hub.
    """

    plan: ClusterPlan
    endpoint: pulumi.Input[str]
    ca_certificate: pulumi.Input[str]
    spoke: kubernetes.Provider
    hub: kubernetes.Provider
    namespace: pulumi.Input[str]


def to_secret_labels(plan: ClusterPlan) -> dict[str, str]:
    """Return the labels of a cluster's Secret: what an ApplicationSet can choose clusters by."""
    labels = {
        "argocd.argoproj.io/secret-type": "cluster",
        f"{_PREFIX}/cloud": str(plan.cloud),
        f"{_PREFIX}/kubernetes-version": plan.kubernetes_version,
        f"{_PREFIX}/region": plan.region,
        f"{_PREFIX}/site": plan.site,
    }
    labels |= {f"{_PREFIX}/card-{card.lower()}": _YES for card in plan.cards}
    labels |= {f"{_PREFIX}/kind-{pool.kind}": _YES for pool in plan.pools}
    if plan.is_hub:
        labels[f"{_PREFIX}/hub"] = _YES
    if any(pool.capacity is CapacityType.SPOT for pool in plan.pools):
        labels[f"{_PREFIX}/spot"] = _YES
    return dict(sorted(labels.items()))


def to_secret_annotations(plan: ClusterPlan) -> dict[str, str]:
    """Return the annotations of a cluster's Secret: facts that applications read, too long or too free for labels."""
    pools = {
        pool.name: {
            "card": pool.card,
            "resource": pool.resource,
            "accelerators": pool.accelerators,
            "max_nodes": pool.max_nodes,
            "capacity": str(pool.capacity),
        }
        for pool in plan.pools
    }
    annotations = {
        f"{_PREFIX}/account": plan.account or "",
        f"{_PREFIX}/billing-account": dict(plan.tags).get("billing-account", ""),
        f"{_PREFIX}/pools": json.dumps(pools, sort_keys=True),
        f"{_PREFIX}/zones": ",".join(plan.zones),
    }
    return {key: value for key, value in annotations.items() if value}


def to_connection(token: str, ca_certificate: str) -> str:
    """Return the ``config`` of a cluster Secret, JSON as ArgoCD's declarative setup states it."""
    return json.dumps({"bearerToken": token, "tlsClientConfig": {"insecure": False, "caData": ca_certificate}})


def token_of(data: Mapping[str, str] | None) -> str:
    """Return the token in the data of a service account's token Secret.

    Raises:
        RunError: Kubernetes has not filled the Secret in.
    """
    if not data or "token" not in data:
        raise pulumi.RunError(f"the token of {_ACCOUNT_NAMESPACE}/{_ACCOUNT} is not there yet: run the update again")
    return base64.b64decode(data["token"]).decode()


class ClusterRegistration(Component):
    """Registers one cluster with the hub's ArgoCD."""

    def __init__(self, args: RegistrationArgs) -> None:
        super().__init__("ClusterRegistration", f"{args.plan.name}-registration")
        token = self._account(args.spoke)
        secret = self._cluster_secret(args, token)
        self.register({"secret": secret.metadata.name})

    def _account(self, spoke: kubernetes.Provider) -> pulumi.Output[str]:
        """Declare ArgoCD's account in the cluster and return its token, secret."""
        options = self.child_options(provider=spoke)
        account = ServiceAccount(
            self.child("account"), metadata=ObjectMetaArgs(name=_ACCOUNT, namespace=_ACCOUNT_NAMESPACE), opts=options
        )
        role = ClusterRole(
            self.child("role"),
            metadata=ObjectMetaArgs(name=_ACCOUNT),
            rules=[PolicyRuleArgs(api_groups=["*"], resources=["*"], verbs=list(_VERBS))],
            opts=options,
        )
        ClusterRoleBinding(
            self.child("role-binding"),
            metadata=ObjectMetaArgs(name=_ACCOUNT),
            role_ref=RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=role.metadata.name),
            subjects=[SubjectArgs(kind="ServiceAccount", name=account.metadata.name, namespace=_ACCOUNT_NAMESPACE)],
            opts=options,
        )
        token = Secret(
            self.child("token"),
            type="kubernetes.io/service-account-token",
            metadata=ObjectMetaArgs(
                name=f"{_ACCOUNT}-token",
                namespace=_ACCOUNT_NAMESPACE,
                annotations={"kubernetes.io/service-account.name": account.metadata.name},
            ),
            opts=self.child_options(provider=spoke, additional_secret_outputs=["data"]),
        )
        return pulumi.Output.secret(token.data.apply(token_of))

    def _cluster_secret(self, args: RegistrationArgs, token: pulumi.Output[str]) -> Secret:
        """Declare the Secret on the hub by which ArgoCD knows the cluster."""
        connection = pulumi.Output.all(token, args.ca_certificate).apply(lambda both: to_connection(both[0], both[1]))
        return Secret(
            self.child("cluster"),
            metadata=ObjectMetaArgs(
                name=f"cluster-{args.plan.name}",
                namespace=args.namespace,
                labels=to_secret_labels(args.plan),
                annotations=to_secret_annotations(args.plan),
            ),
            string_data=pulumi.Output.secret(
                {"name": args.plan.name, "server": args.endpoint, "config": pulumi.Output.secret(connection)}
            ),
            opts=self.child_options(provider=args.hub),
        )
