"""Where the project is, and which stacks it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from fleet.errors import FleetErrors, Mistake
from fleet.records import FleetPlan
from fleet.sites import HUB_STACK

PROJECT = Path(__file__).resolve().parent.parent
"""Folder of the Pulumi project."""

INVENTORY = PROJECT / "inventory.yaml"
"""The inventory that stacks use unless they say otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack of the project.

    Attributes:
        name: As Pulumi knows it.
        site: The site it makes, or the hub; empty when its file does not say.
    """

    name: str
    site: str


def stacks_of(project: Path) -> tuple[Stack, ...]:
    """Return the project's stacks, sorted by name, from ``stacks/Pulumi.<stack>.yaml``."""
    stacks = []
    for file in sorted((project / "stacks").glob("Pulumi.*.yaml")):
        settings = yaml.safe_load(file.read_text()) or {}
        site = (settings.get("config") or {}).get("gpufleet:site") or ""
        stacks.append(Stack(name=file.name.split(".")[1], site=str(site)))
    return tuple(stacks)


def layers_for(fleet: FleetPlan, stacks: tuple[Stack, ...], wanted: tuple[str, ...]) -> list[list[str]]:
    """Return the stacks to preview, in layers: sites first, then the hub, which needs all of them.

    Args:
        fleet: The plan.
        stacks: The project's stacks.
        wanted: Names to preview; empty for every stack that the fleet has a use for.

    Raises:
        FleetErrors: A wanted stack is not there, or the hub is wanted and a site has no stack.
    """
    names = [stack.name for stack in stacks]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        remedy = f"The stacks are {', '.join(names)}; a new one wants stacks/Pulumi.NAME.yaml with its gpufleet:site."
        raise FleetErrors([Mistake(path="STACK", value=name, reason="no such stack", remedy=remedy) for name in unknown])
    in_use = [stack for stack in stacks if stack.site in {*fleet.sites, HUB_STACK} or stack.name in wanted]
    hubs = [stack.name for stack in in_use if stack.site == HUB_STACK and (not wanted or stack.name in wanted)]
    sites = [stack.name for stack in in_use if stack.site != HUB_STACK and (not wanted or hubs or stack.name in wanted)]
    missing = sorted(set(fleet.sites) - {stack.site for stack in stacks})
    if missing:
        remedy = "Add stacks/Pulumi.SITE.yaml with `config: {gpufleet:site: SITE}` for it."
        raise FleetErrors(
            [Mistake(path=f"clusters.{site}", reason="no stack makes this site", remedy=remedy) for site in missing]
        )
    return [layer for layer in (sites, hubs) if layer]
