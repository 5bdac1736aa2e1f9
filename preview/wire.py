"""Between the engine's protocol and plain JSON: protobuf Structs in, masked plain values out, and back for outputs.

The protocol marks secrets, resource references, assets and outputs by a signature key (Pulumi 3.272.0, pulumi/runtime/rpc.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime.rpc import (
    UNKNOWN as UNKNOWN_ON_THE_WIRE,
)
from pulumi.runtime.rpc import (
    _special_archive_sig,
    _special_asset_sig,
    _special_output_value_sig,
    _special_resource_sig,
    _special_secret_sig,
    _special_sig_key,
)

from preview.graph import MASK, UNKNOWN


def plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return a Struct as plain JSON: secrets masked, unknowns named, integral numbers as int, nulls left out."""
    fields = struct.fields
    return {key: _plain_value(fields[key]) for key in fields if fields[key].WhichOneof("kind") != "null_value"}


def _plain_value(value: struct_pb2.Value) -> Any:  # noqa: ANN401 -- any JSON value
    """Return one protobuf Value as plain JSON."""
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if text == UNKNOWN_ON_THE_WIRE else text
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [_plain_value(item) for item in value.list_value.values]
    if kind == "struct_value":
        struct = value.struct_value
        return _plain_special(struct) if _special_sig_key in struct.fields else plain(struct)
    return None


def _plain_special(struct: struct_pb2.Struct) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the plain form of a Struct that carries a signature."""
    fields = struct.fields
    signature = fields[_special_sig_key].string_value
    if signature == _special_secret_sig:
        return MASK
    if signature == _special_output_value_sig:
        if "secret" in fields and fields["secret"].bool_value:
            return MASK
        return _plain_value(fields["value"]) if "value" in fields else UNKNOWN
    if signature == _special_resource_sig:
        return _plain_value(fields["id"] if "id" in fields and fields["id"].string_value else fields["urn"])
    kind = {_special_asset_sig: "asset", _special_archive_sig: "archive"}.get(signature, "special")
    return {kind: {key: _plain_value(fields[key]) for key in fields if key != _special_sig_key}}


def is_secret(value: struct_pb2.Value) -> bool:
    """Return whether a Value is marked secret at its top."""
    fields = value.struct_value.fields
    return _special_sig_key in fields and fields[_special_sig_key].string_value == _special_secret_sig


def holds_secret(value: struct_pb2.Value) -> bool:
    """Return whether a Value is secret or has a secret anywhere inside."""
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        return any(holds_secret(item) for item in value.list_value.values)
    if kind == "struct_value":
        return is_secret(value) or any(holds_secret(item) for item in value.struct_value.fields.values())
    return False


def shape(value: struct_pb2.Value) -> Any:  # noqa: ANN401 -- any JSON value
    """Return a Value as plain JSON in which secrets keep their shape: dicts and lists stay, each leaf is masked."""
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        return [shape(item) for item in value.list_value.values]
    if kind == "struct_value":
        fields = value.struct_value.fields
        if is_secret(value):
            return _masked_leaves(_plain_value(fields["value"]))
        return _plain_value(value) if _special_sig_key in fields else {key: shape(fields[key]) for key in fields}
    return _plain_value(value)


def _masked_leaves(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return a plain value with every leaf masked."""
    if isinstance(value, dict):
        return {key: _masked_leaves(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked_leaves(item) for item in value]
    return MASK


def secret(value: Any) -> dict[str, Any]:  # noqa: ANN401 -- any JSON value
    """Return a plain value marked secret, as a Struct holds it."""
    return {_special_sig_key: _special_secret_sig, "value": value}


def mark_secret(struct: struct_pb2.Struct, key: str) -> None:
    """Mark one property of a Struct as secret, in place; nothing happens when it is absent or secret already."""
    if key not in struct.fields or is_secret(struct.fields[key]):
        return
    held = struct_pb2.Value()
    held.CopyFrom(struct.fields[key])
    fields = struct.fields[key].struct_value.fields
    fields.clear()
    fields[_special_sig_key].string_value = _special_secret_sig
    fields["value"].CopyFrom(held)


def with_outputs(inputs: struct_pb2.Struct, outputs: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return what a provider would answer: the inputs, secrets still marked, and the outputs on top."""
    answer = struct_pb2.Struct()
    answer.CopyFrom(inputs)
    answer.update(dict(outputs))
    return answer


def secrets_to_outputs(struct: struct_pb2.Struct) -> None:
    """Turn secrets into secret output values, in place: the engine hands secrets to transforms as Outputs."""
    _rewrite(struct, _secret_to_output)


def outputs_to_secrets(struct: struct_pb2.Struct) -> None:
    """Turn output values back into plain values and secrets, in place."""
    _rewrite(struct, _output_to_secret)


def _rewrite(struct: struct_pb2.Struct, change: Callable[[struct_pb2.Value], None]) -> None:
    """Apply `change` to every Value in a Struct that carries a signature, innermost first."""
    for value in struct.fields.values():
        _rewrite_value(value, change)


def _rewrite_value(value: struct_pb2.Value, change: Callable[[struct_pb2.Value], None]) -> None:
    """Apply `change` to a Value and what is inside it."""
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        for item in value.list_value.values:
            _rewrite_value(item, change)
    elif kind == "struct_value":
        _rewrite(value.struct_value, change)
        if _special_sig_key in value.struct_value.fields:
            change(value)


def _secret_to_output(value: struct_pb2.Value) -> None:
    """Turn one secret into an output value."""
    fields = value.struct_value.fields
    if fields[_special_sig_key].string_value == _special_secret_sig:
        fields[_special_sig_key].string_value = _special_output_value_sig
        fields["secret"].bool_value = True


def _output_to_secret(value: struct_pb2.Value) -> None:
    """Turn one output value into a secret, its bare value, or the unknown."""
    fields = value.struct_value.fields
    if fields[_special_sig_key].string_value != _special_output_value_sig:
        return
    held = struct_pb2.Value(string_value=UNKNOWN_ON_THE_WIRE)
    if "value" in fields:
        held.CopyFrom(fields["value"])
    if "secret" in fields and fields["secret"].bool_value:
        fields.clear()
        fields[_special_sig_key].string_value = _special_secret_sig
        fields["value"].CopyFrom(held)
    else:
        value.CopyFrom(held)
