"""Checks."""

from __future__ import annotations

from collections.abc import Iterable

from preview.graph import Finding, Resource


def check(resources: Iterable[Resource]) -> list[Finding]:
    """Return nothing yet."""
    return []
