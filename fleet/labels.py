"""One vocabulary for node labels and taints, and each cloud's spelling of a taint's effect.

Inside the program there are only the words of this file. What a cloud wants instead is looked up by `spell_effect`, which raises
on anything it does not know, so a wrong word never reaches a cloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet.clouds import Cloud

CARD_LABEL = "gpu"
"""Label whose value is the card, for instance ``gpu=T4``: what a workload selects and what wakes a node pool."""

CAPACITY_LABEL = "gpufleet.io/capacity-type"
"""Label that says how a node is paid for; its values are those of `CapacityType`."""

CAPACITY_TAINT_KEY = "gpufleet.io/capacity-type"
"""Taint key of spot node pools on every cloud: work lands on a node that can be taken away only if it says so (ADR 0003)."""

RESERVED_DOMAINS = (
    "kubernetes.io",
    "k8s.io",
    "kubernetes.azure.com",
    "cloud.google.com",
    "eks.amazonaws.com",
    "k8s.amazonaws.com",
    "magnum.openstack.org",
    "gpufleet.io",
)
"""Domains of label and taint keys that belong to Kubernetes, a cloud or this program, domains under them included: an inventory
may not set them, and a kubelet that sets one of Kubernetes' own is refused by the API server (NodeRestriction)."""


class CapacityType(StrEnum):
    """How the nodes of a pool are paid for."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"


class TaintEffect(StrEnum):
    """What a taint does to pods without a matching toleration, in Kubernetes' own spelling."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Taint:
    """A node taint.

    Attributes:
        key: Qualified name, such as ``nvidia.com/gpu``.
        value: At most 63 characters, may be empty.
        effect: What happens to pods that do not tolerate it.
    """

    key: str
    value: str = ""
    effect: TaintEffect = TaintEffect.NO_SCHEDULE

    def __str__(self) -> str:
        """Return the spelling of Kubernetes and of Azure: ``key=value:Effect``."""
        return f"{self.key}={self.value}:{self.effect}"


def is_reserved(key: str) -> bool:
    """Return whether a label's or taint's key is in a domain of `RESERVED_DOMAINS` or is the card's label."""
    domain, slash, _ = key.rpartition("/")
    return key == CARD_LABEL or (bool(slash) and f".{domain}".endswith(tuple(f".{name}" for name in RESERVED_DOMAINS)))


SPOT_TAINT = Taint(key=CAPACITY_TAINT_KEY, value=CapacityType.SPOT)

_UPPER_CASE_EFFECTS: Mapping[TaintEffect, str] = {
    TaintEffect.NO_SCHEDULE: "NO_SCHEDULE",
    TaintEffect.PREFER_NO_SCHEDULE: "PREFER_NO_SCHEDULE",
    TaintEffect.NO_EXECUTE: "NO_EXECUTE",
}
_KUBERNETES_EFFECTS: Mapping[TaintEffect, str] = {effect: effect.value for effect in TaintEffect}

_EFFECTS: Mapping[Cloud, Mapping[TaintEffect, str]] = {
    Cloud.GOOGLE: _UPPER_CASE_EFFECTS,
    Cloud.AWS: _UPPER_CASE_EFFECTS,
    Cloud.AZURE: _KUBERNETES_EFFECTS,
    Cloud.OPENSTACK: _KUBERNETES_EFFECTS,
}


def spell_effect(effect: TaintEffect, cloud: Cloud) -> str:
    """Return how a cloud's node pool API spells a taint's effect.

    Sources, read 2026-11-21: terraform-provider-google node_config.go (GKE), botocore's eks model (EKS), the AKS page on node
    taints (``key=value:Effect`` strings), kubelet's ``--register-with-taints`` (Magnum's Heat driver).

    Raises:
        KeyError: The effect or the cloud is not in the table.
    """
    return _EFFECTS[cloud][effect]
