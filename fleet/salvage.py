"""What is left of an inventory whose shape is wrong in places, so that mistakes of plan are told together with those of shape.

A value of the wrong shape is left out, and the rest is planned. Only what the plan refuses inside a cluster's `gpus` is believed:
further out a refusal may follow from what was left out, such as a hub whose cluster is missing.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from fleet.documents import Document, Path
from fleet.inventory import Inventory

_ROUNDS = 4
"""How often what was left out may leave something else incomplete: a value, its entry, its cluster, its site."""


def sound_part(document: Document) -> Inventory | None:
    """Return the inventory that is left when every value of the wrong shape is left out; None when nothing is."""
    data = deepcopy(document.data)
    for _ in range(_ROUNDS):
        try:
            return Inventory.model_validate(data)
        except ValidationError as error:
            for item in error.errors():
                _leave_out(data, _culprit(data, item["loc"], is_missing=item["type"] == "missing"))
    return None


def is_of_a_pool(path: str) -> bool:
    """Return whether a mistake's path is inside a cluster's `gpus`, where the rest of the inventory has little say."""
    return path.startswith("clusters.") and ".gpus[" in path


def _culprit(data: object, location: tuple[Any, ...], *, is_missing: bool) -> Path:
    """Return the key to leave out for an error at `location`.

    Something missing makes what it is missing from unusable. Items of lists are not left out by themselves: those after them
    would change their places.
    """
    path: Path = tuple(part for part in location if part != "[key]")
    path = path[:-1] if is_missing else path
    while path and (isinstance(path[-1], int) or not isinstance(_at(data, path[:-1]), dict)):
        path = path[:-1]
    return path


def _leave_out(data: object, path: Path) -> None:
    """Remove the key at `path` from `data`, where it still is."""
    around = _at(data, path[:-1]) if path else None
    if isinstance(around, dict):
        around.pop(path[-1], None)


def _at(data: object, path: Path) -> object:
    """Return what stands at `path`, None where nothing does."""
    for part in path:
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data
