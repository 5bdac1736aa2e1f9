"""The only file of the core that opens files: inventory and catalogue from disk, and the plan they make."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from fleet.catalogue import Catalogue
from fleet.catalogue_parsing import parse_catalogue
from fleet.documents import LARGEST_BYTES, Document, parse_document
from fleet.errors import FleetErrors, Mistake
from fleet.inventory import Inventory
from fleet.plan import plan
from fleet.reading import read_inventory
from fleet.records import FleetPlan
from fleet.salvage import is_of_a_pool, sound_part

CATALOGUE = Path(__file__).resolve().parent.parent / "catalogue"
"""The catalogue that this checkout carries."""


@cache
def load_catalogue(folder: Path = CATALOGUE) -> Catalogue:
    """Return the catalogue of a folder with ``cards.yaml`` and ``machines/<cloud>.yaml``.

    Raises:
        FleetErrors: A file cannot be read, or a row is wrong; all wrong rows are listed.
    """
    files = [folder / "cards.yaml", *sorted((folder / "machines").glob("*.yaml"))]
    return parse_catalogue({str(file.relative_to(folder)): _plain_data(file) for file in files})


def _plain_data(file: Path) -> object:
    """Return what a file of the catalogue holds, or refuse a file that is not there or not YAML."""
    line, remedy = 0, "Mend the file, or take it from the repository again."
    try:
        return yaml.load(file.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        reason = f"cannot be read: {(error.strerror or str(error)).lower()}"
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        reason = f"not YAML: {getattr(error, 'problem', None) or str(error).splitlines()[0]}"
    raise FleetErrors([Mistake(file=str(file), line=line, path="", reason=reason, remedy=remedy)])


def load_document(file: Path) -> Document:
    """Return the document in a file, whose name is `file` as given.

    Raises:
        FleetErrors: The file cannot be read, or holds no document.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {(error.strerror or str(error)).lower()}"
        remedy = "Name an inventory file; examples/inventory-2021.yaml is one."
        raise FleetErrors([Mistake(file=str(file), path="", reason=reason, remedy=remedy)]) from error
    return parse_document(content, str(file))


def load_inventory(file: Path) -> Inventory:
    """Return the inventory in a file.

    Raises:
        FleetErrors: The file cannot be read or its shape is wrong.
    """
    return read_inventory(load_document(file))


def load_plan(file: Path) -> FleetPlan:
    """Return the plan of the fleet that an inventory file states, with this checkout's catalogue.

    Raises:
        FleetErrors: The inventory cannot be read or planned; every mistake is listed, of shape and of plan.
    """
    document = load_document(file)
    try:
        inventory = read_inventory(document)
    except FleetErrors as errors:
        raise FleetErrors([*errors.mistakes, *_further_mistakes(document)]) from errors
    return plan(inventory, load_catalogue(), document)


def _further_mistakes(document: Document) -> tuple[Mistake, ...]:
    """Return what the plan would refuse about pools of an inventory that is refused for its shape already."""
    part = sound_part(document)
    if part is None:
        return ()
    try:
        plan(part, load_catalogue(), document)
    except FleetErrors as errors:
        return tuple(mistake for mistake in errors.mistakes if is_of_a_pool(mistake.path))
    return ()
