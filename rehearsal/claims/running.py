"""Runs claims: clusters side by side, the claims of a cluster one after the other, its pools together where a claim allows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from fleet.errors import FleetErrors
from rehearsal.api import ApiFaultError
from rehearsal.claims import CLAIMS, ready
from rehearsal.claims.claim import (
    CancelledError,
    Claim,
    NotInTimeError,
    NotSoError,
    Outcome,
    Patience,
    Per,
    Subject,
    Verdict,
    red,
    subject_name,
)
from rehearsal.claims.view import ClusterView, StageView
from rehearsal.claims.work import end_all
from rehearsal.nodes.template import NodeTemplate

_GRACE_SECONDS = 5.0
"""What a check may take beyond its deadline for its last question and for tidying up, before that alone makes it red."""
_SIDE_BY_SIDE = 8
"""Pools of one cluster that are asked about at once; the threads only wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of one claim for one subject.

    Attributes:
        claim: The claim.
        subject: ``fleet``, ``<site>/<cluster>`` or ``<site>/<cluster>/<pool>``.
        outcome: What came of it.
    """

    claim: Claim
    subject: str
    outcome: Outcome


@dataclass(kw_only=True, slots=True)
class _Run:
    """One run of claims.

    Attributes:
        stage: The rehearsed fleet.
        told: Told of each result.
        began: Told of each start.
        is_threaded: Whether more than one check runs at a time.
        results: So far.
        lock: Held while the above change and while somebody is told.
        cancelled: Set when the run is to end at once.
    """

    stage: StageView
    told: Callable[[Result], None]
    began: Callable[[Claim, str], None]
    is_threaded: bool
    results: list[Result] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    cancelled: threading.Event = field(default_factory=threading.Event)


def run_claims(
    stage: StageView,
    claims: Sequence[Claim] = CLAIMS,
    *,
    on_result: Callable[[Result], None] = lambda _: None,
    on_start: Callable[[Claim, str], None] = lambda *_: None,
    workers: int | None = None,
) -> tuple[Result, ...]:
    """Check claims on a rehearsed fleet.

    Args:
        stage: The fleet.
        claims: What to check, each after what it requires.
        on_result: Told of each result, one at a time, from any thread.
        on_start: Told of the claim and the subject's name before each check, likewise.
        workers: Clusters checked at the same time; all by default. With 1 nothing at all runs side by side.

    Returns:
        A result for every claim and subject, in the order in which they came.
    """
    run = _Run(stage=stage, told=on_result, began=on_start, is_threaded=workers != 1)
    for cluster in stage.clusters:
        with suppress(ApiFaultError):  # a cluster that does not answer turns red by its first claim
            end_all(cluster)
    _tell_broken(run, claims)
    for is_fleet, group in groupby(claims, lambda claim: claim.per is Per.FLEET):
        if is_fleet:
            for claim in group:
                _check(run, claim, None)
            continue
        chosen = tuple(group)
        lanes = [partial(_lane, run, chosen, cluster) for cluster in stage.clusters]
        _side_by_side(run, lanes, workers or len(stage.clusters))
    return tuple(run.results)


def _tell_broken(run: _Run, claims: Sequence[Claim]) -> None:
    """Turn every claim about a cluster that did not come up red."""
    for id_, why in run.stage.broken.items():
        for claim in claims:
            if claim.per is not Per.FLEET:
                words = f"the cluster did not come up: {why}" if claim.id == ready.ID else f"not run: {id_} did not come up"
                _tell(run, claim, id_, red(words))


def _lane(run: _Run, claims: Sequence[Claim], cluster: ClusterView) -> None:
    """Check claims for one cluster, one claim after the other."""
    for claim in claims:
        if claim.per is Per.CLUSTER:
            _check(run, claim, cluster)
            continue
        checks = [partial(_check, run, claim, cluster, pool) for pool in cluster.declared.templates]
        _side_by_side(run, checks, _SIDE_BY_SIDE if claim.side_by_side else 1)


def _side_by_side(run: _Run, tasks: Sequence[Callable[[], None]], workers: int) -> None:
    """Do tasks, so many at a time; when this thread is interrupted or one fails, no other starts and those that wait give up."""
    if not run.is_threaded or workers == 1 or len(tasks) <= 1:
        for task in tasks:
            task()
        return
    threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="claims")
    try:
        for done in as_completed([threads.submit(task) for task in tasks]):
            done.result()
    except BaseException:
        run.cancelled.set()
        raise
    finally:
        threads.shutdown(cancel_futures=True)


def _check(run: _Run, claim: Claim, cluster: ClusterView | None, pool: NodeTemplate | None = None) -> None:
    """Check one claim for one subject and tell what came of it."""
    if run.cancelled.is_set():
        raise CancelledError
    name = subject_name(cluster, pool)
    outcome = _held_back(run, claim, name)
    if outcome is None:
        with run.lock:
            run.began(claim, name)
        outcome = _outcome(run, claim, cluster, pool)
    _tell(run, claim, name, outcome)


def _outcome(run: _Run, claim: Claim, cluster: ClusterView | None, pool: NodeTemplate | None) -> Outcome:
    """Return what comes of a check, whatever it raises."""
    patience = Patience(run.stage.clock, claim.deadline_seconds, run.cancelled.is_set)
    subject = Subject(cluster_view=cluster, pool_template=pool, patience=patience)
    try:
        outcome = claim.check(run.stage, subject)
    except CancelledError:
        raise
    except (NotSoError, NotInTimeError, FleetErrors) as fault:
        outcome = red(str(fault))
    except Exception as fault:  # noqa: BLE001 -- a check that breaks must turn red and not take the other claims with it
        outcome = red(f"the check itself broke, so nothing is shown: {type(fault).__name__}: {fault}")
    if outcome.green and patience.passed > claim.deadline_seconds + _GRACE_SECONDS:
        outcome = red(
            f"it took {patience.passed:.0f} s, and {claim.deadline_seconds:.0f} s is its time; otherwise: {outcome.message}"
        )
    return replace(outcome, seconds=round(patience.passed, 2))


def _held_back(run: _Run, claim: Claim, name: str) -> Outcome | None:
    """Return what to say of a claim that cannot be checked because of what it requires, None when it can.

    A requirement counts for the same subject, for what it is part of, and for its parts; of several parts one green one will do.
    """
    with run.lock:
        results = tuple(run.results)
    for required in claim.requires:
        found = [result for result in results if result.claim.id == required and _concerns(result.subject, name)]
        if any(result.outcome.verdict is Verdict.GREEN for result in found):
            continue
        if not found:
            return red(f"not run: `{required}` was not checked for {name}")
        worst = next((result for result in found if result.outcome.verdict is Verdict.RED), found[0])
        cause = worst.outcome.message if worst.outcome.green else f"not run, since `{required}` is red: {worst.outcome.message}"
        return replace(worst.outcome, message=cause, seconds=0.0, details={})
    return None


def _concerns(subject: str, name: str) -> bool:
    """Return whether a result for one subject says something about another: the same, the whole, or a part of it."""
    return Per.FLEET in {subject, name} or f"{name}/".startswith(f"{subject}/") or subject.startswith(f"{name}/")


def _tell(run: _Run, claim: Claim, name: str, outcome: Outcome) -> None:
    """Keep a result and tell of it."""
    result = Result(claim=claim, subject=name, outcome=outcome)
    with run.lock:
        run.results.append(result)
        run.told(result)


def reds(results: Iterable[Result]) -> Iterator[Result]:
    """Yield the results that speak against the fleet."""
    return (result for result in results if not result.outcome.green)
