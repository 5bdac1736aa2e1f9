"""A mistake of a program, or of the cloud it stands in for, turns its claim red with its cause. Clusters are fakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from lightkube.resources.core_v1 import Node, Pod

from fleet.clouds import Cloud
from rehearsal.api import objects
from rehearsal.claims import choose
from rehearsal.claims.claim import Outcome, Verdict
from rehearsal.claims.running import Result, run_claims
from rehearsal.claims.view import Part
from rehearsal.claims.work import name_of
from rehearsal.nodes.clusters import read_clusters
from tests.support.claims import AWS, GOOGLE, a_fleet, outcomes, stage_of
from tests.support.fake_cluster import FakeCluster, a_stage
from tests.support.nodes import planted

AWS_T4, AWS_SPOT, AWS_H100, TPU = f"{AWS}/t4", f"{AWS}/t4-spot", f"{AWS}/h100", f"{GOOGLE}/tpu"


@pytest.mark.parametrize(
    ("faults", "claim", "subject", "cause"),
    [
        ({"at_start": {"t4": 1}}, "at-min", AWS_T4, "min is 0, and there are 1 nodes without any work: t4-"),
        ({"at_start": {"system": 0}}, "at-min", f"{AWS}/system", "min is 1, and there are 0 nodes without any work: none"),
        ({"takes_fractions": True}, "whole-cards", AWS, "half a card (nvidia.com/gpu: 500m)"),
        ({"nodes_per_node": 2}, "wakes", AWS_T4, "nodes, and 1 would do"),
        ({"zone": "us-east-1f"}, "wakes", AWS_T4, "is in zone us-east-1f, and the pool is declared for us-east-1a, us-east-1b"),
        ({"drops_taints": True}, "wakes", AWS_H100, "came up without the declared taint nvidia.com/gpu=present:NoSchedule"),
        (
            {"labels": {"k8s.amazonaws.com/accelerator": "x"}},
            "wakes",
            AWS_T4,
            "without the declared label k8s.amazonaws.com/accelerator",
        ),
        (
            {"admission": False},
            "wakes",
            AWS_T4,
            "taint nvidia.com/gpu=present:NoSchedule, which work for T4 does not tolerate",
        ),
        ({"is_silent": True}, "no-request", AWS_T4, "the scheduler said nothing about a pod without a card"),
        ({"one_pod_a_node": True}, "fills", AWS_H100, "where 1 would do"),
        ({"is_awake": True}, "sleeps", AWS_T4, "no pod holds them: the autoscaler does not remove empty nodes"),
        ({"ignores_max": True}, "max", AWS_T4, "max is 4, and there are 5 nodes"),
        ({"forgets_pods": True}, "spot-lost", AWS_SPOT, "was taken away, and its work did not come back"),
        ({"ignores_refusal": True}, "spot-refused", AWS_SPOT, "does not run within 60 s"),
        ({"gone_for_good": (Part.AUTOSCALER,)}, "heals-autoscaler", AWS, "does not run within 90 s"),
        ({"gone_for_good": (Part.SCHEDULER,)}, "heals-scheduler", AWS, "does not run within 90 s"),
        ({"gone_for_good": (Part.CONTROLLERS,)}, "heals-controllers", AWS, "the Job's controller did nothing"),
        ({"gone_for_good": (Part.APISERVER,)}, "heals-apiserver", AWS, "connection refused"),
        ({"gone_for_good": (Part.STORE,)}, "heals-store", "fleet", "connection refused"),
    ],
)
def test_a_mistake_turns_its_claim_red(faults: dict[str, Any], claim: str, subject: str, cause: str) -> None:
    """Each row plants one mistake; without it the claim is green (test_claims_declared)."""
    outcome = outcomes(stage_of(a_fleet(Cloud.AWS), **faults), claim)[claim, subject]
    assert outcome.verdict is Verdict.RED, outcome
    assert cause in outcome.message


@pytest.mark.parametrize("part", Part)
def test_a_program_that_is_not_ready_is_named(part: Part) -> None:
    """The first claim says which program is missing, and all others are red because of it."""
    stage = stage_of(a_fleet(Cloud.AWS), gone_for_good=(part,))
    stage.clusters[0].kill(part)
    found = outcomes(stage, "wakes")
    assert not found["ready", AWS].green
    assert part in found["ready", AWS].message
    assert found["wakes", AWS_T4].message.startswith("not run, since `at-min` is red: not run, since `ready` is red")


def test_admission_that_the_cloud_does_not_have_is_told() -> None:
    """A toleration added in the rehearsal only would hide work that forgets it."""
    (cluster,) = read_clusters([a_fleet(Cloud.AWS)])
    stage = a_stage(replace(cluster, extended_resource_toleration=False), admission=True)
    outcome = outcomes(stage, "toleration")["toleration", AWS_T4]
    assert not outcome.green
    assert "which the declared cluster does not do" in outcome.message


def test_admission_that_is_missing_is_told() -> None:
    """An API server without the plugin is told by that name, beside the pod that waits."""
    outcome = after("wakes", "toleration", AWS_T4, lambda cluster: setattr(cluster.faults, "admission", False))
    assert not outcome.green
    assert "runs without ExtendedResourceToleration, which aws has" in outcome.message


def test_a_scheduler_that_ignores_taints_is_seen() -> None:
    """Pods that ask for no card land on nodes with cards, and both claims about it say so."""
    for claim, subject, cause in (
        ("no-request", AWS_T4, "a pod that asks for no card runs on t4-"),
        ("system-pods", AWS, "a pod without any wishes runs on"),
    ):
        outcome = after("wakes", claim, subject, lambda cluster: setattr(cluster.faults, "ignores_taints", True))
        assert not outcome.green
        assert cause in outcome.message


def test_a_system_pod_on_a_node_with_cards_is_named() -> None:
    """A pod that somebody bound to such a node without tolerating its taint is told by name."""

    def bind(cluster: FakeCluster) -> None:
        node = next(name_of(node) for node in cluster.list(Node) if cluster.pool_of(node) == "t4")
        metadata = {"name": "stray", "namespace": "default"}
        spec = {"nodeName": node, "containers": [{"name": "stray", "image": "stray"}]}
        (pod,) = objects([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}])
        cluster.create(pod, "default")

    outcome = after("wakes", "system-pods", AWS, bind)
    assert not outcome.green
    assert "pod stray is on t4-" in outcome.message
    assert "does not tolerate nvidia.com/gpu=present:NoSchedule; it tolerates nothing" in outcome.message


def test_work_for_a_card_that_is_not_there_is_not_placed() -> None:
    """A scheduler that does not look at selectors gives it another card: seen."""
    outcome = after("wakes", "unmixed", AWS, lambda cluster: setattr(cluster.faults, "ignores_selectors", True))
    assert not outcome.green
    assert "a pod for a card that is not there (gpu=no-such-card) runs on" in outcome.message


def test_mixed_cards_are_named() -> None:
    """Work that came to run on another card than it asked for is told with both cards."""

    def swap(cluster: FakeCluster) -> None:
        other = next(name_of(node) for node in cluster.list(Node) if cluster.pool_of(node) == "h100")
        for pod in cluster.list(Pod, labels={"job-name": "wakes-t4"}):
            pod.spec.nodeName = other

    outcome = after("wakes", "unmixed", AWS, swap)
    assert not outcome.green
    assert "asked for T4 and runs in h100, whose machine p5.48xlarge carries H100" in outcome.message


def test_a_node_labelled_for_another_card_is_named() -> None:
    """A label that changes after the work was placed is seen against the machine's own card."""

    def relabel(cluster: FakeCluster) -> None:
        for node in cluster.list(Node):
            if cluster.pool_of(node) == "t4":
                node.metadata.labels["gpu"] = "V100"

    outcome = after("wakes", "unmixed", AWS, relabel)
    assert not outcome.green
    assert "is labelled gpu=V100, and its machine g4dn.xlarge carries T4" in outcome.message


