"""Claim: before there is work, every pool has its declared fewest nodes."""

from __future__ import annotations

from rehearsal.claims import ready
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, red
from rehearsal.claims.seeing import names, nodes_in
from rehearsal.claims.view import StageView

ID = "at-min"


def check(_: StageView, subject: Subject) -> Outcome:
    """Wait until the pool has as many nodes as its `min` says; one more than that is wrong at once."""
    cluster, pool = subject.cluster, subject.pool
    present = nodes_in(cluster, pool)
    try:
        enough = lambda: found if len(found := nodes_in(cluster, pool)) >= pool.min_nodes else None  # noqa: E731 -- read once below
        present = subject.patience.wait("as many nodes as min", enough) if pool.min_nodes else present
    except NotInTimeError:
        present = nodes_in(cluster, pool)
    if len(present) != pool.min_nodes:
        return red(f"min is {pool.min_nodes}, and there are {len(present)} nodes without any work: {names(present) or 'none'}")
    return green(f"{pool.min_nodes} nodes, as min says", nodes=pool.min_nodes)


CLAIM = Claim(
    id=ID,
    title="every pool at its min at the start",
    reason="A pool that starts with more nodes than declared costs money before anyone asked for a card.",
    per=Per.POOL,
    deadline_seconds=20,
    check=check,
    requires=(ready.ID,),
    side_by_side=True,
)
