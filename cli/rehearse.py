"""``gpufleet rehearse``: the declared fleet on real control planes, on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import click

from cli.console import messages, output
from cli.progress import showing
from cli.project import INVENTORY, PROJECT, layers_for
from cli.rehearsal_display import Display, print_results
from fleet.errors import FleetErrors, Mistake
from fleet.load import load_plan
from preview.graph import ResourceGraph
from preview.run import preview_stacks
from rehearsal.rundir import CACHE, running, stop_running

FAILED = 1
_VERBS = ("run", "status", "down", "logs")


class DefaultGroup(click.Group):
    """A group whose own name runs the rehearsal, unless the next word is one of its verbs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep options for the rehearsal, which comes without a word of its own."""
        asks_help = args in (["--help"], ["-h"])
        return super().parse_args(ctx, args if asks_help or (args and args[0] in _VERBS) else ["run", *args])


@click.group("rehearse", cls=DefaultGroup)
def command() -> None:
    """Rehearse the declared fleet on real control planes, on this machine; `rehearse run --help` has the options.

    API servers, schedulers, admission and the autoscaler are the real programs; nodes, cards and clouds are simulated. The first
    run compiles the programs and says how far it is. Exit codes: 0 every claim is green; 1 one is red; 2 the input cannot be
    used or a program cannot be had; 130 stopped by Ctrl-C, with nothing left running.
    """


@command.command("run")
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("--cluster", "clusters", multiple=True, help="Only this cluster; may be given again.")
@click.option("--claims", help="Only these claims, by id, with commas between; what they need runs too.")
@click.option("--inventory", type=click.Path(path_type=Path), default=INVENTORY, help="Another inventory.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Also write the results to this file.")
@click.option("--keep", is_flag=True, help="Leave everything up afterwards, until Ctrl-C or `gpufleet rehearse down`.")
def run(
    stacks: tuple[str, ...], clusters: tuple[str, ...], claims: str | None, inventory: Path, json_file: Path | None, *, keep: bool
) -> None:
    """Rehearse the STACKs' clusters, all when none is named."""
    from rehearsal.show import Show  # noqa: PLC0415 -- the Kubernetes client is slow to import, and help does not need it

    graphs = _graphs(stacks, inventory)
    show = Show.plan(graphs, clusters=clusters, claims=claims.split(",") if claims else ())
    console = output()
    console.print(show.outline(), markup=False)
    with Display(messages()) as display, show.run(display) as (result, stage):
        display.close()
        print_results(console, result)
        if json_file is not None:
            _write(json_file, result.plain())
        if keep:
            console.print(_where_to_look(stage.kubeconfigs()), markup=False)
            signal.pause()
    raise click.exceptions.Exit(0 if result.is_green else FAILED)


@command.command("status")
def status() -> None:
    """Say whether a rehearsal runs, and which programs it has. Exit codes: 0 one runs, 1 none does."""
    state = running()
    if state is None:
        click.echo("no rehearsal is running")
        raise click.exceptions.Exit(1)
    click.echo(f"run {state.run}, process {state.supervisor.pid}")
    for name, one in state.processes.items():
        click.echo(f"  {name}: process {one.pid}")


@command.command("down")
def down() -> None:
    """Stop the rehearsal that runs, with all its programs; nothing of yours is touched."""
    state = stop_running()
    click.echo("no rehearsal is running" if state is None else f"run {state.run} is stopped")


@command.command("logs")
@click.argument("cluster")
@click.option("--lines", type=click.IntRange(min=1), default=40, help="How many of the last lines of each program.")
def logs(cluster: str, lines: int) -> None:
    """Print the ends of the logs of CLUSTER's programs, of the newest run; CLUSTER is a name or SITE/NAME."""
    runs = sorted(CACHE.glob("*/logs"))
    files = sorted(file for file in (runs[-1].rglob("*.log") if runs else ()) if cluster in file.parent.as_posix())
    if not files:
        remedy = "`gpufleet rehearse status` names them; logs of the five newest runs are kept."
        raise FleetErrors([Mistake(path="CLUSTER", value=cluster, reason="no log of such a cluster", remedy=remedy)])
    for file in files:
        click.echo(f"==> {file}")
        click.echo("\n".join(file.read_text(errors="replace").splitlines()[-lines:]))


def _write(file: Path, results: Mapping[str, object]) -> None:
    """Write the results; a place that cannot be written is told in one message."""
    try:
        file.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        remedy = "Name a file in a folder that you may write."
        raise FleetErrors(
            [Mistake(path="--json", value=str(file), reason=error.strerror or str(error), remedy=remedy)]
        ) from error


def _where_to_look(kubeconfigs: Mapping[str, Path]) -> str:
    """Return how to reach clusters that are kept, for people."""
    inside = f"nsenter --net=/proc/{os.getpid()}/ns/net"
    lines = [
        "Kept until Ctrl-C or `./gpufleet rehearse down`. The clusters are in a network of their own; from another terminal:"
    ]
    lines += [f"  {cluster}: {inside} kubectl --kubeconfig {file} get nodes,pods -A" for cluster, file in kubeconfigs.items()]
    return "\n".join(lines)


def _graphs(stacks: tuple[str, ...], inventory: Path) -> list[ResourceGraph]:
    """Return the resource graphs of the stacks to rehearse.

    Raises:
        FleetErrors: The inventory cannot be planned, or a stack cannot be previewed.
    """
    fleet = load_plan(inventory)
    layers = layers_for(fleet, PROJECT, stacks)
    with showing([name for layer in layers for name in layer]) as progress:
        previews = preview_stacks(PROJECT, layers, inventory=inventory.resolve(), progress=progress)
    failed = [preview for preview in previews if preview.error is not None]
    if failed:
        remedy = "`gpufleet preview` shows more."
        raise FleetErrors(
            Mistake(path=preview.stack, reason=f"cannot be previewed: {preview.error}", remedy=remedy) for preview in failed
        )
    return [preview.graph for preview in previews if preview.graph and (not stacks or preview.stack in stacks)]
