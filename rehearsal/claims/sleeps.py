"""Claim: after the work a pool goes back to its min."""

from __future__ import annotations

from lightkube.resources.core_v1 import Pod

from rehearsal.api import ALL_NAMESPACES
from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, red
from rehearsal.claims.seeing import names, nodes_in
from rehearsal.claims.view import ClusterView, StageView
from rehearsal.claims.wakes import standing_work
from rehearsal.claims.work import end, name_of, node_name_of
from rehearsal.nodes.template import NodeTemplate

ID = "sleeps"


def check(_: StageView, subject: Subject) -> Outcome:
    """End the work that kept the pool awake, and wait until its nodes are gone."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    end(cluster, standing_work(pool), patience)
    began = patience.passed
    try:
        patience.wait("back at min", lambda: len(nodes_in(cluster, pool)) == pool.min_nodes)
    except NotInTimeError:
        return red(_still_there(cluster, pool, patience.seconds))
    seconds = patience.passed - began
    return green(f"back at {pool.min_nodes} nodes {seconds:.1f} s after the work", asleep_seconds=round(seconds, 1))


def _still_there(cluster: ClusterView, pool: NodeTemplate, seconds: float) -> str:
    """Return what to say of a pool that does not go back to its min, with what holds its nodes."""
    nodes = nodes_in(cluster, pool)
    if len(nodes) < pool.min_nodes:
        return f"min is {pool.min_nodes}, and only {len(nodes)} nodes are left"
    places = {name_of(node) for node in nodes}
    holding = sorted(name_of(pod) for pod in cluster.api.list(Pod, ALL_NAMESPACES) if node_name_of(pod) in places)
    held = (
        f"these pods hold them: {', '.join(holding)}"
        if holding
        else "no pod holds them: the autoscaler does not remove empty nodes"
    )
    return f"min is {pool.min_nodes}, and {len(nodes)} nodes are there {seconds:.0f} s after the work ({names(nodes)}); {held}"


CLAIM = Claim(
    id=ID,
    title="pool goes back to its min after the work",
    reason="Scale to zero is what makes a card affordable that is needed a few hours a week.",
    per=Per.POOL,
    deadline_seconds=90,
    check=check,
    requires=(wakes.ID,),
    side_by_side=True,
)
