"""Inventories as text, and what reading and planning them comes to."""

from __future__ import annotations

import textwrap

from fleet.documents import parse_document
from fleet.errors import FleetErrors, Mistake
from fleet.inventory import Inventory
from fleet.load import load_catalogue
from fleet.notes import NoteLevel
from fleet.plan import plan
from fleet.reading import read_inventory
from fleet.records import FleetPlan, NodePool

FILE = "inventory.yaml"


def read(text: str) -> Inventory:
    """Return the inventory that YAML text holds."""
    return read_inventory(parse_document(textwrap.dedent(text).encode(), FILE))


def planned(text: str) -> FleetPlan:
    """Return the plan of an inventory, with the real catalogue."""
    document = parse_document(textwrap.dedent(text).encode(), FILE)
    return plan(read_inventory(document), load_catalogue(), document)


def mistakes(text: str) -> tuple[Mistake, ...]:
    """Return every mistake that reading or planning an inventory tells; empty when there is none."""
    try:
        planned(text)
    except FleetErrors as errors:
        return errors.mistakes
    return ()


def told(text: str) -> list[str]:
    """Return the messages of `mistakes`, without the file and line in front."""
    return [f"{mistake.path}: {mistake.reason}. {mistake.remedy}" for mistake in mistakes(text)]


def pools(text: str) -> dict[str, NodePool]:
    """Return all pools of an inventory of one cluster, by name."""
    (cluster,) = planned(text).clusters
    return {pool.name: pool for pool in cluster.pools}


def warnings(text: str) -> list[str]:
    """Return the texts of a plan's warnings."""
    return [note.text for note in planned(text).notes if note.level is NoteLevel.WARNING]


def notes(text: str) -> dict[str, list[str]]:
    """Return the texts of a plan's notes of either level, by what they are about."""
    found: dict[str, list[str]] = {}
    for note in planned(text).notes:
        found.setdefault(note.path, []).append(note.text)
    return found
