"""TPU slices: from a topology to cards on a node and nodes of a slice."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fleet.accelerators import AcceleratorKind
from fleet.catalogue import Card, Catalogue
from fleet.scope import PoolScope

_MULTI_HOST_CHIPS = 4
"""Chips on each node of a multi-host slice: the 4-chip machines, on which slices are built (xpk 367c838, nodepool.py)."""

_SPOT_CORES = 8
_SPOT_LIMITED = ("TPU-v2", "TPU-v3")
"""Preemptible v2 and v3 TPUs are sold with 8 cores only (CERN, "Kubernetes and GPUs")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Slice:
    """A TPU slice.

    Attributes:
        topology: Chips along each axis, such as ``2x4``.
        chips: Chips in all.
        per_node: Chips on one node.
    """

    topology: str
    chips: int
    per_node: int

    def hosts(self, accelerators: int) -> int:
        """Return how many nodes of `accelerators` chips make the slice."""
        return max(1, self.chips // accelerators)


def slice_of(at: PoolScope, card: Card, catalogue: Catalogue) -> Slice | None:
    """Return the slice that an entry asks for; None when it names no topology or is refused."""
    topology = at.pool.topology
    if topology is None:
        return None
    path = (*at.path, "topology")
    if card.kind is not AcceleratorKind.TPU:
        at.refuse(path, f"{card.name} is no TPU and has no slice topology", "Leave `topology` out.", topology)
        return None
    chips = math.prod(int(axis) for axis in topology.split("x"))
    counts = {offer.accelerators for offer in catalogue.offers_of(card.name, at.scope.cloud)}
    per_node = at.pool.per_node or (chips if chips in counts else _MULTI_HOST_CHIPS)
    if chips % per_node:
        remedy = "Use a topology whose product is a multiple of the chips on a node, such as 2x4 or 4x4."
        at.refuse(path, f"{chips} chips cannot be split over nodes of {per_node}", remedy, topology)
        return None
    cores = chips * (card.tpu_cores_per_chip or 1)
    if at.setting("spot")[0] in {"only", "prefer"} and card.name in _SPOT_LIMITED and cores > _SPOT_CORES:
        reason = f"{card.name} slices of more than {_SPOT_CORES} cores are not sold as spot, {topology} has {cores}"
        at.refuse(path, reason, "Use `spot: never`, or topology 2x2.", topology)
        return None
    return Slice(topology=topology, chips=chips, per_node=per_node)
