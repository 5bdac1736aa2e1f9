"""``gpufleet preview``: what every stack would declare, offline and without credentials."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from cli.changes import base_graphs, print_changes
from cli.console import messages, output
from cli.fleet_tables import print_notes, print_pools
from cli.progress import showing
from cli.project import INVENTORY, PROJECT, layers_for, stacks_of
from cli.resource_tree import print_findings, print_stack
from fleet.load import load_plan
from fleet.records import FleetPlan
from preview.graph import ResourceGraph
from preview.run import StackPreview, preview_stacks

FAILED = 1
BAD_INPUT = 2


@click.command("preview")
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("--inventory", type=click.Path(path_type=Path), default=INVENTORY, help="Another inventory.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Also write every graph to this file.")
@click.option("--against", help="Show what changes: a file written by --json, or a Git revision.")
@click.option("--time-limit", "time_limit_seconds", type=click.FloatRange(min=1), default=600, help="Seconds for each stack.")
def command(
    stacks: tuple[str, ...], inventory: Path, json_file: Path | None, against: str | None, time_limit_seconds: float
) -> None:
    """Show what every STACK would declare, offline and without credentials; all stacks when none is named.

    The program, its provider SDKs and its plan are the real ones; what clouds would answer is simulated. Exit codes: 0 all is
    well; 1 a stack failed or its inputs do not fit its provider; 2 the input cannot be used; 130 stopped by Ctrl-C.
    """
    fleet = load_plan(inventory)
    layers = layers_for(fleet, stacks_of(PROJECT), stacks)
    base = base_graphs(against, inventory, layers, time_limit_seconds) if against else None
    with showing([name for layer in layers for name in layer]) as progress:
        previews = preview_stacks(
            PROJECT, layers, inventory=inventory.resolve(), progress=progress, time_limit_seconds=time_limit_seconds
        )
    shown = [preview for preview in previews if not stacks or preview.stack in stacks or preview.failed]
    _print(fleet, shown)
    if base is not None:
        print_changes(output(), base, {preview.stack: preview.graph for preview in shown if preview.graph})
    if json_file is not None and not any(preview.failed for preview in previews):
        write_graphs(json_file, [preview.graph for preview in shown if preview.graph])
    raise click.exceptions.Exit(_exit_code(shown))


def write_graphs(file: Path, graphs: Sequence[ResourceGraph]) -> None:
    """Write graphs to a file as one JSON object by stack name; the file appears whole or not at all."""
    document = {"version": 1, "stacks": {graph.stack: json.loads(graph.to_json()) for graph in graphs}}
    draft = file.with_name(f".{file.name}.draft")
    try:
        draft.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise click.FileError(str(file), hint=error.strerror) from error


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
