"""From a plan to a stack: a site's stack declares its clusters, the hub's everything inside Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from components.settings import Settings
from fleet.records import FleetPlan
from fleet.sites import HUB_STACK

_SITE_LAYER = "components.site"
_HUB_LAYER = "components.hub"


class Layer(Protocol):
    """What the module of either layer of stacks offers."""

    def compose(self, fleet: FleetPlan, settings: Settings) -> Mapping[str, Any]:
        """Declare the stack's resources and return its outputs."""
        ...


def compose(fleet: FleetPlan, settings: Settings) -> Mapping[str, Any]:
    """Declare the resources of the stack that `settings` describe, and return the stack's outputs by name.

    Only the stack's own layer is imported, so that a site's stack loads one provider SDK and the hub's none of a cloud.

    Raises:
        FleetErrors: The stack does not fit the fleet; nothing has been declared.
    """
    name = _HUB_LAYER if settings.site == HUB_STACK else _SITE_LAYER
    return cast("Layer", import_module(name)).compose(fleet, settings)
