"""One vocabulary inside, each cloud's spelling at the edge."""

from __future__ import annotations

import pytest

from fleet.accelerators import KINDS, AcceleratorKind
from fleet.clouds import Cloud
from fleet.labels import SPOT_TAINT, Taint, TaintEffect, is_reserved, spell_effect


@pytest.mark.parametrize(
    ("effect", "upper"),
    [
        (TaintEffect.NO_SCHEDULE, "NO_SCHEDULE"),
        (TaintEffect.PREFER_NO_SCHEDULE, "PREFER_NO_SCHEDULE"),
        (TaintEffect.NO_EXECUTE, "NO_EXECUTE"),
    ],
)
def test_effects_are_spelt_as_each_cloud_wants(effect: TaintEffect, upper: str) -> None:
    """GKE and EKS shout; AKS and Magnum write as Kubernetes does."""
    spelt = {cloud: spell_effect(effect, cloud) for cloud in Cloud}
    assert spelt == {Cloud.GOOGLE: upper, Cloud.AWS: upper, Cloud.AZURE: effect.value, Cloud.OPENSTACK: effect.value}


def test_an_unknown_word_never_reaches_a_cloud() -> None:
    """What is not in the table raises."""
    with pytest.raises(KeyError):
        spell_effect("NoScheduleEver", Cloud.GOOGLE)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        spell_effect(TaintEffect.NO_SCHEDULE, "oracle")  # type: ignore[arg-type]


def test_taints_read_as_kubernetes_writes_them() -> None:
    """The text form is the one of kubectl and AKS."""
    assert str(SPOT_TAINT) == "gpufleet.io/capacity-type=spot:NoSchedule"
    assert str(Taint(key="a", effect=TaintEffect.NO_EXECUTE)) == "a=:NoExecute"


@pytest.mark.parametrize(
    ("key", "reserved"),
    [
        ("gpu", True),
        ("kubernetes.io/hostname", True),
        ("node.kubernetes.io/instance-type", True),
        ("node-role.kubernetes.io/gpu", True),
        ("topology.k8s.io/x", True),
        ("cloud.google.com/gke-nodepool", True),
        ("k8s.amazonaws.com/accelerator", True),
        ("eks.amazonaws.com/x", True),
        ("kubernetes.azure.com/x", True),
        ("magnum.openstack.org/role", True),
        ("gpufleet.io/x", True),
        ("gpus", False),
        ("team", False),
        ("kubernetes.io", False),
        ("notkubernetes.io/x", False),
        ("kubernetes.io.example.org/x", False),
        ("example.org/gpu", False),
    ],
)
def test_reserved_keys(key: str, reserved: bool) -> None:
    """Domains of Kubernetes, the clouds and ours, with all below them, and nothing that only looks like one."""
    assert is_reserved(key) == reserved


def test_every_accelerator_has_its_resource_and_taint() -> None:
    """The taint's key is the resource: ExtendedResourceToleration adds exactly that toleration."""
    assert set(KINDS) == set(AcceleratorKind)
    for facts in KINDS.values():
        assert facts.taint_key == facts.resource
        assert facts.taint_value == "present"
        assert facts.source
        assert facts.as_of
    assert len({facts.resource for facts in KINDS.values()}) == len(KINDS)
