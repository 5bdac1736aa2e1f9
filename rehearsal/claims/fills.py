"""Claim: a node with several cards fills up before a new one is made."""

from __future__ import annotations

from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import names, nodes_in, wait_running
from rehearsal.claims.view import StageView
from rehearsal.claims.wakes import standing_work, start_standing
from rehearsal.claims.work import end, for_cards, job, node_name_of, running

ID = "fills"
_SETTLE_SECONDS = 1.5


def check(_: StageView, subject: Subject) -> Outcome:
    """Free the pool's node and put as many pods of one card on it as it has cards: no second node may be made."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    if pool.accelerators < 2:  # noqa: PLR2004 -- two is what "several" begins with
        return not_applicable("its nodes have one card")
    if pool.hosts > 1:
        return not_applicable("its nodes come as whole slices, not one by one")
    end(cluster, standing_work(pool), patience)
    before = max(1, len(nodes_in(cluster, pool)))
    with job(subject, ID, pool.pool, for_cards(cluster, pool, cards=1), pods=pool.accelerators) as work:
        wait_running(cluster, pool, work, patience, pool.accelerators)
        more = patience.hold(_SETTLE_SECONDS, lambda: found if len(found := nodes_in(cluster, pool)) > before else None)
        used = {node_name_of(pod) for pod in running(cluster, work)}
    if more:
        made = f"{pool.accelerators} pods of one card made {len(more)} nodes of {pool.accelerators} cards"
        return red(f"{made}, where {before} would do: {names(more)}")
    start_standing(cluster, pool)
    wait_running(cluster, pool, standing_work(pool), patience, pool.hosts)
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
