"""The rehearsal's programs: built in order and once, kept whole, stopped at once, refusals told. Nothing is compiled here."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rehearsal.toolchain import Phase, Tool, Toolchain, ToolchainError
from rehearsal.toolchain.cache import ToolCache
from tests.support.fake_go import WAIT_SECONDS, FakeGo, until, write_program

FEW = (Tool.ETCD, Tool.KUBE_APISERVER, Tool.KARPENTER)


@pytest.fixture
def go(tmp_path: Path) -> FakeGo:
    """A Go that works, in a folder of its own."""
    fake = FakeGo(folder=tmp_path / "bin")
    fake.install()
    return fake


@pytest.fixture
def start(tmp_path: Path, go: FakeGo, request: pytest.FixtureRequest) -> Callable[..., Toolchain]:
    """Starts a toolchain on an empty cache and the fake Go; it is closed when the test ends."""

    def begin(*tools: Tool) -> Toolchain:
        toolchain = Toolchain(cache=tmp_path / "cache", search_path=str(go.folder))
        request.addfinalizer(toolchain.close)
        toolchain.start(tools or FEW)
        return toolchain

    return begin


def refused(toolchain: Toolchain, tool: Tool = Tool.ETCD) -> str:
    """Return the message with which a program is refused."""
    with pytest.raises(ToolchainError) as caught:
        toolchain.path(tool, WAIT_SECONDS)
    message = str(caught.value)
    assert "Traceback" not in message
    return message


def cache_of(toolchain: Toolchain) -> Path:
    """Wait for all programs and return the folder in which they are kept."""
    (folder,) = {toolchain.path(progress.tool, WAIT_SECONDS).parent for progress in toolchain.progress()}
    return folder


def test_order_is_the_one_of_need(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """Whatever order is asked for, programs are built in the order in which clusters need them."""
    toolchain = start(*reversed(Tool))
    toolchain.path(Tool.ARGOCD, WAIT_SECONDS)
    assert go.built() == list(Tool)
    assert [progress.phase for progress in toolchain.progress()] == [Phase.READY] * len(Tool)


def test_only_what_is_wanted_is_built(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """A rehearsal without Argo CD does not wait for its compiler."""
    start(Tool.KWOK, Tool.ETCD).path(Tool.KWOK, WAIT_SECONDS)
    assert go.built() == [Tool.ETCD, Tool.KWOK]


def test_a_program_is_there_before_the_next(start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path) -> None:
    """A control plane's etcd can be started while the API server still compiles."""
    go.install(before=f"case $7 in *kube-apiserver) cat '{tmp_path}/gate' ;; esac")
    os.mkfifo(tmp_path / "gate")
    toolchain = start()
    assert toolchain.path(Tool.ETCD, WAIT_SECONDS).is_file()
    until(lambda: toolchain.progress()[1].phase is Phase.STARTING)
    with pytest.raises(
        ToolchainError, match=r"kube-apiserver was not ready after 0 seconds: starting.*usually takes \d+ seconds"
    ):
        toolchain.path(Tool.KUBE_APISERVER, 0)
    (tmp_path / "gate").write_text("go on", encoding="utf-8")
    assert toolchain.path(Tool.KARPENTER, WAIT_SECONDS).is_file()


