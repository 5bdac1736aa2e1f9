"""How a rehearsal goes, live on a terminal and line by line elsewhere; and its results."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cli.console import Column, table

if TYPE_CHECKING:
    from rehearsal.claims.claim import Claim
    from rehearsal.claims.running import Result
    from rehearsal.nodes.clusters import DeclaredCluster
    from rehearsal.show import Rehearsed
    from rehearsal.stage import Phase
    from rehearsal.toolchain import Toolchain, ToolProgress

_REFRESHES_PER_SECOND = 4


class Display:
    """Shows a rehearsal; a context manager. It starts a thread only when the rehearsal begins.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._phases: dict[str, Phase | str] = {}
        self._done: dict[str, Counter[str]] = {}
        self._now: dict[str, str] = {}
        self._toolchain: Toolchain | None = None
        self._live: Live | None = None

    def __enter__(self) -> Display:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop showing."""
        self.close()

    def close(self) -> None:
        """Leave the last state on the screen and stop; may be called more than once."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def begin(self, clusters: Sequence[DeclaredCluster], claims: Sequence[Claim], toolchain: Toolchain) -> None:
        """Start to show."""
        del claims
        self._toolchain = toolchain
        for cluster in clusters:
            self._phases[f"{cluster.site}/{cluster.name}"] = "waiting"
            self._done[f"{cluster.site}/{cluster.name}"] = Counter()
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(
                get_renderable=self._drawn, console=self._console, refresh_per_second=_REFRESHES_PER_SECOND, transient=False
            )
            self._live.start()

    def on_phase(self, cluster: str, phase: Phase) -> None:
        """Show where a cluster stands."""
        with self._lock:
            self._phases[cluster] = phase
        self._tell(f"{cluster}: {phase}")

    def on_claim(self, claim: Claim, subject: str) -> None:
        """Show what is being checked."""
        with self._lock:
            self._now[subject] = claim.title

    def on_result(self, result: Result) -> None:
        """Show how a claim ended."""
        verdict = str(result.outcome.verdict)
        with self._lock:
            self._now.pop(result.subject, None)
            self._done.setdefault(_cluster_of(result.subject), Counter())[verdict] += 1
        self._tell(f"{result.subject}: {result.claim.title}: {verdict} ({result.outcome.seconds:.1f} s) {result.outcome.message}")

    def _tell(self, line: str) -> None:
        """Print a line where nothing is drawn."""
        if self._live is None:
            self._console.print(line, markup=False)

    def _drawn(self) -> Group:
        """Return the picture of now."""
        parts: list[Table | Text] = []
        building = [one for one in self._toolchain.progress() if one.path is None] if self._toolchain else []
        if building:
            parts.append(_tools(building))
        with self._lock:
            parts.append(self._clusters())
        return Group(*parts)

    def _clusters(self) -> Table:
        """Return the clusters, where each stands and how its claims go."""
        drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for title in ("cluster", "stands at", "green", "red", "now"):
            drawn.add_column(title, justify="right" if title in {"green", "red"} else "left", no_wrap=title == "cluster")
        for cluster, phase in self._phases.items():
            counts = self._done.get(cluster, Counter())
            now = next((title for subject, title in self._now.items() if _cluster_of(subject) == cluster), "")
            green = Text(str(counts["green"]), style="green")
            red = Text(str(counts["red"]), style="bold red" if counts["red"] else "dim")
            drawn.add_row(Text(cluster), Text(str(phase)), green, red, Text(now))
        return drawn


def print_results(console: Console, result: Rehearsed) -> None:
    """Print every claim with its verdict and time, then what it took."""
    rows = [
        [str(one.outcome.verdict), one.subject, one.claim.title, f"{one.outcome.seconds:.1f}", one.outcome.message]
        for one in result.results
    ]
    columns = [
        Column(title="verdict"),
        Column(title="subject"),
        Column(title="claim"),
        Column(title="s", justify="right"),
        Column(title="found"),
    ]
    table(console, "Claims", columns, rows)
    for cluster, why in result.broken.items():
        console.print(Text(f"{cluster} did not come up: {why}", style="bold red"))
    for note in result.notes:
        console.print(Text(f"stand-in: {note}"))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(result.counts.items()))
    console.print(Text(f"Claims: {counts or 'none'}. Kubernetes {result.kubernetes_version}, {result.isolation.reason}."))
    console.print(
        Text(
            f"Programs ready after {result.tool_seconds:.1f} s, clusters up in {result.up_seconds:.1f} s, "
            f"claims in {result.claim_seconds:.1f} s; at most {result.peak_pss_gib:.2f} GiB (PSS); "
            f"simulated nodes for {result.simulated_usd:.4f} USD."
        )
    )


def _tools(building: Sequence[ToolProgress]) -> Table:
    """Return the programs that are not there yet and how far each is."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("program", "", "so far", "usually", "at"):
        drawn.add_column(title, no_wrap=True)
    for one in building:
        seconds = f"{one.seconds:.0f} s" if one.seconds else ""
        drawn.add_row(str(one.tool), str(one.phase), seconds, f"{one.usual_seconds:.0f} s", Text(one.detail, overflow="ellipsis"))
    return drawn


def _cluster_of(subject: str) -> str:
    """Return the cluster that a subject is, or is in: the first two parts of ``site/cluster/pool``."""
    return "/".join(subject.split("/")[:2])
