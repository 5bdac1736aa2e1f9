"""Both inventories of the repository, and what their site stacks declare."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pulumi

from components.compose import compose
from components.settings import Settings
from preview.graph import ResourceGraph
from tests.support.declaring import declare
from tests.support.planning import planned
from tests.support.sources import PROJECT

INVENTORIES = {
    "today": (PROJECT / "inventory.yaml").read_text(encoding="utf-8"),
    "2021": (PROJECT / "examples/inventory-2021.yaml")
    .read_text(encoding="utf-8")
    .replace("allow_retired: false", "allow_retired: true"),
}


def site_graphs(inventory: str) -> tuple[ResourceGraph, ...]:
    """Return what the site stacks of an inventory, given as text, declare."""
    plan = planned(inventory)
    graphs = []
    for site in plan.sites:
        settings = Settings(site=site, inventory=Path("inventory.yaml"), protect=False, file="stacks/test.yaml")

        def program(settings: Settings = settings) -> None:
            for name, value in compose(plan, settings).items():
                pulumi.export(name, value)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the SDKs' own, at the first use of their modules
            graphs.append(replace(declare(program), stack=site))
    return tuple(graphs)
