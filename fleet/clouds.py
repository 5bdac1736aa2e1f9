"""The clouds, and what each can and cannot do, every "no" with its reason."""

from __future__ import annotations

from enum import StrEnum


class Cloud(StrEnum):
    """Where clusters run."""

    GOOGLE = "google"
    AWS = "aws"
    AZURE = "azure"
    OPENSTACK = "openstack"


class MagnumDriver(StrEnum):
    """The Magnum driver that an OpenStack site runs."""

    HEAT = "heat"
    CAPI_HELM = "capi-helm"
    CLUSTER_API = "cluster-api"
