"""No dead field: changing a field of the plan changes a declared resource on every cloud, or the field is listed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from components.contract import ClusterArgs, builder
from fleet.accelerators import AcceleratorKind
from fleet.applicability import NOT_APPLYING, why_not_applying
from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import CapacityType, Taint, TaintEffect
from fleet.records import ClusterPlan, GpuDriver, GpuMode, MagnumPlan, MaintenanceWindow, NetworkPlan, NodePool, Price, SystemPool
from tests.support.declaring import declare
from tests.support.plans import a_cluster, a_pool

CASES = [
    *(pytest.param(cloud, None, id=str(cloud)) for cloud in Cloud if cloud is not Cloud.OPENSTACK),
    *(pytest.param(Cloud.OPENSTACK, driver, id=f"openstack-{driver}") for driver in MagnumDriver),
]

ADMINS = {
    Cloud.GOOGLE: ("gke-security-groups@example.org",),
    Cloud.AWS: ("arn:aws:iam::123456789012:role/platform",),
    Cloud.AZURE: ("00000000-0000-0000-0000-000000000001",),
    Cloud.OPENSTACK: ("platform",),
}
MACHINES = {Cloud.GOOGLE: "n1-standard-8", Cloud.AWS: "g4dn.2xlarge", Cloud.AZURE: "Standard_NC8as_T4_v3", Cloud.OPENSTACK: "g9"}
ACCOUNTS = {Cloud.GOOGLE: "other-project", Cloud.AWS: "123456789012", Cloud.AZURE: "s-2", Cloud.OPENSTACK: "other"}
ZONES = {
    Cloud.GOOGLE: ("us-central1-f",),
    Cloud.AWS: ("us-east-1a", "us-east-1c"),
    Cloud.AZURE: ("2",),
    Cloud.OPENSTACK: ("cern-geneva-b",),
}
POOL_ZONES = ZONES | {Cloud.AWS: ("us-east-1a",)}
RESERVATIONS = {
    Cloud.GOOGLE: "held",
    Cloud.AWS: "cr-0123456789abcdef0",
    Cloud.AZURE: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/held",
    Cloud.OPENSTACK: "held",
}

OTHER: Mapping[str, Callable[[Cloud], Any]] = {
    "plan.name": lambda _: "another",
    "plan.site": lambda _: "another-site",
    "plan.region": lambda cloud: {Cloud.GOOGLE: "europe-west4", Cloud.AWS: "eu-west-1"}.get(cloud, "westeurope"),
    "plan.kubernetes_version": lambda _: "1.34",
    "plan.account": ACCOUNTS.__getitem__,
    "plan.zones": ZONES.__getitem__,
    "plan.tags": lambda _: (("cluster", "c"), ("site", "s"), ("team", "t")),
    "plan.admins": ADMINS.__getitem__,
    "plan.maintenance": lambda _: MaintenanceWindow(days=("Monday",), start_hour_utc=3, hours=5),
    "plan.magnum": lambda _: None,
    "plan.is_hub": lambda _: True,
    "network.nodes_cidr": lambda _: "10.1.0.0/16",
    "network.pods_cidr": lambda _: "10.128.0.0/14",
    "network.services_cidr": lambda _: "10.120.0.0/20",
    "network.control_plane_cidrs": lambda _: ("192.0.2.0/24",),
    "system_pool.machine": lambda _: "other-machine",
    "system_pool.min_nodes": lambda _: 3,
    "system_pool.max_nodes": lambda _: 7,
    "system_pool.disk_gib": lambda _: 222,
    "magnum.driver": lambda _: MagnumDriver.HEAT,
    "magnum.image": lambda _: "other-image",
    "magnum.external_network": lambda _: "other-network",
    "magnum.control_plane_flavor": lambda _: "other-flavor",
    "magnum.control_plane_nodes": lambda _: 1,
    "magnum.keypair": lambda _: "other-key",
    "magnum.gpu_autoscaler": lambda _: "another",
    "magnum.dns_nameservers": lambda _: ("192.0.2.53",),
    "maintenance.days": lambda _: ("Friday",),
    "maintenance.start_hour_utc": lambda _: 9,
    "maintenance.hours": lambda _: 6,
    "pool.name": lambda _: "another",
    "pool.card": lambda _: "V100",
    "pool.kind": lambda _: AcceleratorKind.AMD,
    "pool.resource": lambda _: "amd.com/gpu",
    "pool.machine": MACHINES.__getitem__,
    "pool.accelerators": lambda _: 2,
    "pool.min_nodes": lambda _: 1,
    "pool.max_nodes": lambda _: 9,
    "pool.accelerator_type": lambda _: "nvidia-tesla-v100",
    "pool.vcpus": lambda _: 96,
    "pool.memory_gib": lambda _: 999,
    "pool.architecture": lambda _: "arm64",
    "pool.capacity": lambda _: CapacityType.SPOT,
    "pool.reservation": RESERVATIONS.__getitem__,
    "pool.priority": lambda _: 20,
    "pool.disk_gib": lambda _: 333,
    "pool.zones": POOL_ZONES.__getitem__,
    "pool.topology": lambda _: "4x4",
    "pool.hosts": lambda _: 4,
    "pool.labels": lambda _: (("gpu", "T4"), ("team", "t")),
    "pool.taints": lambda _: (Taint(key="example.org/held", value="yes", effect=TaintEffect.NO_EXECUTE),),
    "pool.gpu_driver": lambda _: GpuDriver.OPERATOR,
    "pool.mode": lambda _: GpuMode.BARE_METAL,
    "pool.price": lambda _: Price(usd_per_hour=9.0),
}
"""Another legal value for each field of each record; a field without one fails the test of completeness."""

RECORDS: Mapping[str, type] = {
    "plan": ClusterPlan,
    "network": NetworkPlan,
    "system_pool": SystemPool,
    "magnum": MagnumPlan,
    "maintenance": MaintenanceWindow,
    "pool": NodePool,
}
NESTED = {"plan.cloud", "plan.network", "plan.system_pool", "plan.pools"}
"""Fields that hold a record whose own fields are changed, and the one that chooses who builds."""

COMPANIONS: Mapping[str, Mapping[str, Any]] = {
    "pool.reservation": {"capacity": CapacityType.RESERVED, "zones": None},
    "pool.topology": {"kind": AcceleratorKind.TPU, "resource": "google.com/tpu", "accelerator_type": None, "hosts": 4},
    "pool.hosts": {"kind": AcceleratorKind.TPU, "resource": "google.com/tpu", "accelerator_type": None, "topology": "4x4"},
}
"""Fields that only mean something beside others: both sides of the comparison get these."""


def _paths() -> Iterator[str]:
    """Yield every field of every record."""
    for prefix, record in RECORDS.items():
        for item in dataclasses.fields(record):
            if f"{prefix}.{item.name}" not in NESTED:
                yield f"{prefix}.{item.name}"


def _base(cloud: Cloud, driver: MagnumDriver | None, path: str) -> ClusterPlan:
    """Return the cluster whose field is changed, with what the field needs beside it."""
    companions = dict(COMPANIONS.get(path, {}))
    if companions.get("zones", ()) is None:
        companions["zones"] = POOL_ZONES[cloud][:1]
    plan = a_cluster(cloud, pools=(a_pool(cloud, **companions),))
    if path.startswith("maintenance."):
        plan = dataclasses.replace(plan, maintenance=MaintenanceWindow(days=("Monday",), start_hour_utc=3, hours=5))
    if plan.magnum and driver:
        start = MagnumDriver.CLUSTER_API if path == "magnum.driver" and driver is MagnumDriver.HEAT else driver
        plan = dataclasses.replace(plan, magnum=dataclasses.replace(plan.magnum, driver=start))
    return plan


def _changed(plan: ClusterPlan, path: str) -> ClusterPlan:
    """Return a cluster with one field changed."""
    prefix, name = path.split(".")
    value = {name: OTHER[path](plan.cloud)}
    if prefix == "plan":
        return dataclasses.replace(plan, **value)
    if prefix == "pool":
        return dataclasses.replace(plan, pools=(dataclasses.replace(plan.pools[0], **value),))
    return dataclasses.replace(plan, **{prefix: dataclasses.replace(getattr(plan, prefix), **value)})


@cache
def _declared(plan: ClusterPlan) -> str:
    """Return all that a cluster declares, its provider included."""

    def program() -> None:
        args = ClusterArgs(plan=plan, deletion_protection=False)
        module = builder(plan.cloud)
        module.build(args, module.make_provider("provider", args))

    return json.dumps(json.loads(declare(program).to_json())["resources"], sort_keys=True)


def test_every_field_has_another_value() -> None:
    """A new field of a record needs a value to change it to."""
    assert set(_paths()) == OTHER.keys()


def test_rows_name_fields() -> None:
    """A row of the table that names no field is a mistake."""
    assert {row.path for row in NOT_APPLYING} <= set(_paths())


@pytest.mark.parametrize(("cloud", "driver"), CASES)
def test_no_dead_field(cloud: Cloud, driver: MagnumDriver | None) -> None:
    """Each field changes something, unless it is listed; and what is listed changes nothing."""
    dead, stale = [], []
    for path in _paths():
        if path.startswith("magnum.") and cloud is not Cloud.OPENSTACK:
            continue
        reason = why_not_applying(path, cloud, driver)
        if path.startswith("maintenance.") and why_not_applying("plan.maintenance", cloud, driver):
            continue
        if path == "plan.magnum" and cloud is Cloud.OPENSTACK:
            continue
        base = _base(cloud, driver, path)
        try:
            after = _declared(_changed(base, path))
        except Exception:
            if reason:
                continue
            raise
        has_changed = after != _declared(base)
        if not has_changed and not reason:
            dead.append(path)
        if has_changed and reason:
            stale.append(path)
    assert not dead, f"these change nothing on {cloud} and are not listed: {dead}"
    assert not stale, f"these are listed as not applying on {cloud} and do change something: {stale}"
