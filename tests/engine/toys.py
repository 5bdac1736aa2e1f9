"""The toy project: what its cloud does, its fleet file, and a copy of it that can be run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engine.doubles.rules import Rule, write_rules
from tests.engine.running import EngineProject

TOY = Path(__file__).with_name("toy")
TOY_RULES: Mapping[str, Rule] = {
    "toy:cloud:Cluster": Rule(
        replaces=("region",),
        autoname="name",
        unique=("name",),
        outputs={"endpoint": "https://192.0.2.1", "kubeconfig": "top secret"},
    ),
    "toy:cloud:Pool": Rule(replaces=("cluster", "machine", "node.spot"), autoname="name", outputs={"nodeCount": 0}),
    "toy:cloud:Template": Rule(counts_updates=("latestVersion",), outputs={"latestVersion": 1}),
}


def write_fleet(project: EngineProject, **cluster: Any) -> None:  # noqa: ANN401 -- JSON
    """Write a toy fleet of one cluster with one T4 pool, with changes made to the cluster."""
    said = {"region": "r1", "pools": {"t4": {"machine": "m1", "max": 3}}} | cluster
    (project.directory / "fleet.json").write_text(json.dumps({"one": said}), encoding="utf-8")


def make_toy(directory: Path) -> EngineProject:
    """Copy the toy project and give its cloud its rules."""
    project = EngineProject(directory, {"": TOY}, {"toy": "1.0.0"})
    write_rules(project.cloud.rules_file, TOY_RULES)
    return project
