"""Claim: a pool never has more nodes than its max, and who waits can read why."""

from __future__ import annotations

from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, not_rehearsed, red
from rehearsal.claims.seeing import names, nodes_in, wait_running
from rehearsal.claims.view import StageView
from rehearsal.claims.wakes import standing_work
from rehearsal.claims.work import events_of, for_cards, job, phase_of, pods_of, running, unschedulable

ID = "max"
MOST_NODES = 32
"""Larger pools are left to the benchmark: what holds for a few nodes holds for many, and each takes time to boot."""
_SETTLE_SECONDS = 2.5


def check(_: StageView, subject: Subject) -> Outcome:
    """Ask for one node more than max leaves; all but one piece of work has to run, and the last to wait and say why."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    if pool.max_nodes > MOST_NODES:
        return not_rehearsed(f"max is {pool.max_nodes}; more than {MOST_NODES} nodes are booted in the benchmark only")
    free = pool.max_nodes - len(running(cluster, standing_work(pool)))
    with job(subject, ID, pool.pool, for_cards(cluster, pool), pods=free + 1) as work:
        if free > 0:
            wait_running(cluster, pool, work, patience, free)
        waiting = lambda: [pod for pod in pods_of(cluster, work) if phase_of(pod) != "Running"]  # noqa: E731 -- read twice below
        reason = lambda: next(filter(None, map(unschedulable, waiting())), None)  # noqa: E731 -- read once, on the next lines
        over = lambda: found if len(found := nodes_in(cluster, pool)) > pool.max_nodes else None  # noqa: E731 -- read once below
        if more := patience.hold(_SETTLE_SECONDS, over):
            return red(f"max is {pool.max_nodes}, and there are {len(more)} nodes: {names(more)}")
        if not waiting():
            return red(
                f"max is {pool.max_nodes}, and work for {free + 1} more nodes beside the first runs: it went to other pools"
            )
        try:
            said = patience.wait("a reason", reason)
        except NotInTimeError:
            return red("the work beyond max waits without a reason that a user could read")
        told = [text for text in events_of(cluster, waiting()[0]) if text != said]
    return green(f"{pool.max_nodes} nodes, and the rest waits: {said}", nodes=pool.max_nodes, told=told[-1] if told else said)


CLAIM = Claim(
    id=ID,
    title="max is respected, and the rest waits with a reason",
    reason="Max is the budget. Work beyond it has to wait, and its owner has to be able to read why.",
    per=Per.POOL,
    deadline_seconds=90,
    check=check,
    requires=(wakes.ID,),
    side_by_side=True,
)
