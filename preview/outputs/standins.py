"""Stand-in values that are stable, legal in their place, and cannot be mistaken for real ones."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ACCOUNT = "000000000000"
"""Stand-in AWS account id."""
PROJECT = "simulated-project"
"""Stand-in Google project id."""
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
"""Stand-in Azure subscription and tenant id."""
CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nc2ltdWxhdGVk\n-----END CERTIFICATE-----\n").decode()
"""Stand-in certificate authority: base64 of a PEM frame around the word "simulated"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """A resource as its cloud sees it when asked to make it.

    Attributes:
        type: Type token.
        name: Logical name.
        urn: URN.
        inputs: Masked plain inputs in camelCase.
        references: What other stacks export, by stack name; read by StackReference alone.
    """

    type: str
    name: str
    urn: str
    inputs: Mapping[str, Any]
    references: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hexadecimal digest of the URN: what is unique about this resource's stand-ins."""
        return hashlib.sha256(self.urn.encode()).hexdigest()

    def text(self, key: str, default: str = "") -> str:
        """Return an input as text, or `default` when it was not given."""
        value = self.inputs.get(key)
        return default if value is None else str(value)

    def called(self, key: str = "name") -> str:
        """Return the name in input `key`, else a name as autonaming makes it: the logical name and seven digits."""
        return self.text(key) or f"{self.name}-{self.digest[:7]}"

    def code(self, prefix: str, length: int = 17) -> str:
        """Return an id such as ``vpc-0a1b…``: `prefix` and `length` hexadecimal digits."""
        return f"{prefix}-{self.digest[:length]}"

    def uuid(self) -> str:
        """Return an id in the form of a UUID."""
        text = self.digest
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"

    def public_ip(self) -> str:
        """Return an address of TEST-NET-3, 203.0.113.0/24 (RFC 5737)."""
        return f"203.0.113.{1 + int(self.digest[:4], 16) % 254}"

    def private_ip(self) -> str:
        """Return an address of TEST-NET-1, 192.0.2.0/24 (RFC 5737)."""
        return f"192.0.2.{1 + int(self.digest[:4], 16) % 254}"


Answer = tuple[str, dict[str, Any]]
"""A physical id, and the outputs on top of the inputs."""
Row = Callable[[Declared], Answer]
"""Makes the answer of one resource type."""
Function = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Makes the result of one provider function from its plain arguments."""
