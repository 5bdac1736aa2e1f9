"""Programs under watch, with small stand-ins for the real ones: each way in, each way out, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from fleet.errors import FleetErrors
from rehearsal.processes import Event, EventKind, ProcessFaultError, ProcessSpec, ProcessState, RestartPolicy, last_lines
from rehearsal.rundir import RunDirectory, clear_leftovers, identify, open_run, read_state, running, stop_process, stop_running
from rehearsal.supervisor import Supervisor, stop_on_signals
from tests.support.sources import PROJECT

LIVES = "import signal; signal.pause()"
STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()\nsignal.pause()"
)
CRASHES = "import sys; print('no such thing'); sys.exit(3)"
HAS_CHILD = (
    "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], process_group=None)\n"
    + LIVES
)
QUICK = RestartPolicy(most=2, first_wait_seconds=0.0)
DEADLINE_SECONDS = 20.0


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    """A run in a folder of its own."""
    with open_run(tmp_path / "runs") as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No test leaves a process of its own behind."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    assert not [child for child in psutil.Process().children(recursive=True) if child.pid not in before]


def spec(name: str, program: str, **options: object) -> ProcessSpec:
    """A spec that runs a line of Python."""
    argv = (sys.executable, "-I", "-S", "-c", program)
    return ProcessSpec(name=name, argv=argv, env={}, cwd=Path("/"), **options)  # pyright: ignore[reportArgumentType] -- each test's own


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds; fails after a deadline."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < end, "it never became so"
        os.sched_yield()


def pid_of(supervisor: Supervisor, name: str) -> int:
    """The process id of a running program."""
    until(lambda: supervisor.pid(name))
    pid = supervisor.pid(name)
    assert pid is not None
    return pid


def test_a_program_runs_and_is_stopped(run: RunDirectory) -> None:
    """The plain way: started, ready, recorded, gone."""
    with Supervisor(run) as supervisor:
        supervisor.start_ready(spec("a/b", LIVES))
        pid = pid_of(supervisor, "a/b")
        state = read_state(run.path)
        assert state is not None
        assert state.processes["a/b"] == identify(pid)
        assert state.supervisor == identify(os.getpid())
        assert supervisor.states() == {"a/b": ProcessState.READY}
        assert supervisor.usage()["a/b"].pss_bytes > 0
    assert supervisor.states() == {"a/b": ProcessState.STOPPED}
    assert not psutil.pid_exists(pid)


def test_the_environment_is_the_specs_alone(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No credential and no proxy of the user's reaches a program."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine")
    with Supervisor(run) as supervisor:
        supervisor.start_ready(spec("a", f"import os; print(sorted(os.environ), flush=True); {LIVES}"))
        until(lambda: last_lines(run.logs / "a.log"))
    assert "AWS_SECRET_ACCESS_KEY" not in last_lines(run.logs / "a.log")[0]


def test_ready_waits_for_the_probe(run: RunDirectory) -> None:
    """A program counts as ready when its probe says so, and not before."""
    answers = iter(["not yet", "almost", None])
    with Supervisor(run) as supervisor:
        supervisor.start_ready(spec("a", LIVES, ready=lambda: next(answers)))
        assert supervisor.states()["a"] is ProcessState.READY
    assert next(answers, "all asked") == "all asked"


def test_never_ready_is_told_with_log_and_reason(run: RunDirectory) -> None:
    """A program that never serves ends in one message that names it, what it lacks, and its last words."""
    with Supervisor(run) as supervisor:
        supervisor.start(
            spec("a", f"print('still thinking', flush=True); {LIVES}", ready=lambda: "no answer", ready_deadline_seconds=0.3)
        )
        until(lambda: last_lines(run.logs / "a.log"))
        with pytest.raises(ProcessFaultError) as fault:
            supervisor.wait_ready("a")
    assert "a: not ready after 0 s: no answer" in str(fault.value)
    assert "still thinking" in str(fault.value)
    assert str(run.logs / "a.log") in str(fault.value)


def test_a_program_that_crashes_at_start_is_given_up(run: RunDirectory) -> None:
    """Restarts are bounded, and the message tells what the program printed."""
    events: list[Event] = []
    with Supervisor(run, events.append) as supervisor, pytest.raises(ProcessFaultError) as fault:
        supervisor.start_ready(spec("a", CRASHES, restart=QUICK, ready=lambda: "no answer"))
    assert "ended 3 times in a row, the last time with code 3" in str(fault.value)
    assert "no such thing" in str(fault.value)
    assert [event.kind for event in events].count(EventKind.STARTED) == 3
    assert events[-1].kind is EventKind.GAVE_UP


def test_a_missing_program_is_told_at_once(run: RunDirectory) -> None:
    """A path that is no program is no crash: nothing is tried again."""
    absent = ProcessSpec(name="a", argv=("/nonexistent/etcd",), env={}, cwd=Path("/"))
    with Supervisor(run) as supervisor, pytest.raises(ProcessFaultError, match="could not be started: No such file"):
        supervisor.start_ready(absent)


def test_a_killed_program_comes_back(run: RunDirectory) -> None:
    """After a crash a new process runs under the same name, and readiness is asked anew."""
    events: list[Event] = []
    with Supervisor(run, events.append) as supervisor:
        supervisor.start_ready(spec("a", LIVES, restart=QUICK))
        first = pid_of(supervisor, "a")
        supervisor.kill("a")
        assert supervisor.states()["a"] is not ProcessState.READY
        until(lambda: supervisor.states()["a"] is ProcessState.READY)  # though nobody waits for it
        supervisor.wait_ready("a")
        assert pid_of(supervisor, "a") != first
    kinds = [EventKind.STARTED, EventKind.READY]
    assert [event.kind for event in events] == [*kinds, EventKind.KILLED, EventKind.EXITED, *kinds, EventKind.STOPPED]
    written = [json.loads(line) for line in (run.path / "events.jsonl").read_text().splitlines()]
    assert [event["kind"] for event in written] == [str(event.kind) for event in events]


def test_a_deaf_program_is_killed(run: RunDirectory) -> None:
    """SIGTERM first, SIGKILL after the grace."""
    events: list[Event] = []
    with Supervisor(run, events.append) as supervisor:
        supervisor.start(spec("a", STUBBORN, grace_seconds=0.2))
        until(lambda: last_lines(run.logs / "a.log"))
    assert EventKind.KILLED in [event.kind for event in events]


def test_higher_ranks_stop_first(run: RunDirectory) -> None:
    """A program that others depend on outlives them, whatever the order of starting."""
    events: list[Event] = []
    with Supervisor(run, events.append) as supervisor:
        for name, rank in (("middle", 1), ("server", 0), ("client", 2)):
            supervisor.start_ready(spec(name, LIVES, rank=rank))
    stopped = [event.process for event in events if event.kind is EventKind.STOPPED]
    assert stopped == ["client", "middle", "server"]


def test_children_of_a_program_go_with_it(run: RunDirectory) -> None:
    """What a program started and left is gone when the program is."""
    with Supervisor(run) as supervisor:
        supervisor.start_ready(spec("a", HAS_CHILD))
        until(lambda: psutil.Process(pid_of(supervisor, "a")).children())
        child = psutil.Process(pid_of(supervisor, "a")).children()[0]
        supervisor.kill("a")
        supervisor.wait_ready("a")
        until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_name_is_used_once(run: RunDirectory) -> None:
    """Two programs of one name would share a log and a record."""
    with Supervisor(run) as supervisor:
        supervisor.start_ready(spec("a", LIVES))
        with pytest.raises(FleetErrors, match="runs already"):
            supervisor.start(spec("a", LIVES))
        supervisor.stop("a")
        supervisor.start_ready(spec("a", LIVES))


def test_nothing_starts_while_everything_stops(run: RunDirectory) -> None:
    """A thread that is late with its start cannot leave a program behind."""
    supervisor = Supervisor(run)
    supervisor.close()
    with pytest.raises(FleetErrors, match="the rehearsal is ending"):
        supervisor.start(spec("a", LIVES))


HOLDS = """
import os, signal, sys
from pathlib import Path
from rehearsal.processes import ProcessSpec
from rehearsal.rundir import open_run
from rehearsal.supervisor import Supervisor, stop_on_signals
argv = (sys.executable, "-I", "-S", "-c", "import signal; signal.pause()")
with stop_on_signals(), open_run(Path(sys.argv[1])) as run, Supervisor(run) as supervisor:
    supervisor.start_ready(ProcessSpec(name="a", argv=argv, env={}, cwd=Path("/")))
    print(supervisor.pid("a"), flush=True)
    signal.pause()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Another rehearsal, which runs one program, and that program's process id."""
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "runs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=PROJECT) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        try:
            yield process, pid
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_programs_end_however_the_rehearsal_does(other: tuple[subprocess.Popen[str], int], number: signal.Signals) -> None:
    """Ctrl-C, SIGTERM and a closed terminal stop programs in order; after a SIGKILL the kernel ends them."""
    process, pid = other
    process.send_signal(number)
    process.wait(DEADLINE_SECONDS)
    until(lambda: identify(pid) is None)