def test_a_second_run_builds_nothing(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """What was built once is taken from the cache."""
    cache_of(start())
    second = start()
    second.path(Tool.KARPENTER, WAIT_SECONDS)
    assert go.built() == list(FEW)
    assert {progress.detail for progress in second.progress()} == {"built before"}


def change_a_byte(folder: Path) -> None:
    """Damage etcd without changing its size."""
    content = bytearray((folder / "etcd").read_bytes())
    content[-2] ^= 1
    (folder / "etcd").write_bytes(content)


def cut(folder: Path) -> None:
    """Leave half of etcd."""
    (folder / "etcd").write_bytes((folder / "etcd").read_bytes()[:20])


def forget(folder: Path) -> None:
    """Leave a manifest that a full disk cut off."""
    (folder / "manifest.json").write_text('{"etcd": {"sha', encoding="utf-8")


def mistype(folder: Path) -> None:
    """Leave a manifest that is JSON and not ours."""
    (folder / "manifest.json").write_text('{"etcd": 7}', encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "again"),
    [
        (change_a_byte, [Tool.ETCD]),
        (cut, [Tool.ETCD]),
        (lambda folder: (folder / "etcd").unlink(), [Tool.ETCD]),
        (lambda folder: (folder / "etcd").chmod(0o644), [Tool.ETCD]),
        (forget, list(FEW)),
        (mistype, list(FEW)),
    ],
    ids=["a byte", "cut", "gone", "mode", "half a manifest", "not a manifest"],
)
def test_a_damaged_cache_heals(
    start: Callable[..., Toolchain], go: FakeGo, damage: Callable[[Path], None], again: list[Tool]
) -> None:
    """What is not exactly what was built is built again, and nothing else is."""
    damage(cache_of(start()))
    go.log.unlink()
    healed = start()
    folder = cache_of(healed)
    assert go.built() == again
    assert ToolCache(folder=folder).find(Tool.ETCD) is not None


def test_half_written_files_are_swept(start: Callable[..., Toolchain]) -> None:
    """What a killed rehearsal left half-written is removed by the next one that builds."""
    folder = cache_of(start())
    (folder / ".etcd.999").write_bytes(b"half")
    (folder / "etcd").unlink()
    cache_of(start())
    assert not list(folder.glob(".*"))


def test_two_rehearsals_build_once(start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path) -> None:
    """The second takes each program as soon as the first has it, and builds none."""
    go.install(before=f"case $7 in *kube-apiserver) cat '{tmp_path}/gate' ;; esac")
    os.mkfifo(tmp_path / "gate")
    first = start()
    first.path(Tool.ETCD, WAIT_SECONDS)
    second = start()
    assert second.path(Tool.ETCD, WAIT_SECONDS) == first.path(Tool.ETCD, 0)
    until(lambda: second.progress()[1].phase is Phase.OTHER_REHEARSAL)
    (tmp_path / "gate").write_text("go on", encoding="utf-8")
    second.path(Tool.KARPENTER, WAIT_SECONDS)
    assert go.built() == list(FEW)


def test_the_second_goes_on_where_the_first_was_stopped(start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path) -> None:
    """A lock dies with its holder: whoever waited builds what is missing."""
    go.install(before=f"case $7 in *kube-apiserver) cat '{tmp_path}/gate' ;; esac")
    os.mkfifo(tmp_path / "gate")
    first = start()
    first.path(Tool.ETCD, WAIT_SECONDS)
    second = start()
    until(lambda: second.progress()[1].phase is Phase.OTHER_REHEARSAL)
    go.install()
    first.close()
    second.path(Tool.KARPENTER, WAIT_SECONDS)
    assert go.built() == [Tool.ETCD, Tool.KUBE_APISERVER, Tool.KUBE_APISERVER, Tool.KARPENTER]


@pytest.mark.parametrize("ignored", ["", "trap '' TERM INT"], ids=["polite", "deaf"])
def test_ctrl_c_leaves_no_process(
    start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignored: str
) -> None:
    """Go and the compilers it started are gone when the block is left, even those that do not listen."""
    monkeypatch.setattr("rehearsal.toolchain.running._STOP_SECONDS", 0.2)
    go.install(before=f"{ignored}\n(sleep 300; :) & echo $! > '{tmp_path}/pids'; echo $$ >> '{tmp_path}/pids'; wait; sleep 300")

    def written() -> list[int]:
        return [int(line) for line in (tmp_path / "pids").read_text().split()] if (tmp_path / "pids").exists() else []

    def interrupted() -> None:
        with toolchain:
            until(lambda: len(written()) == 2)
            raise KeyboardInterrupt

    toolchain = start()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    until(lambda: not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in written()))
    assert refused(toolchain).startswith("Stopped before all programs were built")


