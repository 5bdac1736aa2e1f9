"""What a rehearsal shows of a declared fleet: one file a claim, and the order in which they run.

The order saves time: a pool is woken once, everything that needs an awake pool follows, and all go back to sleep together.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleet.errors import FleetErrors, Mistake
from rehearsal.claims import (
    at_min,
    fills,
    heals,
    max_nodes,
    no_request,
    ready,
    sleeps,
    slices,
    spot_lost,
    spot_refused,
    system_pods,
    toleration,
    unmixed,
    wakes,
    whole_cards,
)
from rehearsal.claims.claim import Claim

CLAIMS: tuple[Claim, ...] = (
    ready.CLAIM,
    at_min.CLAIM,
    whole_cards.CLAIM,
    wakes.CLAIM,
    toleration.CLAIM,
    no_request.CLAIM,
    unmixed.CLAIM,
    system_pods.CLAIM,
    fills.CLAIM,
    slices.CLAIM,
    spot_lost.CLAIM,
    spot_refused.CLAIM,
    heals.AUTOSCALER,
    heals.SCHEDULER,
    heals.CONTROLLERS,
    heals.APISERVER,
    max_nodes.CLAIM,
    heals.STORE,
    sleeps.CLAIM,
)
"""All claims, each after those it requires."""


def choose(ids: Iterable[str]) -> tuple[Claim, ...]:
    """Return the claims of these ids with all they require, and `sleeps` wherever something wakes, in running order.

    Raises:
        FleetErrors: There is no claim of an id; names all such.
    """
    wanted = set(ids)
    known = {claim.id: claim for claim in CLAIMS}
    if unknown := sorted(wanted - set(known)):
        remedy = f"Choose among {', '.join(known)}."
        raise FleetErrors(
            [Mistake(path="--claims", value=each, reason="there is no such claim", remedy=remedy) for each in unknown]
        )
    for claim in reversed(CLAIMS):
        if claim.id in wanted:
            wanted |= set(claim.requires)
    if wakes.ID in wanted:
        wanted.add(sleeps.ID)
    return tuple(claim for claim in CLAIMS if claim.id in wanted)
