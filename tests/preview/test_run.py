"""Stacks run in processes of their own, in layers, and every failure is reported as one message."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.errors import FleetErrors
from preview.run import StackPreview, StackStarted, preview_stacks
from preview.settings import SECRET_STAND_IN, load_settings
from preview.worker import main

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
LAYERS = [["good", "incomplete", "failing", "absent"], ["hub"]]


@pytest.fixture(scope="module")
def previews() -> dict[str, StackPreview]:
    """Previews of every stack of the toy project."""
    return {preview.stack: preview for preview in preview_stacks(PROGRAMS / "layered", LAYERS)}


def test_every_stack_is_reported(previews: dict[str, StackPreview]) -> None:
    """A failure stops no other stack, and the order is the caller's."""
    assert list(previews) == ["good", "incomplete", "failing", "absent", "hub"]
    assert {name: preview.exit_code for name, preview in previews.items()} == {
        "good": 0,
        "incomplete": 2,
        "failing": 1,
        "absent": 2,
        "hub": 0,
    }


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ("incomplete", "Pulumi.incomplete.yaml: config.toy:kind: A required setting is missing"),
        ("failing", "ValueError: no such kind (at __main__.py:"),
        ("absent", "Use a stack that has one: failing, good, hub, incomplete"),
    ],
)
def test_a_failure_is_one_line(previews: dict[str, StackPreview], stack: str, words: str) -> None:
    """File, key and remedy stand in one line without a traceback."""
    error = previews[stack].error or ""
    assert words in error
    assert len(error.splitlines()) == 1


def test_a_later_layer_sees_outputs_and_no_secret(previews: dict[str, StackPreview]) -> None:
    """The hub reads what the sites export; secrets arrive as placeholders of the same shape."""
    assert previews["hub"].outputs == {"endpoint": "https://192.0.2.1", "user": "[secret]"}
    assert previews["hub"].secret_outputs == ("user",)


def test_settings_come_from_both_files_and_the_schema() -> None:
    """The stack's values win over the schema's defaults, an override over both, and encrypted ones get a stand-in."""
    settings = load_settings(PROGRAMS / "layered", "good", {"gpufleet:inventory": "i.yaml"})
    assert settings.config["toy:kind"] == "site"
    assert settings.config["toy:count"] == "3"
    assert settings.config["toy:password"] == SECRET_STAND_IN
    assert settings.config["gpufleet:inventory"] == "i.yaml"
    assert settings.secret_keys == ("toy:password",)


def test_a_value_of_another_type_is_refused(tmp_path: Path) -> None:
    """The config schema's types hold."""
    (tmp_path / "Pulumi.yaml").write_text("name: toy\nconfig: {count: {type: integer, default: 1}}\n")
    (tmp_path / "Pulumi.s.yaml").write_text("config: {count: many}\n")
    with pytest.raises(FleetErrors, match=r"config\.toy:count = 'many': The setting is not of type integer"):
        load_settings(tmp_path, "s")


def test_a_stack_that_takes_too_long_is_stopped() -> None:
    """The time limit ends a worker, and says so."""
    (preview,) = preview_stacks(PROGRAMS / "layered", [["good"]], time_limit_seconds=0.01)
    assert "longer than 0.01 seconds" in (preview.error or "")


def test_progress_tells_start_and_end() -> None:
    """The caller hears of each stack twice."""
    heard: list[StackStarted | StackPreview] = []
    preview_stacks(PROGRAMS / "layered", [["absent"]], progress=heard.append)
    assert [type(event) for event in heard] == [StackStarted, StackPreview]


def test_bad_input_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, one message on standard error, no file."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out.json"
    assert main(["--stack", "incomplete", "--project-dir", str(PROGRAMS / "layered"), "--out", str(out)]) == 2
    assert not out.exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_an_interrupt_ends_the_workers(tmp_path: Path) -> None:
    """Ctrl-C stops the previews at once and leaves no process behind."""
    (tmp_path / "Pulumi.yaml").write_text("name: toy\n")
    (tmp_path / "Pulumi.slow.yaml").write_text("config: {}\n")
    (tmp_path / "__main__.py").write_text(
        "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(100)\n"
    )
    code = "import pathlib, signal, preview.run; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += f"preview.run.preview_stacks(pathlib.Path({str(tmp_path)!r}), [['slow']])"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    pid = tmp_path / "pid"
    try:
        _until(lambda: pid.exists() and pid.read_text() != "")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) != 0
    finally:
        process.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def _until(done: Callable[[], bool]) -> None:
    """Wait until something is so, for 20 seconds at most."""
    waiting = threading.Event()
    for _ in range(400):
        if done():
            return
        waiting.wait(0.05)
    pytest.fail("waited in vain")
