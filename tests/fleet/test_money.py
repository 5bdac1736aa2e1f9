"""Sums of what pools cost, idle and at full scale."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.clouds import Cloud
from fleet.money import Cost, cost_of
from fleet.records import NodePool, Price
from tests.support.plans import a_pool


def priced(name: str, usd: float | None, least: int, most: int, *, estimate: bool = False) -> NodePool:
    """Return a pool with a price and a size."""
    price = Price(usd_per_hour=usd, is_estimate=estimate, source="test", as_of="2026-11")
    return replace(a_pool(Cloud.GOOGLE), name=name, price=price, min_nodes=least, max_nodes=most)


def test_nothing_costs_nothing() -> None:
    """No pools, no dollars, no doubts."""
    assert cost_of([]) == Cost(idle_usd_per_hour=0, full_usd_per_hour=0, is_estimate=False, unpriced=())


def test_nodes_times_price() -> None:
    """Fewest nodes make the idle cost, most nodes the full one."""
    cost = cost_of([priced("a", 2.5, 0, 4), priced("b", 10, 1, 2)])
    assert (cost.idle_usd_per_hour, cost.full_usd_per_hour) == pytest.approx((10, 30))
    assert (cost.is_estimate, cost.unpriced) == (False, ())


def test_unknown_prices_are_named_and_not_summed() -> None:
    """A pool without a price is not free: it is listed."""
    cost = cost_of([priced("a", None, 1, 4), priced("b", 1, 1, 2), priced("c", None, 1, 1)])
    assert (cost.idle_usd_per_hour, cost.full_usd_per_hour, cost.unpriced) == (1, 2, ("a", "c"))


@pytest.mark.parametrize("first", [True, False])
def test_one_estimate_makes_the_sum_one(first: bool) -> None:
    """Whatever its place; an estimate without a figure is none."""
    pools = [priced("a", 1, 0, 1, estimate=first), priced("b", 1, 0, 1, estimate=not first)]
    assert cost_of(pools).is_estimate
    assert not cost_of([priced("a", None, 0, 1, estimate=True)]).is_estimate
