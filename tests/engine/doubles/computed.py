"""What each cloud answers: physical ids, computed outputs and the results of look-ups, by resource type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def identifier(token: str, name: str, inputs: Mapping[str, Any], seed: str) -> str:
    """Return the physical id of a new object; `seed` makes it unlike that of the object it replaces."""
    del token, inputs
    return f"{name}-{seed}"


def outputs(token: str, name: str, inputs: Mapping[str, Any], physical_id: str) -> dict[str, Any]:
    """Return what the cloud adds to the inputs of a resource, secrets in clear."""
    del token, name, inputs, physical_id
    return {}


def call(token: str, args: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the result of a look-up; None when nobody knows that one."""
    del token, args
    return None
