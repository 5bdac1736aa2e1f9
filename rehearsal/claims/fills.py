"""Claim: a node with several cards fills up before a new one is made."""

from __future__ import annotations

from contextlib import suppress

from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import names, nodes_in, wait_running
from rehearsal.claims.view import StageView
from rehearsal.claims.work import for_cards, job, node_name_of, running

ID = "fills"
_SETTLE_SECONDS = 1.5


def check(_: StageView, subject: Subject) -> Outcome:
    """Beside the node that is taken, ask for as many pods of one card as a node has cards: one node more has to do."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    if pool.accelerators < 2:  # noqa: PLR2004 -- two is what "several" begins with
        return not_applicable("its nodes have one card")
    if pool.hosts > 1:
        return not_applicable("its nodes come as whole slices, not one by one")
    most = len(nodes_in(cluster, pool)) + 1
    if most > pool.max_nodes:
        return not_applicable(f"max is {pool.max_nodes}, so no second node can be made by mistake")
    with job(subject, ID, pool.pool, for_cards(cluster, pool, cards=1), pods=pool.accelerators) as work:
        over = lambda: found if len(found := nodes_in(cluster, pool)) > most else None  # noqa: E731 -- read twice below
        ran = lambda: over() or len(running(cluster, work)) >= pool.accelerators  # noqa: E731 -- read once, on the next line
        with suppress(NotInTimeError):
            patience.wait("pods running", ran)
        if more := over() or patience.hold(_SETTLE_SECONDS, over):
            made = f"{pool.accelerators} pods of one card made {len(more) - most + 1} nodes of {pool.accelerators} cards"
            return red(f"{made}, where 1 would do: {names(more)}")
        wait_running(cluster, pool, work, patience, pool.accelerators)
        used = {node_name_of(pod) for pod in running(cluster, work)}
    return green(f"{pool.accelerators} pods of one card run on {len(used)} node(s); no further one was made", nodes=len(used))


CLAIM = Claim(
    id=ID,
    title="nodes with several cards fill before a new one is made",
    reason="Eight half-empty nodes cost eight times as much as one full one.",
    per=Per.POOL,
    deadline_seconds=60,
    check=check,
    requires=(wakes.ID,),
    side_by_side=True,
)
