"""From type tokens to the provider SDK's own classes, of modules the program imported already, and the shapes they allow."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections import abc
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from pulumi import Output, _types
from pulumi.runtime import rpc


@cache
def resource_class(type_token: str) -> type[Any] | None:
    """Return the SDK class of a resource type; None for a component, an unknown type or a module not imported."""
    package, _, rest = type_token.partition(":")
    module_name, _, _ = rest.partition(":")
    if type_token.startswith("pulumi:providers:"):
        found = rpc.get_resource_package(type_token.rpartition(":")[2], "")
        info = getattr(found, "pkg_info", None)
        return None if info is None else _attribute(info["fqn"], info["class"])
    found = rpc.get_resource_module(package, module_name, "")
    info = getattr(found, "mod_info", None)
    return None if info is None else _attribute(info["fqn"], info["classes"].get(type_token, ""))


def args_class(found: type[Any]) -> type[Any] | None:
    """Return the class of a resource class's arguments, which its SDK module defines beside it."""
    module = vars(sys.modules[found.__module__])
    return module.get(f"{found.__name__}InitArgs") or module.get(f"{found.__name__}Args")


def _attribute(module_name: str, attribute: str) -> type[Any] | None:
    """Return a class of an imported module; a module that is not imported stays so."""
    module = sys.modules.get(module_name)
    return None if module is None else vars(module).get(attribute)


@dataclass(frozen=True, slots=True)
class Anything:
    """Accepts every value."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, number or switch.

    Attributes:
        kind: ``str``, ``int``, ``float`` or ``bool``.
    """

    kind: type


@dataclass(frozen=True, slots=True)
class OneValueOf:
    """A value of a closed list.

    Attributes:
        values: Those allowed.
        source: Where the list stands.
    """

    values: tuple[Any, ...]
    source: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list.

    Attributes:
        item: Shape of each item.
    """

    item: Shape


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map with free keys, such as labels.

    Attributes:
        item: Shape of each value.
    """

    item: Shape


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of several shapes.

    Attributes:
        options: The shapes.
    """

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A map with known keys. Its properties are worked out when first asked for, since records refer to each other.

    Attributes:
        args: The SDK's argument class.
    """

    args: type[Any]

    @property
    def properties(self) -> dict[str, Shape]:
        """Shapes by property name in camelCase."""
        return _properties(self.args)

    @property
    def required(self) -> frozenset[str]:
        """Names that have to be given."""
        return _required(self.args)


Shape = Anything | Scalar | OneValueOf | ListOf | MapOf | Either | Record

_CLOSED_ENUMS = ("pulumi_azure_native.", "pulumi_kubernetes.")
"""SDKs whose enum classes list what their pinned API takes. Those of AWS and Google are conveniences that lag the clouds."""


@cache
def inputs_of(type_token: str) -> Record | None:
    """Return the shape of a resource type's inputs; None when its SDK class is not at hand."""
    found = resource_class(type_token)
    args = args_class(found) if found else None
    return Record(args) if args is not None and _types.is_input_type(args) else None


@cache
def _properties(args: type[Any]) -> dict[str, Shape]:
    """Return the shapes of an argument class's properties."""
    return {name: shape_of(hint) for name, hint in _types.input_type_types(args).items()}


@cache
def _required(args: type[Any]) -> frozenset[str]:
    """Return the properties that the argument class's constructor demands."""
    names = _types.input_type_py_to_pulumi_names(args)
    parameters = list(inspect.signature(args.__init__).parameters.values())[1:]
    bare = (one.name for one in parameters if one.default is inspect.Parameter.empty)
    return frozenset(names.get(name, name) for name in bare)


def shape_of(hint: Any) -> Shape:  # noqa: ANN401 -- a type hint
    """Return the shape that one of the SDK's type hints stands for."""
    members = _members(hint)
    if len(members) != 1:
        return _union(members)
    only = members[0]
    origin, inner = typing.get_origin(only), typing.get_args(only)
    if origin is typing.Literal:
        return OneValueOf(inner, "the SDK's type hint")
    if origin in (list, abc.Sequence):
        return ListOf(shape_of(inner[0]))
    if origin in (dict, abc.Mapping):
        return MapOf(shape_of(inner[1]))
    return _shape_of_class(only) if isinstance(only, type) else Anything()


def _shape_of_class(found: type[Any]) -> Shape:
    """Return the shape of a plain type, an enum or an argument class; anything else, such as an asset, is not checked."""
    if found in (str, int, float, bool):
        return Scalar(found)
    if issubclass(found, Enum):
        return OneValueOf(tuple(member.value for member in found), f"{found.__module__}.{found.__name__}")
    return Record(found) if _types.is_input_type(found) else Anything()


def _union(members: list[Any]) -> Shape:
    """Return the shape of a union. Text or an enum is the enum where the SDK's enums are closed, else text."""
    enums = [one for one in members if isinstance(one, type) and issubclass(one, Enum)]
    if enums and len(members) == len(enums) + 1 and str in members:
        closed = enums[0].__module__.startswith(_CLOSED_ENUMS)
        return shape_of(enums[0]) if closed and len(enums) == 1 else Scalar(str)
    shapes = tuple(shape_of(one) for one in members)
    return Either(shapes) if shapes and not any(isinstance(one, Anything) for one in shapes) else Anything()


def _members(hint: Any) -> list[Any]:  # noqa: ANN401 -- a type hint
    """Return what a hint allows as a plain value: unions taken apart, promises and dict twins of classes left out."""
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return [hint]
    found: list[Any] = []
    for member in typing.get_args(hint):
        origin = typing.get_origin(member)
        if member is type(None) or origin in (abc.Awaitable, Output) or typing.is_typeddict(member):
            continue
        found.extend(one for one in _members(member) if one not in found)
    if any(isinstance(one, type) and _types.is_input_type(one) for one in found):
        found = [one for one in found if typing.get_origin(one) not in (dict, abc.Mapping)]
    return found
