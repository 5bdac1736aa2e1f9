"""Plan records with sensible values: a test states only what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fleet.accelerators import AcceleratorKind
from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import CAPACITY_LABEL, CARD_LABEL, SPOT_TAINT, CapacityType, Taint
from fleet.records import ClusterPlan, GpuMode, MagnumPlan, NetworkPlan, NodePool, Price, SystemPool

_MACHINES: Mapping[Cloud, tuple[str, str | None]] = {
    Cloud.GOOGLE: ("n1-standard-4", "nvidia-tesla-t4"),
    Cloud.AWS: ("g4dn.xlarge", None),
    Cloud.AZURE: ("Standard_NC4as_T4_v3", None),
    Cloud.OPENSTACK: ("g2.xlarge", None),
}
_REGIONS: Mapping[Cloud, tuple[str, tuple[str, ...]]] = {
    Cloud.GOOGLE: ("us-central1", ("us-central1-a", "us-central1-c")),
    Cloud.AWS: ("us-east-1", ("us-east-1a", "us-east-1b")),
    Cloud.AZURE: ("eastus", ()),
    Cloud.OPENSTACK: ("cern", ()),
}
_SYSTEM_MACHINES: Mapping[Cloud, str] = {
    Cloud.GOOGLE: "e2-standard-4",
    Cloud.AWS: "m7i.xlarge",
    Cloud.AZURE: "Standard_D4s_v5",
    Cloud.OPENSTACK: "m2.xlarge",
}
NVIDIA_TAINT = Taint(key="nvidia.com/gpu", value="present")


def a_pool(cloud: Cloud, **changes: Any) -> NodePool:  # noqa: ANN401 -- the fields of NodePool
    """Return a T4 pool that starts from zero, with `changes` made to it."""
    machine, accelerator_type = _MACHINES[cloud]
    pool = NodePool(
        name="t4",
        card="T4",
        kind=AcceleratorKind.NVIDIA,
        resource="nvidia.com/gpu",
        machine=machine,
        accelerator_type=accelerator_type,
        accelerators=1,
        vcpus=4,
        memory_gib=16,
        min_nodes=0,
        max_nodes=4,
        zones=_REGIONS[cloud][1],
        labels=((CARD_LABEL, "T4"), (CAPACITY_LABEL, "on-demand")),
        taints=(NVIDIA_TAINT,),
        mode=GpuMode.PASSTHROUGH if cloud is Cloud.OPENSTACK else None,
        price=Price(usd_per_hour=0.5, source="test", as_of="2026-11"),
    )
    return replace(pool, **changes)


def a_spot_pool(cloud: Cloud) -> NodePool:
    """Return the spot twin of `a_pool`."""
    return a_pool(
        cloud,
        name="t4-spot",
        capacity=CapacityType.SPOT,
        priority=20,
        labels=((CARD_LABEL, "T4"), (CAPACITY_LABEL, "spot")),
        taints=(SPOT_TAINT, NVIDIA_TAINT),
    )


def a_cluster(cloud: Cloud, **changes: Any) -> ClusterPlan:  # noqa: ANN401 -- the fields of ClusterPlan
    """Return a cluster with one T4 pool on `cloud`, with `changes` made to it."""
    region, zones = _REGIONS[cloud]
    magnum = MagnumPlan(
        driver=MagnumDriver.HEAT,
        image="fedora-coreos",
        external_network="public",
        control_plane_flavor="m2.large",
        control_plane_nodes=3,
        keypair="operators",
        gpu_autoscaler="cluster-autoscaler with a GPU template",
    )
    cluster = ClusterPlan(
        name=f"{cloud}-one",
        site=f"{cloud}-site",
        cloud=cloud,
        region=region,
        zones=zones,
        kubernetes_version="1.35",
        network=NetworkPlan(nodes_cidr="10.0.0.0/20", pods_cidr="10.64.0.0/14", services_cidr="10.112.0.0/20"),
        system_pool=SystemPool(machine=_SYSTEM_MACHINES[cloud], min_nodes=1, max_nodes=3, disk_gib=100),
        pools=(a_pool(cloud),),
        tags=(
            ("billing-account", "physics"),
            ("cluster", f"{cloud}-one"),
            ("managed-by", "gpufleet"),
            ("site", f"{cloud}-site"),
        ),
        magnum=magnum if cloud is Cloud.OPENSTACK else None,
    )
    return replace(cluster, **changes)
