"""The graph's JSON form, and what a diff of two graphs predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fleet.errors import FleetErrors
from preview.diff import diff
from preview.graph import Finding, Options, Resource, ResourceGraph

POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"


def resource(
    type_token: str,
    name: str,
    inputs: dict[str, Any],
    **changes: Any,  # noqa: ANN401 -- fields of Resource
) -> Resource:
    """Return a resource directly under the stack."""
    urn = f"urn:pulumi:s::p::{type_token}::{name}"
    return Resource(urn=urn, type=type_token, name=name, parent=None, custom=True, inputs=inputs, **changes)


def graph(*resources: Resource) -> ResourceGraph:
    """Return a graph of these resources."""
    return ResourceGraph(project="p", stack="s", resources=resources)


def test_json_is_stable_and_reads_back() -> None:
    """The order of registration does not show, and what was written is what is read."""
    one, two = resource(POOL, "a", {"b": 1, "a": [1, {"x": "y"}]}), resource(POOL, "b", {}, options=Options(protect=True))
    finding = Finding(severity="error", urn=one.urn, path="b", value=1, reason="r", remedy="m")
    first = replace(graph(one, two), findings=(finding,), outputs={"o": 1})
    assert first.to_json() == replace(graph(two, one), findings=(finding,), outputs={"o": 1}).to_json()
    assert ResourceGraph.from_json(first.to_json()) == first


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 2}', '{"version": 1}', '{"version": 1, "project": 1}'])
def test_other_text_is_refused_with_the_remedy(text: str) -> None:
    """Broken text, another version and missing parts each end in one clear error that names the file."""
    with pytest.raises(FleetErrors, match=r"base.json: .*Not a resource graph.*preview --json"):
        ResourceGraph.from_json(text, file="base.json")


def test_adds_updates_replaces_and_deletes() -> None:
    """Each kind of change is told apart, with property paths and values."""
    base = graph(
        resource(POOL, "up", {"autoscaling": {"totalMaxNodeCount": 4}, "cluster": "c"}),
        resource(POOL, "new", {"nodeConfig": {"spot": False, "taints": [{"key": "a"}]}}),
        resource(POOL, "gone", {}),
        resource(POOL, "same", {"cluster": "c"}),
    )
    head = graph(
        resource(POOL, "up", {"autoscaling": {"totalMaxNodeCount": 8}, "cluster": "c"}),
        resource(POOL, "new", {"nodeConfig": {"spot": True, "taints": [{"key": "b"}]}}),
        resource(POOL, "more", {}),
        resource(POOL, "same", {"cluster": "c"}),
    )
    changes = diff(base, head)
    assert [one.name for one in changes.adds] == ["more"]
    assert [one.name for one in changes.deletes] == ["gone"]
    (update,) = changes.updates
    assert [(one.path, one.before, one.after) for one in update.changes] == [("autoscaling.totalMaxNodeCount", 4, 8)]
    (replaced,) = changes.replaces
    assert [(one.path, one.replaces) for one in replaced.changes] == [
        ("nodeConfig.spot", True),
        ("nodeConfig.taints[0].key", False),
    ]
    assert "the engine decides" in changes.label


def test_ignored_paths_never_show() -> None:
    """A live node count that differs is no change, not even where it would replace."""
    options = Options(ignore_changes=("initialNodeCount", "nodeConfig.taints[*].value"))
    before = {"initialNodeCount": 1, "nodeConfig": {"taints": [{"value": "a"}]}}
    after = {"initialNodeCount": 9, "nodeConfig": {"taints": [{"value": "b"}]}}
    changes = diff(graph(resource(POOL, "a", before, options=options)), graph(resource(POOL, "a", after, options=options)))
    assert changes.is_empty


def test_a_prefix_is_not_a_path() -> None:
    """Ignoring ``node`` does not ignore ``nodeCount``."""
    options = Options(ignore_changes=("node",))
    changes = diff(graph(resource(POOL, "a", {"nodeCount": 1})), graph(resource(POOL, "a", {"nodeCount": 2}, options=options)))
    assert [one.changes[0].path for one in changes.updates] == ["nodeCount"]


def test_a_resource_says_itself_what_replaces_it() -> None:
    """`replace_on_changes` replaces where no table does."""
    options = Options(replace_on_changes=("scaleSetPriority",))
    agent_pool = "azure-native:containerservice:AgentPool"
    changes = diff(
        graph(resource(agent_pool, "a", {"scaleSetPriority": "Regular"})),
        graph(resource(agent_pool, "a", {"scaleSetPriority": "Spot"}, options=options)),
    )
    assert len(changes.replaces) == 1


def test_a_rename_with_an_alias_is_no_change() -> None:
    """A resource is found by its former URN, and is neither added nor deleted."""
    old = resource(POOL, "old", {"cluster": "c"})
    new = resource(POOL, "new", {"cluster": "c"}, options=Options(aliases=(old.urn,)))
    assert diff(graph(old), graph(new)).is_empty
    assert not diff(graph(old), graph(resource(POOL, "new", {"cluster": "c"}))).is_empty


def test_what_hangs_on_a_replaced_resource_follows_it() -> None:
    """A pool whose cluster is replaced is replaced too, and says why; a pool that only takes a label from it is not."""
    base_cluster, head_cluster = resource(CLUSTER, "c", {"location": "a"}), resource(CLUSTER, "c", {"location": "b"})
    pool = resource(POOL, "p", {"cluster": "c"}, property_dependencies={"cluster": (base_cluster.urn,)})
    other = resource(POOL, "q", {"version": "1"}, property_dependencies={"version": (base_cluster.urn,)})
    changes = diff(graph(base_cluster, pool, other), graph(head_cluster, pool, other))
    assert {one.resource.name: one.because for one in changes.replaces} == {"c": (), "p": (base_cluster.urn,)}
