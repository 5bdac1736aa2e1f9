"""One rehearsal from its plan to its results: which clusters and claims, how they ran, and what it took."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from fleet.errors import FleetErrors, Mistake
from preview.graph import ResourceGraph
from rehearsal.claims import CLAIMS, choose
from rehearsal.claims.claim import Claim, Verdict
from rehearsal.claims.running import Result, run_claims
from rehearsal.isolation import Isolation, prepare
from rehearsal.nodes.clusters import DeclaredCluster, read_clusters
from rehearsal.rundir import open_run
from rehearsal.stage import TOOLS, Phase, Stage
from rehearsal.supervisor import stop_on_signals
from rehearsal.toolchain import Toolchain, ToolchainError

_SAMPLE_SECONDS = 4.0
VERSION = 1


class Watcher(Protocol):
    """Whoever shows how a rehearsal goes; called from several threads."""

    def begin(self, clusters: Sequence[DeclaredCluster], claims: Sequence[Claim], toolchain: Toolchain) -> None:
        """The programs are being looked for, from now on `Toolchain.progress` tells."""
        ...

    def on_phase(self, cluster: str, phase: Phase) -> None:
        """A cluster has come to a phase."""
        ...

    def on_claim(self, claim: Claim, subject: str) -> None:
        """A claim begins."""
        ...

    def on_result(self, result: Result) -> None:
        """A claim has ended."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsed:
    """What a rehearsal found.

    Attributes:
        results: Of every claim on every subject, in running order.
        broken: Clusters that did not come up, and why.
        isolation: The network it had.
        tool_seconds: Waiting for programs before the first cluster could start.
        up_seconds: From nothing to every cluster up, programs at hand.
        claim_seconds: All claims.
        peak_pss_gib: Most memory of all programs together, shared pages divided among them.
        simulated_usd: What the simulated nodes would have cost.
        kubernetes_version: Of the programs.
        notes: What is a stand-in.
    """

    results: tuple[Result, ...]
    broken: Mapping[str, str]
    isolation: Isolation
    tool_seconds: float
    up_seconds: float
    claim_seconds: float
    peak_pss_gib: float
    simulated_usd: float
    kubernetes_version: str
    notes: tuple[str, ...]

    @property
    def is_green(self) -> bool:
        """Whether every cluster came up and no claim is red."""
        return not self.broken and all(result.outcome.green for result in self.results)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many claims ended how."""
        return Counter(result.outcome.verdict for result in self.results)

    def plain(self) -> dict[str, Any]:
        """Return the results as plain data for JSON."""
        return {
            "version": VERSION,
            "simulated": "nodes, cards and clouds",
            "green": self.is_green,
            "broken": dict(self.broken),
            "seconds": {"tools": self.tool_seconds, "up": self.up_seconds, "claims": self.claim_seconds},
            "peak_pss_gib": self.peak_pss_gib,
            "simulated_usd": self.simulated_usd,
            "kubernetes_version": self.kubernetes_version,
            "network": self.isolation.reason,
            "claims": [
                {
                    "claim": result.claim.id,
                    "subject": result.subject,
                    "verdict": str(result.outcome.verdict),
                    "message": result.outcome.message,
                    "seconds": result.outcome.seconds,
                }
                for result in self.results
            ],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Show:
    """A rehearsal that can be run.

    Attributes:
        clusters: What to make control planes of.
        claims: What to check, in order.
    """

    clusters: tuple[DeclaredCluster, ...]
    claims: tuple[Claim, ...]

    @classmethod
    def plan(cls, graphs: Sequence[ResourceGraph], *, clusters: Sequence[str] = (), claims: Sequence[str] = ()) -> Show:
        """Return the rehearsal of what these graphs declare.

        Args:
            graphs: Of the stacks.
            clusters: Names of clusters; empty for all.
            claims: Ids of claims; empty for all.

        Raises:
            FleetErrors: A name or id is unknown, a graph cannot be read, or nothing is left to rehearse.
        """
        declared = read_clusters(graphs)
        names = {cluster.name for cluster in declared}
        remedy = f"Declared are {', '.join(sorted(names)) or 'none'}."
        unknown = [
            Mistake(path="--cluster", value=name, reason="no such cluster", remedy=remedy)
            for name in clusters
            if name not in names
        ]
        if unknown or not declared:
            raise FleetErrors(
                unknown or [Mistake(path="", reason="these stacks declare no cluster", remedy="Name a site's stack.")]
            )
        chosen = tuple(cluster for cluster in declared if not clusters or cluster.name in clusters)
        return cls(clusters=chosen, claims=tuple(choose(claims) if claims else CLAIMS))

    def outline(self) -> str:
        """Return what will run, for people."""
        lines = ["Rehearsal: real control planes, schedulers and autoscaler; simulated nodes, cards and clouds."]
        for cluster in self.clusters:
            pools = ", ".join(template.pool for template in cluster.templates)
            lines.append(f"  {cluster.site}/{cluster.name} ({cluster.cloud}, {cluster.region}): {pools}")
        lines.append(f"  {len(self.claims)} claims, each on what it is about")
        return "\n".join(lines)

    @contextmanager
    def run(self, watcher: Watcher) -> Iterator[tuple[Rehearsed, Stage]]:
        """Rehearse, and keep everything up until the block ends.

        Raises:
            FleetErrors: Another rehearsal runs, or a program cannot be had or does not start.
        """
        try:
            with stop_on_signals(), open_run() as folder:
                access = prepare()
                with Toolchain() as toolchain:
                    toolchain.start(TOOLS)
                    isolation = access.enter()
                    watcher.begin(self.clusters, self.claims, toolchain)
                    with Stage(self.clusters, folder, toolchain, watcher.on_phase) as stage:
                        yield self._rehearsed(stage, watcher, isolation), stage
        except ToolchainError as error:
            raise FleetErrors([Mistake(path="programs", reason=str(error), remedy="")]) from error

    def _rehearsed(self, stage: Stage, watcher: Watcher, isolation: Isolation) -> Rehearsed:
        """Bring the stage up, run the claims, and return what was found."""
        began = time.monotonic()
        with _sampled(stage) as peak:
            stage.start()
            started = time.monotonic()
            results = run_claims(stage, self.claims, on_result=watcher.on_result, on_start=watcher.on_claim)
            claim_seconds = time.monotonic() - started
        return Rehearsed(
            results=tuple(results),
            broken=dict(stage.broken),
            isolation=isolation,
            tool_seconds=started - began - stage.seconds,
            up_seconds=stage.seconds,
            claim_seconds=claim_seconds,
            peak_pss_gib=peak[0],
            simulated_usd=stage.simulated_usd(),
            kubernetes_version=stage.kubernetes_version,
            notes=tuple(dict.fromkeys(note for cluster in stage.clusters for note in cluster.autoscaler.notes)),
        )


@contextmanager
def _sampled(stage: Stage) -> Iterator[list[float]]:
    """Sample the memory of all programs while the block runs; yields a list with the greatest sum so far, in GiB."""
    peak = [0.0]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            peak[0] = max(peak[0], stage.pss_gib())

    thread = threading.Thread(target=sample, name="memory", daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        peak[0] = max(peak[0], stage.pss_gib())
        done.set()
        thread.join()