def test_a_second_rehearsal_is_told_who_runs(other: tuple[subprocess.Popen[str], int], tmp_path: Path) -> None:
    """Two at a time are refused with the process to wait for, and the first goes on."""
    process, pid = other
    with pytest.raises(FleetErrors, match=rf"another rehearsal is running \(process {process.pid}"):
        open_run(tmp_path / "runs")
    assert identify(pid) is not None
    state = running(tmp_path / "runs")
    assert state is not None
    assert state.supervisor.pid == process.pid


def test_a_running_rehearsal_can_be_stopped_from_outside(other: tuple[subprocess.Popen[str], int], tmp_path: Path) -> None:
    """`rehearse down` stops programs and rehearsal, and then there is none to stop."""
    process, pid = other
    assert stop_running(tmp_path / "runs") is not None
    process.wait(DEADLINE_SECONDS)
    assert identify(pid) is None
    assert stop_running(tmp_path / "runs") is None


def test_leftovers_of_a_killed_run_are_stopped(tmp_path: Path) -> None:
    """A program that outlived its rehearsal is stopped by the next one, and the old data goes; the logs stay."""
    root = tmp_path / "runs"
    old = open_run(root)
    (old.logs / "left.log").write_text("last words")
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", LIVES]) as left:
        old.record("left", left.pid)
        os.close(old._lock)  # as the kernel does when a process is killed
        with open_run(root):
            assert left.wait(DEADLINE_SECONDS) == -signal.SIGTERM
            assert not old.data.exists()
            assert last_lines(old.logs / "left.log") == ["last words"]


