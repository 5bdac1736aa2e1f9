"""Property values as they travel between engine and provider: structs, with markers for secrets and for what is not known yet.

The markers are the protocol's own (``pulumi.runtime.rpc``, pulumi 3.272.0); they stay inside the plain values, so that a secret
that comes in goes out as a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc

UNKNOWN = rpc.UNKNOWN
_SIGNATURE, _SECRET = rpc._special_sig_key, rpc._special_secret_sig


def to_plain(struct: Struct) -> dict[str, Any]:
    """Return a struct as dicts and lists, whole numbers as int (the wire knows floating point only)."""
    return _whole_numbers(MessageToDict(struct))


def to_struct(plain: Mapping[str, Any]) -> Struct:
    """Return plain values as a struct."""
    struct = Struct()
    struct.update(plain)
    return struct


def reveal(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value with every secret marker taken off, at any depth."""
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            return reveal(value.get("value"))
        return {key: reveal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [reveal(item) for item in value]
    return value


def at(values: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value at a dotted path, in clear; None when there is none."""
    value = reveal(dict(values))
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def fill(given: Any, computed: Any, *, known: bool) -> Any:  # noqa: ANN401 -- any JSON value
    """Return what was given with what the cloud adds to it, at any depth.

    What was given wins, unless the cloud answers a list with a map: azure-native does so with a cluster's identities.

    Args:
        given: The inputs, secrets marked.
        computed: What the cloud would answer.
        known: False in a preview, where each value that the cloud would add is unknown.
    """
    if isinstance(given, dict) and isinstance(computed, dict) and _SIGNATURE not in given:
        added = {key: value if known else UNKNOWN for key, value in computed.items() if key not in given}
        return {key: fill(value, computed.get(key), known=known) for key, value in given.items()} | added
    if isinstance(given, list) and isinstance(computed, list) and len(given) == len(computed):
        return [fill(one, other, known=known) for one, other in zip(given, computed, strict=True)]
    if isinstance(given, list) and isinstance(computed, dict):
        return computed if known else UNKNOWN
    return given


def added_by_cloud(outputs: Any, given: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return of some outputs what `fill` had put in: the reverse of it, empty where nothing was added."""
    if isinstance(outputs, dict) and isinstance(given, dict):
        rest = {key: added_by_cloud(value, given[key]) for key, value in outputs.items() if key in given}
        new = {key: value for key, value in outputs.items() if key not in given}
        return new | {key: value for key, value in rest.items() if value}
    if isinstance(outputs, list) and isinstance(given, list) and len(outputs) == len(given):
        return [added_by_cloud(one, other) for one, other in zip(outputs, given, strict=True)]
    if isinstance(outputs, dict) and isinstance(given, list):
        return outputs
    return {}


def _whole_numbers(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value with floats that are whole turned into int."""
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
