"""What a pool without nodes needs so that a pod for its card wakes it: one check for all clouds, in each cloud's words."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.labels import CARD_LABEL, Taint
from rehearsal.nodes.machines import Machine


def missing_label(machine: Machine, labels: Mapping[str, str], hint: str) -> tuple[str, ...]:
    """Return what is wrong with the card's label as the autoscaler sees it.

    Args:
        machine: The declared machine.
        labels: Labels that the autoscaler expects.
        hint: The property or tag that would give the label, without the value.
    """
    seen = labels.get(CARD_LABEL)
    if machine.card is None or seen == machine.card:
        return ()
    if seen is None:
        return (f"{hint} is not there; it has to be {machine.card}",)
    return (f"{hint} is {seen}, but {machine.name} carries {machine.card}",)


def missing_resource(machine: Machine, resources: Mapping[str, str], hint: str) -> tuple[str, ...]:
    """Return what is wrong with the extended resource as the autoscaler sees it; `hint` as in `missing_label`."""
    if machine.resource is None:
        return ()
    seen = resources.get(machine.resource)
    if seen == str(machine.accelerators):
        return ()
    if seen is None:
        return (f"{hint} is not there; it has to be {machine.accelerators}",)
    return (f"{hint} is {seen}, but {machine.name} has {machine.accelerators}",)


def missing_card(machine: Machine, labels: Mapping[str, str], hint: str) -> tuple[str, ...]:
    """Return that a pool promises a card by its label which its machine does not carry; `hint` says what would give it one."""
    promised = labels.get(CARD_LABEL)
    if promised is None or machine.card is not None:
        return ()
    return (f"{hint}: the pool is labelled {CARD_LABEL}={promised}, but {machine.name} carries no card",)


def missing_room(max_nodes: int, hint: str, *, is_autoscaled: bool = True) -> tuple[str, ...]:
    """Return that a pool may not grow: `hint` is the property that says so."""
    if not is_autoscaled:
        return (f"{hint} does not let the autoscaler have the pool",)
    return () if max_nodes > 0 else (f"{hint} is {max_nodes}, so the pool may have no node",)


def merged(*groups: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Return taints of several origins, each key and effect once, the first origin's value first, sorted."""
    found: dict[tuple[str, str], Taint] = {}
    for taint in (taint for group in groups for taint in group):
        found.setdefault((taint.key, taint.effect), taint)
    return tuple(sorted(found.values()))
