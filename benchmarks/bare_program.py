"""Writes the bare SDK program that the preview is measured against, as a person would who had nothing of ours.

From the graph of a stack with two clusters it makes Python text: constructor calls of the SDK's own classes with the same inputs,
parents, providers and dependencies. What belongs to the second cluster stands in a function that is called once for each further
cluster. It runs under the SDK's stock mocks, without plan, catalogue, checks or graph, and exports nothing.

Run as ``python -m benchmarks.bare_program GRAPH OUT``: a process of its own, for it imports the SDK.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pulumi import _types

from benchmarks.fleets import name_of
from preview.graph import Resource, ResourceGraph
from preview.schema import Either, ListOf, MapOf, Record, Scalar, Shape, args_class

TEMPLATE = name_of(1)
"""The cluster whose resources are repeated."""

_PACKAGES = {"azure-native": "pulumi_azure_native"}

_HEAD = '''\
"""A bare SDK program: {total} resources for two clusters, the second's repeated. `python FILE CLUSTERS stock|tuned`."""

import asyncio
import gc
import json
import os
import sys
from collections import Counter

import pulumi
from pulumi.runtime import mocks, settings, stack

{imports}

DECLARED = Counter()


class Answers(mocks.Mocks):
    """Answers every registration with an id and its own inputs."""

    def new_resource(self, args):
        DECLARED[args.typ] += 1
        return [args.name + "-id", args.inputs]

    def call(self, args):
        return {{}}


class Component(pulumi.ComponentResource):
    """A component without a body."""

    def __init__(self, type_token, name, opts):
        super().__init__(type_token, name, {{}}, opts)
        self.register_outputs({{}})

'''

_FOOT = '''

def program():
    common = shared()
    for index in range(1, int(sys.argv[1])):
        cluster(f"c{index:04d}", *common)


async def drained():
    """As the preview waits: one task after the other."""
    program()
    calls, tasks = settings._get_rpc_manager().rpcs, settings.SETTINGS.outputs
    await asyncio.sleep(0)
    while calls or tasks:
        await (calls.pop() if calls else tasks.pop())


async def run(body):
    """Set the stock mocks up as the SDK's `set_mocks` does, and run the program as its language host does."""
    monitor = mocks.MockMonitor(Answers())
    settings.configure(
        mocks.MockSettings(
            monitor=monitor,
            monitor_features=set(),
            engine=mocks.MockEngine(None),
            project="gpufleet",
            stack="bare",
            dry_run=True,
            organization="organization",
            callbacks=None,
            outputs=set(),
        )
    )
    settings.set_root_resource(None)
    await stack.run_in_stack(body)


tuned = sys.argv[2] == "tuned"
if tuned:
    gc.set_threshold(100_000, 50, 100)
asyncio.run(run(drained if tuned else program))
del DECLARED["pulumi:pulumi:Stack"]
print(json.dumps(DECLARED), flush=True)
if tuned:
    os._exit(0)
