"""``gpufleet preview``: which stacks run, what is shown of them, and what is told when one cannot be previewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Checkout
from tests.conftest import STACKS, FullPreview
from tests.support.command import gpufleet, graphs_in

ONE_CLUSTER = "clusters: {google: {only: {gpus: [t4]}}}\n"


def trees(text: str) -> list[str]:
    """Return the stacks whose trees an output shows."""
    return [line.split(":")[0] for line in text.splitlines() if line.split(":")[0] in STACKS and " resources (" in line]


@pytest.mark.xdist_group("full-preview")
def test_all_stacks_are_shown(full_preview: FullPreview) -> None:
    """Trees, the table of pools with its sums, warnings and notes; progress on standard error, one line a stack."""
    text = full_preview.done.stdout
    assert sorted(trees(text)) == sorted(STACKS)
    assert "├── eks-eastus-cluster  aws:eks/cluster:Cluster  [protected; " in text
    positions = [text.index(f"\n{title}\n") for title in ("Node pools", "Warnings", "Notes")]
    assert positions == sorted(positions)
    assert sorted(line.split(":")[0] for line in full_preview.done.stderr.splitlines()) == sorted(STACKS)


@pytest.mark.xdist_group("full-preview")
def test_a_pipe_gets_plain_text(full_preview: FullPreview) -> None:
    """No colours, no cursor movements, no blanks at the ends of lines."""
    assert "\x1b" not in full_preview.done.stdout + full_preview.done.stderr
    assert not [line for line in full_preview.done.stdout.splitlines() if line != line.rstrip()]


@pytest.mark.xdist_group("full-preview")
def test_every_graph_is_written(full_preview: FullPreview) -> None:
    """One file with a graph for each stack, without findings, of what the tree shows."""
    assert full_preview.graphs.keys() == set(STACKS)
    assert [finding for graph in full_preview.graphs.values() for finding in graph.findings] == []
    for name, graph in full_preview.graphs.items():
        assert f"{name}: {len(graph.resources)} resources (" in full_preview.done.stdout


@pytest.mark.xdist_group("full-preview")
def test_no_secret_is_written(full_preview: FullPreview) -> None:
    """Kubeconfigs and tokens are masked wherever they stand, on the screen too."""
    text = full_preview.file.read_text() + full_preview.done.stdout
    graphs = full_preview.graphs
    assert {graphs[name].outputs["kubeconfigs"] for name in STACKS if name != "hub"} == {"[secret]"}
    providers = graphs["hub"].of_type("pulumi:providers:kubernetes")
    assert {one.inputs["kubeconfig"] for one in providers} == {"[secret]"}
    sealed = [one for one in graphs["hub"].of_type("kubernetes:core/v1:Secret") if "stringData" in one.inputs]
    assert len(sealed) == len(providers)
    assert {str(one.inputs["stringData"]) for one in sealed} == {"[secret]"}
    assert [
        word for word in ("client-key-data", "client-certificate-data", "current-context", "bearerToken") if word in text
    ] == []


def test_one_stack(tmp_path: Path) -> None:
    """Its tree, its pools, its notes and its graph, and nothing of the others."""
    done = gpufleet("preview", "cern", "--json", str(tmp_path / "one.json"))
    assert done.returncode == 0, done.stderr
    assert trees(done.stdout) == ["cern"]
    assert graphs_in(tmp_path / "one.json").keys() == {"cern"}
    assert "google" not in done.stdout
    assert "cern  cern-main" in done.stdout


def test_hub_alone_runs_its_sites_and_shows_itself(checkout: Checkout) -> None:
    """The hub reads what its sites export, so they run; nobody asked to see them."""
    done = gpufleet("preview", "hub", "--json", "hub.json", project=checkout.folder)
    assert done.returncode == 0, done.stderr
    assert trees(done.stdout) == ["hub"]
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["cern", "hub"]
    graph = graphs_in(checkout.folder / "hub.json")["hub"]
    assert [one.name for one in graph.of_type("gpufleet:index:ClusterRegistration")] == ["cern-main-registration"]


def test_inventory_from_elsewhere(tmp_path: Path) -> None:
    """Another fleet: its sites' stacks alone run."""
    (tmp_path / "mine.yaml").write_text(ONE_CLUSTER)
    done = gpufleet("preview", "--inventory", "mine.yaml", "--json", "mine.json", "google", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert graphs_in(tmp_path / "mine.json")["google"].of_type("gpufleet:index:GkeCluster")[0].name == "only"


def test_a_stack_of_another_fleet_is_refused(tmp_path: Path) -> None:
    """A stack whose site the inventory lacks is told with the sites that there are."""
    (tmp_path / "mine.yaml").write_text(ONE_CLUSTER)
    done = gpufleet("preview", "--inventory", "mine.yaml", "--json", "mine.json", "cern", cwd=tmp_path)
    assert done.returncode == 2
    assert "stacks/Pulumi.cern.yaml: config.gpufleet:site = 'cern'" in done.stderr
    assert "Name one of google, hub" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "mine.json").exists()


