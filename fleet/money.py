"""What pools cost when nobody works, and when everybody does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.records import NodePool


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Cost of some pools, nodes only: control planes, network, disks and system pools are not in it.

    Attributes:
        idle_usd_per_hour: US dollars an hour with every pool at its fewest nodes.
        full_usd_per_hour: US dollars an hour with every pool at its most nodes.
        is_estimate: Whether some figure in it is an estimate.
        unpriced: Names of the pools whose nodes have no known price; they are not in the sums.
    """

    idle_usd_per_hour: float = 0.0
    full_usd_per_hour: float = 0.0
    is_estimate: bool = False
    unpriced: tuple[str, ...] = ()


def cost_of(pools: Iterable[NodePool]) -> Cost:
    """Return what pools cost together; fewest and most nodes times the price of a node."""
    idle = full = 0.0
    is_estimate = False
    unpriced: list[str] = []
    for pool in pools:
        if pool.price.usd_per_hour is None:
            unpriced.append(pool.name)
            continue
        idle += pool.min_nodes * pool.price.usd_per_hour
        full += pool.max_nodes * pool.price.usd_per_hour
        is_estimate |= pool.price.is_estimate
    return Cost(idle_usd_per_hour=idle, full_usd_per_hour=full, is_estimate=is_estimate, unpriced=tuple(unpriced))