def test_whoever_waits_is_told_at_once(start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path) -> None:
    """Stopping wakes a thread that waits for a program, long before its time is over."""
    go.install(before=f"cat '{tmp_path}/gate'")
    os.mkfifo(tmp_path / "gate")
    toolchain = start()
    told: list[str] = []

    def wait_long() -> None:
        try:
            toolchain.path(Tool.ETCD, 100 * WAIT_SECONDS)
        except ToolchainError as error:
            told.append(str(error))

    waiting = threading.Thread(target=wait_long, daemon=True)
    waiting.start()
    toolchain.close()
    waiting.join(WAIT_SECONDS)
    assert [message.split()[0] for message in told] == ["Stopped"]


def test_stopping_while_another_builds(start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path) -> None:
    """A rehearsal that waits for another one's build can be left too."""
    go.install(before=f"cat '{tmp_path}/gate'")
    os.mkfifo(tmp_path / "gate")
    start()
    until(lambda: go.built() == [Tool.ETCD])
    second = start()
    until(lambda: second.progress()[0].phase is Phase.OTHER_REHEARSAL)
    second.close()
    assert refused(second).startswith("Stopped")


def test_progress_says_what_is_done(start: Callable[..., Toolchain], go: FakeGo, tmp_path: Path) -> None:
    """A display learns what is downloaded, what is compiled, how far it is and how long it usually takes."""
    go.install(
        before=f"echo 'go: downloading k8s.io/api v0.1.0'; cat '{tmp_path}/one'; echo a.b/c/v1; echo fmt; cat '{tmp_path}/two'"
    )
    os.mkfifo(tmp_path / "one")
    os.mkfifo(tmp_path / "two")
    toolchain = start(Tool.ETCD)
    until(lambda: toolchain.progress()[0].phase is Phase.DOWNLOADING)
    assert toolchain.progress()[0].detail == "k8s.io/api"
    (tmp_path / "one").write_text("", encoding="utf-8")
    until(lambda: toolchain.progress()[0].packages == 2)
    now = toolchain.progress()[0]
    assert (now.phase, now.detail) == (Phase.COMPILING, "fmt")
    assert 0 < now.seconds < WAIT_SECONDS < now.usual_seconds
    (tmp_path / "two").write_text("", encoding="utf-8")
    toolchain.path(Tool.ETCD, WAIT_SECONDS)
    done = toolchain.progress()[0]
    assert (done.phase, done.detail) == (Phase.READY, "built")
    assert done.seconds >= now.seconds


def test_an_installed_program_is_used(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """A program of exactly the pinned version on PATH is not built."""
    installed = write_program(go.folder / "etcd", f"echo 'etcd Version: {Toolchain().version(Tool.ETCD)}'")
    toolchain = start()
    assert toolchain.path(Tool.ETCD, WAIT_SECONDS) == installed
    toolchain.path(Tool.KARPENTER, WAIT_SECONDS)
    assert go.built() == [Tool.KUBE_APISERVER, Tool.KARPENTER]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("etcd", "echo 'etcd Version: 3.4.23'"),
        ("etcd", "exit 1"),
        ("etcd", "echo 'etcd Version: $VERSION'; exit 1"),
        ("karpenter", "echo 1.14.3"),
    ],
    ids=["other version", "broken", "ends badly", "tells none"],
)
def test_another_program_is_not_used(start: Callable[..., Toolchain], go: FakeGo, name: str, body: str) -> None:
    """What is of another version, does not run, or cannot tell its version is built."""
    write_program(go.folder / name, body.replace("$VERSION", Toolchain().version(Tool.ETCD)))
    cache_of(start())
    assert go.built() == list(FEW)


