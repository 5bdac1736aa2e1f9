"""Runs a few lines of program under the offline preview's monitor, in this process, and returns what they declared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from pulumi.runtime import mocks, settings, stack

from preview.graph import Resource, ResourceGraph
from preview.monitor import RecordingMonitor
from preview.program import ORGANIZATION, RecordingEngine


def declare(program: Callable[[], None]) -> ResourceGraph:
    """Run `program` as a stack's program and return its resource graph; errors and warnings it logged are in the findings."""
    monitor, engine = RecordingMonitor("gpufleet", "test"), RecordingEngine()
    asyncio.run(_run(program, monitor, engine))
    graph = monitor.graph()
    return replace(graph, findings=(*graph.findings, *engine.findings))


async def _run(program: Callable[[], None], monitor: RecordingMonitor, engine: RecordingEngine) -> None:
    """Set the runtime up for this task alone and run the program in a stack."""
    settings.configure(
        mocks.MockSettings(
            monitor=monitor,
            monitor_features=set(),
            engine=engine,
            project=monitor.project,
            stack=monitor.stack,
            dry_run=True,
            organization=ORGANIZATION,
            callbacks=None,
        )
    )
    settings.set_root_resource(None)  # type: ignore[arg-type]  # a second run in one process starts without a stack
    await stack.run_in_stack(program)


def only(graph: ResourceGraph, token: str) -> Resource:
    """Return the one resource of a type; raises ValueError when there is none or more than one."""
    (resource,) = graph.of_type(token)
    return resource
