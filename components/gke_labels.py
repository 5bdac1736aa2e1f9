"""Cost tags as Google's resource labels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

_LONGEST = 63
_DIGEST_CHARACTERS = 6


def to_resource_labels(tags: Mapping[str, str]) -> dict[str, str]:
    """Return tags as labels that Google takes, sorted by tag: none is lost, even if two keys become the same.

    Keys and values have at most 63 characters: lower case letters, digits, dashes and underscores; keys start with a letter.
    Source: Cloud KMS, "Labeling keys", which states the rules of all Google labels, read 2026-11-21. Letters of other alphabets
    are allowed there, but not used, so that a label reads the same in a billing export.
    """
    labels: dict[str, str] = {}
    for key, value in sorted(tags.items()):
        label = _legal_key(key)
        if label in labels:
            digest = hashlib.sha256(key.encode()).hexdigest()[:_DIGEST_CHARACTERS]
            label = f"{label[: _LONGEST - _DIGEST_CHARACTERS - 1]}-{digest}"
        labels[label] = _legal(value)
    return labels


def _legal(text: str) -> str:
    """Return text in the characters and length that a label's value may have."""
    return re.sub(r"[^a-z0-9_-]", "-", text.lower())[:_LONGEST]


def _legal_key(text: str) -> str:
    """Return text as a label's key, which starts with a letter."""
    legal = _legal(text)
    return legal if legal[:1].isalpha() else f"l{legal}"[:_LONGEST]
