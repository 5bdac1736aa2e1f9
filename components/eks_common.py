"""What every part of an EKS cluster shares: its names, its tags, and AWS's spelling of small things."""

from __future__ import annotations

import re

from components.base import tags
from components.contract import ClusterArgs
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan

_TAG_KEY_LONGEST = 128
_TAG_VALUE_LONGEST = 256


def eks_cluster_name(plan: ClusterPlan) -> str:
    """Return the cluster's name in EKS. It is known before the cluster exists: ARNs, tags and the kubeconfig hold it."""
    return cloud_name(NameKind.EKS_CLUSTER, plan.name)


def role_name(plan: ClusterPlan, purpose: str) -> str:
    """Return the name of an IAM role. IAM is not regional, so the account must hold one cluster of a name only."""
    return cloud_name(NameKind.IAM_ROLE, plan.name, purpose)


def partition(region: str) -> str:
    """Return the ARN partition of a region: ``aws``, ``aws-cn`` or ``aws-us-gov``."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def minor_version(kubernetes_version: str) -> str:
    """Return ``1.N`` of ``1.N`` or ``1.N.P``: EKS chooses the patch itself and refuses to be told one."""
    return ".".join(kubernetes_version.split(".")[:2])


def cost_tags(args: ClusterArgs, card: str | None = None, name: str | None = None) -> dict[str, str]:
    """Return the cost tags as AWS takes them, with ``Name`` where the console shows that as the thing's name.

    AWS takes letters, digits, spaces and ``+ - = . _ : / @``, keys of 128 and values of 256 characters, and keeps keys and values
    that start with ``aws:`` to itself (AWS Batch user guide, tag-restrictions, read 2026-11-21, the strictest of the services'
    pages seen). What is not taken becomes an underscore.
    """
    said = tags(args, card) | ({"Name": name} if name else {})
    return {_tag_text(key, _TAG_KEY_LONGEST): _tag_text(value, _TAG_VALUE_LONGEST) for key, value in said.items()}


def _tag_text(text: str, longest: int) -> str:
    """Return a tag's key or value as AWS takes it: an underscore for each illegal character and before ``aws:``."""
    legal = re.sub(r"[^\w\s+\-=.:/@]", "_", text)
    return (f"_{legal}" if legal.lower().startswith("aws:") else legal)[:longest]
