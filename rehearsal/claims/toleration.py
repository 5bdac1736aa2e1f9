"""Claim: a pod that asks for a card gets the toleration by admission where the cloud gives it, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from rehearsal.claims import wakes
from rehearsal.claims.claim import DECIDE_SECONDS, Claim, NotInTimeError, Outcome, Per, Subject, green, red
from rehearsal.claims.view import StageView
from rehearsal.claims.work import for_cards, name_of, node_name_of, pods_of, probe, tolerations_of, unschedulable

ID = "toleration"


def check(_: StageView, subject: Subject) -> Outcome:
    """Create a pod that asks for a card and tolerates nothing for it, and see what the API server made of it."""
    cluster, pool = subject.cluster, subject.pool
    usual = for_cards(cluster, pool)
    bare = replace(usual, tolerates=tuple(key for key in usual.tolerates if key != pool.resource))
    with probe(subject, ID, pool.pool, bare) as pod:
        given = any(each.key == pool.resource for each in tolerations_of(pod))
        if given and cluster.declared.extended_resource_toleration:
            return green(f"admission added the toleration for {pool.resource}")
        if given:
            unlike = f"admission added a toleration for {pool.resource}, which the declared cluster does not do"
            return red(f"{unlike}: work that forgets it would pass here and wait there")
        if cluster.declared.extended_resource_toleration:
            return red(
                f"admission added no toleration for {pool.resource}: the API server runs without ExtendedResourceToleration, "
                f"which {cluster.declared.cloud} has"
            )
        return _kept_off(subject, name_of(pod))


def _kept_off(subject: Subject, work: str) -> Outcome:
    """Return whether the pod without toleration waits, as it has to where nobody adds one."""
    cluster, pool = subject.cluster, subject.pool

    def placed() -> str | None:
        return next((node_name_of(each) for each in pods_of(cluster, work) if node_name_of(each)), None)

    def decided() -> str | None:
        return placed() or next(filter(None, (unschedulable(each) for each in pods_of(cluster, work))), None)

    try:
        why = subject.patience.wait("a word of the scheduler", decided)
    except NotInTimeError:
        return red("the scheduler said nothing about a pod without toleration")
    if node := subject.patience.hold(DECIDE_SECONDS, placed):
        taints = ", ".join(str(taint) for taint in pool.taints) or "none"
        return red(f"a pod without toleration runs on {node}: the pool's taints are: {taints}")
    return green(f"no toleration is added, so work has to bring it; without: {why}")


CLAIM = Claim(
    id=ID,
    title="toleration by admission, as the cloud has it",
    reason="Where admission adds the toleration a chart may leave it out; where it does not, such a chart never runs.",
    per=Per.POOL,
    deadline_seconds=15,
    check=check,
    requires=(wakes.ID,),
    side_by_side=True,
)
