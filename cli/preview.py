"""``gpufleet preview``: what every stack would declare, offline and without credentials."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from cli.changes import base_graphs, print_changes
from cli.console import messages, output
from cli.fleet_tables import print_notes, print_pools
from cli.progress import showing
from cli.project import INVENTORY, PROJECT, layers_for
from cli.resource_tree import print_findings, print_stack
from fleet.errors import FleetErrors, Mistake
from fleet.load import load_plan
from fleet.records import FleetPlan
from fleet.sites import HUB_STACK
from preview.graph import ResourceGraph
from preview.run import StackPreview, preview_stacks
from preview.settings import load_settings

FAILED = 1
BAD_INPUT = 2


@click.command("preview")
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("--inventory", type=click.Path(path_type=Path), default=INVENTORY, help="Another inventory.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Also write every graph to this file.")
@click.option("--against", help="Show what changes: a file written by --json, or a Git revision.")
@click.option(
    "--time-limit", "time_limit_seconds", type=click.FloatRange(min=0, min_open=True), default=600, help="Seconds for each stack."
)
def command(
    stacks: tuple[str, ...], inventory: Path, json_file: Path | None, against: str | None, time_limit_seconds: float
) -> None:
    """Show what every STACK would declare, offline and without credentials; all stacks when none is named.

    The program, its provider SDKs and its plan are the real ones; what clouds would answer is simulated. Exit codes: 0 all is
    well; 1 a stack failed or its inputs do not fit its provider; 2 the input cannot be used; 130 stopped by Ctrl-C.
    """
    fleet = load_plan(inventory)
    layers = layers_for(fleet, PROJECT, stacks)
    if json_file is not None:
        _check_writable(json_file)
    base = base_graphs(against, inventory, layers, time_limit_seconds, of_all=not stacks) if against else None
    with showing([name for layer in layers for name in layer]) as progress:
        previews = preview_stacks(
            PROJECT, layers, inventory=inventory.resolve(), progress=progress, time_limit_seconds=time_limit_seconds
        )
    shown = [preview for preview in previews if not stacks or preview.stack in stacks or preview.failed]
    _print(fleet if not stacks else _of_stacks(fleet, stacks), shown)
    if base is not None:
        print_changes(output(), base, {preview.stack: preview.graph for preview in shown if preview.graph}, of_all=not stacks)
    if json_file is not None and any(preview.failed for preview in previews):
        messages().print(f"{json_file} was not written: not every stack could be previewed", markup=False)
    elif json_file is not None:
        write_graphs(json_file, [preview.graph for preview in shown if preview.graph])
    raise click.exceptions.Exit(_exit_code(shown))


def _of_stacks(fleet: FleetPlan, stacks: Sequence[str]) -> FleetPlan:
    """Return the part of a fleet that `stacks` make; the hub's stack is about all of it."""
    sites = {load_settings(PROJECT, stack).config["gpufleet:site"] for stack in stacks}
    if HUB_STACK in sites:
        return fleet
    notes = tuple(note for note in fleet.notes if note.path.split("/")[0] in sites)
    return replace(fleet, clusters=tuple(cluster for cluster in fleet.clusters if cluster.site in sites), notes=notes)


def _check_writable(file: Path) -> None:
    """Refuse a place where no file can be written, before anything is previewed for it.

    Raises:
        FleetErrors: The folder is not there, or something that is no file stands in the place.
    """
    if not file.parent.is_dir():
        raise _not_written(file, f"{file.parent} is no folder")
    if file.exists() and not file.is_file():
        raise _not_written(file, "it is no file")
    if not os.access(file.parent, os.W_OK):
        raise _not_written(file, f"{file.parent} cannot be written to")


def _not_written(file: Path, reason: str) -> FleetErrors:
    """Return the refusal of a place to write to."""
    return FleetErrors([Mistake(path="--json", value=str(file), reason=reason, remedy="Name a file that can be written.")])


def write_graphs(file: Path, graphs: Sequence[ResourceGraph]) -> None:
    """Write graphs to a file as one JSON object by stack name; the file appears whole or not at all.

    Raises:
        FleetErrors: It cannot be written.
    """
    document = {"version": 1, "stacks": {graph.stack: graph.to_plain() for graph in graphs}}
    draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
    try:
        draft.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        raise _not_written(file, (error.strerror or str(error)).lower()) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _print(fleet: FleetPlan, previews: Sequence[StackPreview]) -> None:
    """Print every stack's tree, then pools, notes, findings and failures."""
    console = output()
    for preview in previews:
        print_stack(console, preview)
    print_pools(console, fleet)
    print_notes(console, fleet.notes)
    for preview in previews:
        print_findings(console, preview)
    for preview in previews:
        if preview.error is not None:
            messages().print(f"{preview.stack}: {preview.error}", style="bold red", markup=False)


def _exit_code(previews: Sequence[StackPreview]) -> int:
    """Return 2 when some stack's input cannot be used, 1 when one failed or has a finding that is an error, else 0."""
    if any(preview.exit_code == BAD_INPUT for preview in previews):
        return BAD_INPUT
    has_errors = any(finding.severity == "error" for preview in previews for finding in preview.findings)
    return FAILED if has_errors or any(preview.failed for preview in previews) else 0