def test_a_program_for_another_machine_is_refused(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """A Go for another processor builds what does not run here; it is seen at once, and nothing is kept."""
    go.install(after='printf "\\177ELF not of this machine" > "$6"')
    toolchain = start()
    message = refused(toolchain)
    assert "does not run on this machine" in message
    assert str(go.folder / "go") in message
    assert toolchain.progress()[0].phase is Phase.FAILED


def test_a_program_of_another_version_is_refused(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """A program must tell the version that was pinned: what charts read comes from it."""
    go.install(after="printf '#!/bin/sh\\necho etcd Version: 3.0.0\\n' > \"$6\"")
    assert "says that it is 3.0.0" in refused(start())


def test_nothing_written_is_refused(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """A Go that ends well and writes nothing is told of."""
    go.install(after='rm "$6"')
    assert "was not built, though Go said so" in refused(start())


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (
            "/src/a.go:1:2: write /var/x/b001/_pkg_.a: no space left on device",
            r"etcd was not built: no space left on the disk at /var/x/b001/_pkg_\.a",
        ),
        (
            'Get "https://proxy.example/x.zip": dial tcp: lookup proxy.example: no such host',
            r"modules cannot be downloaded.*GOPROXY",
        ),
        ("x@v1.0.0: reading https://proxy.example/x.mod: 403 Forbidden", r"modules cannot be downloaded.*GOPROXY"),
        ("verifying x@v1: checksum mismatch", r"not the one that was pinned"),
        ("x: signal: killed", r"lack of memory"),
        ("mkdir /root/go/pkg: permission denied", r"Go cannot write its caches.*GOCACHE"),
        ("failed to initialize build cache at /proc/x: mkdir /proc/x: no such file or directory", r"Go cannot write its caches"),
        ("x.go:1:2: undefined: y", r"(?s)Go ended with 1 and wrote.*undefined: y"),
    ],
    ids=["disk", "no network", "refused", "sums", "memory", "read-only", "no folder", "unknown"],
)
def test_what_go_says_becomes_advice(start: Callable[..., Toolchain], go: FakeGo, written: str, told: str) -> None:
    """Each way in which a build fails is told with what to do, and stops the rest."""
    go.install(before=f"echo '{written}' >&2; exit 1")
    toolchain = start()
    with pytest.raises(ToolchainError, match=told):
        toolchain.path(Tool.KARPENTER, WAIT_SECONDS)
    assert go.built() == [Tool.ETCD]


def test_what_is_built_stays_after_a_failure(start: Callable[..., Toolchain], go: FakeGo) -> None:
    """The next run goes on where the failed one stopped."""
    go.install(before="case $7 in *kube-apiserver) exit 1 ;; esac")
    failed = start()
    refused(failed, Tool.KARPENTER)
    assert failed.path(Tool.ETCD, 0).is_file()
    go.install()
    start().path(Tool.KARPENTER, WAIT_SECONDS)
    assert go.built() == [Tool.ETCD, Tool.KUBE_APISERVER, Tool.KUBE_APISERVER, Tool.KARPENTER]


def test_a_cache_that_cannot_be_made(go: FakeGo, tmp_path: Path) -> None:
    """A file where the cache folder should be is one message, not a traceback."""
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    with Toolchain(cache=tmp_path / "cache", search_path=str(go.folder)) as toolchain:
        toolchain.start(FEW)
        message = refused(toolchain)
    assert f"{tmp_path / 'cache' / 'tools'} cannot be written (Not a directory)" in message
    assert "XDG_CACHE_HOME" in message


def test_start_comes_first_and_once(start: Callable[..., Toolchain]) -> None:
    """Callers that mix up the order are told, and do not wait for ever."""
    with pytest.raises(RuntimeError, match="call start"):
        Toolchain().path(Tool.ETCD, 0)
    with pytest.raises(RuntimeError, match="once"):
        start().start(FEW)
