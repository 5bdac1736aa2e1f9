"""What the plan can say and a cloud cannot hear: every such field with the reason, told to whoever states it.

A test changes each field of the plan in turn. On every cloud some declared resource has to change with it, or the field stands
here; a row whose field does change something fails as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.clouds import TRAITS, Cloud, MagnumDriver
from fleet.scope import Scope
from fleet.sizes import driver_of

_FACT = "a fact about the machine that follows from its type; cost, rehearsal and the hub read it"
_TPU = "TPU slices are Google's alone"
_FLAVOR = "the flavor and the image decide it"
_NOT_PASSED = "the driver passes neither labels nor taints to nodes"
_IN_TAGS = "the cost tags hold it"
_BY_MACHINE = "it is part of the machine type"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotApplying:
    """A field of the plan that changes no resource of a cloud.

    Attributes:
        path: The field: ``plan.x``, ``network.x``, ``system_pool.x``, ``magnum.x`` or ``pool.x``.
        reason: Why nothing follows from it there.
        cloud: Where; None for every cloud.
        driver: The Magnum driver that it is about; None for all.
    """

    path: str
    reason: str
    cloud: Cloud | None = None
    driver: MagnumDriver | None = None


def _rows(cloud: Cloud | None, reason: str, *paths: str, driver: MagnumDriver | None = None) -> tuple[NotApplying, ...]:
    """Return a row for each of `paths`."""
    return tuple(NotApplying(path=path, reason=reason, cloud=cloud, driver=driver) for path in paths)


NOT_APPLYING: tuple[NotApplying, ...] = (
    *_rows(None, _FACT, "pool.vcpus", "pool.price"),
    *_rows(None, "the hub's stack is made from it", "plan.is_hub", "pool.priority"),
    *_rows(Cloud.AWS, _IN_TAGS, "plan.site"),
    *_rows(Cloud.AZURE, _IN_TAGS, "plan.site"),
    *_rows(Cloud.OPENSTACK, "the stack has its name; nothing of Magnum takes tags", "plan.site"),
    *_rows(Cloud.GOOGLE, "OpenStack alone has the choice", "plan.magnum", "pool.mode"),
    *_rows(Cloud.AWS, "OpenStack alone has the choice", "plan.magnum", "pool.mode"),
    *_rows(Cloud.AZURE, "OpenStack alone has the choice", "plan.magnum", "pool.mode"),
    *_rows(Cloud.AWS, _TPU, "pool.topology", "pool.hosts"),
    *_rows(Cloud.AZURE, _TPU, "pool.topology", "pool.hosts"),
    *_rows(Cloud.OPENSTACK, _TPU, "pool.topology", "pool.hosts"),
    *_rows(Cloud.AWS, "EKS has no maintenance windows: versions change when the plan does", "plan.maintenance"),
    *_rows(Cloud.AWS, "the VPC CNI gives pods addresses of the nodes' subnets", "network.pods_cidr"),
    *_rows(Cloud.GOOGLE, _FACT, "pool.memory_gib"),
    *_rows(Cloud.GOOGLE, "the accelerator's type, the taint and the machine show it", "pool.kind", "pool.resource"),
    *_rows(Cloud.AWS, _FACT, "pool.memory_gib"),
    *_rows(Cloud.AWS, "AWS sells cards as part of the machine type alone", "pool.accelerator_type"),
    *_rows(Cloud.AZURE, _BY_MACHINE, "pool.accelerator_type", "pool.accelerators", "pool.memory_gib", "pool.architecture"),
    *_rows(Cloud.AZURE, "the device plugin names it; AKS node pools do not", "pool.resource"),
    *_rows(Cloud.OPENSTACK, "nothing of Magnum takes tags; costs are read by OpenStack project", "plan.tags"),
    *_rows(Cloud.OPENSTACK, "Magnum has no list of administrators: Keystone roles in the project decide", "plan.admins"),
    *_rows(Cloud.OPENSTACK, "Magnum upgrades nothing by itself", "plan.maintenance"),
    *_rows(Cloud.OPENSTACK, "the site's word for the plan's check of min 0", "magnum.gpu_autoscaler"),
    *_rows(Cloud.OPENSTACK, "Magnum has no spot node groups", "pool.capacity"),
    *_rows(Cloud.OPENSTACK, "Magnum node groups cannot name a reservation", "pool.reservation"),
    *_rows(
        Cloud.OPENSTACK,
        _FLAVOR,
        "pool.accelerator_type",
        "pool.accelerators",
        "pool.resource",
        "pool.kind",
        "pool.architecture",
        "pool.memory_gib",
    ),
    *_rows(Cloud.OPENSTACK, "the kernel driver is in the image or comes from the operator", "pool.gpu_driver"),
    *_rows(
        Cloud.OPENSTACK,
        "the image's own version decides",
        "plan.kubernetes_version",
        driver=MagnumDriver.CAPI_HELM,
    ),
    *_rows(
        Cloud.OPENSTACK,
        "the driver has no label for it",
        "network.pods_cidr",
        "network.services_cidr",
        "plan.zones",
        "pool.zones",
        "pool.disk_gib",
        "pool.mode",
        driver=MagnumDriver.CAPI_HELM,
    ),
    *_rows(Cloud.OPENSTACK, _NOT_PASSED, "pool.labels", "pool.taints", driver=MagnumDriver.CAPI_HELM),
    *_rows(Cloud.OPENSTACK, _NOT_PASSED, "pool.labels", "pool.taints", driver=MagnumDriver.CLUSTER_API),
)

_SETTINGS = {
    ("maintenance",): "plan.maintenance",
    ("network", "pods_cidr"): "network.pods_cidr",
    ("network", "services_cidr"): "network.services_cidr",
    ("zones",): "plan.zones",
    ("pools", "gpu_driver"): "pool.gpu_driver",
    ("pools", "disk_gib"): "pool.disk_gib",
}
"""Settings of an inventory that may not apply, and the field of the plan that each becomes."""


def why_not_applying(path: str, cloud: Cloud, driver: MagnumDriver | None = None) -> str:
    """Return why a field of the plan changes nothing on a cloud, empty when it does change something."""
    for row in NOT_APPLYING:
        if row.path == path and row.cloud in {None, cloud} and row.driver in {None, driver}:
            return row.reason
    return ""


def unheard_settings(scope: Scope) -> Iterator[str]:
    """Yield a sentence for each setting that the inventory states for a cluster and its cloud cannot follow."""
    for names, path in _SETTINGS.items():
        value, _ = scope.setting(*names)
        reason = why_not_applying(path, scope.cloud, driver_of(scope))
        if value is not None and reason:
            yield f"`{'.'.join(names)}` does nothing on {TRAITS[scope.cloud].title}: {reason}"
