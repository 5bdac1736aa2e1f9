"""Claim: work for one card never runs on another."""

from __future__ import annotations

from dataclasses import replace

from lightkube.resources.core_v1 import Pod

from fleet.labels import CARD_LABEL
from rehearsal.claims import wakes
from rehearsal.claims.claim import DECIDE_SECONDS, Claim, NotInTimeError, Outcome, Per, Subject, green, red
from rehearsal.claims.seeing import card_pools, pool_landed, stray_card
from rehearsal.claims.view import ClusterView, StageView
from rehearsal.claims.wakes import standing_work
from rehearsal.claims.work import for_cards, name_of, node_name_of, pods_of, probe, running, unschedulable
from rehearsal.nodes.template import NodeTemplate

ID = "unmixed"
NO_SUCH_CARD = "no-such-card"
"""What a pod selects that no pool carries; legal as a label's value."""


def check(_: StageView, subject: Subject) -> Outcome:
    """Look where the work for each card runs, then ask for a card that the cluster does not have."""
    cluster = subject.cluster
    seen = 0
    for pool in card_pools(cluster):
        for pod in running(cluster, standing_work(pool)):
            if wrong := _misplaced(cluster, pool, pod):
                return red(wrong)
            seen += 1
    for pool in {str(pool.resource): pool for pool in card_pools(cluster)}.values():
        if outcome := _asked_for_missing_card(subject, pool):
            return outcome
    return green(f"{seen} pods run on the card that each asked for; one for a card that is not there waits", pods=seen)


def _misplaced(cluster: ClusterView, pool: NodeTemplate, pod: Pod) -> str:
    """Return what is wrong with the place of a pod for a pool's card, empty when nothing is."""
    landed, node = pool_landed(cluster, pod)
    if node is None:
        return ""  # the node went meanwhile; whether work comes back is another claim
    other = next((each for each in cluster.declared.templates if each.pool == landed), None)
    if other is not None and other.card != pool.card:
        return f"{name_of(pod)} asked for {pool.card} and runs in {landed}, whose machine {other.machine} carries {other.card}"
    return stray_card(pool, node)


def _asked_for_missing_card(subject: Subject, pool: NodeTemplate) -> Outcome | None:
    """Return what is wrong when a pod asks for a card of the pool's resource that no pool has, None when it waits."""
    cluster = subject.cluster
    request = replace(for_cards(cluster, pool, cards=1), card=NO_SUCH_CARD)
    with probe(subject, ID, pool.pool, request) as pod:
        work = name_of(pod)

        def placed() -> str | None:
            return next((node_name_of(each) for each in pods_of(cluster, work) if node_name_of(each)), None)

        def decided() -> bool:
            return bool(placed()) or any(unschedulable(each) for each in pods_of(cluster, work))

        try:
            subject.patience.wait("a word of the scheduler", decided)
        except NotInTimeError:
            return red("the scheduler said nothing about a pod for a card that is not there")
        place = subject.patience.hold(DECIDE_SECONDS, placed)
    return red(f"a pod for a card that is not there ({CARD_LABEL}={NO_SUCH_CARD}) runs on {place}") if place else None


CLAIM = Claim(
    id=ID,
    title="two cards are never mixed up",
    reason="Figures measured on the wrong card are worse than none, and a dearer card is paid for unseen.",
    per=Per.CLUSTER,
    deadline_seconds=30,
    check=check,
    requires=(wakes.ID,),
)
