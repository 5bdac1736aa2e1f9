"""Checks every declared resource against the provider SDK's own classes and our tables of values and bounds.

The SDK classes refuse an unknown keyword and let through whatever a dict literal holds, any type, any text for an enum and any
number. Values that are secret or unknown are skipped.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from preview.enums import ALLOWED, BOUNDS, Allowed, Bound
from preview.graph import MASK, UNKNOWN, Finding, Resource
from preview.rules import RULES
from preview.schema import Either, ListOf, MapOf, OneValueOf, Record, Scalar, Shape, inputs_of

Problem = tuple[str, Any, str, str]
"""Path, value, reason, remedy."""

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_WIRE: dict[type, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float), bool: (bool,)}


def check(resources: Iterable[Resource]) -> list[Finding]:
    """Return everything wrong with the inputs of these resources, in their order.

    Only resources that a provider makes are checked, and only those whose SDK module the program has imported.
    """
    return [
        Finding(severity="error", urn=resource.urn, path=path, value=value, reason=reason, remedy=remedy)
        for resource in resources
        if resource.custom and not resource.read
        for path, value, reason, remedy in _problems(resource)
    ]


def _problems(resource: Resource) -> Iterator[Problem]:
    """Yield what is wrong with one resource."""
    shape = inputs_of(resource.type)
    is_provider = resource.type.startswith("pulumi:providers:")
    if shape is not None and not is_provider:
        yield from _record(shape, resource.inputs, "")
    elif shape is not None:
        yield from _unknown_keys(shape, resource.inputs, "")
    for path, allowed in ALLOWED.get(resource.type, {}).items():
        for where, value in at(resource.inputs, path):
            yield from _not_allowed(where, value, allowed)
    for path, bound in BOUNDS.get(resource.type, {}).items():
        for where, value in at(resource.inputs, path):
            yield from _out_of_bounds(where, value, bound)
    for rule in RULES.get(resource.type, ()):
        yield from rule(resource.inputs)


def _value(shape: Shape, value: Any, path: str) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield what is wrong with one value."""
    if value is None or value in (MASK, UNKNOWN):
        return
    if isinstance(shape, Scalar):
        if not isinstance(value, _WIRE[shape.kind]) or (isinstance(value, bool) and shape.kind is not bool):
            yield path, value, f"It has to be {_WORDS[shape.kind]}", f"Write {_WORDS[shape.kind]}"
    elif isinstance(shape, OneValueOf):
        if value not in shape.values:
            yield path, value, f"{shape.source} does not list this value", _choose(value, shape.values)
    elif isinstance(shape, Record):
        yield from _record(shape, value, path)
    elif isinstance(shape, ListOf):
        yield from _list(shape, value, path)
    elif isinstance(shape, MapOf):
        yield from _map(shape, value, path)
    elif isinstance(shape, Either):
        tries = [list(_value(option, value, path)) for option in shape.options]
        yield from min(tries, key=len)


def _record(shape: Record, value: Any, path: str) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield what is wrong with a map whose keys are known."""
    if not isinstance(value, dict):
        yield path, value, f"It has to be a map with the properties of {shape.args.__name__}", "Write such a map"
        return
    yield from _unknown_keys(shape, value, path)
    properties = shape.properties
    for key in sorted(shape.required - value.keys()):
        reason = f"{shape.args.__name__} requires this property"
        yield _join(path, key), None, reason, "Give it a value"
    for key, item in value.items():
        if key in properties:
            yield from _value(properties[key], item, _join(path, key))


def _unknown_keys(shape: Record, value: Any, path: str) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield the keys that the SDK class does not have."""
    properties = shape.properties
    for key in value:
        if key not in properties:
            reason = f"{shape.args.__name__} has no such property"
            yield _join(path, key), value[key], reason, _choose(key, tuple(properties))


def _list(shape: ListOf, value: Any, path: str) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield what is wrong with a list."""
    if not isinstance(value, list):
        yield path, value, "It has to be a list", "Write a list, even for one item"
        return
    for index, item in enumerate(value):
        yield from _value(shape.item, item, f"{path}[{index}]")


def _map(shape: MapOf, value: Any, path: str) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield what is wrong with a map whose keys are free."""
    if not isinstance(value, dict):
        yield path, value, "It has to be a map", "Write a map"
        return
    for key, item in value.items():
        yield from _value(shape.item, item, f'{path}["{key}"]')


def _not_allowed(path: str, value: Any, allowed: Allowed) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield a value that a closed list does not hold."""
    if value not in (None, MASK, UNKNOWN) and value not in allowed.values:
        yield path, value, f"The cloud takes no such value ({allowed.source})", _choose(value, allowed.values)


def _out_of_bounds(path: str, value: Any, bound: Bound) -> Iterator[Problem]:  # noqa: ANN401 -- any JSON value
    """Yield a number outside its range, or a text or list whose length is."""
    if value in (None, MASK, UNKNOWN) or isinstance(value, bool):
        return
    size = len(value) if isinstance(value, str | list) else value
    if not isinstance(size, int | float) or (bound.least <= size and (bound.most is None or size <= bound.most)):
        return
    most = "" if bound.most is None else f" and at most {bound.most:g}"
    measure = "Its length" if isinstance(value, str | list) else "It"
    limits = f"at least {bound.least:g}{most}"
    yield path, value, f"{measure} has to be {limits} ({bound.source})", f"Choose {limits}"


def at(value: Any, path: str, where: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 -- any JSON value
    """Yield every place and value that a path with ``[*]`` points at; nothing where a part is absent."""
    if not path:
        yield where, value
        return
    key, _, rest = path.partition(".")
    name, is_list, _ = key.partition("[*]")
    if not isinstance(value, dict) or name not in value:
        return
    found, here = value[name], _join(where, name)
    if not is_list:
        yield from at(found, rest, here)
    elif isinstance(found, list):
        for index, item in enumerate(found):
            yield from at(item, rest, f"{here}[{index}]")


def _choose(value: Any, values: tuple[Any, ...]) -> str:  # noqa: ANN401 -- any JSON value
    """Return advice: the nearest of these values if one is near, else all of them."""
    texts = [str(one) for one in values]
    near = difflib.get_close_matches(str(value), texts, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(near)}?" if near else f"Use one of {', '.join(sorted(texts))}"


def _join(path: str, key: str) -> str:
    """Return the path of a key inside a path."""
    return f"{path}.{key}" if path else key
