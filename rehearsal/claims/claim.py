"""What a claim is, what comes of it, and how long it may wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from rehearsal.api import ApiFaultError
from rehearsal.claims.view import Clock, ClusterView, StageView
from rehearsal.nodes.template import NodeTemplate

POLL_SECONDS = 0.2
"""Between two looks: a fifth of what a person would call at once, and cheap with a few dozen pools waiting."""

DECIDE_SECONDS = 4.0
"""How long to watch for a node that should not be made: the autoscaler's decision takes one to two seconds, a boot two."""

_REFUSALS = range(400, 429)
"""Answers that asking again does not change; anything else may be a server that was killed on purpose."""

Value = TypeVar("Value")


class Per(StrEnum):
    """What a claim is checked for, one by one."""

    FLEET = "fleet"
    CLUSTER = "cluster"
    POOL = "pool"


class Verdict(StrEnum):
    """What came of a claim for one subject."""

    GREEN = "green"
    RED = "red"
    NOT_APPLICABLE = "not applicable"
    """The declared fleet has nothing here that the claim is about; the message says why."""
    NOT_REHEARSED = "not rehearsed"
    """The stand-ins cannot show it; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a claim for one subject.

    Attributes:
        verdict: See `Verdict`.
        message: One sentence for people: what was seen, or the cause.
        seconds: How long the check took; set by whoever runs it.
        details: Figures and names, such as ``{"node": "…", "seconds until running": 4.1}``.
    """

    verdict: Verdict
    message: str
    seconds: float = 0.0
    details: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def green(self) -> bool:
        """Whether nothing speaks against the claim."""
        return self.verdict is not Verdict.RED


def green(message: str, **details: str | float) -> Outcome:
    """Return that the claim holds."""
    return Outcome(verdict=Verdict.GREEN, message=message, details=details)


def red(message: str, **details: str | float) -> Outcome:
    """Return that the claim does not hold; the message names the cause."""
    return Outcome(verdict=Verdict.RED, message=message, details=details)


def not_applicable(why: str) -> Outcome:
    """Return that there is nothing to check, and why."""
    return Outcome(verdict=Verdict.NOT_APPLICABLE, message=why)


def not_rehearsed(why: str) -> Outcome:
    """Return that the stand-ins cannot show it, and why."""
    return Outcome(verdict=Verdict.NOT_REHEARSED, message=why)


class NotSoError(Exception):
    """The claim does not hold; the text names the cause. For helpers of checks, whose runner turns it into a red outcome."""


class NotInTimeError(Exception):
    """Something that was waited for did not happen before the claim's deadline.

    Args:
        what: What was waited for.
        seconds: The claim's whole time.
        said: What the API said last, if it refused or gave no answer.
    """

    def __init__(self, what: str, seconds: float, said: str = "") -> None:
        super().__init__(f"{what}: not so within {seconds:.0f} s" + (f"; {said}" if said else ""))


class CancelledError(Exception):
    """The rehearsal is being ended; checks let it through."""


class Patience:
    """The time a check has.

    Args:
        clock: What it is measured by.
        seconds: How long from now.
        is_cancelled: Whether to give up at once, asked at each look.
    """

    def __init__(self, clock: Clock, seconds: float, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        self.seconds = seconds
        self._is_cancelled = is_cancelled
        self._clock = clock
        self._began = clock.now()

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return self._clock.now() - self._began

    @property
    def left(self) -> float:
        """Seconds until the deadline, 0 after it."""
        return max(0.0, self.seconds - self.passed)

    def wait(self, what: str, look: Callable[[], Value | None]) -> Value:
        """Look again and again until there is something to see.

        Args:
            what: What is waited for, for the message.
            look: Returns it, or None (or False) while it is not so. A server that does not answer counts as that.

        Returns:
            What `look` returned.

        Raises:
            NotInTimeError: It was not so before the deadline.
            CancelledError: The rehearsal is being ended.
            ApiFaultError: The API refused, and would again.
        """
        while True:
            said = ""
            try:
                seen = look()
            except ApiFaultError as fault:
                if fault.code in _REFUSALS:
                    raise
                said, seen = f"the API said last: {fault}", None
            if seen is not None and seen is not False:
                return seen
            if not self.left:
                raise NotInTimeError(what, self.seconds, said)
            self._pause()

    def hold(self, seconds: float, look: Callable[[], Value | None]) -> Value | None:
        """Look for a while for what should not happen; returns it as soon as it is seen, None when it was not."""
        end = self.passed + min(seconds, self.left)
        while True:
            seen = look()
            if seen is not None and seen is not False:
                return seen
            if self.passed >= end:
                return None
            self._pause()

    def more(self, seconds: float) -> Patience:
        """Return as many seconds from now on, whatever is left here: for what a check has to tidy up."""
        return Patience(self._clock, seconds, self._is_cancelled)

    def _pause(self) -> None:
        """Let time pass until the next look; raises CancelledError when there is to be none."""
        if self._is_cancelled():
            raise CancelledError
        self._clock.sleep(POLL_SECONDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What a claim is checked for.

    Attributes:
        cluster_view: The cluster; None for a claim on the fleet.
        pool_template: The pool; None for a claim on a cluster or the fleet.
        patience: The time the check has.
    """

    cluster_view: ClusterView | None = None
    pool_template: NodeTemplate | None = None
    patience: Patience

    @property
    def cluster(self) -> ClusterView:
        """The cluster; raises ValueError for a claim on the fleet."""
        if self.cluster_view is None:
            raise ValueError("a claim on the fleet has no cluster")
        return self.cluster_view

    @property
    def pool(self) -> NodeTemplate:
        """The pool; raises ValueError for a claim on a cluster or the fleet."""
        if self.pool_template is None:
            raise ValueError("only a claim on pools has a pool")
        return self.pool_template

    @property
    def name(self) -> str:
        """``fleet``, ``<site>/<cluster>`` or ``<site>/<cluster>/<pool>``."""
        return subject_name(self.cluster_view, self.pool_template)


def subject_name(cluster: ClusterView | None, pool: NodeTemplate | None = None) -> str:
    """Return how a subject is called in results."""
    if cluster is None:
        return Per.FLEET.value
    return cluster.id if pool is None else f"{cluster.id}/{pool.pool}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One thing that a rehearsal shows to be so.

    Attributes:
        id: Short name for the command line, such as ``wakes``.
        title: What is so, in a few words.
        reason: Why it matters to who pays for or uses the fleet.
        per: What it is checked for, one by one.
        deadline_seconds: For each subject, by a clock that only goes forward.
        check: Does it, and ends the work it started; only `wakes` leaves its work running, until `sleeps` ends it.
        requires: Claims that have to be green for the same subject, or for its cluster, or it is red without being run.
        side_by_side: Whether pools of one cluster are checked at the same time.
    """

    id: str
    title: str
    reason: str
    per: Per
    deadline_seconds: float
    check: Callable[[StageView, Subject], Outcome]
    requires: tuple[str, ...] = ()
    side_by_side: bool = False
