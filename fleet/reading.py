"""A document becomes an `Inventory`, or every mistake in its shape is told with path, value and what would be right."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterator
from types import UnionType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fleet.documents import Document, Path
from fleet.errors import FleetErrors, Mistake
from fleet.inventory import Inventory, LabelKey, LabelValue, Name, PoolName, Text

_FORMS = {
    get_args(Name)[1].pattern: "Use lower case letters, digits and dashes, starting with a letter, at most 63 characters.",
    get_args(PoolName)[1].pattern: "Use lower case letters, digits and dashes, starting with a letter, at most 30 characters.",
    get_args(LabelKey)[1].pattern: "Use a Kubernetes label key, such as team or example.org/team.",
    get_args(LabelValue)[1].pattern: "Use at most 63 letters, digits, dashes, dots and underscores; both ends a letter or digit.",
    get_args(Text)[1].pattern: "Write one line of text, without blanks at its ends.",
}
"""What is right where a pattern is not met, by the pattern."""


def read_inventory(document: Document) -> Inventory:
    """Return the inventory that a document holds.

    Raises:
        FleetErrors: Its shape is wrong; mistakes that the document noted are told with the model's.
    """
    data = document.data
    if not isinstance(data, dict):
        what = "an empty file" if data is None else f"{_article(data)} stands where the settings should"
        remedy = "Start with `clusters:`, a site, a cluster and its `gpus`, as in examples/inventory-2021.yaml."
        raise FleetErrors([*document.mistakes, document.mistake((), what, remedy)])
    try:
        inventory = Inventory.model_validate(data)
    except ValidationError as error:
        raise FleetErrors([*document.mistakes, *(_mistake(document, dict(item)) for item in error.errors())]) from error
    if document.mistakes:
        raise FleetErrors(document.mistakes)
    return inventory


def _mistake(document: Document, error: dict[str, Any]) -> Mistake:
    """Return one of pydantic's errors in our words."""
    is_key = _is_about_key(error)
    path = error["loc"][:-1] if is_key else error["loc"]
    kind, value = error["type"], error["input"]
    shown = None if isinstance(value, dict | list) else value
    if kind == "extra_forbidden":
        reason, remedy, shown = "unknown key", _known(path), None
    elif kind == "missing":
        reason, remedy, shown = "missing", _described(path), None
    elif is_key:
        reason, remedy, shown = "not a legal name here", _form(error) or "Use plain text of at most 253 characters.", path[-1]
    elif kind == "string_type" and isinstance(value, float) and path[-1] == "kubernetes":
        reason, remedy = "a number, which loses zeros at its end", 'Put it in quotes: "1.30".'
    else:
        reason, remedy = _reason(error), _form(error) or _described(path)
    return document.mistake(path, reason, remedy, shown)


def _is_about_key(error: dict[str, Any]) -> bool:
    """Return whether an error is about a key: pydantic then adds ``[key]`` to its place, which a key may be called too."""
    place = error["loc"]
    is_mapping = get_origin(_annotation_at(place[:-2])) is dict
    return len(place) > 1 and place[-1] == "[key]" and is_mapping and error["type"].startswith("string_")


def _form(error: dict[str, Any]) -> str:
    """Return what the text should look like whose pattern an error is about, empty when it is about something else."""
    return _FORMS.get(error.get("ctx", {}).get("pattern", ""), "")


def _reason(error: dict[str, Any]) -> str:
    """Return why a value is refused, without pydantic's own turns of phrase."""
    context = error.get("ctx", {})
    templates = {
        "greater_than_equal": "less than {ge}",
        "greater_than": "not more than {gt}",
        "less_than_equal": "more than {le}",
        "literal_error": "not one of {expected}",
        "enum": "not one of {expected}",
        "string_pattern_mismatch": "not of the right form",
        "too_short": "empty",
        "string_too_short": "empty",
        "string_too_long": "longer than {max_length} characters",
        "value_error": "{error}",
    }
    template = templates.get(error["type"])
    return template.format(**context) if template else f"{_article(error['input'])} where {_wanted(error)} is wanted"


def _wanted(error: dict[str, Any]) -> str:
    """Return what kind of value would be right."""
    kinds = {"dict_type": "a mapping", "model_type": "a mapping", "list_type": "a list", "string_type": "text"}
    kinds |= {"int_type": "a whole number", "bool_type": "true or false", "float_type": "a number"}
    return kinds.get(error["type"]) or str(error["msg"]).removeprefix("Input should be ")


def _article(value: object) -> str:
    """Return what YAML calls the kind of `value`."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")


def _known(path: Path) -> str:
    """Return a remedy for an unknown key: the keys spelled most alike, else all that may stand there."""
    known = sorted(_fields_at(path[:-1]))
    near = difflib.get_close_matches(str(path[-1]), known, n=2)
    return f"Did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else f"Known here: {', '.join(known)}."


def _fields_at(path: Path) -> Iterator[str]:
    """Yield the keys that the models know at `path`."""
    for model in _models(_annotation_at(path)):
        yield from model.model_fields


def _described(path: Path) -> str:
    """Return the description of the setting at `path`, or of the nearest one around it."""
    for end in range(len(path), 0, -1):
        for model in _models(_annotation_at(path[: end - 1])):
            field = model.model_fields.get(str(path[end - 1]))
            description = field.description if field else None
            if description:
                return description
    return "See docs/inventory.md."


def _annotation_at(path: Path) -> object:
    """Return the type that the models give the value at `path`, None where they know none."""
    annotation: object = Inventory
    for part in path:
        annotation = _step(annotation, part)
    return annotation


def _step(annotation: object, part: str | int) -> object:
    """Return the type one step further: a model's field, a mapping's value or a list's item."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return _step(args[0], part)
    if origin in {UnionType, typing.Union}:
        return next((found for arg in args if (found := _step(arg, part)) is not None), None)
    if origin is dict:
        return args[1]
    if origin is list:
        return args[0]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    return None


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models that a value of this type can be."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for arg in get_args(annotation):
        yield from _models(arg)
