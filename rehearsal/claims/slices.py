"""Claim: the hosts of a multi-host slice come together or not at all."""

from __future__ import annotations

from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, NotSoError, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import ZONE_LABEL, labels_of, nodes_in, wait_running
from rehearsal.claims.view import StageView
from rehearsal.claims.work import for_cards, job

ID = "slices"
_WATCH_SECONDS = 5.0
"""Longer than a node takes to come up."""


def check(_: StageView, subject: Subject) -> Outcome:
    """Beside the awake slice ask for one host more: a whole slice has to come, or nothing where max leaves no room for one."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    if pool.hosts == 1:
        return not_applicable("each of its nodes stands alone")
    nodes = nodes_in(cluster, pool)
    if len(nodes) % pool.hosts:
        return red(f"{len(nodes)} nodes are there, and a slice has {pool.hosts}")
    if len(zones := {labels_of(node).get(ZONE_LABEL) for node in nodes}) > 1:
        return red(f"one slice is spread over the zones {', '.join(sorted(map(str, zones)))}")
    has_room = len(nodes) + pool.hosts <= pool.max_nodes
    with job(subject, ID, pool.pool, for_cards(cluster, pool)) as work:
        try:
            wait_running(cluster, pool, work, patience if has_room else patience.more(_WATCH_SECONDS))
        except NotSoError:
            if has_room:
                raise
        whole = lambda: not len(nodes_in(cluster, pool)) % pool.hosts  # noqa: E731 -- read once, on the next lines
        try:
            patience.more(_WATCH_SECONDS).wait("a whole number of slices", whole)
        except NotInTimeError:
            return red(f"{len(nodes_in(cluster, pool))} nodes are there, and a slice has {pool.hosts}: part of a slice came")
        after = len(nodes_in(cluster, pool))
    wanted = len(nodes) + pool.hosts if has_room else len(nodes)
    if after != wanted:
        return red(
            f"one host more was asked for: {after} nodes came to be, where {wanted} are whole slices within max {pool.max_nodes}"
        )
    return green(f"{after} nodes are {after // pool.hosts} whole slice(s) of {pool.hosts}", nodes=after)


CLAIM = Claim(
    id=ID,
    title="a multi-host slice comes whole or not at all",
    reason="Half a slice computes nothing and is paid for.",
    per=Per.POOL,
    deadline_seconds=60,
    check=check,
    requires=(wakes.ID,),
)
