"""Claim: work under ``spot: prefer`` takes spot while there is any, and on-demand when there is none."""

from __future__ import annotations

from contextlib import ExitStack

from fleet.labels import CapacityType
from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import nodes_in, pool_landed, spot_partner, wait_running
from rehearsal.claims.view import StageView
from rehearsal.claims.work import for_cards, job

ID = "spot-refused"


def check(_: StageView, subject: Subject) -> Outcome:
    """Start work that takes either; then have spot refused, and start another piece while the first holds the spot node."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    if pool.capacity_type is not CapacityType.SPOT:
        return not_applicable(f"its nodes are {pool.capacity_type}")
    partner = spot_partner(cluster, pool)
    if partner is None:
        return not_applicable("no on-demand pool stands behind it (spot: only)")
    request = for_cards(cluster, pool, any_capacity=True)
    with ExitStack() as held:
        first = "it was at its max, so only the refusal is shown"
        if len(nodes_in(cluster, pool)) < pool.max_nodes:
            work = held.enter_context(job(subject, ID, f"{pool.pool}-first", request, pool.hosts))
            pods = wait_running(cluster, pool, work, patience, pool.hosts)
            landed, _node = pool_landed(cluster, pods[0])
            if landed != pool.pool:
                return red(
                    f"spot had room, and work that takes either runs in {landed}: {_order(pool.priority, partner.priority)}"
                )
            first = f"first in {landed}"
        cluster.autoscaler.refuse(pool.pool)
        held.callback(cluster.autoscaler.allow, pool.pool)
        began = patience.passed
        work = held.enter_context(job(subject, ID, f"{pool.pool}-second", request, pool.hosts))
        pods = wait_running(cluster, partner, work, patience, pool.hosts)
        seconds = patience.passed - began
        landed, _node = pool_landed(cluster, pods[0])
    if landed != partner.pool:
        return red(f"spot was refused, and the work runs in {landed or 'no declared pool'} instead of {partner.pool}")
    return green(f"{first}; with spot refused in {landed} after {seconds:.1f} s", fallback_seconds=round(seconds, 1))


def _order(spot: int, on_demand: int) -> str:
    """Return what the declared order of pools says."""
    return f"the autoscaler's priorities are {spot} for spot and {on_demand} for on-demand"


CLAIM = Claim(
    id=ID,
    title="`prefer` takes spot, and on-demand when spot is refused",
    reason="A sold-out spot market must cost money, not the deadline of the work.",
    per=Per.POOL,
    deadline_seconds=60,
    check=check,
    requires=(wakes.ID,),
)
