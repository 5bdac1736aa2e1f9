"""The one contract of every cloud: `ClusterArgs` in, `ClusterFacts` out, and the table of who builds what.

A cloud's module is imported only when a stack needs it, so that a stack's program loads one provider SDK.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

import pulumi

from fleet.clouds import Cloud
from fleet.records import ClusterPlan, NodePool

__all__ = ["BUILDERS", "ClusterArgs", "ClusterFacts", "ClusterModule", "NodePool", "builder"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterArgs:
    """What a cluster component is given.

    Attributes:
        plan: The cluster as planned.
        deletion_protection: Whether the cloud and the engine refuse to delete the cluster; a stack's setting.
    """

    plan: ClusterPlan
    deletion_protection: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterFacts:
    """What everybody else may know of a cluster that exists: the same record on every cloud.

    Attributes:
        name: As planned.
        site: As planned.
        cloud: As planned.
        region: As planned.
        zones: Zones of its nodes, as planned.
        kubernetes_version: As planned.
        cards: Cards in it, sorted.
        pools: For each pool, by name: what a reader outside Kubernetes needs (`pool_facts`).
        endpoint: URL of the API server, with ``https://``.
        ca_certificate: The API server's certificate authority, PEM in base64.
        kubeconfig: A kubeconfig file, YAML or JSON text; always a secret.
        identity: The cloud's identity details by name, for instance ``workload_pool`` or ``oidc_issuer``.
    """

    name: str
    site: str
    cloud: Cloud
    region: str
    zones: tuple[str, ...]
    kubernetes_version: str
    cards: tuple[str, ...]
    pools: Mapping[str, Mapping[str, Any]]
    endpoint: pulumi.Output[str]
    ca_certificate: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    identity: Mapping[str, pulumi.Input[str]]

    @classmethod
    def of(
        cls,
        plan: ClusterPlan,
        *,
        endpoint: pulumi.Output[str],
        ca_certificate: pulumi.Output[str],
        kubeconfig: pulumi.Output[str],
        identity: Mapping[str, pulumi.Input[str]],
    ) -> ClusterFacts:
        """Return the facts of a planned cluster, with the kubeconfig marked secret."""
        return cls(
            name=plan.name,
            site=plan.site,
            cloud=plan.cloud,
            region=plan.region,
            zones=plan.zones,
            kubernetes_version=plan.kubernetes_version,
            cards=plan.cards,
            pools={pool.name: pool_facts(pool) for pool in plan.pools},
            endpoint=endpoint,
            ca_certificate=ca_certificate,
            kubeconfig=pulumi.Output.secret(kubeconfig),
            identity=identity,
        )

    def public(self) -> dict[str, Any]:
        """Return all but the kubeconfig, as plain data with outputs inside: what a stack may export in clear."""
        facts = {item.name: getattr(self, item.name) for item in dataclasses.fields(self) if item.name != "kubeconfig"}
        facts.update(cloud=str(self.cloud), zones=list(self.zones), cards=list(self.cards))
        facts.update(pools={name: dict(pool) for name, pool in self.pools.items()}, identity=dict(self.identity))
        return facts


def pool_facts(pool: NodePool) -> dict[str, Any]:
    """Return what readers of a stack's outputs need to know of one pool."""
    return {
        "card": pool.card,
        "kind": str(pool.kind),
        "resource": pool.resource,
        "machine": pool.machine,
        "accelerators": pool.accelerators,
        "min_nodes": pool.min_nodes,
        "max_nodes": pool.max_nodes,
        "capacity": str(pool.capacity),
        "priority": pool.priority,
    }


class ClusterModule(Protocol):
    """What each cloud's module offers."""

    def make_provider(self, name: str, args: ClusterArgs) -> pulumi.ProviderResource:
        """Return the provider for the cluster's account and region; `name` is its logical name."""
        ...

    def build(self, args: ClusterArgs, provider: pulumi.ProviderResource) -> ClusterFacts:
        """Declare the cluster and everything it needs, and return its facts."""
        ...


BUILDERS: Mapping[Cloud, str] = {
    Cloud.GOOGLE: "components.gke",
    Cloud.AWS: "components.eks",
    Cloud.AZURE: "components.aks",
    Cloud.OPENSTACK: "components.magnum",
}


def builder(cloud: Cloud) -> ClusterModule:
    """Return the module that builds clusters on `cloud`, imported now if it was not yet.

    Raises:
        KeyError: The cloud has no row in `BUILDERS`.
    """
    return cast("ClusterModule", import_module(BUILDERS[cloud]))
