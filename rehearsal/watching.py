"""One real program under watch: started, made ready, started again when it ends by itself, and never left behind.

A thread stands behind each program. It starts the program and then waits for its end, for two reasons:

* Linux sends the signal of ``PR_SET_PDEATHSIG`` when the *thread* that made the child ends, not the process (prctl(2)). A thread
  that lives exactly as long as its program makes the two the same: however this process ends, SIGKILL included, the kernel ends
  every program.
* The thread waits without reaping (``WNOWAIT``). Until it reaps, under the lock that signals are sent under, the process id
  belongs to nobody else. So a signal never reaches a stranger.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from rehearsal.processes import ENDED, Event, EventKind, ProcessFaultError, ProcessSpec, ProcessState

_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h."""

_PROBE_EVERY_SECONDS = 0.05

_prctl = ctypes.CDLL(None, use_errno=True).prctl


class ManagedProcess:
    """A program under watch.

    Args:
        spec: What to run.
        log: File that its output is appended to.
        on_event: Told of each event, from the program's own thread or the caller's.
        on_pid: Told the id of each process that was started.
    """

    def __init__(
        self, spec: ProcessSpec, log: Path, on_event: Callable[[Event], None], on_pid: Callable[[str, int], None]
    ) -> None:
        self.spec = spec
        self.log = log
        self._on_event = on_event
        self._on_pid = on_pid
        self._lock = threading.Lock()
        self._popen: subprocess.Popen[bytes] | None = None
        self._state = ProcessState.STARTING
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._fault = ""
        self._was_ready = False
        self._thread = threading.Thread(target=self._live, name=f"watch {spec.name}", daemon=True)

    @property
    def state(self) -> ProcessState:
        """Where it stands now."""
        return self._state

    @property
    def pid(self) -> int | None:
        """Its process id, None while it does not run."""
        popen = self._popen
        return popen.pid if popen else None

    def start(self) -> None:
        """Start the program; returns at once."""
        self._thread.start()

    def wait_ready(self) -> float:
        """Wait until the program serves.

        Returns:
            Seconds waited.

        Raises:
            ProcessFaultError: It ended for good, or did not get ready in time.
        """
        began = time.monotonic()
        while True:
            if self._state in ENDED:
                raise ProcessFaultError(self.spec.name, self._fault or "it was stopped while it was waited for", self.log)
            missing = self._probe()
            waited = time.monotonic() - began
            if missing is None:
                return waited
            if waited > self.spec.ready_deadline_seconds:
                reason = f"not ready after {waited:.0f} s: {missing}"
                raise ProcessFaultError(self.spec.name, reason, self.log)
            self._ended.wait(_PROBE_EVERY_SECONDS)

    def kill(self) -> None:
        """End the program at once, as a crash would; it is started again by its policy."""
        with self._lock:
            if self._popen is None:
                return
            self._state = ProcessState.RESTARTING
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._tell(EventKind.KILLED, "on purpose")

    def ask_to_stop(self) -> None:
        """Send SIGTERM and start it no more; returns at once. Does nothing to a program that has ended."""
        self._stopping.set()
        self._signal(signal.SIGTERM)

    def wait_stopped(self, grace_seconds: float) -> None:
        """Wait for the end after `ask_to_stop`; SIGKILL once the grace is over."""
        if not self._thread.ident:
            return
        if not self._ended.wait(grace_seconds):
            self._tell(EventKind.KILLED, f"still there {grace_seconds:.0f} s after SIGTERM")
            with self._lock:
                if self._popen is not None:
                    os.killpg(self._popen.pid, signal.SIGKILL)
        self._thread.join()

    def _probe(self) -> str | None:
        """Return what is missing for the process that runs now, None when it is ready."""
        popen = self._popen
        if popen is None or self._state is ProcessState.RESTARTING:
            return "it is being started"
        missing = self.spec.ready()
        if missing is not None:
            return missing
        with self._lock:
            if self._popen is not popen or self._state not in {ProcessState.RUNNING, ProcessState.READY}:
                return "it ended and is being started again"
            first = self._state is ProcessState.RUNNING
            self._state, self._was_ready = ProcessState.READY, True
        if first:
            self._tell(EventKind.READY, "")
        return None

    def _become_ready(self) -> None:
        """Probe a program that was started again until it is ready, for nobody else may be waiting for it."""
        with suppress(ProcessFaultError):
            self.wait_ready()

    def _live(self) -> None:
        """Start the program, wait for its end, start it again as the policy says: the thread's whole life."""
        restarts = 0
        try:
            while not self._stopping.is_set():
                began = time.monotonic()
                code = self._run_once()
                if self._stopping.is_set():
                    break
                self._tell(EventKind.EXITED, _told(code))
                if time.monotonic() - began > self.spec.restart.steady_seconds:
                    restarts = 0
                if restarts >= self.spec.restart.most:
                    self._fail(f"it ended {restarts + 1} times in a row, the last time {_told(code)}")
                    return
                self._stopping.wait(self.spec.restart.wait_seconds(restarts))
                restarts += 1
            self._state = ProcessState.STOPPED
            self._tell(EventKind.STOPPED, "")
        except OSError as error:
            self._fail(f"it could not be started: {error.strerror or error}")
        finally:
            self._ended.set()

    def _run_once(self) -> int:
        """Run the program to its end and return how it ended, as `subprocess` counts: below zero for a signal."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            popen = self._spawn(log)
        self._on_pid(self.spec.name, popen.pid)
        with self._lock:
            self._popen, self._state = popen, ProcessState.RUNNING
        self._tell(EventKind.STARTED, f"process {popen.pid}")
        if self._was_ready:
            threading.Thread(target=self._become_ready, name=f"probe {self.spec.name}", daemon=True).start()
        if self._stopping.is_set():  # asked to stop before there was anything to send the signal to
            self._signal(signal.SIGTERM)
        os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            self._popen, self._state = None, ProcessState.RESTARTING
            os.killpg(popen.pid, signal.SIGKILL)  # what the program itself started and left
            return popen.wait()

    def _spawn(self, log: BinaryIO) -> subprocess.Popen[bytes]:
        """Start one process in a session of its own: Ctrl-C at the terminal reaches us alone, and we stop programs in order."""
        parent = os.getpid()

        def die_with_parent() -> None:
            """Runs between fork and exec; touches no lock, which another thread might have held at the fork."""
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # the parent died before the line above
                os._exit(1)

        return subprocess.Popen(
            self.spec.argv,
            env=dict(self.spec.env),
            cwd=self.spec.cwd,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 -- no lock is taken in it, and the standard library has no other way
        )

    def _signal(self, number: signal.Signals) -> None:
        """Signal the process, if there is one that was not reaped."""
        with self._lock:
            if self._popen is not None:
                os.kill(self._popen.pid, number)

    def _fail(self, reason: str) -> None:
        """Give the program up."""
        self._fault = reason
        self._state = ProcessState.FAILED
        self._tell(EventKind.GAVE_UP, reason)

    def _tell(self, kind: EventKind, detail: str) -> None:
        """Report an event."""
        self._on_event(Event(process=self.spec.name, kind=kind, detail=detail, at_seconds=time.monotonic()))


def _told(code: int) -> str:
    """Say how a process ended: ``with code 1`` or ``by SIGKILL``."""
    return f"with code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
