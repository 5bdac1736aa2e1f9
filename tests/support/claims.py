"""Declared clusters for claims, and the claims' outcomes on fake clusters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import CAPACITY_LABEL, CARD_LABEL, Taint
from fleet.records import NodePool
from preview.graph import ResourceGraph
from rehearsal.claims import choose
from rehearsal.claims.claim import Outcome
from rehearsal.claims.running import run_claims
from rehearsal.nodes.clusters import read_clusters
from tests.support.fake_cluster import FakeStage, a_stage
from tests.support.nodes import a_graph
from tests.support.plans import a_pool, a_spot_pool

AWS, AZURE, GOOGLE = "aws-site/aws-one", "azure-site/azure-one", "google-site/google-one"


@cache
def a_fleet(cloud: Cloud) -> ResourceGraph:
    """Return a cluster's graph: T4 on demand and as spot, eight H100 a node on AWS, a slice of four TPU hosts on Google."""
    more = {Cloud.AWS: (_h100(),), Cloud.GOOGLE: (_tpu(),)}.get(cloud, ())
    return a_graph(cloud, a_pool(cloud), a_spot_pool(cloud), *more)


def stage_of(*graphs: ResourceGraph, **faults: Any) -> FakeStage:  # noqa: ANN401 -- the fields of Faults
    """Return the fake clusters of graphs, all with the same faults."""
    return a_stage(*(cluster for graph in graphs for cluster in read_clusters([graph])), **faults)


def outcomes(stage: FakeStage, *ids: str) -> Mapping[tuple[str, str], Outcome]:
    """Return what comes of claims and all they require, by claim and subject."""
    results = run_claims(stage, choose(ids), workers=1) if ids else run_claims(stage, workers=1)
    return {(result.claim.id, result.subject): result.outcome for result in results}


def _h100() -> NodePool:
    """Return a pool of eight cards a node."""
    labels = ((CARD_LABEL, "H100"), (CAPACITY_LABEL, "on-demand"))
    return a_pool(
        Cloud.AWS,
        name="h100",
        card="H100",
        machine="p5.48xlarge",
        accelerators=8,
        vcpus=192,
        memory_gib=2048,
        max_nodes=4,
        labels=labels,
    )


def _tpu() -> NodePool:
    """Return a pool of slices of four hosts with room for two of them."""
    return a_pool(
        Cloud.GOOGLE,
        name="tpu",
        card="TPU-v5e",
        kind=AcceleratorKind.TPU,
        resource="google.com/tpu",
        machine="ct5lp-hightpu-4t",
        accelerator_type=None,
        accelerators=4,
        max_nodes=8,
        labels=((CARD_LABEL, "TPU-v5e"), (CAPACITY_LABEL, "on-demand")),
        taints=(Taint(key="google.com/tpu", value="present"),),
        zones=("us-central1-a",),
        topology="4x4",
        hosts=4,
    )
