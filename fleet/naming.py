"""Cloud names: one table of what each cloud allows, and one function that keeps to it.

A name that fits is left as it is. One that is too long is cut and ends in a digest of the whole, so that it stays unique and is
the same in every run. Names that become equal because a cloud allows no dashes are refused by the plan (`fleet.plan`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet.clouds import Cloud

_DIGEST_CHARACTERS = 6


class NameKind(StrEnum):
    """A kind of thing that a cloud names by rules of its own."""

    GKE_CLUSTER = "gke-cluster"
    GKE_NODE_POOL = "gke-node-pool"
    GOOGLE_NETWORK = "google-network"
    GOOGLE_SERVICE_ACCOUNT = "google-service-account"
    EKS_CLUSTER = "eks-cluster"
    EKS_NODE_GROUP = "eks-node-group"
    IAM_ROLE = "iam-role"
    AKS_CLUSTER = "aks-cluster"
    AKS_NODE_POOL = "aks-node-pool"
    AZURE_RESOURCE_GROUP = "azure-resource-group"
    AZURE_NETWORK = "azure-network"
    MAGNUM_CLUSTER = "magnum-cluster"
    MAGNUM_NODE_GROUP = "magnum-node-group"
    KUBERNETES_OBJECT = "kubernetes-object"


@dataclass(frozen=True, kw_only=True, slots=True)
class NameRule:
    """What a name may be; all of ours are lower case and start with a letter.

    Attributes:
        longest: Most characters.
        shortest: Fewest characters.
        dashes: Whether a dash may stand inside.
        source: Where the rule is written, with the date it was read.
    """

    longest: int
    source: str
    shortest: int = 1
    dashes: bool = True


NAME_RULES: Mapping[NameKind, NameRule] = {
    NameKind.GKE_CLUSTER: NameRule(longest=40, source="GKE API, projects.locations.clusters.name, 2026-11"),
    NameKind.GKE_NODE_POOL: NameRule(longest=40, source="GKE API, projects.locations.clusters.nodePools.name, 2026-11"),
    NameKind.GOOGLE_NETWORK: NameRule(longest=63, source="Compute API, RFC 1035 labels, 2026-11"),
    NameKind.GOOGLE_SERVICE_ACCOUNT: NameRule(longest=30, shortest=6, source="IAM API, serviceAccounts.accountId, 2026-11"),
    NameKind.EKS_CLUSTER: NameRule(longest=100, source="botocore 1.44.5, eks CreateCluster name, 2026-11"),
    NameKind.EKS_NODE_GROUP: NameRule(longest=63, source="EKS user guide, node group names, 2024-12"),
    NameKind.IAM_ROLE: NameRule(longest=64, source="botocore 1.44.5, iam CreateRole RoleName, 2026-11"),
    NameKind.AKS_CLUSTER: NameRule(longest=63, source="Azure resource name rules, managedClusters, 2026-08"),
    NameKind.AKS_NODE_POOL: NameRule(longest=12, dashes=False, source="AKS, create node pools: Linux pool names, 2026-08"),
    NameKind.AZURE_RESOURCE_GROUP: NameRule(longest=90, source="Azure resource name rules, resourceGroups, 2026-08"),
    NameKind.AZURE_NETWORK: NameRule(longest=64, source="Azure resource name rules, virtualNetworks, 2026-08"),
    NameKind.MAGNUM_CLUSTER: NameRule(longest=63, source="node host names start with it: RFC 1123 label, 2026-11"),
    NameKind.MAGNUM_NODE_GROUP: NameRule(longest=63, source="node host names start with it: RFC 1123 label, 2026-11"),
    NameKind.KUBERNETES_OBJECT: NameRule(longest=63, source="Kubernetes, object names: RFC 1123 label, 2026-11"),
}

CLUSTER_NAMES: Mapping[Cloud, NameKind] = {
    Cloud.GOOGLE: NameKind.GKE_CLUSTER,
    Cloud.AWS: NameKind.EKS_CLUSTER,
    Cloud.AZURE: NameKind.AKS_CLUSTER,
    Cloud.OPENSTACK: NameKind.MAGNUM_CLUSTER,
}
POOL_NAMES: Mapping[Cloud, NameKind] = {
    Cloud.GOOGLE: NameKind.GKE_NODE_POOL,
    Cloud.AWS: NameKind.EKS_NODE_GROUP,
    Cloud.AZURE: NameKind.AKS_NODE_POOL,
    Cloud.OPENSTACK: NameKind.MAGNUM_NODE_GROUP,
}


def cloud_name(kind: NameKind, *parts: str) -> str:
    """Return a legal name of `kind` made of `parts`, joined by dashes.

    The result is lower case, starts with a letter, ends in a letter or digit, keeps to the kind's length, and depends on the
    parts alone. Parts that are cut, that start with a digit or hold characters no cloud takes, leave their mark in a digest at
    the end; upper and lower case are the same name.

    Raises:
        ValueError: Nothing is left of the parts that a name could be made of.
    """
    rule = NAME_RULES[kind]
    whole = "-".join(parts)
    legal = re.sub(r"[^a-z0-9-]+", "-", whole.lower()).strip("-")
    is_faithful = legal == whole.lower()
    name = legal if rule.dashes else legal.replace("-", "")
    if not name:
        raise ValueError(f"no {kind} name can be made of {parts!r}")
    if not name[0].isalpha():
        name = f"n{name}"
        is_faithful = False
    if is_faithful and rule.shortest <= len(name) <= rule.longest:
        return name
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    joint = "-" if rule.dashes else ""
    return name[: rule.longest - len(joint) - _DIGEST_CHARACTERS].rstrip("-") + joint + digest
