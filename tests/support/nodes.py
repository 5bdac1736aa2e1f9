"""Declared clusters of every cloud as resource graphs, and mistakes planted in them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pulumi

from components.contract import ClusterArgs, builder
from fleet.clouds import Cloud, MagnumDriver
from fleet.records import ClusterPlan, NodePool
from preview.graph import Resource, ResourceGraph
from rehearsal.nodes import NodeTemplate, read_templates
from tests.support.declaring import declare
from tests.support.plans import a_cluster, a_pool


def declared(plan: ClusterPlan) -> ResourceGraph:
    """Return what a cluster's component declares, its facts exported as a site's stack does."""

    def program() -> None:
        args = ClusterArgs(plan=plan, deletion_protection=True)
        module = builder(plan.cloud)
        facts = module.build(args, module.make_provider("provider", args))
        pulumi.export("clusters", {plan.name: facts.public()})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the SDKs' own, at the first use of their modules
        return declare(program)


def a_graph(cloud: Cloud, *pools: NodePool, **changes: Any) -> ResourceGraph:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return the graph of a cluster with `pools`, or with the one T4 pool."""
    return declared(a_cluster(cloud, **{"pools": pools or (a_pool(cloud),)} | changes))


def a_magnum_graph(driver: MagnumDriver, *pools: NodePool) -> ResourceGraph:
    """Return the graph of a Magnum cluster of one driver, whose site names no autoscaler of its own."""
    plan = a_cluster(Cloud.OPENSTACK, pools=pools or (a_pool(Cloud.OPENSTACK, machine="g2.5xlarge"),))
    assert plan.magnum is not None
    return declared(replace(plan, magnum=replace(plan.magnum, driver=driver, gpu_autoscaler=None)))


def told(graph: ResourceGraph, cluster: str, **identity: str | None) -> ResourceGraph:
    """Return a graph whose stack exports other identity details of a cluster; None takes one away."""
    outputs = copy.deepcopy(dict(graph.outputs))
    kept = outputs["clusters"][cluster]["identity"] | identity
    outputs["clusters"][cluster]["identity"] = {key: value for key, value in kept.items() if value is not None}
    return replace(graph, outputs=outputs)


def planted(graph: ResourceGraph, name: str, path: str, value: object) -> ResourceGraph:
    """Return a graph in which the resources whose logical name ends in `name` have `value` under a path; None removes it.

    A path has slashes between its parts, since label keys have dots.

    Raises:
        AssertionError: No resource has that name, so nothing would be planted.
    """
    changed = [_changed(resource, path, value) for resource in graph.resources if resource.name.endswith(name)]
    changed = [resource for resource in changed if resource is not None]
    assert changed, f"nothing to plant in {name}"
    by_urn = {resource.urn: resource for resource in changed}
    return replace(graph, resources=tuple(by_urn.get(resource.urn, resource) for resource in graph.resources))


def without(graph: ResourceGraph, is_gone: Callable[[Resource], bool]) -> ResourceGraph:
    """Return a graph without some resources; AssertionError when none of them is there."""
    kept = tuple(resource for resource in graph.resources if not is_gone(resource))
    assert len(kept) < len(graph.resources)
    return replace(graph, resources=kept)


def template_of(graph: ResourceGraph, pool: str) -> NodeTemplate:
    """Return the node of one pool."""
    (found,) = (template for template in read_templates([graph]) if template.pool == pool)
    return found


def _changed(resource: Resource, path: str, value: object) -> Resource | None:
    """Return a resource with one property changed, None when it has no such place."""
    inputs = copy.deepcopy(dict(resource.inputs))
    *way, last = path.split("/")
    place: Any = inputs
    for part in way:
        index = int(part) if part.isdigit() else part
        if isinstance(index, int) != isinstance(place, list) or (isinstance(place, Mapping) and index not in place):
            return None
        place = place[index]
    if value is None and last not in place:
        return None
    if value is None:
        place.pop(last)
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return replace(resource, inputs=inputs)
