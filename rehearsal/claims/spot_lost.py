"""Claim: when the cloud takes a spot node away, its work comes back elsewhere."""

from __future__ import annotations

from fleet.labels import CapacityType
from rehearsal.claims import wakes
from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import wait_running, why_not_running
from rehearsal.claims.view import StageView
from rehearsal.claims.wakes import standing_work
from rehearsal.claims.work import node_name_of, running

ID = "spot-lost"


def check(_: StageView, subject: Subject) -> Outcome:
    """Take the node away under the work, and wait until as many pods run again, none of them on it."""
    cluster, pool, patience = subject.cluster, subject.pool, subject.patience
    if pool.capacity_type is not CapacityType.SPOT:
        return not_applicable(f"its nodes are {pool.capacity_type} and are not taken away")
    work = standing_work(pool)
    wait_running(cluster, pool, work, patience, pool.hosts)
    lost = cluster.autoscaler.take_away(pool.pool)
    began = patience.passed

    def back() -> list[str] | None:
        places = [node_name_of(pod) for pod in running(cluster, work)]
        return places if len(places) >= pool.hosts and lost not in places else None

    try:
        places = patience.wait("work elsewhere", back)
    except NotInTimeError:
        return red(f"node {lost} was taken away, and its work did not come back: {why_not_running(cluster, pool, work)}")
    seconds = patience.passed - began
    return green(
        f"{lost} was taken away; its work runs again after {seconds:.1f} s",
        back_seconds=round(seconds, 1),
        node=", ".join(places),
    )


CLAIM = Claim(
    id=ID,
    title="spot node taken away: its work is rescheduled",
    reason="Spot saves money only if losing a node costs minutes and not the run.",
    per=Per.POOL,
    deadline_seconds=90,
    check=check,
    requires=(wakes.ID,),
    side_by_side=True,
)
