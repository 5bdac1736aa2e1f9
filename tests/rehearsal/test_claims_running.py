"""How claims are run: deadlines, what is required, threads, interruption, checks that break."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from lightkube.resources.batch_v1 import Job

from fleet.clouds import Cloud
from fleet.errors import FleetErrors
from rehearsal.claims import CLAIMS, choose
from rehearsal.claims.claim import Claim, Outcome, Per, Subject, Verdict, green, not_applicable, red
from rehearsal.claims.running import Result, reds, run_claims
from rehearsal.claims.view import StageView
from tests.support.claims import AWS, AZURE, a_fleet, stage_of
from tests.support.fake_cluster import FakeStage


@pytest.fixture
def stage() -> FakeStage:
    """Two clusters of different clouds."""
    return stage_of(a_fleet(Cloud.AWS), a_fleet(Cloud.AZURE))


def a_claim(check: Callable[[StageView, Subject], Outcome], id_: str = "one", **changes: object) -> Claim:
    """Return a claim on clusters with ten seconds."""
    claim = Claim(id=id_, title="title", reason="reason", per=Per.CLUSTER, deadline_seconds=10, check=check)
    return replace(claim, **changes)


def test_every_claim_says_what_and_why_and_comes_after_what_it_requires() -> None:
    """Ids are unique, texts are there, and no claim requires a later one."""
    seen: set[str] = set()
    for claim in CLAIMS:
        assert claim.id not in seen
        assert set(claim.requires) <= seen
        assert claim.title
        assert claim.reason.endswith(".")
        assert 0 < claim.deadline_seconds <= 90
        seen.add(claim.id)


def test_chosen_claims_bring_what_they_require() -> None:
    """What needs an awake pool brings the waking and the going to sleep; unknown ids are all told."""
    assert [claim.id for claim in choose(["max"])] == ["ready", "at-min", "wakes", "max", "sleeps"]
    assert [claim.id for claim in choose(["whole-cards"])] == ["ready", "whole-cards"]
    with pytest.raises(FleetErrors, match=r"(?s)nine.*ten"):
        choose(["ten", "nine", "ready"])


def test_a_check_past_its_deadline_is_red(stage: FakeStage) -> None:
    """One that waits is told what for, one that just takes long is told how long; time is the stage's clock."""

    def waits(_: StageView, subject: Subject) -> Outcome:
        subject.patience.wait("the moon", lambda: None)
        return green("never")

    def dawdles(stage: StageView, _: Subject) -> Outcome:
        stage.clock.sleep(16)
        return green("done")

    first, second = run_claims(stage_of(a_fleet(Cloud.AWS)), [a_claim(waits), a_claim(dawdles, "two")], workers=1)
    assert first.outcome.message == "the moon: not so within 10 s"
    assert 10 <= first.outcome.seconds < 10.5
    assert second.outcome.message == "it took 16 s, and 10 s is its time; otherwise: done"
    assert [result.claim.id for result in reds([first, second])] == ["one", "two"]
    assert stage.clock.now() == 0


def test_a_check_that_breaks_is_red_and_the_next_runs(stage: FakeStage) -> None:
    """An error in a check is told as such."""

    def breaks(_: StageView, subject: Subject) -> Outcome:
        return green(subject.pool.pool)

    results = run_claims(stage, [a_claim(breaks), a_claim(lambda *_: green("fine"), "two")], workers=1)
    assert {result.outcome.message for result in results if result.claim.id == "one"} == {
        "the check itself broke, so nothing is shown: ValueError: only a claim on pools has a pool"
    }
    assert [result.outcome.green for result in results if result.claim.id == "two"] == [True, True]


def test_what_is_required_decides(stage: FakeStage) -> None:
    """After red comes red without a check, with the cause; after `not applicable` the same; clusters are told apart."""
    ran: list[str] = []

    def first(_: StageView, subject: Subject) -> Outcome:
        return red("no luck") if subject.name == AWS else not_applicable("no need")

    def second(_: StageView, subject: Subject) -> Outcome:
        ran.append(subject.name)
        return green("ran")

    results = run_claims(stage, [a_claim(first), a_claim(second, "two", requires=("one",))], workers=1)
    found = {result.subject: result.outcome for result in results if result.claim.id == "two"}
    assert found[AWS].message == "not run, since `one` is red: no luck"
    assert not found[AWS].green
    assert (found[AZURE].verdict, found[AZURE].message) == (Verdict.NOT_APPLICABLE, "no need")
    assert ran == []


def test_a_requirement_that_was_not_checked_is_red(stage: FakeStage) -> None:
    """A claim given without what it requires is never passed over."""
    results = run_claims(stage, [a_claim(lambda *_: green("ran"), requires=("other",))], workers=1)
    assert {result.outcome.message for result in results} == {
        f"not run: `other` was not checked for {name}" for name in (AWS, AZURE)
    }
    assert not any(result.outcome.green for result in results)


def test_clusters_that_did_not_come_up_are_red(stage: FakeStage) -> None:
    """Their first claim says why; the others run for the other clusters."""
    stage.broken = {"cern/cern-main": "kube-apiserver: address already in use"}
    results = run_claims(stage, choose(["whole-cards"]), workers=1)
    found = {(result.claim.id, result.subject): result.outcome for result in results}
    assert found["ready", "cern/cern-main"].message == "the cluster did not come up: kube-apiserver: address already in use"
    assert not found["whole-cards", "cern/cern-main"].green
    assert found["whole-cards", AWS].green


def test_clusters_run_side_by_side(stage: FakeStage) -> None:
    """Two checks that wait for each other both end, and whoever is told is told by one thread at a time."""
    meeting = threading.Barrier(2, timeout=10)
    telling = threading.Lock()
    told: list[str] = []

    def meets(*_: object) -> Outcome:
        meeting.wait()
        return green("met")

    def tell(result: Result) -> None:
        assert telling.acquire(blocking=False)
        told.append(result.subject)
        telling.release()

    run_claims(stage, [a_claim(meets)], on_result=tell)
    assert sorted(told) == [AWS, AZURE]


def test_an_interruption_ends_all(stage: FakeStage) -> None:
    """Ctrl-C in one place lets the checks that wait give up, and no other starts."""
    began = threading.Event()
    later: list[str] = []

    def check(_: StageView, subject: Subject) -> Outcome:
        if subject.name == AWS:
            began.wait(10)
            raise KeyboardInterrupt
        began.set()
        subject.patience.more(1e9).wait("nothing", lambda: None)
        return green("never")

    two = a_claim(lambda _, subject: later.append(subject.name) or green("ran"), "two")
    with pytest.raises(KeyboardInterrupt):
        run_claims(stage, [a_claim(check), two])
    assert later == []


def test_what_an_earlier_run_left_is_removed_first(stage: FakeStage) -> None:
    """Work of a run that was killed does not count as work of this one."""
    run_claims(stage, choose(["wakes"])[:3], workers=1)
    (cluster, _) = stage.clusters
    assert cluster.api.find(Job, "wakes-t4")
    results = run_claims(stage, choose(["whole-cards"]), workers=1)
    assert not list(reds(results))
    assert cluster.api.find(Job, "wakes-t4") is None
