"""The arithmetic of inputs and outputs in the doubles: what a cloud adds, in a preview and after it, and on an update."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.doubles.difference import differences, replacing
from tests.engine.doubles.wire import UNKNOWN, added_by_cloud, fill

CASES: list[tuple[str, Any, Any, Any]] = [
    ("a computed property", {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
    ("given wins", {"a": 1}, {"a": 2}, {"a": 1}),
    ("nested", {"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
    ("in a list", {"a": [{"x": 1}]}, {"a": [{"y": 2}]}, {"a": [{"x": 1, "y": 2}]}),
    ("a list of another length", {"a": [1]}, {"a": [1, 2]}, {"a": [1]}),
    ("a list answered by a map", {"a": ["id"]}, {"a": {"id": {}}}, {"a": {"id": {}}}),
]


@pytest.mark.parametrize(("given", "computed", "filled"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_was_added_is_found_again(given: Any, computed: Any, filled: Any) -> None:  # noqa: ANN401 -- any JSON value
    """Outputs are the inputs and what the cloud adds; taking the inputs off and filling them in again gives the same outputs."""
    assert fill(given, computed, known=True) == filled
    assert fill(given, added_by_cloud(filled, given), known=True) == filled


def test_what_the_program_takes_back_does_not_stay() -> None:
    """A nested input that an update drops is gone from the outputs, and what the cloud had added beside it stays."""
    old = {"a": {"x": 1, "z": 3}}
    kept = added_by_cloud(fill(old, {"a": {"y": 2}}, known=True), old)
    assert fill({"a": {"x": 1}}, kept, known=True) == {"a": {"x": 1, "y": 2}}


def test_a_preview_knows_nothing_that_only_the_cloud_can_tell() -> None:
    """Each computed value is unknown in a preview, nested ones and changed shapes too."""
    filled = fill({"a": {"x": 1}, "b": ["id"]}, {"a": {"y": 2}, "b": {"id": {}}, "c": 3}, known=False)
    assert filled == {"a": {"x": 1, "y": UNKNOWN}, "b": UNKNOWN, "c": UNKNOWN}


def test_paths_and_kinds_of_change() -> None:
    """Changes are told by their deepest path, null is the same as nothing, and a secret counts by what it hides."""
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s"}
    old = {"a": 1, "b": [{"c": 1}, 2], "d": None, "e": secret, "f": {"g": 1}}
    new = {"b": [{"c": 2}], "d": None, "e": "s", "f": {"g": 1, "h": 2}}
    assert differences(old, new) == {"a": "DELETE", "b[0].c": "UPDATE", "b[1]": "DELETE", "f.h": "ADD"}


@pytest.mark.parametrize(
    ("path", "replaces"),
    [
        ("node.spot", True),
        ("node", True),
        ("node.labels.x", False),
        ("taints[0].effect", True),
        ("taintsToo", False),
    ],
)
def test_replacing_paths(path: str, *, replaces: bool) -> None:
    """A change at, under or around a path of the table replaces; a name that only begins alike does not."""
    assert bool(replacing([path], ["node.spot", "taints"])) is replaces
