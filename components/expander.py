"""Spot before on-demand: the cluster autoscaler's priorities for the pools of one cluster."""

from __future__ import annotations

import pulumi_kubernetes as kubernetes
import yaml
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.base import Component
from fleet.naming import POOL_NAMES, cloud_name
from fleet.records import ClusterPlan

_NAME = "cluster-autoscaler-priority-expander"
_NAMESPACE = "kube-system"
_REST = 1


def to_priorities(plan: ClusterPlan) -> str:
    """Return the ConfigMap's ``priorities``: node group name patterns by priority, the greater tried first, YAML.

    A node group's name holds the pool's cloud name on EKS (``eks-<node group>-<uuid>``) and AKS (``aks-<pool>-<digits>-vmss``).
    All that is not a spot pool falls under the pattern that matches everything. Source: kubernetes/autoscaler 55c37cd,
    expander/priority/readme.md, 2026-08-22.
    """
    patterns: dict[int, list[str]] = {}
    for pool in plan.pools:
        if pool.is_spot:
            patterns.setdefault(pool.priority, []).append(f".*{cloud_name(POOL_NAMES[plan.cloud], pool.name)}.*")
    patterns[_REST] = [".*"]
    return yaml.safe_dump(patterns, sort_keys=True)


def needs_priorities(plan: ClusterPlan) -> bool:
    """Return whether some card has both a spot pool and another one, under an autoscaler that reads priorities."""
    spot = {pool.card for pool in plan.pools if pool.is_spot}
    return any(pool.card in spot for pool in plan.pools if not pool.is_spot)


class PoolPriorities(Component):
    """The priority expander's ConfigMap in one cluster."""

    def __init__(self, plan: ClusterPlan, provider: kubernetes.Provider) -> None:
        super().__init__("PoolPriorities", f"{plan.name}-priorities")
        ConfigMap(
            self.child("expander"),
            metadata=ObjectMetaArgs(name=_NAME, namespace=_NAMESPACE),
            data={"priorities": to_priorities(plan)},
            opts=self.child_options(provider=provider),
        )
        self.register({"cluster": plan.name})
