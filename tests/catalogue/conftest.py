"""The real catalogue, read once, and a small invented one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fleet.catalogue import Catalogue
from fleet.catalogue_parsing import parse_catalogue

FOLDER = Path(__file__).parents[2] / "catalogue"


@pytest.fixture(scope="session")
def documents() -> dict[str, object]:
    """The plain data of every file of the catalogue, by its name relative to the folder."""
    return {
        path.relative_to(FOLDER).as_posix(): yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        for path in FOLDER.rglob("*.yaml")
    }


@pytest.fixture(scope="session")
def catalogue(documents: dict[str, object]) -> Catalogue:
    """The real catalogue."""
    return parse_catalogue(documents)
