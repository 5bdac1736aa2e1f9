"""Where the project is, and which stacks it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.errors import FleetErrors, Mistake
from fleet.records import FleetPlan
from fleet.sites import HUB_STACK
from preview.settings import load_settings

PROJECT = Path(__file__).resolve().parent.parent
"""Folder of the Pulumi project."""

INVENTORY = PROJECT / "inventory.yaml"
"""The inventory that stacks use unless they say otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack of the project.

    Attributes:
        name: As Pulumi knows it.
        site: The site it makes, or the hub.
    """

    name: str
    site: str


def stack_names(project: Path) -> list[str]:
    """Return the names of a project's stacks, sorted, from its files ``stacks/Pulumi.<stack>.yaml``."""
    files = (project / "stacks").glob("Pulumi.*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)


def layers_for(fleet: FleetPlan, project: Path, wanted: Sequence[str]) -> list[list[str]]:
    """Return the stacks to preview, in layers: sites first, then the hub, which needs all of them.

    Args:
        fleet: The plan.
        project: Folder of the Pulumi project.
        wanted: Names to preview; empty for every stack that the fleet has a use for.

    Raises:
        FleetErrors: A wanted stack is not there, a stack's settings cannot be used, or a site has no stack and all are needed.
    """
    names = stack_names(project)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        remedy = f"The stacks are {', '.join(names)}; a new one wants stacks/Pulumi.NAME.yaml with its gpufleet:site."
        raise FleetErrors([Mistake(path="STACK", value=name, reason="no such stack", remedy=remedy) for name in unknown])
    stacks = _read(project, [name for name in names if not wanted or name in wanted])
    hubs = [stack.name for stack in stacks if stack.site == HUB_STACK]
    if wanted and not hubs:
        return [[stack.name for stack in stacks]]
    stacks = _read(project, names)
    _check_every_site_has_one(fleet, stacks)
    sites = [stack.name for stack in stacks if stack.site in fleet.sites or (stack.name in wanted and stack.site != HUB_STACK)]
    return [layer for layer in (sites, hubs) if layer]


def _read(project: Path, names: Iterable[str]) -> list[Stack]:
    """Return stacks by name with the sites that their settings state.

    Raises:
        FleetErrors: With what is wrong in any of their files.
    """
    stacks: list[Stack] = []
    mistakes: list[Mistake] = []
    for name in names:
        try:
            stacks.append(Stack(name=name, site=load_settings(project, name).config["gpufleet:site"]))
        except FleetErrors as errors:
            mistakes.extend(mistake for mistake in errors.mistakes if mistake not in mistakes)
    if mistakes:
        raise FleetErrors(mistakes)
    return stacks


def _check_every_site_has_one(fleet: FleetPlan, stacks: Iterable[Stack]) -> None:
    """Refuse a fleet with a site that no stack makes: the hub would miss its clusters.

    Raises:
        FleetErrors: With every such site.
    """
    missing = sorted(set(fleet.sites) - {stack.site for stack in stacks})
    if missing:
        raise FleetErrors(
            Mistake(
                path=f"clusters.{site}",
                reason="no stack makes this site",
                remedy=f"Add stacks/Pulumi.{site}.yaml with `config: {{gpufleet:site: {site}}}`.",
            )
            for site in missing
        )
