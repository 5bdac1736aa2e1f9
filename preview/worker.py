"""Runs one stack's program in this process and writes its resource graph: ``python -m preview.worker --stack S --out FILE``.

Exit codes: 0 the graph is written, findings inside; 1 the program failed; 2 the input cannot be used. A failure is one message
on standard error, and nothing is written.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fleet.errors import FleetErrors
from preview.checks import check
from preview.graph import ResourceGraph
from preview.program import ProgramFailedError, Run, run_program
from preview.settings import load_settings

_COLLECTOR_THRESHOLDS = (100_000, 50, 100)
"""For a process that keeps nearly all it makes and then ends: with Python's own thresholds the garbage collector walks every
living resource again and again, more than half of the time at 2,000 resources (measured 2026-11-21)."""
FAILED = 1
BAD_INPUT = 2


def preview_stack(
    project_dir: Path,
    stack: str,
    inventory: Path | None = None,
    references: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Preview one stack and return what `main` writes, as plain data.

    Args:
        project_dir: Folder with Pulumi.yaml and the program.
        stack: Stack name.
        inventory: Inventory to use instead of the one the stack's settings name.
        references: What other stacks export: ``{stack: {"outputs": {...}, "secret_outputs": [...]}}``.

    Returns:
        ``graph``, ``outputs`` (secrets as placeholders), ``secret_outputs``, ``notes``, and ``seconds`` by step.

    Raises:
        FleetErrors: The stack's settings cannot be used.
        ProgramFailedError: The program failed.
    """
    overrides = {"gpufleet:inventory": str(inventory.resolve())} if inventory else {}
    settings = load_settings(project_dir, stack, overrides)
    started = time.perf_counter()
    run = run_program(settings, references)
    ran = time.perf_counter()
    graph = _checked(run)
    seconds = {"program": ran - started, "checks": time.perf_counter() - ran}
    outputs = run.monitor.stack_outputs
    return {
        "graph": graph.to_plain(),
        "outputs": outputs.shaped,
        "secret_outputs": list(outputs.secret_names),
        "notes": run.engine.notes,
        "seconds": seconds,
    }


def _checked(run: Run) -> ResourceGraph:
    """Return the graph of a run with every finding in it."""
    graph = run.monitor.graph()
    found = (*graph.findings, *run.engine.findings, *check(graph.resources))
    return dataclasses.replace(graph, findings=found)


def main(arguments: Sequence[str]) -> int:
    """Preview the stack the command line names and write the result; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m preview.worker", description="Preview one stack offline.")
    parser.add_argument("--stack", required=True, help="stack name")
    parser.add_argument("--project-dir", type=Path, default=Path(), help="folder with Pulumi.yaml; default: here")
    parser.add_argument("--out", type=Path, required=True, help="file to write, JSON")
    parser.add_argument("--inventory", type=Path, help="inventory to use instead of the stack's own")
    parser.add_argument("--references", type=Path, help="what other stacks export, JSON")
    given = parser.parse_args(arguments)
    references = json.loads(given.references.read_text(encoding="utf-8")) if given.references else {}
    out, inventory = given.out.resolve(), given.inventory.resolve() if given.inventory else None
    os.chdir(given.project_dir)
    gc.set_threshold(*_COLLECTOR_THRESHOLDS)
    try:
        result = preview_stack(Path.cwd(), given.stack, inventory, references)
    except FleetErrors as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except ProgramFailedError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT if error.is_bad_input else FAILED
    out.write_text(json.dumps(result, sort_keys=True, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the interpreter would spend longer taking a large program's objects apart than it took to check them
