"""What each cloud answers: the stand-ins of the offline preview, so that both roads through the program see the same cloud."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pulumi.runtime import rpc

from preview import outputs
from tests.engine.doubles.wire import UNKNOWN


def answer(token: str, name: str, inputs: Mapping[str, Any], identity: str) -> tuple[str, dict[str, Any]]:
    """Return the physical id of a new object, and what its cloud adds to the inputs.

    Args:
        token: Type token.
        name: Logical name.
        inputs: Inputs in clear; unknown ones are left out before the cloud is asked.
        identity: The URN, or another text where an object of that URN lives already.
    """
    _import_class(token)
    return outputs.outputs_of(outputs.Declared(type=token, name=name, urn=identity, inputs=_known(inputs)))


def call(token: str, args: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the result of a look-up; None when nobody knows that one."""
    return outputs.call(token, args)


def _import_class(token: str) -> None:
    """Import the SDK module of a type, if there is one: stand-ins for plain texts follow from its class.

    SDK packages are named after the provider; their modules register themselves with the runtime when the package is imported.
    Kubernetes needs none: there stand-ins never follow from classes.
    """
    package, _, rest = token.partition(":")
    if package == "kubernetes":
        return
    try:
        import_module(f"pulumi_{package.replace('-', '_')}")
    except ModuleNotFoundError:
        return
    module = rpc.get_resource_module(package, rest.partition(":")[0], "")
    info = getattr(module, "mod_info", None)
    if info is not None:
        import_module(info["fqn"])


def _known(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value without the properties that are unknown; an unknown item of a list keeps its place."""
    if isinstance(value, Mapping):
        return {key: _known(item) for key, item in value.items() if item != UNKNOWN}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value