def after(first: str, claim: str, subject: str, mistake: Callable[[FakeCluster], None]) -> Outcome:
    """Return what comes of a claim when a mistake is planted as soon as another was checked for all pools."""
    stage = stage_of(a_fleet(Cloud.AWS))
    (cluster,) = stage.clusters
    left = [len(cluster.declared.templates)]

    def count(result: Result) -> None:
        left[0] -= result.claim.id == first
        if left[0] == 0:
            left[0] = -1
            mistake(cluster)

    results = run_claims(stage, choose([first, claim]), on_result=count, workers=1)
    return next(each.outcome for each in results if (each.claim.id, each.subject) == (claim, subject))


def test_a_slice_comes_whole() -> None:
    """With room for two slices one host more brings four nodes; hosts made one by one are seen."""
    graph = planted(a_fleet(Cloud.GOOGLE), "google-one-tpu", "autoscaling/totalMaxNodeCount", 8)
    whole = outcomes(stage_of(graph), "slices")["slices", TPU]
    assert (whole.verdict, whole.details["nodes"]) == (Verdict.GREEN, 8)
    parts = outcomes(stage_of(graph, splits_slices=True), "slices")["slices", TPU]
    assert parts.verdict is Verdict.RED
    assert "a slice has 4: part of a slice came" in parts.message


def test_no_part_of_a_slice_comes_where_max_leaves_no_room() -> None:
    """With room for one slice, one host more waits; an autoscaler that goes beyond max for it is seen."""
    held = outcomes(stage_of(a_fleet(Cloud.GOOGLE)), "slices")["slices", TPU]
    assert (held.verdict, held.details["nodes"]) == (Verdict.GREEN, 4)
    beyond = outcomes(stage_of(a_fleet(Cloud.GOOGLE), ignores_max=True), "slices")["slices", TPU]
    assert "one host more was asked for: 8 nodes came to be, where 4 are whole slices within max 4" in beyond.message


def test_what_the_stand_in_cannot_show_is_said() -> None:
    """A pool that cannot be rehearsed is neither green nor red, nor is anything that needs it."""
    stage = stage_of(a_fleet(Cloud.GOOGLE))
    stage.clusters[0].not_rehearsed = {"tpu": "no slices here"}
    found = outcomes(stage, "slices")
    assert [found[claim, TPU].verdict for claim in ("wakes", "slices", "sleeps")] == [Verdict.NOT_REHEARSED] * 3
    assert found["slices", TPU].message == "no slices here"
