"""The clouds a cluster can stand on: one closed list, so that every table over clouds can be checked for gaps."""

from __future__ import annotations

from enum import StrEnum


class Cloud(StrEnum):
    """A cloud, by the name that inventory, catalogue and stacks use for it."""

    GOOGLE = "google"
    AWS = "aws"
    AZURE = "azure"
    OPENSTACK = "openstack"


class MagnumDriver(StrEnum):
    """The Magnum driver that an OpenStack site runs."""

    HEAT = "heat"
    CAPI_HELM = "capi-helm"
    CLUSTER_API = "cluster-api"
