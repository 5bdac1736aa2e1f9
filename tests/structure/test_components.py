"""What every component keeps to, seen on the graphs of all stacks of today's fleet and of no stack that is made up."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import resource_pb2

from components.base import ClusterComponent, Component
from components.compose import compose
from components.settings import Settings
from fleet.load import load_plan
from fleet.sites import HUB_STACK
from preview.graph import Resource, ResourceGraph
from preview.monitor import RecordingMonitor
from tests.support.declaring import only, run
from tests.support.sources import PROJECT, sources

pytestmark = [
    pytest.mark.xdist_group("components"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # the SDKs' own, at import
]

INVENTORY = PROJECT / "inventory.yaml"
WITHOUT_PARENT = ("pulumi:providers:", "pulumi:pulumi:StackReference", "kubernetes:core/v1:Namespace")
"""What stands directly under a stack besides components: providers, which components share; references to stacks; and the hub's
namespace for ArgoCD, into which every registration writes."""

OPTIONS_MADE_IN = {"components/base.py", "components/hub.py"}
"""Where ResourceOptions are made: the base of components, and the hub's stack for the one resource outside of any component."""


class CountingMonitor(RecordingMonitor):
    """Counts how often each resource's outputs are registered."""

    def __init__(self, project: str, stack: str, references: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(project, stack, references)
        self.counts: Counter[str] = Counter()

    def RegisterResourceOutputs(  # noqa: N802 -- the protocol's name
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Count, then do as before."""
        self.counts[request.urn] += 1
        return super().RegisterResourceOutputs(request)


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What one stack declares.

    Attributes:
        graph: Its resources.
        registered: How often the outputs of each URN were registered.
    """

    graph: ResourceGraph
    registered: Counter[str]


@pytest.fixture(scope="module")
def declared() -> dict[str, Declared]:
    """Every stack of today's fleet by its site, the hub's last."""
    fleet = load_plan(INVENTORY)
    found: dict[str, Declared] = {}
    references: dict[str, dict[str, Any]] = {}
    for site in (*fleet.sites, HUB_STACK):
        given = Settings(site=site, inventory=INVENTORY, protect=True, file="")
        monitor = CountingMonitor("gpufleet", site, references)

        def program(given: Settings = given) -> None:
            for name, value in compose(fleet, given).items():
                pulumi.export(name, value)

        run(program, monitor)
        found[site] = Declared(graph=monitor.graph(), registered=monitor.counts)
        outputs = monitor.stack_outputs
        references[site] = {"outputs": outputs.shaped, "secret_outputs": list(outputs.secret_names)}
    return found


def resources(declared: dict[str, Declared]) -> Iterator[tuple[ResourceGraph, Resource]]:
    """Yield every resource with its graph."""
    for one in declared.values():
        yield from ((one.graph, resource) for resource in one.graph.resources)


def test_every_component_is_seen(declared: dict[str, Declared]) -> None:
    """A component that today's fleet has no use for would escape the tests below."""
    kinds = {resource.type.removeprefix("gpufleet:index:") for _, resource in resources(declared) if not resource.custom}
    classes = {*Component.__subclasses__(), *ClusterComponent.__subclasses__()} - {ClusterComponent}
    assert kinds == {one.__name__ for one in classes if one.__module__.startswith("components.")}
    written = {
        node.name
        for source in sources("components")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and any("Component" in ast.unparse(base) for base in node.bases)
    }
    assert written == kinds | {"Component", "ClusterComponent"}


def test_names_of_children_start_with_their_parents(declared: dict[str, Declared]) -> None:
    """Two clusters in one stack never collide."""
    wrong = {
        resource.urn
        for graph, resource in resources(declared)
        if resource.parent and not resource.name.startswith(f"{graph.by_urn[resource.parent].name}-")
    }
    assert not wrong


def test_everything_has_its_component_as_parent(declared: dict[str, Declared]) -> None:
    """Only components, providers, references and the hub's namespace stand on their own."""
    alone = {resource.type for _, resource in resources(declared) if resource.parent is None and resource.custom}
    assert not {token for token in alone if not token.startswith(WITHOUT_PARENT)}


def test_children_use_the_provider_that_was_given(declared: dict[str, Declared]) -> None:
    """Nothing falls to a default provider, which would take whatever credentials and region lie around."""
    wrong = {
        resource.urn
        for _, resource in resources(declared)
        if resource.custom and resource.provider is None and not resource.type.startswith("pulumi:")
    }
    assert not wrong


def test_outputs_are_registered_exactly_once(declared: dict[str, Declared]) -> None:
    """A component without registered outputs never counts as complete, one that registers twice is refused."""
    for one in declared.values():
        components = {resource.urn for resource in one.graph.resources if not resource.custom}
        assert {urn: one.registered[urn] for urn in components} == dict.fromkeys(components, 1)


def test_options_of_the_caller_stay_on_the_component() -> None:
    """What is said of a component is not said again of its children; the engine hands down what has to be."""

    def program() -> None:
        options = pulumi.ResourceOptions(ignore_changes=["x"], delete_before_replace=True, replace_on_changes=["y"])
        component = Component("Probe", "probe", options)
        Component("Inner", component.child("inner"), component.child_options())

    graph = run(program).monitor.graph()
    outer, inner = only(graph, "gpufleet:index:Probe"), only(graph, "gpufleet:index:Inner")
    assert (outer.options.ignore_changes, outer.options.replace_on_changes) == (("x",), ("y",))
    assert (inner.parent, inner.name) == (outer.urn, "probe-inner")
    assert (inner.options.ignore_changes, inner.options.delete_before_replace, inner.options.replace_on_changes) == ((), None, ())


def test_options_are_made_in_one_place() -> None:
    """A child's options come from `child_options`, which names the parent; nobody merges or copies the caller's."""
    made = {
        source.path
        for source in sources("components")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ResourceOptions")
    }
    merged = {source.path for source in sources("components") if "ResourceOptions.merge" in source.text}
    assert (made, merged) == (OPTIONS_MADE_IN, set())
