"""Rules between the properties of one resource, which neither the SDK classes nor the mocks know, each with its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from preview.graph import MASK, UNKNOWN

Problem = tuple[str, Any, str, str]
Rule = Callable[[Mapping[str, Any]], Iterator[Problem]]
"""Yields path, value, reason and remedy of what is wrong with a resource's inputs."""

_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
_AKS_POOL_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
_TAINT = re.compile(r"[A-Za-z0-9./_-]+(=[A-Za-z0-9._-]*)?:(NoSchedule|PreferNoSchedule|NoExecute)")


def _ordered(*paths: str) -> Rule:
    """Return the rule that the numbers at these dotted paths do not fall from one to the next."""

    def rule(inputs: Mapping[str, Any]) -> Iterator[Problem]:
        known = [(path, number) for path in paths if isinstance(number := _at(inputs, path), int | float)]
        for (low_path, low), (high_path, high) in pairwise(known):
            if low > high:
                yield low_path, low, f"It is above {high_path}, which is {high}", f"Raise {high_path} or lower {low_path}"

    return rule


def _not_both(first: str, second: str, why: str) -> Rule:
    """Return the rule that of two dotted paths one at most is given."""

    def rule(inputs: Mapping[str, Any]) -> Iterator[Problem]:
        if _at(inputs, first) is not None and _at(inputs, second) is not None:
            yield first, _at(inputs, first), f"It cannot stand beside {second}: {why}", f"Leave out {first} or {second}"

    return rule


def _labels(path: str) -> Rule:
    """Return the rule that the values at a dotted path are Kubernetes label values."""

    def rule(inputs: Mapping[str, Any]) -> Iterator[Problem]:
        found = _at(inputs, path)
        for key, value in found.items() if isinstance(found, dict) else ():
            if value in (MASK, UNKNOWN) or (isinstance(value, str) and _LABEL_VALUE.fullmatch(value)):
                continue
            reason = "Kubernetes takes no such label value"
            remedy = "Use at most 63 letters, digits, '.', '_' and '-', with a letter or digit at both ends"
            yield f'{path}["{key}"]', value, reason, remedy

    return rule


def _aks_count(inputs: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a missing count: Azure refuses an autoscaled pool without one (pulumi-azure-native issue 2943)."""
    if inputs.get("enableAutoScaling") and inputs.get("count") is None:
        yield "count", None, "Azure refuses an autoscaled pool without a count", "Set count=0 and ignore its changes"


def _aks_name(inputs: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a pool name that Azure refuses (AKS docs create-node-pools.md, 2026-08-21)."""
    name = inputs.get("agentPoolName")
    if isinstance(name, str) and name not in (MASK, UNKNOWN) and not _AKS_POOL_NAME.fullmatch(name):
        remedy = "Use 1 to 12 lower-case letters and digits, a letter first"
        yield "agentPoolName", name, "Azure takes no such name for a Linux pool", remedy


def _aks_taints(inputs: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield taints that are not ``key=value:Effect`` (AKS docs use-node-taints.md, 2026-08-21)."""
    taints = inputs.get("nodeTaints")
    for index, taint in enumerate(taints if isinstance(taints, list) else []):
        if isinstance(taint, str) and taint not in (MASK, UNKNOWN) and not _TAINT.fullmatch(taint):
            remedy = "Write key=value:NoSchedule, :PreferNoSchedule or :NoExecute"
            yield f"nodeTaints[{index}]", taint, "This is not a taint as AKS reads it", remedy


def _eks_update(inputs: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield an update config with none or both of its limits (terraform-provider-aws node_group.go at 012e0a3)."""
    config = inputs.get("updateConfig")
    limits = ("maxUnavailable", "maxUnavailablePercentage")
    if isinstance(config, dict) and sum(config.get(limit) is not None for limit in limits) != 1:
        yield "updateConfig", config, "It takes exactly one of its two limits", f"Set one of {' and '.join(limits)}"


def _gke_limits(inputs: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield limits per zone beside limits in total (pulumi-gcp 10.2.0 docstring: never both)."""
    scaling = inputs.get("autoscaling")
    if not isinstance(scaling, dict):
        return
    total = [key for key in ("totalMinNodeCount", "totalMaxNodeCount") if scaling.get(key) is not None]
    zonal = [key for key in ("minNodeCount", "maxNodeCount") if scaling.get(key) is not None]
    if total and zonal:
        yield "autoscaling", scaling, "Limits in total and limits per zone exclude each other", "Keep one pair of limits"


def _magnum_template(inputs: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a missing template, which only the provider would notice (terraform-provider-openstack at 27f2612)."""
    if inputs.get("clusterTemplateId") is None:
        yield "clusterTemplateId", None, "The provider requires it, although the SDK does not", "Name a cluster template"


RULES: Mapping[str, tuple[Rule, ...]] = {
    "gcp:container/nodePool:NodePool": (
        _gke_limits,
        _ordered("autoscaling.totalMinNodeCount", "autoscaling.totalMaxNodeCount"),
        _ordered("autoscaling.minNodeCount", "autoscaling.maxNodeCount"),
        _not_both("initialNodeCount", "nodeCount", "the provider refuses two counts"),
        _labels("nodeConfig.labels"),
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        _ordered("scalingConfig.minSize", "scalingConfig.desiredSize", "scalingConfig.maxSize"),
        _eks_update,
        _not_both("launchTemplate", "diskSize", "with a launch template the disk is the template's"),
        _not_both("launchTemplate", "remoteAccess", "with a launch template remote access is the template's"),
        _labels("labels"),
    ),
    "azure-native:containerservice:AgentPool": (
        _aks_count,
        _aks_name,
        _aks_taints,
        _ordered("minCount", "maxCount"),
        _labels("nodeLabels"),
    ),
    "openstack:containerinfra/cluster:Cluster": (_magnum_template,),
    "openstack:containerinfra/nodeGroup:NodeGroup": (_ordered("minNodeCount", "nodeCount", "maxNodeCount"),),
}
"""Rules by resource type."""


def _at(inputs: Any, path: str) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value at a dotted path, None where a part is absent."""
    for key in path.split("."):
        if not isinstance(inputs, Mapping):
            return None
        inputs = inputs.get(key)
    return inputs
