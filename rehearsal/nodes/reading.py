"""Reading declared resources: values by path, and the one error for what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.clouds import Cloud
from fleet.errors import FleetErrors, Mistake
from fleet.labels import Taint, TaintEffect, spell_effect
from preview.graph import VERSION, Resource, ResourceGraph

_REMEDY = "Run `./gpufleet preview` and mend the resource."


def refuse(resource: Resource, path: str, value: object, reason: str, remedy: str = _REMEDY) -> FleetErrors:
    """Return the error for a property of a declared resource from which no node can be read."""
    return FleetErrors([Mistake(path=f"{resource.urn}.{path}".rstrip("."), value=value, reason=reason, remedy=remedy)])


def check_version(graph: ResourceGraph) -> None:
    """Refuse a graph of another version than this program reads; raises FleetErrors."""
    if graph.version != VERSION:
        reason = f"the resource graph of stack {graph.stack} has a version that is not read here; it would have to be {VERSION}"
        remedy = "Make it again with `./gpufleet preview --json FILE`."
        raise FleetErrors([Mistake(path="version", value=graph.version, reason=reason, remedy=remedy)])


def at(inputs: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 -- whatever the resource declares there
    """Return what stands under a dotted path, None when any part is absent."""
    value: Any = inputs
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def whole(resource: Resource, path: str, default: int | None = None) -> int:
    """Return the whole number under a path.

    Raises:
        FleetErrors: There is none, and no default; or it is not a whole number, for instance unknown to the preview.
    """
    return to_whole(resource, path, at(resource.inputs, path), default)


def to_whole(resource: Resource, path: str, value: object, default: int | None = None) -> int:
    """Return a value of a resource as a whole number, `default` for None; raises FleetErrors as `whole` does."""
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise refuse(resource, path, value, "a node cannot be made of it: it has to be a whole number")
    try:
        return int(value)
    except ValueError:
        raise refuse(resource, path, value, "a node cannot be made of it: it has to be a whole number") from None


def text(resource: Resource, path: str) -> str:
    """Return the text under a path; raises FleetErrors when there is none."""
    value = at(resource.inputs, path)
    if not isinstance(value, str) or not value:
        raise refuse(resource, path, value, "a node cannot be made without it")
    return value


def labels_at(resource: Resource, path: str) -> dict[str, str]:
    """Return a map of labels under a path, empty when absent."""
    return {str(key): str(value) for key, value in (at(resource.inputs, path) or {}).items()}


def component_of(graph: ResourceGraph, resource: Resource) -> Resource:
    """Return the component that declares a resource: its name is the cluster's. Raises FleetErrors when there is none."""
    parent = graph.by_urn.get(resource.parent or "")
    if parent is None:
        raise refuse(resource, "", None, "no cluster component declares it, so its cluster is not known")
    return parent


def part_name(component: Resource, resource: Resource) -> str:
    """Return a resource's logical name without its component's in front."""
    return resource.name.removeprefix(f"{component.name}-")


def sibling(graph: ResourceGraph, component: Resource, token: str) -> Resource:
    """Return a component's one child of a type, by which a pool finds its cluster; raises FleetErrors unless there is one."""
    found = [child for child in graph.children.get(component.urn, ()) if child.type == token]
    if len(found) != 1:
        raise refuse(component, "", len(found), f"the component has to declare one {token}")
    return found[0]


def facts_of(graph: ResourceGraph, cluster: str) -> Mapping[str, Any]:
    """Return what the stack exports of a cluster in clear; empty when it exports nothing of it."""
    clusters: Mapping[str, Any] = at(graph.outputs, "clusters") or {}
    return clusters.get(cluster) or {}


def site_of(graph: ResourceGraph, cluster: Resource, component: Resource, tags: str) -> str:
    """Return a cluster's site: its tag under the path `tags`, else what the stack exports, else the stack's own name."""
    declared = labels_at(cluster, tags).get("site") if tags else None
    return declared or facts_of(graph, component.name).get("site") or graph.stack


def to_taint(resource: Resource, path: str, declared: Mapping[str, Any], cloud: Cloud) -> Taint:
    """Return a taint that is declared as a map with key, value and effect in the cloud's spelling; raises FleetErrors."""
    return Taint(
        key=str(declared.get("key", "")),
        value=str(declared.get("value") or ""),
        effect=to_effect(resource, path, declared.get("effect"), cloud),
    )


def to_effect(resource: Resource, path: str, spelling: object, cloud: Cloud) -> TaintEffect:
    """Return the effect that a cloud spells so; raises FleetErrors for a spelling the cloud does not know."""
    for effect in TaintEffect:
        if spell_effect(effect, cloud) == spelling:
            return effect
    known = ", ".join(spell_effect(effect, cloud) for effect in TaintEffect)
    raise refuse(resource, path, spelling, "the cloud knows no such taint effect", f"Write one of {known}.")


def split_taint(resource: Resource, path: str, declared: str, cloud: Cloud) -> Taint:
    """Return a taint that is declared as ``key=value:Effect``; raises FleetErrors."""
    body, colon, effect = declared.rpartition(":")
    key, _, value = body.partition("=")
    if not colon or not key:
        raise refuse(resource, path, declared, "it is not a taint", "Write key=value:Effect.")
    return Taint(key=key, value=value, effect=to_effect(resource, path, effect, cloud))
