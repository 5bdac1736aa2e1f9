"""Claim: cards are asked for whole."""

from __future__ import annotations

from rehearsal.api import ApiFaultError
from rehearsal.claims import ready
from rehearsal.claims.claim import Claim, Outcome, Per, Subject, green, not_applicable, red
from rehearsal.claims.seeing import card_pools
from rehearsal.claims.view import StageView
from rehearsal.claims.work import probe
from rehearsal.workloads import Work

ID = "whole-cards"
_HALF = "500m"
_INVALID = 422


def check(_: StageView, subject: Subject) -> Outcome:
    """Ask for half of each kind of card that the cluster has; the API server has to refuse it as invalid."""
    resources = sorted({str(pool.resource) for pool in card_pools(subject.cluster)})
    if not resources:
        return not_applicable("the cluster declares no pool with cards")
    said = ""
    for resource in resources:
        try:
            with probe(subject, ID, resource.rpartition("/")[2], Work(name="", resource=resource, cards=_HALF)):
                return red(f"the API server took a pod that asks for half a card ({resource}: {_HALF})")
        except ApiFaultError as fault:
            if fault.code != _INVALID:
                raise
            said = str(fault)
    return green(f"the API server refuses half a card of {', '.join(resources)}", refusal=said)


CLAIM = Claim(
    id=ID,
    title="no fractions of a card",
    reason="A share of a card needs a mode that the inventory names; a fraction would otherwise be taken for a card of its own.",
    per=Per.CLUSTER,
    deadline_seconds=10,
    check=check,
    requires=(ready.ID,),
)