def test_a_process_that_only_has_the_same_id_is_spared(tmp_path: Path) -> None:
    """Ids are used again; a stranger who got one that stands in an old record goes on."""
    root = tmp_path / "runs"
    with open_run(root) as old, subprocess.Popen([sys.executable, "-I", "-S", "-c", LIVES]) as stranger:
        old.record("left", stranger.pid)
        written = json.loads((old.path / "state.json").read_text())
        written["processes"]["left"]["started_ticks"] -= 1
        (old.path / "state.json").write_text(json.dumps(written))
        assert clear_leftovers(root) == []
        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 99}', '{"version": 1, "boot": "x", "supervisor": null, "processes": {}}']
)
def test_a_damaged_record_stops_nothing(tmp_path: Path, content: str) -> None:
    """A state file that cannot be read is no reason to fail, nor to guess."""
    root = tmp_path / "runs"
    with open_run(root) as old:
        (old.path / "state.json").write_text(content)
    with open_run(root):
        assert read_state(old.path) is None


def test_old_runs_go_after_a_while(tmp_path: Path) -> None:
    """Logs of the last runs stay, those of earlier ones do not fill the disk."""
    root = tmp_path / "runs"
    for number in range(8):
        folder = root / f"2020010{number}-000000-1"
        folder.mkdir(parents=True)
        (folder / "state.json").write_text("{}")
    (root / "not-ours").mkdir()
    with open_run(root):
        left = sorted(folder.name for folder in root.iterdir() if folder.is_dir())
    assert left[:5] == [f"2020010{number}-000000-1" for number in range(3, 8)]
    assert "not-ours" in left


def test_an_unwritable_folder_is_told(tmp_path: Path) -> None:
    """A file where the folder should be, as a full disk, gives a message and no traceback."""
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises(FleetErrors, match="the rehearsal's folder cannot be written: File exists"):
        open_run(tmp_path / "runs")


def test_stopping_a_process_that_is_gone_says_so() -> None:
    """The answer tells whether there was anything to stop."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", LIVES]) as process:
        one = identify(process.pid)
        assert one is not None
        assert stop_process(one) is True
    assert stop_process(one) is False


def test_signals_end_as_exceptions() -> None:
    """SIGTERM unwinds the stack, with the exit code a shell expects, and the handlers of before come back."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, stop_on_signals():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before
