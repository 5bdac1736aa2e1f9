"""A resource graph as text that a reviewer reads: one line a resource, and what is said of clusters and pools beneath it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from preview.graph import Resource, ResourceGraph

_LONGEST_LINE = 180
"""Characters of a mapping or list that stays on one line."""
_LONGEST_VALUE = 400
_TOLD_WITH_INPUTS = (
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "aws:eks/cluster:Cluster",
    "aws:eks/nodeGroup:NodeGroup",
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
    "openstack:containerinfra/cluster:Cluster",
    "openstack:containerinfra/clusterTemplate:ClusterTemplate",
    "openstack:containerinfra/nodeGroup:NodeGroup",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:Secret",
)
"""Types whose inputs are the point of a review; the others are told by name alone."""
_NOISE = ("apiVersion", "kind")
"""Inputs that follow from the type."""
_WORDS = "description"
"""Name of inputs that are words for people, at any depth."""
_TAGS = ("resourceLabels", "tags")
"""Cost tags: the same on every resource but for the card."""


def rendered(graph: ResourceGraph) -> str:
    """Return a graph as text, in the order of its resources, with a final newline."""
    lines = [f"{graph.stack}: {len(graph.resources)} resources"]
    lines += [line for resource in graph.children.get(None, ()) for line in _resource(graph, resource, 0)]
    lines += ["outputs", *(f"  {line}" for line in _flat("", graph.outputs))]
    lines += [f"finding: {finding}" for finding in graph.findings]
    return "\n".join(lines) + "\n"


def _resource(graph: ResourceGraph, resource: Resource, depth: int) -> Iterator[str]:
    """Yield the lines of a resource and its children."""
    pad = "  " * depth
    marks = _marks(resource)
    yield f"{pad}{resource.name}  {resource.type}{f'  [{marks}]' if marks else ''}"
    if resource.type in _TOLD_WITH_INPUTS:
        yield from (f"{pad}      {line}" for line in _flat("", resource.inputs))
    for child in graph.children.get(resource.urn, ()):
        yield from _resource(graph, child, depth + 1)


def _marks(resource: Resource) -> str:
    """Return a resource's options that change what becomes of it."""
    options = resource.options
    marks = ["read"] if resource.read else []
    marks += ["protected"] if options.protect else []
    marks += ["deleted before replaced"] if options.delete_before_replace else []
    marks += ["retained"] if options.retain_on_delete else []
    marks += [f"ignores {', '.join(options.ignore_changes)}"] if options.ignore_changes else []
    marks += [f"replaced on {', '.join(options.replace_on_changes)}"] if options.replace_on_changes else []
    return "; ".join(marks)


def _flat(path: str, value: Any) -> Iterator[str]:  # noqa: ANN401 -- plain JSON
    """Yield ``path: value`` for each value, what is short and flat on one line."""
    name = path.rpartition(".")[2]
    if path in _NOISE or name == _WORDS:
        return
    if name in _TAGS and isinstance(value, Mapping):
        value = {key: tag for key, tag in value.items() if key == "card"}
        if not value:
            return
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    is_deep = isinstance(value, Mapping) and (not path or any(isinstance(one, Mapping | list) for one in value.values()))
    if isinstance(value, Mapping) and value and (is_deep or len(text) > _LONGEST_LINE):
        for key in sorted(value):
            yield from _flat(f"{path}.{key}".removeprefix("."), value[key])
    elif isinstance(value, list) and len(text) > _LONGEST_LINE:
        for index, one in enumerate(value):
            yield from _flat(f"{path}[{index}]", one)
    else:
        yield f"{path}: {text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + '…'}"
