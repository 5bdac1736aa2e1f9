"""From declared resources to the nodes that a cloud would boot for them: one reader a cloud, none of which asks the plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from fleet.clouds import Cloud
from fleet.errors import FleetErrors, Mistake
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes import aws, azure, google, openstack
from rehearsal.nodes.priorities import with_priorities
from rehearsal.nodes.reading import check_version
from rehearsal.nodes.template import AutoscalerView, NodeTemplate, wakes, why_asleep

__all__ = ["READERS", "AutoscalerView", "NodeTemplate", "read_templates", "wakes", "why_asleep"]

READERS: Mapping[Cloud, Callable[[ResourceGraph], tuple[NodeTemplate, ...]]] = {
    Cloud.GOOGLE: google.read,
    Cloud.AWS: aws.read,
    Cloud.AZURE: azure.read,
    Cloud.OPENSTACK: openstack.read,
}
_POOL_TYPES = frozenset({google.POOL, aws.POOL, azure.POOL, openstack.POOL})
_LOOKS_LIKE_A_POOL = re.compile(r"(?i)(node|agent|machine|worker)_?(pool|group)(v\d+)?$")


def read_templates(graphs: Iterable[ResourceGraph]) -> tuple[NodeTemplate, ...]:
    """Return the node of every pool that these stacks declare, sorted by cluster and pool.

    Args:
        graphs: Graphs of cloud stacks, and of the hub for the pools' priorities.

    Raises:
        FleetErrors: A graph has another version; a stack declares a pool that no reader knows; a pool makes no sense.
    """
    given = tuple(graphs)
    for graph in given:
        check_version(graph)
    _refuse_unknown_pools(given)
    found = [template for graph in given for read in READERS.values() for template in read(graph)]
    return tuple(sorted(with_priorities(found, given), key=lambda template: (template.cluster, template.pool)))


def _refuse_unknown_pools(graphs: Iterable[ResourceGraph]) -> None:
    """Refuse what is a pool by its type's name and has no reader; raises FleetErrors that names every one."""
    mistakes = [
        Mistake(
            path=resource.urn,
            value=resource.type,
            reason="it looks like a node pool, and no reader makes nodes of its type",
            remedy="Add a reader to rehearsal/nodes/, or leave the stack out of the rehearsal.",
        )
        for graph in graphs
        for resource in graph.resources
        if _is_unknown_pool(resource)
    ]
    if mistakes:
        raise FleetErrors(mistakes)


def _is_unknown_pool(resource: Resource) -> bool:
    """Return whether a provider's resource is a pool that no reader knows; objects inside Kubernetes are none."""
    is_cloud = resource.custom and not resource.type.startswith(("kubernetes:", "pulumi:"))
    return is_cloud and resource.type not in _POOL_TYPES and bool(_LOOKS_LIKE_A_POOL.search(resource.type.rpartition(":")[2]))
