"""From registration requests to the graph's plain records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime.proto import resource_pb2

from preview import wire
from preview.graph import Options, Resource
from preview.urns import STACK_TYPE


@dataclass(frozen=True, kw_only=True, slots=True)
class StackOutputs:
    """Outputs of the stack.

    Attributes:
        masked: Secrets masked where they stand: what the graph shows.
        shaped: Secrets with their shape kept and every leaf masked: what later stacks read.
        secret_names: Names of the outputs that hold a secret.
    """

    masked: dict[str, Any] = field(default_factory=dict)
    shaped: dict[str, Any] = field(default_factory=dict)
    secret_names: tuple[str, ...] = ()


def recorded(request: resource_pb2.RegisterResourceRequest, urn: str, inputs: dict[str, Any], identity: str | None) -> Resource:
    """Return the record of a registered resource; aliases are left for later, when all parents are known."""
    dependencies = _sorted(request.dependencies)
    return Resource(
        urn=urn,
        type=request.type,
        name=request.name,
        parent=_parent(request.parent),
        custom=request.custom,
        inputs=inputs,
        id=identity,
        provider=_provider(request.provider),
        options=_options(request, dependencies),
        dependencies=dependencies,
        property_dependencies={
            key: _sorted(found.urns) for key, found in sorted(request.propertyDependencies.items()) if found.urns
        },
    )


def recorded_read(request: resource_pb2.ReadResourceRequest, urn: str, inputs: dict[str, Any], identity: str) -> Resource:
    """Return the record of a resource that is looked up and not made."""
    dependencies = _sorted(request.dependencies)
    return Resource(
        urn=urn,
        type=request.type,
        name=request.name,
        parent=_parent(request.parent),
        custom=True,
        inputs=inputs,
        id=identity,
        provider=_provider(request.provider),
        options=Options(additional_secret_outputs=_sorted(request.additionalSecretOutputs), depends_on=dependencies),
        dependencies=dependencies,
        read=True,
    )


def recorded_outputs(outputs: struct_pb2.Struct) -> StackOutputs:
    """Return the record of what a stack exports."""
    fields = outputs.fields
    return StackOutputs(
        masked=wire.plain(outputs),
        shaped={name: wire.shape(fields[name]) for name in sorted(fields)},
        secret_names=tuple(sorted(name for name in fields if wire.holds_secret(fields[name]))),
    )


def _options(request: resource_pb2.RegisterResourceRequest, dependencies: tuple[str, ...]) -> Options:
    """Return the request's options as plain data."""
    return Options(
        protect=request.protect if request.HasField("protect") else None,
        ignore_changes=tuple(request.ignoreChanges),
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        replace_on_changes=tuple(request.replaceOnChanges),
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        additional_secret_outputs=_sorted(request.additionalSecretOutputs),
        custom_timeouts=_timeouts(request) if request.HasField("customTimeouts") else {},
        depends_on=dependencies,
    )


def _timeouts(request: resource_pb2.RegisterResourceRequest) -> dict[str, str]:
    """Return the time limits that were said, by operation."""
    said = request.customTimeouts
    return {name: getattr(said, name) for name in ("create", "update", "delete", "read") if getattr(said, name)}


def _parent(urn: str) -> str | None:
    """Return a parent's URN; None for the stack, which is no resource of the graph."""
    return None if not urn or f"::{STACK_TYPE}::" in urn else urn


def _provider(reference: str) -> str | None:
    """Return the URN in a provider reference ``urn::id``; None for the default provider."""
    return reference.rpartition("::")[0] or None


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts sorted, each once."""
    return tuple(sorted(set(texts)))
