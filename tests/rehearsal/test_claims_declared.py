"""A mistake in what is declared turns its claim red, with a message that names the cause. Clusters are fakes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.clouds import Cloud
from rehearsal.claims import CLAIMS
from rehearsal.claims.claim import Verdict
from rehearsal.nodes.clusters import read_clusters
from tests.support.claims import AWS, AZURE, GOOGLE, a_fleet, outcomes, stage_of
from tests.support.fake_cluster import a_stage
from tests.support.nodes import planted, without

NAMES = {Cloud.AWS: AWS, Cloud.AZURE: AZURE, Cloud.GOOGLE: GOOGLE}


@pytest.mark.parametrize("cloud", [Cloud.AWS, Cloud.AZURE, Cloud.GOOGLE])
def test_a_fleet_declared_well_is_green(cloud: Cloud) -> None:
    """Without a mistake no claim is red, and each was shown for something or says why there is nothing to show."""
    found = outcomes(stage_of(a_fleet(cloud)))
    assert {key: each.message for key, each in found.items() if not each.green} == {}
    assert {claim for claim, _ in found} == {claim.id for claim in CLAIMS}
    assert found["wakes", f"{NAMES[cloud]}/t4"].verdict is Verdict.GREEN
    assert all(each.message for each in found.values())


@pytest.mark.parametrize(
    ("tag", "hint"),
    [
        ("resources/nvidia.com/gpu", "ASG tag k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu is not there"),
        ("label/gpu", "ASG tag k8s.io/cluster-autoscaler/node-template/label/gpu is not there"),
        ("taint/nvidia.com/gpu", "ASG tag k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu is not there"),
    ],
)
def test_a_missing_tag_of_the_scaling_group_keeps_the_pool_asleep(tag: str, hint: str) -> None:
    """The claim names the tag, what needs the pool says so too, and the other pools are not touched by it."""
    graph = without(a_fleet(Cloud.AWS), lambda resource: resource.name == f"aws-one-t4-{tag}")
    found = outcomes(stage_of(graph), "wakes", "max")
    assert hint in found["wakes", f"{AWS}/t4"].message
    assert not found["wakes", f"{AWS}/t4"].green
    assert found["wakes", f"{AWS}/t4-spot"].verdict is Verdict.GREEN
    assert found["max", f"{AWS}/t4"].message.startswith("not run, since `wakes` is red")
    assert not found["max", f"{AWS}/t4"].green


@pytest.mark.parametrize(
    ("cloud", "pool", "path", "value", "cause"),
    [
        (Cloud.AWS, "t4", "scalingConfig/maxSize", 0, "scalingConfig.maxSize is 0"),
        (
            Cloud.AWS,
            "t4",
            "labels",
            {"gpus": "T4", "gpufleet.io/capacity-type": "on-demand"},
            "gpus=T4 is there, which may be a misspelling",
        ),
        (Cloud.AWS, "t4", "labels/gpu", "V100", "carry the label gpu=V100, where work selects gpu=T4"),
        (
            Cloud.AWS,
            "t4",
            "taints",
            [{"key": "nvidia.com/gpus", "value": "present", "effect": "NO_SCHEDULE"}],
            "the taint nvidia.com/gpus=present:NoSchedule, which work for T4 does not tolerate",
        ),
        (Cloud.AZURE, "t4", "nodeLabels/gpu", "V100", "gpu is V100, but Standard_NC4as_T4_v3 carries T4"),
        (Cloud.AZURE, "t4", "maxCount", 0, "maxCount is 0"),
        (Cloud.AZURE, "t4", "vmSize", "Standard_D4s_v5", "carries no card"),
        (Cloud.GOOGLE, "t4", "nodeConfig/guestAccelerators", None, "carries no card"),
        (Cloud.GOOGLE, "t4", "autoscaling/totalMaxNodeCount", 0, "autoscaling.totalMaxNodeCount is 0"),
    ],
)
def test_a_pool_declared_wrong_does_not_wake(cloud: Cloud, pool: str, path: str, value: object, cause: str) -> None:
    """Max 0, a wrong or misspelt label, a misspelt taint, the wrong machine: the claim is red and names which."""
    found = outcomes(stage_of(planted(a_fleet(cloud), f"{cloud}-one-{pool}", path, value)), "wakes")
    outcome = found["wakes", f"{NAMES[cloud]}/{pool}"]
    assert not outcome.green
    assert cause in outcome.message


@pytest.mark.parametrize(("cloud", "path"), [(Cloud.AWS, "taints"), (Cloud.AZURE, "nodeTaints")])
def test_a_taint_left_out_lets_others_in(cloud: Cloud, path: str) -> None:
    """Three claims see it: a stray pod lands, a system pod may, and work for on-demand still runs."""
    name = NAMES[cloud]
    found = outcomes(stage_of(planted(a_fleet(cloud), f"{cloud}-one-t4", path, None)), "no-request", "system-pods")
    assert found["wakes", f"{name}/t4"].green
    assert not found["no-request", f"{name}/t4"].green
    assert "no taint nvidia.com/gpu keeps it off; the pool's taints are: none" in found["no-request", f"{name}/t4"].message
    assert not found["system-pods", name].green
    assert "no taint of its card" in found["system-pods", name].message


def test_a_spot_taint_left_out_takes_work_that_may_not_be_interrupted() -> None:
    """Work that says nothing of spot lands on spot nodes, which are cheaper: the claim says where it went."""
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    found = outcomes(stage_of(planted(a_fleet(Cloud.AWS), "aws-one-t4-spot", "taints", taints)), "wakes")
    outcome = found["wakes", f"{AWS}/t4"]
    assert not outcome.green
    assert "is for t4 and runs in t4-spot on t4-spot-" in outcome.message
    assert outcome.message.endswith("whose taints are: nvidia.com/gpu=present:NoSchedule")


@pytest.mark.parametrize(("is_added", "said"), [(True, "admission added the toleration"), (False, "work has to bring it")])
def test_tolerations_are_expected_where_admission_adds_them(is_added: bool, said: str) -> None:
    """Where nobody adds it, work brings its toleration and a pod without it waits; both ways are green."""
    (cluster,) = read_clusters([a_fleet(Cloud.AWS)])
    found = outcomes(a_stage(replace(cluster, extended_resource_toleration=is_added)), "toleration")
    assert said in found["toleration", f"{AWS}/t4"].message
    assert found["toleration", f"{AWS}/t4"].verdict is Verdict.GREEN


def test_a_taint_left_out_shows_where_nobody_adds_tolerations() -> None:
    """Without a taint a pod without toleration runs: the claim on tolerations sees that as well."""
    (cluster,) = read_clusters([planted(a_fleet(Cloud.AWS), "aws-one-t4", "taints", None)])
    found = outcomes(a_stage(replace(cluster, extended_resource_toleration=False)), "toleration")
    assert "a pod without toleration runs on" in found["toleration", f"{AWS}/t4"].message
    assert not found["toleration", f"{AWS}/t4"].green


def test_a_pool_asleep_is_watched_and_not_taken_at_its_word() -> None:
    """A missing hint is the cause that is told; the pool was asked for nevertheless, and nothing came."""
    graph = without(a_fleet(Cloud.AWS), lambda resource: resource.name == "aws-one-t4-label/gpu")
    stage = stage_of(graph)
    outcome = outcomes(stage, "wakes")["wakes", f"{AWS}/t4"]
    assert "the scheduler says: 0/" in outcome.message
    assert 4 <= outcome.seconds < 10
