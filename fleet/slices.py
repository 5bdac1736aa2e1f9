"""TPU slices: from a topology to cards on a node and nodes of a slice."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fleet.accelerators import AcceleratorKind
from fleet.catalogue import Card, Catalogue
from fleet.inventory import MOST_NODES
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
    chips = math.prod(int(axis) for axis in topology.split("x"))
    counts = {offer.accelerators for offer in catalogue.offers_of(card.name, at.scope.cloud)}
    per_node = at.pool.per_node or (chips if chips in counts else _MULTI_HOST_CHIPS)
    wanted = Slice(topology=topology, chips=chips, per_node=per_node)
    refusal = _refusal(at, card, wanted)
    if refusal is None:
        return wanted
    reason, remedy = refusal
    at.refuse((*at.path, "topology"), reason, remedy, topology)
    return None


def _refusal(at: PoolScope, card: Card, wanted: Slice) -> tuple[str, str] | None:
    """Return why a slice cannot be had and what to do instead, None when it can."""
    chips, per_node = wanted.chips, wanted.per_node
    hosts = wanted.hosts(per_node)
    cores = chips * (card.tpu_cores_per_chip or 1)
    is_spot = at.setting("spot")[0] in {"only", "prefer"}
    if card.kind is not AcceleratorKind.TPU:
        return f"{card.name} is no TPU and has no slice topology", "Leave `topology` out."
    if chips % per_node:
        remedy = "Use a topology whose product is a multiple of the chips on a node, such as 2x4 or 4x4."
        return f"{chips} chips cannot be split over nodes of {per_node}", remedy
    if hosts > 1 and per_node != _MULTI_HOST_CHIPS:
        remedy = f"Leave `per_node` out, or use a topology of {per_node} chips."
        return f"slices over several nodes have {_MULTI_HOST_CHIPS} chips on each, not {per_node}", remedy
    if hosts > MOST_NODES:
        remedy = f"Use a topology of at most {MOST_NODES * per_node} chips."
        return f"{chips} chips are {hosts} nodes, more than a pool can have", remedy
    if is_spot and card.name in _SPOT_LIMITED and cores > _SPOT_CORES:
        reason = f"{card.name} slices of more than {_SPOT_CORES} cores are not sold as spot, {wanted.topology} has {cores}"
        return reason, "Use `spot: never`, or topology 2x2."
    return None
