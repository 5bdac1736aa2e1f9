"""Finds the rows of a resource's cloud, and fills what no row covers from the SDK class's own output types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from pulumi import Output, _types

from fleet.errors import FleetErrors, Mistake
from preview import wire
from preview.outputs.standins import Answer, Declared, Function, Row
from preview.schema import resource_class

MODULES = {
    "gcp": "preview.outputs.google",
    "aws": "preview.outputs.aws",
    "azure-native": "preview.outputs.azure",
    "openstack": "preview.outputs.openstack",
    "kubernetes": "preview.outputs.kubernetes",
}
"""The module with each package's rows: `ROWS` by type token, `FUNCTIONS` by function token, `row_for` for the rest."""


def outputs_of(declared: Declared) -> Answer:
    """Return the stand-in id of a resource and its outputs on top of its inputs.

    Raises:
        FleetErrors: A StackReference names a stack whose outputs were not given.
    """
    if declared.type == "pulumi:pulumi:StackReference":
        return _stack_reference(declared)
    if declared.type.startswith("pulumi:providers:"):
        return declared.uuid(), {}
    row = _row(declared.type)
    identity, outputs = row(declared) if row else (declared.called(), {})
    outputs = {key: value for key, value in outputs.items() if value is not None}
    for key in _computed_texts(declared.type):
        if key not in outputs and key not in declared.inputs:
            outputs[key] = declared.called() if key == "name" else f"simulated-{key}-{declared.digest[:7]}"
    return identity, outputs


def call(token: str, args: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the stand-in result of a provider function; None when no row covers it."""
    module = _module(token.split(":", 1)[0])
    functions: Mapping[str, Function] = getattr(module, "FUNCTIONS", {})
    function = functions.get(token)
    return None if function is None else function(args)


@cache
def _module(package: str) -> Any:  # noqa: ANN401 -- a module
    """Return the module with a package's rows; None when there is none."""
    return import_module(MODULES[package]) if package in MODULES else None


@cache
def _row(type_token: str) -> Row | None:
    """Return the row of a type; None when nothing covers it."""
    module = _module(type_token.split(":", 1)[0])
    return None if module is None else module.ROWS.get(type_token) or module.row_for(type_token)


@cache
def _computed_texts(type_token: str) -> tuple[str, ...]:
    """Return the outputs that the type's SDK class types as text that is never None: the cloud always answers them.

    Kubernetes is left out: its classes type every field so, and an API server leaves unset fields unset.
    """
    found = resource_class(type_token)
    if found is None or type_token.startswith("kubernetes:"):
        return ()
    hints = _types._raw_return_hints(found)  # noqa: SLF001 -- the public form drops which are optional
    return tuple(key for key, kind in hints.items() if kind == Output[str] and key not in ("id", "urn"))


def stack_outputs(name: str, references: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the engine's own function ``pulumi:pulumi:readStackOutputs`` answers for a stack.

    Raises:
        LookupError: No such stack was given; the engine's words.
    """
    found = _stack(name, references)
    if found is None:
        raise LookupError(f'unknown stack "{name}"')
    return {"name": name, "outputs": found.get("outputs", {}), "secretOutputNames": sorted(found.get("secret_outputs", ()))}


def _stack(name: str, references: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a stack exports, by its full name or the last part of it; None when it was not given."""
    return references.get(name) or references.get(name.rpartition("/")[2])


def _stack_reference(declared: Declared) -> Answer:
    """Return the outputs of the referenced stack, those that hold secrets marked."""
    wanted = declared.text("name", declared.name)
    found = _stack(wanted, declared.references)
    if found is None:
        raise FleetErrors([_missing_stack(wanted, declared.references)])
    secrets = set(found.get("secret_outputs", ()))
    outputs = {key: wire.secret(value) if key in secrets else value for key, value in found.get("outputs", {}).items()}
    return wanted, {"name": wanted, "outputs": outputs, "secretOutputNames": sorted(secrets)}


def _missing_stack(wanted: str, known: Mapping[str, Any]) -> Mistake:
    """Return the mistake of referring to a stack that was not previewed."""
    there = ", ".join(sorted(known)) or "none"
    return Mistake(
        path=f"StackReference {wanted}",
        reason=f"No outputs of this stack are at hand (there are: {there})",
        remedy="Preview that stack first, or put right what made its preview fail",
    )
