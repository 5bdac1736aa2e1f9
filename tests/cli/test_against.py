"""``gpufleet preview --against``: a file or a revision, and what a change of the inventory does to what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Checkout
from tests.support.command import gpufleet

pytestmark = pytest.mark.xdist_group("against")

CLOUDS = """\
clusters:
  google:
    gke:
      zones: [us-central1-a]
      gpus:
        - {card: t4, max: 4}
        - {card: v100, name: bought}
  aws:
    eks:
      gpus:
        - {card: t4, max: 4}
        - {card: l4, name: moved, machine: g6.xlarge}
"""


def changes(text: str) -> dict[str, list[str]]:
    """Return the changed resources' lines by what happens to them, without their types."""
    found: dict[str, list[str]] = {"replace": [], "delete": [], "update": [], "add": []}
    for line in text.partition("Changes.")[2].splitlines():
        words = line.split()
        if len(words) == 4 and words[0] in "±-~+" and words[1] in found:
            found[words[1]].append(words[2])
    return found


def test_a_revision(checkout: Checkout) -> None:
    """A raised maximum updates, another machine replaces, a pool that is gone is deleted, a new card is added."""
    text = checkout.inventory.read_text()
    text = text.replace("name: grown, machine: t4.small, max: 4", "name: grown, machine: t4.small, max: 9")
    text = text.replace("name: rebuilt, machine: t4.small", "name: rebuilt, machine: t4.large")
    text = text.replace("{card: t4, name: dropped, machine: t4.small}", "{card: v100, machine: v100.small}")
    checkout.inventory.write_text(text)
    done = gpufleet("preview", "cern", "--against", "HEAD", project=checkout.folder)
    assert done.returncode == 0, done.stderr
    found = changes(done.stdout)
    assert "cern-main-grown" in found["update"]
    assert "maxNodeCount: 4 -> 9" in done.stdout
    assert found["replace"] == ["cern-main-rebuilt"]
    assert 'flavorId: "t4.small" -> "t4.large"' in done.stdout
    assert (found["delete"], found["add"]) == (["cern-main-dropped"], ["cern-main-v100"])
    assert "the engine decides" in done.stdout
    assert checkout.worktrees() == 1


def test_words_survive_an_output_that_cannot_show_them(checkout: Checkout) -> None:
    """Under an encoding without the signs of changes and trees, names and numbers are still there."""
    checkout.inventory.write_text(
        checkout.inventory.read_text().replace("name: rebuilt, machine: t4.small", "name: rebuilt, machine: t4.large")
    )
    done = gpufleet("preview", "cern", "--against", "HEAD", project=checkout.folder, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "? replace cern-main-rebuilt" in done.stdout


def test_what_replaces_on_other_clouds(checkout: Checkout) -> None:
    """Only what a provider's own source says: a raised maximum never; more cards a node, and another machine on EKS, do."""
    checkout.inventory.write_text(CLOUDS)
    checkout.git("commit", "--quiet", "--all", "--message=Clouds")
    text = (
        CLOUDS.replace("max: 4", "max: 9").replace("g6.xlarge", "g6.2xlarge").replace("name: bought", "name: bought, spot: only")
    )
    checkout.inventory.write_text(text)
    try:
        done = gpufleet("preview", "google", "aws", "--against", "HEAD", project=checkout.folder)
    finally:
        checkout.git("reset", "--quiet", "--hard", "HEAD~1")
    assert done.returncode == 0, done.stderr
    found = changes(done.stdout)
    assert {"gke-t4", "eks-t4"} <= set(found["update"])
    assert "eks-moved" in found["replace"]
    assert 'instanceTypes[0]: "g6.xlarge" -> "g6.2xlarge"' in done.stdout
    assert {"gke-bought", "gke-bought-spot"} & {*found["replace"], *found["delete"]} == {"gke-bought"}


def test_nothing_changed(checkout: Checkout) -> None:
    """The same program and inventory show no change, and a revision by any of its names will do."""
    done = gpufleet("preview", "cern", "--against", "main", project=checkout.folder)
    assert done.returncode == 0, done.stderr
    assert "cern: 0 to replace, 0 to delete, 0 to update, 0 to add" in done.stdout


def test_a_file(checkout: Checkout) -> None:
    """What --json wrote earlier will do as well; a site that has left the inventory since is told of."""
    assert gpufleet("preview", "--json", "before.json", project=checkout.folder).returncode == 0
    document = json.loads((checkout.folder / "before.json").read_text())
    document["stacks"]["google"] = document["stacks"]["cern"] | {"stack": "google"}
    (checkout.folder / "before.json").write_text(json.dumps(document))
    checkout.inventory.write_text(checkout.inventory.read_text().replace("name: dropped", "name: renamed"))
    done = gpufleet("preview", "--against", "before.json", project=checkout.folder)
    assert done.returncode == 0, done.stderr
    assert (changes(done.stdout)["delete"], changes(done.stdout)["add"]) == (["cern-main-dropped"], ["cern-main-renamed"])
    assert "google: 8 resources and no site any more: `pulumi destroy -s google` deletes them" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("no-such-thing", "no such file and no such revision"),
        ("--upload-pack=x", "no such file and no such revision"),
        ("inventory.yaml", "holds no graphs of a preview"),
        ("list.json", "holds no graphs of a preview"),
        ("shape.json", "Not a resource graph"),
        ("other.json", "this program reads version 1"),
    ],
)
def test_neither_file_nor_revision(checkout: Checkout, words: str, told: str) -> None:
    """One message with the value and what would do."""
    (checkout.folder / "list.json").write_text("[1]")
    (checkout.folder / "shape.json").write_text('{"stacks": {"cern": [1]}}')
    (checkout.folder / "other.json").write_text('{"stacks": {"cern": {"version": 99}}}')
    done = gpufleet("preview", "cern", f"--against={words}", project=checkout.folder)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert words in line
    assert told in line


def test_revision_that_cannot_be_previewed(checkout: Checkout) -> None:
    """Told once for all stacks, and the checkout made for it is gone."""
    broken = checkout.inventory.read_text().replace("card: t4, name: grown", "card: t5, name: grown")
    good = checkout.inventory.read_text()
    checkout.inventory.write_text(broken)
    checkout.git("commit", "--quiet", "--all", "--message=Broken")
    checkout.inventory.write_text(good)
    try:
        done = gpufleet("preview", "--against", "HEAD", "--json", "graphs.json", project=checkout.folder)
    finally:
        checkout.git("reset", "--quiet", "--hard", "HEAD~1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--against = 'HEAD': cern, hub cannot be previewed there" in done.stderr
    assert "'t5'" in done.stderr
    assert done.stderr.count("'t5'") == 1
    assert "Traceback" not in done.stderr
    assert checkout.worktrees() == 1
    assert not (checkout.folder / "graphs.json").exists()


def test_without_git(tmp_path: Path, checkout: Checkout) -> None:
    """A machine without git is told so."""
    for name in ("sh", "dirname", "readlink"):
        (tmp_path / name).symlink_to(Path("/usr/bin") / name)
    done = gpufleet("preview", "cern", "--against", "HEAD", project=checkout.folder, PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--against: git does not run: ")
