"""Differences between the old and the new inputs of a resource, property by property, as the engine is told of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from tests.engine.doubles.wire import reveal

Kind = Literal["ADD", "DELETE", "UPDATE"]


def differences(old: Any, new: Any) -> dict[str, Kind]:  # noqa: ANN401 -- any JSON value
    """Return the kind of change by property path, such as ``taints[0].effect``; secrets are compared by what they hide."""
    return dict(_walk("", reveal(old), reveal(new)))


def replacing(paths: Sequence[str], table: Sequence[str]) -> set[str]:
    """Return those of `paths` that lie at or under a path of the table, indices left out of the comparison."""
    return {path for path in paths if any(_covers(entry, path) for entry in table)}


def _covers(entry: str, path: str) -> bool:
    """Tell whether `path` without its indices is `entry` or lies under it, or holds it as a whole."""
    wanted, found = entry.split("."), re.sub(r"\[\d+\]", "", path).split(".")
    shorter = min(len(wanted), len(found))
    return wanted[:shorter] == found[:shorter]


def _walk(path: str, old: Any, new: Any) -> Iterator[tuple[str, Kind]]:  # noqa: ANN401 -- any JSON value
    """Yield each changed path, the deepest that both sides still share."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _member(f"{path}.{key}" if path else key, key, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            olds, news = dict(enumerate(old)), dict(enumerate(new))
            yield from _member(f"{path}[{index}]", index, olds, news)
    elif old != new:
        yield path, "UPDATE"


def _member(path: str, key: Any, old: dict[Any, Any], new: dict[Any, Any]) -> Iterator[tuple[str, Kind]]:  # noqa: ANN401 -- str or int
    """Yield the changes of one member of a dict, a null being the same as nothing there."""
    before, after = old.get(key), new.get(key)
    if before is None and after is not None:
        yield path, "ADD"
    elif before is not None and after is None:
        yield path, "DELETE"
    else:
        yield from _walk(path, before, after)
