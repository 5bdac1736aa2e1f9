"""What a double knows of a resource type: what replaces it, what names it, what its cloud computes; plain data in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One resource type.

    Attributes:
        replaces: Property paths without indices, such as ``nodeConfig.spot``; a change at or under one replaces the resource.
        autoname: Property that gets a made-up name when the program gives none; empty for none.
        unique: Dotted paths that, all set, no two living objects of the type may share; the cloud refuses the second.
        counts_updates: Computed numbers that each update raises, such as a launch template's ``latestVersion``.
        outputs: What the cloud computes, for types that only tests know.
    """

    replaces: tuple[str, ...] = ()
    autoname: str = ""
    unique: tuple[str, ...] = ()
    counts_updates: tuple[str, ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=dict)


def write_rules(file: Path, rules: Mapping[str, Rule]) -> None:
    """Write rules by type token."""
    file.write_text(json.dumps({token: asdict(rule) for token, rule in rules.items()}), encoding="utf-8")


def read_rules(file: Path) -> dict[str, Rule]:
    """Read what `write_rules` wrote."""
    plain = json.loads(file.read_text(encoding="utf-8"))
    tuples = ("replaces", "unique", "counts_updates")
    return {token: Rule(**rule | {name: tuple(rule[name]) for name in tuples}) for token, rule in plain.items()}
