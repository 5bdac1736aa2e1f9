"""Files of the catalogue that are broken end in messages, not in tracebacks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fleet.errors import FleetErrors
from fleet.load import CATALOGUE, load_catalogue


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the catalogue."""
    return Path(shutil.copytree(CATALOGUE, tmp_path / "catalogue"))


def told(folder: Path) -> str:
    """Return what loading a catalogue is refused with."""
    with pytest.raises(FleetErrors) as caught:
        load_catalogue(folder)
    return str(caught.value)


def test_the_copy_loads_like_the_original(folder: Path) -> None:
    """A catalogue is its files and nothing else."""
    assert load_catalogue(folder) == load_catalogue()


def test_broken_yaml_is_told_with_file_and_line(folder: Path) -> None:
    """Who adds a card sees where the bracket is missing."""
    file = folder / "machines" / "aws.yaml"
    file.write_text("cloud: aws\nsources: {a: [\n")
    assert told(folder).startswith(f"{file}:3: not YAML: did not find expected node content.")


def test_a_file_that_is_no_text_is_told(folder: Path) -> None:
    """Bytes of another encoding are refused by file."""
    file = folder / "cards.yaml"
    file.write_bytes(b"cards: \xff\xff")
    assert told(folder).startswith(f"{file}: not YAML: ")


def test_a_missing_file_is_told(folder: Path) -> None:
    """Without cards there is no catalogue."""
    (folder / "cards.yaml").unlink()
    assert told(folder).startswith(f"{folder / 'cards.yaml'}: cannot be read: no such file or directory.")
