"""A stack's settings, read from its configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pulumi

from fleet.errors import FleetErrors, Mistake


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a stack states about itself.

    Attributes:
        site: The site it makes, or the hub.
        inventory: The inventory file.
        protect: Whether clusters are protected from deletion.
        file: The stack's configuration file, for messages.
    """

    site: str
    inventory: Path
    protect: bool
    file: str

    def mistake(self, key: str, reason: str, remedy: str, value: object = None) -> Mistake:
        """Return a mistake about one of the stack's settings."""
        return Mistake(file=self.file, path=f"config.gpufleet:{key}", reason=reason, remedy=remedy, value=value)


def read_settings() -> Settings:
    """Return the settings of the stack that is being run.

    Raises:
        FleetErrors: The stack does not say which site it makes, or a setting is of the wrong kind.
    """
    config = pulumi.Config()
    file = f"stacks/Pulumi.{pulumi.get_stack()}.yaml"
    site = config.get("site") or ""
    try:
        protect = config.get_bool("protect") or False
    except pulumi.ConfigTypeError as error:
        mistake = Mistake(
            file=file,
            path="config.gpufleet:protect",
            value=error.value,
            reason="neither true nor false",
            remedy="Use one of the two.",
        )
        raise FleetErrors([mistake]) from error
    settings = Settings(site=site, inventory=Path(config.get("inventory") or "inventory.yaml"), protect=protect, file=file)
    if not site:
        remedy = "Name a site of the inventory, or hub: pulumi config set site NAME"
        raise FleetErrors([settings.mistake("site", "missing", remedy)])
    return settings
