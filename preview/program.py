"""Runs a Pulumi program in this process under the recording monitor, and turns any failure into one readable message."""

from __future__ import annotations

import asyncio
import logging
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
from google.protobuf import empty_pb2
from pulumi.runtime import config, mocks, settings, stack
from pulumi.runtime.proto import engine_pb2

from fleet.errors import FleetErrors
from preview.graph import Finding
from preview.monitor import RecordingMonitor
from preview.settings import StackSettings

ORGANIZATION = "organization"
"""Organization name that every offline preview runs under; also the file backend's."""


MESSAGE_SHOWN = 32
"""Exit code by which a program tells Pulumi's Python host that its user has been told what is wrong."""


class ProgramFailedError(Exception):
    """The program did not run to its end.

    Args:
        message: What to tell the user.
        is_bad_input: Whether the user's input is at fault, rather than the program.
    """

    def __init__(self, message: str, *, is_bad_input: bool) -> None:
        super().__init__(message)
        self.is_bad_input = is_bad_input


@dataclass(slots=True)
class RecordingEngine:
    """Keeps what the program logs: errors and warnings as findings, the rest as notes."""

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def Log(self, request: engine_pb2.LogRequest) -> empty_pb2.Empty:  # noqa: N802 -- the protocol's name
        """Keep one message."""
        if request.severity in (engine_pb2.ERROR, engine_pb2.WARNING):
            severity = "error" if request.severity == engine_pb2.ERROR else "warning"
            self.findings.append(
                Finding(severity=severity, urn=request.urn, path="", value=None, reason=request.message, remedy="")
            )
        elif request.severity == engine_pb2.INFO:
            self.notes.append(request.message)
        return empty_pb2.Empty()


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A program's run to its end.

    Attributes:
        monitor: Everything it declared.
        engine: Everything it logged.
    """

    monitor: RecordingMonitor
    engine: RecordingEngine


def run_program(given: StackSettings, references: Mapping[str, Mapping[str, Any]] | None = None) -> Run:
    """Run a stack's program and wait for all that it set going.

    Args:
        given: Project, stack, program file and config.
        references: What other stacks export, by stack name.

    Returns:
        What it declared and logged.

    Raises:
        ProgramFailedError: It raised, or there is no program.
    """
    if not given.main.is_file():
        raise ProgramFailedError(f"{given.main}: there is no program to run", is_bad_input=True)
    run = Run(monitor=RecordingMonitor(given.project, given.stack, references), engine=RecordingEngine())
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        asyncio.run(_run(given, run))
    except FleetErrors as error:
        raise ProgramFailedError(str(error), is_bad_input=True) from None
    except pulumi.RunError as error:
        raise ProgramFailedError(str(error), is_bad_input=False) from None
    except SystemExit as error:
        told = [finding.reason for finding in run.engine.findings if finding.severity == "error"]
        message = "\n".join(told) or explain(error, given.main.parent)
        raise ProgramFailedError(message, is_bad_input=error.code == MESSAGE_SHOWN) from None
    except Exception as error:  # noqa: BLE001 -- whatever a program raises becomes one message
        raise ProgramFailedError(explain(error, given.main.parent), is_bad_input=False) from None
    return run


async def _run(given: StackSettings, run: Run) -> None:
    """Set the runtime up in this task's own context, so that runs in one process share nothing, and run the program."""
    settings.configure(
        mocks.MockSettings(
            monitor=run.monitor,
            monitor_features=set(),
            engine=run.engine,
            project=given.project,
            stack=given.stack,
            dry_run=True,
            organization=ORGANIZATION,
            root_directory=str(given.main.parent),
            callbacks=None,
            outputs=set(),
        )
    )
    settings.set_root_resource(None)  # type: ignore[arg-type]  # a second run in one process starts without a stack
    config.set_all_config(dict(given.config), list(given.secret_keys))
    folder = str(given.main.parent)
    sys.path.insert(0, folder)
    try:
        await run_to_end(lambda: _execute(given.main))
    finally:
        sys.path.remove(folder)


async def run_to_end(program: Callable[[], None]) -> None:
    """Run a program's body in a stack and wait for all that it and the stack set going.

    The SDK's own wait, which follows the body and then finds nothing left to do, subscribes to every outstanding task anew each
    time one of them ends, so its time grows with the square of their number. The stack's outputs it registers last of all, and
    can see nothing to wait for before that call has started; hence the second wait here.

    Raises:
        Exception: The first failure of the body, of a registration or of an `apply`.
    """

    async def body() -> None:
        program()
        await _drain()

    await stack.run_in_stack(body)
    await _drain()


async def _drain() -> None:
    """Wait until no call and no task is left, one after the other."""
    calls = settings._get_rpc_manager().rpcs  # noqa: SLF001 -- the SDK's only register of them
    tasks: set[asyncio.Task[Any]] = getattr(settings.SETTINGS, "outputs")  # noqa: B009 -- pyright cannot see through it
    await asyncio.sleep(0)  # a call enters the register when its task starts
    while calls or tasks:
        await (calls.pop() if calls else tasks.pop())


def _execute(main: Path) -> None:
    """Execute the program file as the Pulumi language host does."""
    runpy.run_path(str(main), run_name="__main__")


def explain(error: BaseException, folder: Path) -> str:
    """Return one message for an exception: its type, its text, and the innermost place in the program's own folder."""
    text = " ".join(str(error).split()) or "no message"
    place = _innermost(error, folder)
    return f"{type(error).__name__}: {text}{f' (at {place})' if place else ''}"


def _innermost(error: BaseException, folder: Path) -> str:
    """Return ``file:line in function`` of the innermost frame under `folder`; empty when no frame is there."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        for frame in reversed(traceback.extract_tb(current.__traceback__)):
            file = Path(frame.filename)
            if file.is_relative_to(folder) and "site-packages" not in file.parts and file.parent.name != "preview":
                return f"{file.relative_to(folder)}:{frame.lineno} in {frame.name}"
        current = current.__cause__ or current.__context__
    return ""
