"""The project itself as the engine tests run it: its files copied, an inventory of one cluster on each cloud, all doubles."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from preview.replacement import REPLACING
from tests.engine.doubles.rules import Rule, write_rules
from tests.engine.running import REPOSITORY, EngineProject, Run

SITES = ("aws", "azure", "cern", "google")
HUB = "hub"
STACKS = (*SITES, HUB)
"""In an order in which they can be brought up."""
PARTS = ("Pulumi.yaml", "__main__.py", "catalogue", "components", "fleet", "stacks")
"""What the program consists of, by path in the repository."""
PACKAGES = ("aws", "azure-native", "gcp", "kubernetes", "openstack")
UNIQUE: Mapping[str, tuple[str, ...]] = {
    "gcp:container/cluster:Cluster": ("location", "name"),
    "gcp:container/nodePool:NodePool": ("cluster", "name"),
    "gcp:compute/network:Network": ("name",),
    "gcp:serviceaccount/account:Account": ("accountId",),
    "aws:eks/cluster:Cluster": ("name",),
    "aws:eks/nodeGroup:NodeGroup": ("clusterName", "nodeGroupName"),
    "aws:iam/role:Role": ("name",),
    "azure-native:containerservice:AgentPool": ("resourceGroupName", "resourceName", "agentPoolName"),
    "azure-native:containerservice:ManagedCluster": ("resourceGroupName", "resourceName"),
    "azure-native:resources:ResourceGroup": ("resourceGroupName",),
    "kubernetes:core/v1:Secret": ("metadata.namespace", "metadata.name"),
    "kubernetes:core/v1:ServiceAccount": ("metadata.namespace", "metadata.name"),
}
"""What no two living objects may share, where the cloud says so in its reference of the type's name property."""
RULES = {
    token: Rule(replaces=REPLACING.get(token, ()), unique=UNIQUE.get(token, ()))
    for token in sorted(REPLACING.keys() | UNIQUE.keys())
} | {"aws:ec2/launchTemplate:LaunchTemplate": Rule(counts_updates=("latestVersion",))}
"""What replaces a resource is the offline preview's table, so that both roads are held to one statement."""

SMALL: Mapping[str, Any] = {
    "hub": "magnum-one",
    "sites": {
        "cern": {
            "cloud": "openstack",
            "account": "cern",
            "region": "cern",
            "openstack": {"driver": "heat", "keypair": "platform", "gpu_autoscaler": "an autoscaler with GPU templates"},
        },
        "google": {"region": "us-central1"},
        "azure": {"region": "eastus"},
        "aws": {"region": "us-east-1"},
    },
    "clusters": {
        "cern": {"magnum-one": {"gpus": ["t4"]}},
        "google": {"gke-one": {"gpus": ["t4"]}},
        "azure": {"aks-one": {"gpus": ["t4"]}},
        "aws": {"eks-one": {"gpus": ["t4"]}},
    },
}
"""An inventory of one cluster with one T4 pool at each site."""


class FleetProject(EngineProject):
    """The project with a small fleet, nothing run yet.

    Args:
        directory: Empty directory for the copy and all that belongs to it.
    """

    def __init__(self, directory: Path) -> None:
        packages = {package: version(f"pulumi-{package}") for package in PACKAGES}
        super().__init__(directory, {part: REPOSITORY / part for part in PARTS}, packages)
        write_rules(self.cloud.rules_file, RULES)
        self.state_fleet({})
        for stack in STACKS:
            self.configure(stack, protect=False)

    def configure(self, stack: str, *, protect: bool) -> None:
        """Write the stack's settings, keeping what the CLI has written beside them."""
        file = self.directory / "stacks" / f"Pulumi.{stack}.yaml"
        settings = yaml.safe_load(file.read_text(encoding="utf-8"))
        settings["config"]["gpufleet:protect"] = protect
        file.write_text(yaml.safe_dump(settings), encoding="utf-8")

    def state_fleet(self, clusters: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the small inventory with these sites' clusters in place of its own."""
        inventory = deepcopy(dict(SMALL))
        inventory["clusters"].update(clusters)
        self.inventory.write_text(yaml.safe_dump(inventory, sort_keys=False), encoding="utf-8")

    @property
    def inventory(self) -> Path:
        """The inventory file."""
        return self.directory / "inventory.yaml"


@dataclass(frozen=True, kw_only=True)
class RunningFleet:
    """All stacks of the small fleet, up.

    Attributes:
        project: Only ever cloned.
        previews: Each stack's first preview, before it was brought up.
        ups: Each stack's first update.
    """

    project: FleetProject
    previews: Mapping[str, Run]
    ups: Mapping[str, Run]
