"""What only OpenStack Magnum needs to be told, and what its drivers keep from the nodes."""

from __future__ import annotations

from fleet.clouds import DRIVERS
from fleet.inventory import OpenstackSettings
from fleet.records import MagnumPlan, NoteLevel
from fleet.scope import Scope
from fleet.sizes import driver_of

_IMAGE = "fedora-coreos-latest"
_EXTERNAL_NETWORK = "public"
_CONTROL_PLANE_FLAVOR = "m2.large"
_CONTROL_PLANE_NODES = 3


def plan_magnum(scope: Scope) -> MagnumPlan:
    """Return what Magnum is told of a cluster; what its driver cannot do is noted as a warning."""
    settings = scope.site.openstack or OpenstackSettings()
    driver = driver_of(scope)
    if driver is None:
        raise ValueError(f"{scope.about} is not on OpenStack")
    traits = DRIVERS[driver]
    if settings.driver is None:
        words = f"no Magnum driver is stated, {driver} is assumed: sites.{scope.site_name}.openstack.driver"
        scope.findings.note(scope.about, words, NoteLevel.WARNING)
    for words in (traits.warning, traits.no_taints, traits.no_labels):
        if words:
            scope.findings.note(scope.about, words, NoteLevel.WARNING)
    return MagnumPlan(
        driver=driver,
        image=settings.image or _IMAGE,
        external_network=settings.external_network or _EXTERNAL_NETWORK,
        control_plane_flavor=settings.control_plane_flavor or _CONTROL_PLANE_FLAVOR,
        control_plane_nodes=settings.control_plane_nodes or _CONTROL_PLANE_NODES,
        keypair=settings.keypair,
        gpu_autoscaler=settings.gpu_autoscaler,
    )
