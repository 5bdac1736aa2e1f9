"""Previews several stacks at once, each in a process of its own, in layers: what a later layer refers to is previewed first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from preview.graph import Finding, ResourceGraph

DEFAULT_TIME_LIMIT_SECONDS = 600.0
_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True, slots=True)
class StackStarted:
    """Progress: a stack's preview began.

    Attributes:
        stack: Stack name.
    """

    stack: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StackPreview:
    """One stack's preview, done or failed.

    Attributes:
        stack: Stack name.
        graph: Everything it declares; None when it failed.
        outputs: Its outputs as later stacks see them; secret leaves are masked and their shape is kept.
        secret_outputs: Names of the outputs that hold a secret.
        notes: What the program told its user.
        error: The one message of a failure; None when it succeeded.
        exit_code: 0, 1 when the program failed, 2 when the input cannot be used.
        seconds: Wall time.
    """

    stack: str
    graph: ResourceGraph | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict)
    secret_outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    exit_code: int = 0
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether there is no graph."""
        return self.error is not None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the checks found; empty for a failed preview."""
        return self.graph.findings if self.graph else ()


Progress = Callable[[StackStarted | StackPreview], None]
"""Told of each start and each end, from several threads, one call at a time."""


def preview_stacks(
    project_dir: Path,
    layers: Sequence[Sequence[str]],
    *,
    inventory: Path | None = None,
    progress: Progress | None = None,
    time_limit_seconds: float = DEFAULT_TIME_LIMIT_SECONDS,
    processes: int | None = None,
) -> list[StackPreview]:
    """Preview stacks layer by layer, those of one layer side by side.

    Args:
        project_dir: Folder with Pulumi.yaml and the program.
        layers: Stack names; a stack may refer to those of earlier layers.
        inventory: Inventory to use instead of the one each stack's settings name.
        progress: Called at each start and end.
        time_limit_seconds: For each stack.
        processes: How many at once; by default one for each processor.

    Returns:
        One preview for each stack, in the order given. A failure stops no other stack.
    """
    crew = _Crew(project_dir.resolve(), inventory, progress or (lambda _event: None), time_limit_seconds)
    done: dict[str, StackPreview] = {}
    workers = max(1, processes or os.cpu_count() or 1)
    for layer in layers:
        references = {
            name: {"outputs": dict(preview.outputs), "secret_outputs": list(preview.secret_outputs)}
            for name, preview in done.items()
            if not preview.failed
        }
        with ThreadPoolExecutor(max_workers=workers) as pool:
            waiting = [pool.submit(crew.preview, stack, references) for stack in layer]
            try:
                done.update({preview.stack: preview for preview in (future.result() for future in waiting)})
            except BaseException:
                crew.stop()
                raise
    return [done[stack] for layer in layers for stack in layer]


class _Crew:
    """Starts worker processes and stops them all when told to."""

    def __init__(self, project_dir: Path, inventory: Path | None, progress: Progress, time_limit_seconds: float) -> None:
        self._project_dir = project_dir
        self._inventory = inventory
        self._progress = progress
        self._time_limit_seconds = time_limit_seconds
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def preview(self, stack: str, references: Mapping[str, Any]) -> StackPreview:
        """Preview one stack in a process of its own."""
        self._tell(StackStarted(stack=stack))
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="gpufleet-preview-") as folder:
            result = self._run(stack, references, Path(folder), started)
        self._tell(result)
        return result

    def stop(self) -> None:
        """Kill every worker that runs, and start no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def _tell(self, event: StackStarted | StackPreview) -> None:
        """Report progress, one call at a time."""
        with self._lock:
            self._progress(event)

    def _run(self, stack: str, references: Mapping[str, Any], folder: Path, started: float) -> StackPreview:
        """Run the worker, with its files in `folder`, and read what it wrote."""
        out, given = folder / "out.json", folder / "references.json"
        given.write_text(json.dumps(references), encoding="utf-8")
        command = [sys.executable, "-m", "preview.worker", "--stack", stack, "--project-dir", str(self._project_dir)]
        command += ["--out", str(out), "--references", str(given)]
        command += ["--inventory", str(self._inventory.resolve())] if self._inventory else []
        code, error = self._finish(command)
        seconds = time.monotonic() - started
        if code != 0:
            message = error.strip() or f"The preview's process ended with exit code {code} and no message"
            return StackPreview(stack=stack, error=message, exit_code=2 if code == 2 else 1, seconds=seconds)  # noqa: PLR2004 -- the worker's exit code for bad input
        result = json.loads(out.read_text(encoding="utf-8"))
        return StackPreview(
            stack=stack,
            graph=ResourceGraph.from_plain(result["graph"]),
            outputs=result["outputs"],
            secret_outputs=tuple(result["secret_outputs"]),
            notes=tuple(result["notes"]),
            seconds=seconds,
        )

    def _finish(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a command to its end or its time limit; return its exit code and what it said on standard error."""
        with self._lock:
            if self._stopped:
                return 1, "Stopped before it began"
            process = subprocess.Popen(
                command,
                cwd=self._project_dir,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            self._running.add(process)
        try:
            _, error = process.communicate(timeout=self._time_limit_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return 1, f"The preview took longer than {self._time_limit_seconds:g} seconds and was stopped"
        finally:
            with self._lock:
                self._running.discard(process)
        return process.returncode, error


def _environment() -> dict[str, str]:
    """Return the workers' environment: this package importable, and no Pulumi config but the stack's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_CONFIG")}
    path = kept.get("PYTHONPATH")
    kept["PYTHONPATH"] = f"{_ROOT}{os.pathsep}{path}" if path else str(_ROOT)
    kept["PYTHONWARNINGS"] = "ignore"  # a failing program leaves coroutines behind; its one message says what matters
    return kept
