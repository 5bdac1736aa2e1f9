"""Claim: a pod that asks for no card stays off nodes with cards."""

from __future__ import annotations

from dataclasses import replace

from rehearsal.claims import wakes
from rehearsal.claims.claim import DECIDE_SECONDS, Claim, NotInTimeError, Outcome, Per, Subject, green, red
from rehearsal.claims.seeing import nodes_in
from rehearsal.claims.view import StageView
from rehearsal.claims.work import for_cards, name_of, node_name_of, pods_of, probe, unschedulable

ID = "no-request"


def check(_: StageView, subject: Subject) -> Outcome:
    """Create a pod that selects the card's nodes and asks for none of their cards: it has to wait, and to wake nothing."""
    cluster, pool = subject.cluster, subject.pool
    usual = for_cards(cluster, pool)
    tolerates = tuple(key for key in usual.tolerates if key != pool.resource)
    before = len(nodes_in(cluster, pool))
    with probe(subject, ID, pool.pool, replace(usual, resource=None, tolerates=tolerates)) as pod:
        work = name_of(pod)

        def placed() -> str:
            return next((node_name_of(each) for each in pods_of(cluster, work) if node_name_of(each)), "")

        def said() -> str:
            return placed() or next(filter(None, (unschedulable(each) for each in pods_of(cluster, work))), "")

        try:
            why = subject.patience.wait("a word of the scheduler", lambda: said() or None)
        except NotInTimeError:
            return red("the scheduler said nothing about a pod without a card")
        if node := subject.patience.hold(DECIDE_SECONDS, lambda: placed() or None):
            taints = ", ".join(str(taint) for taint in pool.taints) or "none"
            kept = f"no taint {pool.resource} keeps it off; the pool's taints are: {taints}"
            return red(f"a pod that asks for no card runs on {node}: {kept}")
        after = len(nodes_in(cluster, pool))
    if after > before:
        return red(f"a pod that asks for no card woke a node: {before} before, {after} after")
    return green(f"it waits: {why}")


CLAIM = Claim(
    id=ID,
    title="a pod without a card stays off the card's nodes",
    reason="One stray pod keeps an expensive node awake, and takes processors from the work that needs the card.",
    per=Per.POOL,
    deadline_seconds=20,
    check=check,
    requires=(wakes.ID,),
    side_by_side=True,
)
