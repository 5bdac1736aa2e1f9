"""URNs as the engine makes them, aliases included.

Source: pulumi/pulumi pkg/resource/deploy/step_generator.go and sdk/go/common/resource/urn, read 2026-11-21.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pulumi.runtime.proto import alias_pb2

STACK_TYPE = "pulumi:pulumi:Stack"

_API_VERSION = re.compile(r"/v\d{8}(preview|privatepreview)?(?=:)")
"""In a type token of azure-native: the API version of its module. Every resource of that SDK (3.29.0) gives itself an alias for
each version that ever had its type, up to a hundred and more."""


def make_urn(stack: str, project: str, parent: str, type_token: str, name: str) -> str:
    """Return the URN of a resource; `parent` is its parent's URN, empty or the stack's for the top."""
    parent_type = parent.split("::", 3)[2] if parent else ""
    chain = type_token if parent_type in ("", STACK_TYPE) else f"{parent_type}${type_token}"
    return f"urn:pulumi:{stack}::{project}::{chain}::{name}"


def type_of(urn: str) -> str:
    """Return a URN's own type token, without those of its parents."""
    return urn.split("::", 3)[2].rpartition("$")[2]


def name_of(urn: str) -> str:
    """Return a URN's logical name."""
    return urn.split("::", 3)[3]


def renames(type_token: str, aliases: Iterable[alias_pb2.Alias]) -> tuple[alias_pb2.Alias, ...]:
    """Return the aliases under which a resource may have been known, without those that differ in the API version alone."""
    return tuple(alias for alias in aliases if not _is_other_version(type_token, alias))


def _is_other_version(type_token: str, alias: alias_pb2.Alias) -> bool:
    """Return whether an alias says nothing but another API version of the resource's own type."""
    spec = alias.spec
    if not spec.type or spec.name or spec.stack or spec.project or spec.parentUrn or spec.noParent:
        return False
    return _API_VERSION.sub("", spec.type) == _API_VERSION.sub("", type_token)


def alias_urns(urn: str, parent: str, aliases: Iterable[alias_pb2.Alias], parent_aliases: Iterable[str]) -> tuple[str, ...]:
    """Return every former URN of a resource: its own aliases, and what its parent's aliases make of it.

    Args:
        urn: The resource's URN of today.
        parent: Its parent's URN of today; empty for the top.
        aliases: Its own aliases as registered.
        parent_aliases: Former URNs of its parent.
    """
    inherited = tuple(parent_aliases)
    found = {_inherited(urn, parent, former, type_of(urn), name_of(urn)) for former in inherited}
    for alias in aliases:
        if alias.WhichOneof("alias") == "urn":
            found.add(alias.urn)
            continue
        found.add(_own(urn, parent, alias.spec))
        if alias.spec.WhichOneof("parent") is None or not (alias.spec.parentUrn or alias.spec.noParent):
            type_token, name = alias.spec.type or type_of(urn), alias.spec.name or name_of(urn)
            found.update(_inherited(urn, parent, former, type_token, name) for former in inherited)
    return tuple(sorted(found - {urn}))


def _own(urn: str, parent: str, spec: alias_pb2.Alias.Spec) -> str:
    """Return the URN that one alias spec stands for."""
    _, stack, project, _ = urn.replace("urn:pulumi:", "::", 1).split("::", 3)
    former_parent = "" if spec.noParent else spec.parentUrn or parent
    return make_urn(
        spec.stack or stack, spec.project or project, former_parent, spec.type or type_of(urn), spec.name or name_of(urn)
    )


def _inherited(urn: str, parent: str, former_parent: str, type_token: str, name: str) -> str:
    """Return the URN a child had under its parent's former URN; a name that starts with the parent's follows it."""
    _, stack, project, _ = urn.replace("urn:pulumi:", "::", 1).split("::", 3)
    parent_name = name_of(parent)
    if name.startswith(parent_name):
        name = name_of(former_parent) + name.removeprefix(parent_name)
    return make_urn(stack, project, former_parent, type_token, name)
