"""The fleet's pools, its money and its notes, for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cli.console import Column, Justify, table, usd
from fleet.money import Cost, cost_of
from fleet.notes import Note, NoteLevel
from fleet.records import ClusterPlan, FleetPlan, NodePool

_RIGHT: Justify = "right"
_NOT_COUNTED = "Nodes with accelerators only: control planes, system pools, network, disks and traffic are not counted."


def print_pools(console: Console, fleet: FleetPlan) -> None:
    """Print every pool with what it costs idle and at full scale, and the sums."""
    columns = [
        Column(title="site"),
        Column(title="cluster"),
        Column(title="pool"),
        Column(title="card"),
        Column(title="machine"),
        Column(title="cards/node", justify=_RIGHT),
        Column(title="nodes", justify=_RIGHT),
        Column(title="capacity"),
        Column(title="idle USD/h", justify=_RIGHT),
        Column(title="full USD/h", justify=_RIGHT),
    ]
    rows = [_row(cluster, pool) for cluster in fleet.clusters for pool in cluster.pools]
    total = cost_of(pool for cluster in fleet.clusters for pool in cluster.pools)
    rows.append(["all", "", "", "", "", "", "", "", _idle(total), _full(total)])
    table(console, "Node pools", columns, rows)
    console.print(Text(_NOT_COUNTED))
    told = {pool.price.as_of.split(",")[0].split(";")[0] for cluster in fleet.clusters for pool in cluster.pools}
    dates = sorted(told - {""})
    if dates:
        days = " to ".join(dict.fromkeys((dates[0], dates[-1])))
        console.print(Text(f"Prices in US dollars as of {days}; ~ is an estimate, ? is not known."))
    if total.unpriced:
        console.print(Text(f"Not in the sums, for want of a price: {', '.join(_unpriced(fleet))}."))


def print_notes(console: Console, notes: Sequence[Note]) -> None:
    """Print notes, warnings first."""
    for level, title, style in ((NoteLevel.WARNING, "Warnings", "bold yellow"), (NoteLevel.INFO, "Notes", "bold")):
        chosen = [note for note in notes if note.level is level]
        if chosen:
            console.print(Text(title, style=style))
        for note in chosen:
            console.print(Text(f"  {note.path}: {note.text}"))


def _row(cluster: ClusterPlan, pool: NodePool) -> list[str]:
    """Return a pool's row."""
    cost = cost_of([pool])
    return [
        cluster.site,
        cluster.name,
        pool.name,
        pool.card,
        pool.machine,
        str(pool.accelerators),
        f"{pool.min_nodes}-{pool.max_nodes}",
        str(pool.capacity),
        _idle(cost) if not cost.unpriced else "?",
        _full(cost) if not cost.unpriced else "?",
    ]


def _idle(cost: Cost) -> str:
    """Return what pools cost idle; nothing is nothing, estimated or not."""
    return usd(cost.idle_usd_per_hour, is_estimate=cost.is_estimate and cost.idle_usd_per_hour > 0)


def _full(cost: Cost) -> str:
    """Return what pools cost at full scale."""
    return usd(cost.full_usd_per_hour, is_estimate=cost.is_estimate)


def _unpriced(fleet: FleetPlan) -> list[str]:
    """Return the pools without a price, each with its cluster."""
    return [
        f"{cluster.name}/{pool.name}" for cluster in fleet.clusters for pool in cluster.pools if pool.price.usd_per_hour is None
    ]
