"""Time and peak memory of the offline preview over the size of a fleet, against a bare SDK program in the same run.

Run as ``python -m benchmarks.preview_scale [--cloud google] [--sizes 10 100 1000]`` or ``make bench``. Prints a table for the
site's stack and one for the hub's, how time grows, and what starting costs. Sizes up to 100 clusters run three times, larger
ones once; programs take turns, and figures are medians.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.fleets import SITES, Site, write_inventory  # noqa: E402 -- a script's own folder, not the repo's, is on the path
from benchmarks.measuring import Usage, median, run  # noqa: E402 -- as above
from benchmarks.start_times import print_start_times  # noqa: E402 -- as above

AIM = 1.2
FLOOR_MS = "2.5-3.0"
REPEATS, REPEATED_UP_TO = 3, 100
NOTES = f"""
preview  `python -m preview.worker` on the real program: plan, components, checks, graph.
tuned    a bare SDK program under the SDK's own mocks: the same resources, inputs, parents, providers and dependencies; no
         plan, catalogue, checks, graph or outputs. With what the preview does to the process: garbage collector thresholds
         (100000, 50, 100), a wait that takes tasks one after the other, and an exit that takes no objects apart.
stock    the same program without these three. The SDK's wait is quadratic, so larger sizes are left out (--stock-limit).
Seconds are of whole processes, interpreter start and imports included; `cpu` is the ratio of processor seconds, which other
programs on the machine disturb least. MiB is the peak resident memory the kernel reports. Every row's programs declared the
same number of resources of each type, or the run fails. Aim: at most {AIM} of the bare program; stated floor {FLOOR_MS} ms a
resource.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One size of one stack.

    Attributes:
        clusters: Clusters in the inventory.
        resources: Resources of the stack.
        repeats: How often each program ran.
        usages: Medians by program: preview, tuned, and stock unless left out.
    """

    clusters: int
    resources: int
    repeats: int
    usages: Mapping[str, Usage]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack to measure.

    Attributes:
        name: Its name.
        site: The site of the inventory.
        folder: Where files go.
        stock_limit: Clusters up to which the stock program runs.
    """

    name: str
    site: Site
    folder: Path
    stock_limit: int

    def measure(self, clusters: int) -> Row:
        """Return what the preview and the bare programs take for an inventory of this size, and keep the preview's output."""
        commands = {"preview": self.preview(clusters)}
        for mode in ("tuned", "stock") if clusters <= self.stock_limit else ("tuned",):
            commands[mode] = (sys.executable, str(self.folder / f"bare_{self.name}.py"), str(clusters), mode)
        repeats = REPEATS if clusters <= REPEATED_UP_TO else 1
        runs: dict[str, list[Usage]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                runs[name].append(run(command, self.folder))
                print(f"  {self.name} {clusters}: {name} {runs[name][-1].seconds:.1f} s", file=sys.stderr)
        declared = self._declared(clusters)
        for name in commands.keys() - {"preview"}:
            if Counter(json.loads(runs[name][-1].output)) != declared:
                raise RuntimeError(f"the {name} program declares other resources than the preview of {self.name}")
        usages = {name: median(found) for name, found in runs.items()}
        return Row(clusters=clusters, resources=declared.total(), repeats=repeats, usages=usages)

    def prepare(self) -> None:
        """Write the bare program, from a preview of two clusters."""
        run(self.preview(2), self.folder)
        run(
            (sys.executable, "-m", "benchmarks.bare_program", str(self._out(2)), f"{self.folder}/bare_{self.name}.py"),
            self.folder,
        )

    def preview(self, clusters: int) -> tuple[str, ...]:
        """Write the inventory, and for the hub what the site exports; return the command that previews the stack."""
        inventory = self.folder / f"{clusters}.yaml"
        write_inventory(inventory, self.site, clusters)
        command = [sys.executable, "-m", "preview.worker", "--stack", self.name, "--project-dir", str(ROOT)]
        command += ["--inventory", str(inventory), "--out", str(self._out(clusters))]
        if self.name == "hub":
            command += ["--references", str(self._references(clusters))]
        return tuple(command)

    def _references(self, clusters: int) -> Path:
        """Write the file of what the site's stack exports, after its preview."""
        exported = json.loads((self.folder / f"{self.site.stack}.{clusters}.json").read_text(encoding="utf-8"))
        file = self.folder / f"references.{clusters}.json"
        file.write_text(json.dumps({self.site.stack: {key: exported[key] for key in ("outputs", "secret_outputs")}}))
        return file

    def _out(self, clusters: int) -> Path:
        """Return the file that a preview writes."""
        return self.folder / f"{self.name}.{clusters}.json"

    def _declared(self, clusters: int) -> Counter[str]:
        """Return how many resources of each type a preview declared."""
        plain = json.loads(self._out(clusters).read_text(encoding="utf-8"))
        return Counter(resource["type"] for resource in plain["graph"]["resources"])


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the exponent of growth: the slope of a least-squares line through the logarithms. Needs two sizes."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print one stack's rows and how time and memory grow."""
    print(f"\n{title}")
    print("clusters resources runs | preview s  ms/res | tuned s  ratio   cpu | stock s  ratio   cpu |  MiB  tuned MiB  ratio")
    for row in rows:
        ours, tuned, stock = (row.usages.get(name) for name in ("preview", "tuned", "stock"))
        if ours is None or tuned is None:
            continue
        each_ms = 1000 * ours.seconds / row.resources
        print(
            f"{row.clusters:8} {row.resources:9} {row.repeats:4} | {ours.seconds:9.2f} {each_ms:7.2f} |"
            f" {tuned.seconds:7.2f} {_ratios(ours, tuned)} | {f'{stock.seconds:7.2f}' if stock else '      -'}"
            f" {_ratios(ours, stock) if stock else '    -     -'} |"
            f" {ours.peak_mib:4.0f} {tuned.peak_mib:10.0f} {ours.peak_mib / tuned.peak_mib:6.2f}"
        )
    for name in ("preview", "tuned", "stock"):
        points = [(float(row.resources), row.usages[name].cpu_seconds) for row in rows if name in row.usages]
        if len(points) > 1:
            last = f"between the last two sizes {exponent(points[-2:]):.2f}"
            print(f"{name}: processor time grows with resources to the power {exponent(points):.2f}, {last}")


def _ratios(ours: Usage, other: Usage) -> str:
    """Return the preview's time over another program's, on the wall and of the processor."""
    return f"{ours.seconds / other.seconds:6.2f} {ours.cpu_seconds / other.cpu_seconds:5.2f}"


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(prog="preview_scale", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cloud", choices=sorted(SITES), default="google", help="cloud of all clusters")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000], help="numbers of clusters, 2 or more each")
    parser.add_argument("--stock-limit", type=int, default=100, help="clusters up to which the stock program runs")
    parser.add_argument("--skip-starts", action="store_true", help="leave out what starting costs")
    given = parser.parse_args()
    site = SITES[given.cloud]
    with tempfile.TemporaryDirectory(prefix="gpufleet-bench-") as name:
        for stack_name in (site.stack, "hub"):
            stack = Stack(name=stack_name, site=site, folder=Path(name), stock_limit=given.stock_limit)
            stack.prepare()
            rows = [stack.measure(clusters) for clusters in sorted(given.sizes)]
            print_table(f"Stack {stack_name} ({given.cloud})", rows)
        print(NOTES)
        if not given.skip_starts:
            print_start_times(Path(name), ROOT)


if __name__ == "__main__":
    main()