def test_time_limit(tmp_path: Path) -> None:
    """A preview that takes too long is stopped and told of; nothing is written, and what was there stays."""
    file = tmp_path / "graphs.json"
    file.write_text("before")
    done = gpufleet("preview", "aws", "--time-limit", "0.1", "--json", str(file))
    assert done.returncode == 1
    assert "aws: The preview took longer than 0.1 seconds and was stopped" in done.stderr
    assert "was not written" in done.stderr
    assert file.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["graphs.json"]


@pytest.mark.parametrize(
    ("place", "reason"),
    [("missing/graphs.json", "is no folder"), ("file/graphs.json", "is no folder"), ("folder", "is a directory")],
)
def test_place_that_cannot_be_written_to(tmp_path: Path, place: str, reason: str) -> None:
    """Told before anything runs: one message, no traceback, nothing left behind."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    done = gpufleet("preview", "cern", "--json", place, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json" in done.stderr
    assert place in done.stderr
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_device_is_not_replaced_by_a_file() -> None:
    """A file that appears whole takes the place of what was there; that must not be a device."""
    done = gpufleet("preview", "cern", "--json", "/dev/null")
    assert (done.returncode, done.stdout) == (2, "")
    assert not Path("/dev/null").is_file()


def test_unknown_stacks_are_told_together() -> None:
    """Every name that is no stack, with those that are."""
    done = gpufleet("preview", "gogle", "google", "awz")
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["STACK = 'gogle'", "STACK = 'awz'"]
    assert "The stacks are aws, azure, cern, google, hub" in done.stderr


def test_site_without_a_stack(tmp_path: Path) -> None:
    """A fleet with a site that nobody makes: the hub would miss its clusters."""
    (tmp_path / "mine.yaml").write_text("clusters: {google: {a: {gpus: [t4]}}, gcp: {b: {gpus: [t4]}}}\n")
    done = gpufleet("preview", "--inventory", "mine.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("clusters.gcp: no stack makes this site. Add stacks/Pulumi.gcp.yaml")


@pytest.mark.parametrize(
    ("text", "path", "remedy"),
    [
        ("config: {}\n", "config.gpufleet:site: A required setting is missing", "pulumi config set gpufleet:site"),
        ("config:\n", "config.gpufleet:site: A required setting is missing", "pulumi config set gpufleet:site"),
        ("config: {gpufleet:site: cern, gpufleet:protect: maybe}\n", "config.gpufleet:protect = 'maybe'", "boolean"),
        ("config: {gpufleet:site: [cern\n", "It is not YAML", "Put the file right"),
        ("- cern\n", "It holds no settings", "Put the file right"),
    ],
)
@pytest.mark.parametrize("words", [(), ("cern",)], ids=["all", "one"])
def test_stack_file_that_cannot_be_used(checkout: Checkout, text: str, path: str, remedy: str, words: tuple[str, ...]) -> None:
    """Told with the file and what to do, whether the stack is asked for or one of all."""
    (checkout.folder / "stacks" / "Pulumi.cern.yaml").write_text(text)
    done = gpufleet("preview", *words, "--json", "graphs.json", project=checkout.folder)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "Pulumi.cern.yaml" in line
    assert path in line
    assert remedy in line
    assert not (checkout.folder / "graphs.json").exists()


def test_broken_stack_file_of_others_is_no_hindrance(checkout: Checkout) -> None:
    """One stack can be previewed while another's file is being mended."""
    (checkout.folder / "stacks" / "Pulumi.aws.yaml").write_text("config: [\n")
    assert gpufleet("preview", "cern", project=checkout.folder).returncode == 0
