"""Claims: work comes through when a program of the control plane is killed just before or after it was asked for.

One record for each program; what happens is the same. etcd is one for all clusters, so it is killed for the whole fleet at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import nodes_in, sleepers, wait_running
from rehearsal.claims.view import ClusterView, Part, StageView
from rehearsal.claims.wakes import standing_work
from rehearsal.claims.work import for_cards, job, running
from rehearsal.nodes.template import NodeTemplate

_DEADLINE_SECONDS = 90
_DOES_THE_WORK = frozenset({Part.AUTOSCALER, Part.SCHEDULER, Part.CONTROLLERS})
"""Killed just before the work is asked for, which then waits for it to be back; without the others nothing can be asked for."""


def claim_id(part: Part) -> str:
    """Return the id of the claim about a program."""
    return f"heals-{part.name.lower()}"


def _checked(part: Part) -> Callable[[StageView, Subject], Outcome]:
    """Return the check of one cluster for a program."""

    def check(_: StageView, subject: Subject) -> Outcome:
        """Ask for a card, kill the program, and wait until the work runs and the program is back."""
        return _come_through(subject, part, [subject.cluster])

    return check


def check_store(stage: StageView, subject: Subject) -> Outcome:
    """Ask for a card in every cluster, kill the etcd of all, and wait until all the work runs and etcd is back."""
    return _come_through(subject, Part.STORE, stage.clusters)


def _come_through(subject: Subject, part: Part, clusters: Sequence[ClusterView]) -> Outcome:
    """Return whether work asked for just before a kill runs in all these clusters, with the program ready again."""
    chosen = [(cluster, pool) for cluster in clusters if (pool := _pool_with_room(cluster)) is not None]
    if not chosen:
        return not_applicable("no pool with cards is awake and has room for one more node")
    patience = subject.patience
    with ExitStack() as held:
        asked = []
        began = patience.passed
        if part in _DOES_THE_WORK:
            chosen[0][0].programs.kill(part)
        for cluster, pool in chosen:
            there = Subject(cluster_view=cluster, pool_template=pool, patience=patience)
            pods = 1 + (_idle(cluster, pool) if part is Part.AUTOSCALER else 0)  # beyond idle nodes, so that one more is needed
            work = held.enter_context(job(there, claim_id(part), pool.pool, for_cards(cluster, pool), pods))
            asked.append((cluster, pool, work, pods))
        if part not in _DOES_THE_WORK:
            chosen[0][0].programs.kill(part)
        for cluster, pool, work, pods in asked:
            wait_running(cluster, pool, work, patience, pods)
        ran = patience.passed - began
        try:
            patience.wait(f"{part} back", lambda: all(cluster.programs.is_ready(part) for cluster in clusters))
        except NotInTimeError:
            return red(f"{part} was killed and is not ready again within {patience.seconds:.0f} s; its log says why")
        back = patience.passed - began
    return green(
        f"{part} was killed; the work ran after {ran:.1f} s, all was ready after {back:.1f} s", back_seconds=round(back, 1)
    )


def _idle(cluster: ClusterView, pool: NodeTemplate) -> int:
    """Return how many nodes of a pool have no work, as far as max leaves room for one more."""
    present = len(nodes_in(cluster, pool))
    return min(present, pool.max_nodes - 1) - len(running(cluster, standing_work(pool)))


def _pool_with_room(cluster: ClusterView) -> NodeTemplate | None:
    """Return an awake pool that may have one node more, one without idle nodes first: the autoscaler then has something to do."""
    found: list[tuple[bool, int, NodeTemplate]] = []
    for pool in sleepers(cluster):
        busy, present = len(running(cluster, standing_work(pool))), len(nodes_in(cluster, pool))
        if pool.hosts == 1 and busy and busy < pool.max_nodes:
            found.append((present > busy, present, pool))
    return min(found, key=lambda row: row[:2])[2] if found else None


def _claim(part: Part, title: str, reason: str) -> Claim:
    """Return the claim about a program of each cluster."""
    return Claim(
        id=claim_id(part),
        title=title,
        reason=reason,
        per=Per.CLUSTER,
        deadline_seconds=_DEADLINE_SECONDS,
        check=_checked(part),
        requires=(wakes.ID,),
    )


AUTOSCALER = _claim(
    Part.AUTOSCALER, "killing the autoscaler midway heals", "Work asked for while it was away must not be forgotten."
)
SCHEDULER = _claim(
    Part.SCHEDULER, "killing the scheduler midway heals", "Pods that waited when it died have to be placed after it."
)
APISERVER = _claim(
    Part.APISERVER, "killing the API server midway heals", "All others lose their connection, and have to come back."
)
CONTROLLERS = _claim(
    Part.CONTROLLERS, "killing the controller-manager midway heals", "A Job whose pods were not yet made has to get them later."
)
STORE = Claim(
    id=claim_id(Part.STORE),
    title="killing etcd midway heals",
    reason="What was written has to be there after it, and every cluster has to go on.",
    per=Per.FLEET,
    deadline_seconds=_DEADLINE_SECONDS,
    check=check_store,
    requires=(wakes.ID,),
)