'''


class _Writer:
    """Turns the resources of a graph into constructor calls.

    Args:
        graph: Graph of a stack with two clusters.
    """

    def __init__(self, graph: ResourceGraph) -> None:
        self.graph = graph
        ordered = list(_in_order(graph))
        self.names = {resource.urn: f"r{index}" for index, resource in enumerate(ordered)}
        self.shared = [resource for resource in ordered if not _is_repeated(resource)]
        self.repeated = [resource for resource in ordered if _is_repeated(resource)]
        self.modules: set[str] = set()

    def text(self) -> str:
        """Return the program."""
        common = ", ".join(self.names[resource.urn] for resource in self.shared)
        bodies = [f"\ndef shared():\n{self._calls(self.shared)}    return ({common},)\n"]
        bodies.append(f"\n\ndef cluster(cluster, {common}):\n{self._calls(self.repeated)}")
        imports = "\n".join(f"import {module}" for module in sorted(self.modules))
        return _HEAD.format(total=len(self.names), imports=imports) + "".join(bodies) + _FOOT

    def _calls(self, resources: list[Resource]) -> str:
        """Return one statement for each resource."""
        return "".join(f"    {self.names[resource.urn]} = {self._call(resource)}\n" for resource in resources)

    def _call(self, resource: Resource) -> str:
        """Return the constructor call of a resource."""
        name, options = _literal(resource.name), self._options(resource)
        if resource.read:
            return f"pulumi.StackReference({name})"
        if not resource.custom:
            return f"Component({resource.type!r}, {name}, {options})"
        module, class_name = _place(resource.type)
        self.modules.add(module)
        args = args_class(getattr(import_module(module), class_name))
        if args is None:
            raise LookupError(resource.type)
        keywords = self._keywords(Record(args), resource.inputs, resource)
        return f"{module}.{class_name}({name}, {keywords}opts={options})"

    def _options(self, resource: Resource) -> str:
        """Return the resource's options: parent, provider, and the dependencies that no input carries."""
        said = {"parent": resource.parent, "provider": resource.provider}
        parts = [f"{option}={self.names[urn]}" for option, urn in said.items() if urn]
        carried = {urn for key, value in resource.inputs.items() for urn in self._carried(resource, key, value)}
        rest = [self.names[urn] for urn in resource.dependencies if urn not in carried and self.graph.by_urn[urn].custom]
        parts += [f"depends_on=[{', '.join(rest)}]"] if rest and not resource.read else []
        return f"pulumi.ResourceOptions({', '.join(parts)})"

    def _carried(self, resource: Resource, key: str, value: Any) -> Iterator[str]:  # noqa: ANN401 -- any JSON value
        """Yield the dependencies whose ids stand in a property's value."""
        leaves = set(_leaves(value))
        for urn in resource.property_dependencies.get(key, ()):
            if self.graph.by_urn[urn].id in leaves:
                yield urn

    def _keywords(self, shape: Record, inputs: Mapping[str, Any], resource: Resource, top: str | None = None) -> str:
        """Return a record's properties as keyword arguments, each followed by a comma and a space."""
        spelled = {name: keyword for keyword, name in _types.input_type_py_to_pulumi_names(shape.args).items()}
        spelled |= {"resourceName": "resource_name_"}  # the first parameter of every constructor took the plain name
        return "".join(
            f"{spelled.get(key, key)}={self._value(shape.properties[key], value, resource, top or key)}, "
            for key, value in inputs.items()
        )

    def _value(self, shape: Shape, value: Any, resource: Resource, top: str) -> str:  # noqa: ANN401 -- any JSON value
        """Return the expression of a value inside the property `top`."""
        if isinstance(value, str):
            return self._text(shape, value, resource, top)
        if isinstance(value, list):
            item = shape.item if isinstance(shape, ListOf) else shape
            return f"[{', '.join(self._value(item, one, resource, top) for one in value)}]"
        if not isinstance(value, dict):
            return repr(value)
        record = _record_of(shape)
        if record is not None:
            module = record.args.__module__.rpartition("._inputs")[0]
            self.modules.add(module)
            return f"{module}.{record.args.__name__}({self._keywords(record, value, resource, top)})"
        item = shape.item if isinstance(shape, MapOf) else shape
        return f"{{{', '.join(f'{_literal(key)}: {self._value(item, one, resource, top)}' for key, one in value.items())}}}"

    def _text(self, shape: Shape, value: str, resource: Resource, top: str) -> str:
        """Return the expression of a text: a provider's value that travels as JSON, a dependency's id, or the text itself."""
        if resource.type.startswith("pulumi:providers:") and shape != Scalar(str):
            return self._value(shape, json.loads(value), resource, top)
        for urn in resource.property_dependencies.get(top, ()):
            if self.graph.by_urn[urn].id == value:
                return f"{self.names[urn]}.id"
        return _literal(value)


def _record_of(shape: Shape) -> Record | None:
    """Return the record that a map of this shape is, if any."""
    options = shape.options if isinstance(shape, Either) else (shape,)
    return next((one for one in options if isinstance(one, Record)), None)


def _is_repeated(resource: Resource) -> bool:
    """Return whether a resource belongs to the cluster that is repeated."""
    return TEMPLATE in resource.urn


def _in_order(graph: ResourceGraph) -> Iterator[Resource]:
    """Yield resources after all they need."""
    seen: set[str] = set()

    def visit(urn: str) -> Iterator[Resource]:
        if urn in seen:
            return
        seen.add(urn)
        resource = graph.by_urn[urn]
        needed = (resource.parent, resource.provider, *resource.dependencies)
        for other in needed:
            if other in graph.by_urn:
                yield from visit(other)
        yield resource

    for resource in graph.resources:
        yield from visit(resource.urn)


def _place(type_token: str) -> tuple[str, str]:
    """Return the public module and the name of a resource type's SDK class."""
    package, module, name = type_token.split(":")
    if package == "pulumi":
        return _PACKAGES.get(name, f"pulumi_{name}"), "Provider"
    parts = module.split("/")
    inner = ".".join((parts[0].partition(".")[0], parts[1])) if package == "kubernetes" else parts[0]
    return f"{_PACKAGES.get(package, f'pulumi_{package}')}.{inner}", name


def _leaves(value: Any) -> Iterator[Any]:  # noqa: ANN401 -- any JSON value
    """Yield the texts inside a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, str):
        yield value


def _literal(text: str) -> str:
    """Return a text as Python, the repeated cluster's name as the function's parameter."""
    if TEMPLATE not in text:
        return repr(text)
    return "f" + repr(text.replace("{", "{{").replace("}", "}}")).replace(TEMPLATE, "{cluster}")


def main(arguments: list[str]) -> None:
    """Read the worker's file that the first argument names and write the program to the second."""
    plain = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    Path(arguments[1]).write_text(_Writer(ResourceGraph.from_plain(plain["graph"])).text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
