"""Starts, watches and stops the real programs of a rehearsal, and leaves none behind.

Every way out is covered: the end of the ``with`` block, an exception, Ctrl-C and SIGTERM (`stop_on_signals`) stop all programs in
order; a SIGKILL of this process lets the kernel end them (see `watching`); and what neither reaches, a later run finds by the
run's state file (see `rundir`).
"""

from __future__ import annotations

import itertools
import json
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import FrameType, TracebackType

import psutil

from fleet.errors import FleetErrors, Mistake
from rehearsal.processes import Event, ProcessSpec, ProcessState
from rehearsal.rundir import RunDirectory
from rehearsal.watching import ManagedProcess

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a program uses.

    Attributes:
        pss_bytes: Memory, pages that several processes share divided among them.
        rss_bytes: Memory, shared pages counted whole.
        cpu_seconds: Processor time since its start.
    """

    pss_bytes: int
    rss_bytes: int
    cpu_seconds: float


class Supervisor:
    """The programs of one run; a context manager that stops them all at its end.

    Args:
        run: The run's folder: a log for each program, the record of processes, and ``events.jsonl``.
        on_event: Told of each event, from any thread; must not raise.
    """

    def __init__(self, run: RunDirectory, on_event: Callable[[Event], None] | None = None) -> None:
        self.run = run
        self._on_event = on_event
        self._lock = threading.Lock()
        self._processes: dict[str, ManagedProcess] = {}
        self._closing = False
        self._events = (run.path / "events.jsonl").open("a", buffering=1)

    def __enter__(self) -> Supervisor:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop everything."""
        self.close()

    @property
    def closing(self) -> bool:
        """Whether everything is being stopped, or was."""
        return self._closing

    def start(self, spec: ProcessSpec) -> None:
        """Start a program and return at once.

        Raises:
            FleetErrors: Its name is in use, or everything is being stopped.
        """
        with self._lock:
            if self._closing:
                raise FleetErrors(
                    [Mistake(path=spec.name, reason="not started: the rehearsal is ending", remedy="Start it again")]
                )
            known = self._processes.get(spec.name)
            if known and known.state not in {ProcessState.STOPPED, ProcessState.FAILED}:
                raise FleetErrors([Mistake(path=spec.name, reason="a program of this name runs already", remedy="Stop it first")])
            log = self.run.logs / f"{spec.name}.log"
            process = self._processes[spec.name] = ManagedProcess(spec, log, self._tell, self.run.record)
            process.start()

    def wait_ready(self, name: str) -> float:
        """Wait until a program serves and return the seconds waited.

        Raises:
            ProcessFaultError: It ended for good, or did not get ready in time.
        """
        return self._processes[name].wait_ready()

    def start_ready(self, spec: ProcessSpec) -> float:
        """Start a program, wait until it serves and return the seconds waited; raises what `start` and `wait_ready` raise."""
        self.start(spec)
        return self.wait_ready(spec.name)

    def kill(self, name: str) -> None:
        """End a program as a crash would; its policy starts it again. `wait_ready` then waits for the new process."""
        self._processes[name].kill()

    def pid(self, name: str) -> int | None:
        """Return a program's process id, None while it does not run."""
        return self._processes[name].pid

    def states(self) -> dict[str, ProcessState]:
        """Return where each program stands, in the order in which they were started."""
        with self._lock:
            return {name: process.state for name, process in self._processes.items()}

    def usage(self) -> dict[str, Usage]:
        """Return what each running program uses now; those that end meanwhile are left out."""
        found: dict[str, Usage] = {}
        with self._lock:
            pids = {name: process.pid for name, process in self._processes.items()}
        for name, pid in pids.items():
            if pid is None:
                continue
            try:
                process = psutil.Process(pid)
                memory, cpu = process.memory_full_info(), process.cpu_times()
            except psutil.Error:
                continue
            found[name] = Usage(pss_bytes=memory.pss, rss_bytes=memory.rss, cpu_seconds=cpu.user + cpu.system)
        return found

    def stop(self, *names: str) -> None:
        """Stop programs, the highest rank first, those of one rank together."""
        self._stop([self._processes[name] for name in names])

    def close(self) -> None:
        """Stop everything; signals that come meanwhile are put off, so that a second Ctrl-C leaves nothing behind."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            processes = list(self._processes.values())
        with _signals_put_off():
            self._stop(processes)
            self._events.close()

    def _stop(self, processes: Iterable[ManagedProcess]) -> None:
        """Stop these, rank by rank."""
        ordered = sorted(processes, key=lambda process: process.spec.rank, reverse=True)
        for _, group in itertools.groupby(ordered, key=lambda process: process.spec.rank):
            together = list(group)
            for process in together:
                process.ask_to_stop()
            for process in together:
                process.wait_stopped(process.spec.grace_seconds)

    def _tell(self, event: Event) -> None:
        """Note an event and pass it on."""
        self._events.write(json.dumps(asdict(event)) + "\n")
        if self._on_event is not None:
            self._on_event(event)


@contextmanager
def _signals_put_off() -> Iterator[None]:
    """Ignore the signals that end a program, where this thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP end this process as Ctrl-C does: by an exception, so that every ``with`` block closes.

    Raises:
        SystemExit: When one of the two comes, with 128 and the signal's number, as a shell counts.
    """

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- the signature is the signal module's
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
