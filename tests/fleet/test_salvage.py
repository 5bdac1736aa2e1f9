"""Mistakes of shape and of plan are told together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.documents import Document
from fleet.errors import FleetErrors
from fleet.load import load_plan
from fleet.salvage import sound_part

TEXT = """
clusters:
  google:
    one:
      gpus: [{card: t5}, {card: k80, min: -1}, {card: m60}]
    two: {gpus: 7}
    three: {zones: us, gpus: [p99]}
  aws:
    four: {gpuss: []}
hub: 3
extra: 1
"""


def paths_of(text: str, folder: Path) -> list[str]:
    """Return the paths of all that is told about an inventory."""
    file = folder / "inventory.yaml"
    file.write_text(text)
    with pytest.raises(FleetErrors) as caught:
        load_plan(file)
    return [mistake.path for mistake in caught.value.mistakes]


def test_one_run_tells_mistakes_of_both_kinds(tmp_path: Path) -> None:
    """A wrong number in one place does not hide an unknown card in another."""
    assert sorted(paths_of(TEXT, tmp_path)) == [
        "clusters.aws.four.gpus",
        "clusters.aws.four.gpuss",
        "clusters.google.one.gpus[0].card",
        "clusters.google.one.gpus[1].card",
        "clusters.google.one.gpus[1].min",
        "clusters.google.one.gpus[2].card",
        "clusters.google.three.gpus[0].card",
        "clusters.google.three.zones",
        "clusters.google.two.gpus",
        "extra",
        "hub",
    ]


def test_nothing_is_told_that_follows_from_what_was_left_out(tmp_path: Path) -> None:
    """The hub's cluster is left out for its shape: that the hub is missing then is no mistake of the writer's."""
    text = "hub: one\nclusters: {google: {one: {gpus: [t4], kubernetes: 1.30}, two: {gpus: 7}}}\nsites: {google: {region: 3}}"
    assert sorted(paths_of(text, tmp_path)) == [
        "clusters.google.one.kubernetes",
        "clusters.google.two.gpus",
        "sites.google.region",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["clusters", "google", "one", "gpus", "card", "sites", "pools", "min"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_data_leaves_something_sound_or_nothing(data: object) -> None:
    """Whatever was written, leaving out ends in a sound inventory or in none, and changes nothing of the document."""
    before = repr(data)
    part = sound_part(Document(file="f", data=data, lines={}))
    assert part is None or part.clusters
    assert repr(data) == before
