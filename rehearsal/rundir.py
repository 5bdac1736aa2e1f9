"""The folder of one rehearsal: its logs, its data, and a record of its processes by which a later one clears up after a kill.

``~/.cache/gpufleet/rehearsal/lock`` is held while a rehearsal runs, by a lock of the kernel's that no crash leaves behind.
``~/.cache/gpufleet/rehearsal/<run id>/state.json`` lists each process by id *and* time of start, with the boot it belongs to. Ids
are used again; the three together are not. Nothing else is ever signalled.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from fleet.errors import FleetErrors, Mistake

CACHE = Path.home() / ".cache" / "gpufleet" / "rehearsal"
"""Where rehearsals keep what they write."""

RUNS_KEPT = 5
"""Folders of earlier runs whose logs stay."""

_STATE = "state.json"
_VERSION = 1
_START_TIME_FIELD = 19
"""Place of starttime in /proc/PID/stat after the command, which stands in parentheses (proc_pid_stat(5), field 22)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A process and no other.

    Attributes:
        pid: Its id.
        started_ticks: When it started, in clock ticks since boot; no change of the wall clock moves it.
    """

    pid: int
    started_ticks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunState:
    """What a run's state file says.

    Attributes:
        run: The run's id.
        boot: Id of the machine's boot that the processes belong to.
        supervisor: The rehearsal itself.
        processes: Its programs by name.
    """

    run: str
    boot: str
    supervisor: Identity
    processes: Mapping[str, Identity]


def identify(pid: int) -> Identity | None:
    """Return the identity of the process that has this id now; None when there is none, or only its zombie."""
    try:
        after_command = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if after_command[0] == "Z" else Identity(pid=pid, started_ticks=int(after_command[_START_TIME_FIELD]))


def is_alive(one: Identity) -> bool:
    """Say whether that very process is there."""
    return identify(one.pid) == one


def boot_id() -> str:
    """Return the id of this machine's boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def stop_process(one: Identity, grace_seconds: float = 5.0) -> bool:
    """Stop a process that is not our child: SIGTERM, then SIGKILL.

    Args:
        one: Which.
        grace_seconds: Time between the two.

    Returns:
        Whether it was there.
    """
    try:
        handle = os.pidfd_open(one.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(one):  # asked once the handle is held: the handle cannot pass to another process any more
            return False
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                return True
            if poll.poll(grace_seconds * 1000):
                return True
    finally:
        os.close(handle)
    return True


class RunDirectory:
    """The folder of a run that is going on; a context manager that ends the run's claim to it.

    Args:
        path: The folder, which exists.
        lock: Descriptor of the locked file.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.id = path.name
        self.logs = path / "logs"
        self.data = path / "data"
        self._lock = lock
        self._writing = threading.Lock()
        self._processes: dict[str, Identity] = {}
        for folder in (self.logs, self.data):
            folder.mkdir(mode=0o700)
        self._write()

    def __enter__(self) -> RunDirectory:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def record(self, name: str, pid: int) -> None:
        """Note that a program runs as this process."""
        one = identify(pid)
        if one is None:
            return
        with self._writing:
            self._processes[name] = one
            self._write()

    def close(self) -> None:
        """Drop the data, which is large and of no use without its processes; keep the logs; let the next run begin."""
        shutil.rmtree(self.data, ignore_errors=True)
        os.close(self._lock)

    def _write(self) -> None:
        """Replace the state file whole, so that a kill leaves the old one or the new one."""
        me = identify(os.getpid())
        state = {
            "version": _VERSION,
            "boot": boot_id(),
            "supervisor": _written(me) if me else None,
            "processes": {name: _written(one) for name, one in self._processes.items()},
        }
        new = self.path / f"{_STATE}.new"
        new.write_text(json.dumps(state, indent=1))
        new.replace(self.path / _STATE)


def open_run(root: Path = CACHE) -> RunDirectory:
    """Begin a run: take the lock, clear up after runs that were killed, make a folder.

    Args:
        root: Folder of all runs.

    Returns:
        The run's folder, locked until it is closed.

    Raises:
        FleetErrors: Another rehearsal is running, or the folder cannot be written.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            return _open_locked(root, lock)
        except BaseException:
            os.close(lock)
            raise
    except BlockingIOError:
        raise _already_running(root) from None
    except OSError as error:
        reason = f"the rehearsal's folder cannot be written: {error.strerror or error}"
        remedy = "Make room there, or make it yours to write"
        raise FleetErrors([Mistake(path=str(error.filename or root), reason=reason, remedy=remedy)]) from error


def _open_locked(root: Path, lock: int) -> RunDirectory:
    """Begin a run under the lock; raises BlockingIOError when another holds it."""
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    clear_leftovers(root)
    path = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=root))
    os.ftruncate(lock, 0)
    os.pwrite(lock, path.name.encode(), 0)
    return RunDirectory(path, lock)


def _already_running(root: Path) -> FleetErrors:
    """Say who holds the lock."""
    state = running(root)
    who = f"process {state.supervisor.pid}, run {state.run}" if state else "it is just starting or ending"
    remedy = "Wait until it ends, or end it with `./gpufleet rehearse down`"
    return FleetErrors([Mistake(path="", reason=f"another rehearsal is running ({who})", remedy=remedy)])


def running(root: Path = CACHE) -> RunState | None:
    """Return the state of the rehearsal that runs now, None when there is none."""
    try:
        name = (root / "lock").read_text()
    except FileNotFoundError:
        return None
    state = read_state(root / name) if name else None
    return state if state and state.boot == boot_id() and is_alive(state.supervisor) else None


def stop_running(root: Path = CACHE, grace_seconds: float = 30.0) -> RunState | None:
    """Stop the rehearsal that runs now with all its programs.

    Args:
        root: Folder of all runs.
        grace_seconds: Time that it gets to stop its programs in order.

    Returns:
        What was stopped; None when nothing ran.
    """
    state = running(root)
    if state is None:
        return None
    stop_process(state.supervisor, grace_seconds)
    _stop_programs(state)
    return state


def clear_leftovers(root: Path) -> list[str]:
    """Stop what killed runs left, drop their data, and all but the newest runs' folders. The lock must be held.

    Args:
        root: Folder of all runs.

    Returns:
        Names of the programs that were stopped.
    """
    stopped: list[str] = []
    runs = sorted(folder.parent for folder in root.glob(f"*/{_STATE}"))
    for folder in runs:
        state = read_state(folder)
        if state and state.boot == boot_id():
            stopped += _stop_programs(state)
        shutil.rmtree(folder / "data", ignore_errors=True)
    for folder in runs[:-RUNS_KEPT]:
        shutil.rmtree(folder, ignore_errors=True)
    return stopped


def _stop_programs(state: RunState) -> list[str]:
    """Stop a run's programs, the last started first, and return the names of those that were there."""
    return [name for name, one in reversed(list(state.processes.items())) if stop_process(one)]


def read_state(folder: Path) -> RunState | None:
    """Return what a run's state file says; None when it is missing, damaged or of another version."""
    try:
        state = json.loads((folder / _STATE).read_text())
        if state["version"] != _VERSION:
            return None
        return RunState(
            run=folder.name,
            boot=state["boot"],
            supervisor=_read(state["supervisor"]),
            processes={name: _read(one) for name, one in state["processes"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _written(one: Identity) -> dict[str, int]:
    """Return an identity as JSON."""
    return {"pid": one.pid, "started_ticks": one.started_ticks}


def _read(one: Mapping[str, int]) -> Identity:
    """Return an identity from JSON."""
    return Identity(pid=int(one["pid"]), started_ticks=int(one["started_ticks"]))
