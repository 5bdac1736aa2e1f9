"""What only OpenStack Magnum needs to be told, and what its drivers keep from the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.clouds import DRIVERS, DriverTraits
from fleet.inventory import OpenstackSettings
from fleet.notes import NoteLevel
from fleet.records import MagnumPlan
from fleet.scope import Scope
from fleet.sizes import driver_of
from fleet.versions import KUBERNETES

_IMAGE = "fedora-coreos-latest"
_EXTERNAL_NETWORK = "public"
_CONTROL_PLANE_FLAVOR = "m2.large"
_CONTROL_PLANE_NODES = 3
_NAMESERVERS = ("8.8.8.8",)


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
    for words in (traits.warning, traits.no_taints, traits.no_labels, *_version_warnings(scope, traits)):
        if words:
            scope.findings.note(scope.about, words, NoteLevel.WARNING)
    zones, _ = scope.texts("zones")
    if len(zones) > 1:
        words = f"Magnum takes one zone for a node group: with {', '.join(zones)} none is named, and Nova chooses by flavor"
        scope.findings.note(scope.about, words, NoteLevel.WARNING)
    ranges, path = scope.texts("network", "control_plane_cidrs")
    if ranges and traits.no_control_plane_cidrs:
        remedy = "Leave it out, and restrict the API server in the site's own network."
        scope.findings.refuse(path, traits.no_control_plane_cidrs, remedy, ", ".join(ranges))
    return MagnumPlan(
        driver=driver,
        image=settings.image or _IMAGE,
        external_network=settings.external_network or _EXTERNAL_NETWORK,
        control_plane_flavor=settings.control_plane_flavor or _CONTROL_PLANE_FLAVOR,
        control_plane_nodes=settings.control_plane_nodes or _CONTROL_PLANE_NODES,
        keypair=settings.keypair,
        gpu_autoscaler=settings.gpu_autoscaler,
        dns_nameservers=tuple(settings.dns_nameservers or _NAMESERVERS),
    )


def _version_warnings(scope: Scope, traits: DriverTraits) -> Iterator[str]:
    """Yield what is doubtful about the Kubernetes version under a driver."""
    version = scope.text("kubernetes") or KUBERNETES
    newest = traits.newest_kubernetes
    if newest and [int(part) for part in version.split(".")[:2]] > [int(part) for part in newest.split(".")]:
        yield f"Kubernetes {version} is newer than {newest}, the newest that the driver's release notes name"
    if traits.wants_patch_version and version.count(".") == 1:
        yield f"Kubernetes {version} is asked for as {version}.0: state the patch version of an image that the site has"
