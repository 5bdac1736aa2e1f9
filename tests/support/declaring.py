"""Runs a few lines of program under the offline preview's monitor, in this process, and returns what they declared."""

from __future__ import annotations

import asyncio
import textwrap
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pulumi.runtime import mocks, settings

from preview.graph import Finding, Resource, ResourceGraph
from preview.monitor import RecordingMonitor
from preview.program import ORGANIZATION, RecordingEngine, Run, run_program, run_to_end
from preview.settings import StackSettings


def run(program: Callable[[], None], monitor: RecordingMonitor | None = None) -> Run:
    """Run a function as a stack's program and return the run; what it raises comes through as it is.

    Args:
        program: The function.
        monitor: Says project and stack, and what other stacks export; by default stack ``test`` of project ``gpufleet``.
    """
    done = Run(monitor=monitor or RecordingMonitor("gpufleet", "test"), engine=RecordingEngine())
    asyncio.run(_run(program, done))
    return done


def run_text(
    body: str, folder: Path, *, references: Mapping[str, Any] | None = None, config: Mapping[str, str] | None = None
) -> Run:
    """Run a program's source text in `folder` as stack ``dev`` of project ``toy``; config keys in ``secret`` are secret."""
    main = folder / "__main__.py"
    main.write_text("import pulumi\n" + textwrap.dedent(body), encoding="utf-8")
    given = StackSettings(
        project="toy",
        stack="dev",
        main=main,
        config=dict(config or {}),
        secret_keys=tuple(key for key in config or {} if "secret" in key),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the SDKs' own, at import
        return run_program(given, references)


def declare(program: Callable[[], None]) -> ResourceGraph:
    """Run a function as a stack's program and return its resource graph; errors and warnings it logged are in the findings."""
    done = run(program)
    graph = done.monitor.graph()
    return replace(graph, findings=(*graph.findings, *done.engine.findings))


def only(declared: ResourceGraph | Run, token: str) -> Resource:
    """Return the one resource of a type; raises ValueError when there is none or more than one."""
    graph = declared if isinstance(declared, ResourceGraph) else declared.monitor.graph()
    (resource,) = graph.of_type(token)
    return resource


def by_path(findings: list[Finding]) -> dict[str, Finding]:
    """Return findings by property path."""
    return {finding.path: finding for finding in findings}


async def _run(program: Callable[[], None], done: Run) -> None:
    """Set the runtime up for this task alone and run the program in a stack."""
    settings.configure(
        mocks.MockSettings(
            monitor=done.monitor,
            monitor_features=set(),
            engine=done.engine,
            project=done.monitor.project,
            stack=done.monitor.stack,
            dry_run=True,
            organization=ORGANIZATION,
            callbacks=None,
            outputs=set(),
        )
    )
    settings.set_root_resource(None)  # type: ignore[arg-type]  # a second run in one process starts without a stack
    await run_to_end(program)
