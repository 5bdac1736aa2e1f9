"""``gpufleet inventory``: check an inventory, print its schema and the reference of its settings."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cli.console import output
from cli.fleet_tables import print_notes, print_pools
from cli.project import INVENTORY
from fleet.inventory import inventory_schema
from fleet.load import load_plan
from fleet.reference import reference as reference_text

_FILE = click.Path(path_type=Path)


@click.group("inventory")
def command() -> None:
    """Check an inventory, or print its JSON Schema or the reference of its settings."""


@command.command("check")
@click.argument("file", type=_FILE, default=INVENTORY, required=False)
@click.option("--quiet", is_flag=True, help="Say nothing when all is well.")
def check(file: Path, *, quiet: bool) -> None:
    """Check FILE (inventory.yaml by default) and show the pools it asks for.

    Exit codes: 0 it can be planned, 2 it cannot: every mistake is printed.
    """
    fleet = load_plan(file)
    if quiet:
        return
    console = output()
    print_pools(console, fleet)
    print_notes(console, fleet.notes)
    clusters, sites = len(fleet.clusters), len(fleet.sites)
    console.print(f"{file} is well: clusters {clusters}, sites {sites}.")


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of an inventory; editors read the copy in catalogue/schema/inventory.schema.json."""
    click.echo(json.dumps(inventory_schema(), indent=2, sort_keys=True))


@command.command("reference")
def reference() -> None:
    """Print the reference of all settings as Markdown: the generated part of docs/inventory.md."""
    click.echo(reference_text(), nl=False)
