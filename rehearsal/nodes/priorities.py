"""Which pool comes first: the cluster autoscaler's own ConfigMap, as the hub's stack declares it for each cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import yaml

from fleet.clouds import TRAITS, Cloud
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes.reading import at, refuse
from rehearsal.nodes.template import NodeTemplate

CONFIG_MAP = "cluster-autoscaler-priority-expander"
_TYPE = "kubernetes:core/v1:ConfigMap"
_COMPONENT_END = "-priorities"
_GROUP_NAMES = {
    Cloud.GOOGLE: ("cloud.google.com/gke-nodepool", "{}"),
    Cloud.AWS: ("eks.amazonaws.com/nodegroup", "eks-{}"),
    Cloud.AZURE: ("kubernetes.azure.com/agentpool", "aks-{}-00000000-vmss"),
    Cloud.OPENSTACK: ("magnum.openstack.org/nodegroup", "{}"),
}
"""By which label a node group goes, and how the autoscaler calls it (Auto Scaling group, scale set, Magnum's name)."""


def with_priorities(templates: Iterable[NodeTemplate], graphs: Iterable[ResourceGraph]) -> tuple[NodeTemplate, ...]:
    """Return the templates with the priority that their cluster's ConfigMap gives them; those without one stay as they are.

    The autoscaler takes the greatest number with a pattern that matches the group's name from its start
    (kubernetes/autoscaler 55c37cd, expander/priority, 2026-08-22).

    Raises:
        FleetErrors: A ConfigMap's text is not a map from numbers to lists of patterns.
    """
    tables = {
        cluster: _table(config)
        for graph in graphs
        for config in graph.of_type(_TYPE)
        if at(config.inputs, "metadata.name") == CONFIG_MAP and (cluster := _cluster_of(graph, config))
    }
    return tuple(
        replace(template, priority=_priority(template, tables[template.cluster]))
        if template.cluster in tables and TRAITS[template.cloud].reads_priorities
        else template
        for template in templates
    )


def _cluster_of(graph: ResourceGraph, config: Resource) -> str:
    """Return the cluster that a ConfigMap is for, by its component's name."""
    parent = graph.by_urn.get(config.parent or "")
    return parent.name.removesuffix(_COMPONENT_END) if parent else ""


def _table(config: Resource) -> dict[int, list[re.Pattern[str]]]:
    """Return a ConfigMap's patterns by priority; raises FleetErrors when it holds anything else."""
    declared = at(config.inputs, "data.priorities")
    try:
        read = yaml.load(declared, yaml.CSafeLoader)
        return {int(number): [re.compile(pattern) for pattern in patterns] for number, patterns in read.items()}
    except (yaml.YAMLError, re.error, AttributeError, TypeError, ValueError):
        reason = "it is not a map from priorities to lists of regular expressions, so the autoscaler ignores it"
        raise refuse(config, "data.priorities", declared, reason) from None


def _priority(template: NodeTemplate, table: dict[int, list[re.Pattern[str]]]) -> int:
    """Return the greatest number that fits a pool; 0 when none does, which the autoscaler takes last."""
    label, form = _GROUP_NAMES[template.cloud]
    name = form.format(template.labels.get(label, template.pool))
    return max((number for number, patterns in table.items() if any(pattern.match(name) for pattern in patterns)), default=0)
