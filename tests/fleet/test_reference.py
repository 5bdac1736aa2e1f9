"""The page of settings says what the code does: its generated part is compared, and nothing in the models is left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.inventory import Model
from fleet.reference import END, START, reference, replaced

PAGE = Path(__file__).parents[2] / "docs" / "inventory.md"


def _models(base: type[Model]) -> Iterator[type[Model]]:
    """Yield every model of the border, bases included."""
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of every row of every table of settings."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            yield cells


def test_the_page_is_up_to_date() -> None:
    """The generated part of docs/inventory.md is what the code says; GPUFLEET_UPDATE_GOLDEN=1 rewrites it."""
    page = PAGE.read_text()
    if os.environ.get("GPUFLEET_UPDATE_GOLDEN") == "1":
        PAGE.write_text(replaced(page))
    assert PAGE.read_text() == replaced(page)


def test_a_page_without_markers_is_refused() -> None:
    """A page that lost a marker is not overwritten in part."""
    for page, missing in ((f"{START}\n", END), (f"{END}\n", START), ("", START)):
        with pytest.raises(ValueError, match=re.escape(missing)):
            replaced(page)


def test_every_setting_of_every_model_has_a_row_with_a_meaning() -> None:
    """A setting that is added to a model shows up, and is described."""
    rows = [cells for cells in _rows(reference()) if cells[3]]
    keys = [cells[0].strip("`") for cells in rows]
    wanted = [name for model in set(_models(Model)) for name in model.__annotations__]
    assert sorted(key for key in keys) == sorted(wanted)


def test_defaults_are_those_of_plans() -> None:
    """A default that differs from cloud to cloud names each; one that is the same everywhere stands alone."""
    defaults: dict[str, list[str]] = {}
    for cells in _rows(reference()):
        defaults.setdefault(cells[0].strip("`"), []).append(cells[2])
    assert defaults["max"] == ["`5`", "`4`"]
    assert "`m7i.xlarge` on aws" in defaults["machine"][0]
    assert "`0` on google, aws, azure; `1` on openstack" in defaults["min"]
    assert defaults["driver"] == ["`heat`"]
    assert defaults["services_cidr"][0].endswith("`10.254.0.0/16` on openstack with heat")
    assert defaults["card"] == ["required", "required"]


def test_links_of_the_page_lead_somewhere() -> None:
    """Every relative link of every page of docs/ names a file that is there."""
    pages = [*PAGE.parent.rglob("*.md"), *PAGE.parents[1].glob("*.md")]
    without_code = {page: re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL) for page in sorted(pages)}
    links = [(page, link) for page, text in without_code.items() for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)]
    assert links
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
