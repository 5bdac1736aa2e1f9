"""``gpufleet inventory``: check and schema."""

from __future__ import annotations

import json
from pathlib import Path

from fleet.inventory import inventory_schema
from tests.support.command import gpufleet
from tests.support.sources import PROJECT


def test_check_shows_pools_money_and_notes() -> None:
    """The fleet of today is well."""
    done = gpufleet("inventory", "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "Node pools"
    assert "is well: clusters 5, sites 4." in done.stdout
    assert "\nall " in done.stdout
    assert "\nWarnings\n" in done.stdout


def test_check_can_be_quiet() -> None:
    """For hooks and pipelines."""
    done = gpufleet("inventory", "check", "--quiet", str(PROJECT / "inventory.yaml"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_check_reads_a_file_named_relative_to_where_one_is(tmp_path: Path) -> None:
    """A path means what it means to the shell, and messages show it as it was given."""
    (tmp_path / "mine.yaml").write_text("clusters: {google: {a: {gpus: [t5]}}}\n")
    done = gpufleet("inventory", "check", "mine.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("mine.yaml:1: clusters.google.a.gpus[0].card = 't5'")


def test_the_seed_fleet_is_refused_with_dates_and_what_is_sold_instead() -> None:
    """Cards of 2021 that clouds have retired since: one message each."""
    done = gpufleet("inventory", "check", "examples/inventory-2021.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines
    assert all(line.startswith("examples/inventory-2021.yaml:") and "`allow_retired: true`" in line for line in lines)
    assert (
        "clusters.aws.eks-eastus.gpus[0].card = 'k80': K80 is no longer sold on aws: it was retired on 2025-04-17" in done.stderr
    )


def test_the_seed_fleet_plans_when_that_is_allowed(tmp_path: Path) -> None:
    """The seed fleet with one word changed is planned, with a warning for each card that is gone."""
    text = (PROJECT / "examples" / "inventory-2021.yaml").read_text()
    file = tmp_path / "seed.yaml"
    file.write_text(text.replace("allow_retired: false", "allow_retired: true"))
    done = gpufleet("inventory", "check", str(file))
    assert done.returncode == 0, done.stderr
    assert "K80" in done.stdout.partition("Warnings")[2]


def test_schema_is_the_model() -> None:
    """What editors read is what the program checks; nothing but JSON on standard output."""
    done = gpufleet("inventory", "schema")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == inventory_schema()
