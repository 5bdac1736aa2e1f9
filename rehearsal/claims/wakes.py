"""Claim: work for a card wakes exactly its pool, once, in an allowed zone, and runs there.

The work stays, so that later claims find an awake pool; `rehearsal.claims.sleeps` ends it.
"""

from __future__ import annotations

from contextlib import suppress

from lightkube.resources.core_v1 import Node, Pod

from fleet.labels import CARD_LABEL
from rehearsal.api import ApiFaultError
from rehearsal.claims import at_min
from rehearsal.claims.claim import (
    Claim,
    NotInTimeError,
    NotSoError,
    Outcome,
    Per,
    Subject,
    green,
    not_applicable,
    not_rehearsed,
    red,
)
from rehearsal.claims.seeing import ZONE_LABEL, labels_of, nodes_by_pool, pool_landed, stray_card, taints_of, wait_running
from rehearsal.claims.view import ClusterView, StageView
from rehearsal.claims.work import end, for_cards, name_of, start_job, work_name
from rehearsal.nodes.template import NodeTemplate

ID = "wakes"
_SETTLE_SECONDS = 1.5
"""Longer than one decision of the autoscaler: a second node would show by then."""
_ASLEEP_SECONDS = 4.0
"""How long a pool is watched that is known to lack a hint: it would have its node by then, were the hint not needed."""
_TIDY_SECONDS = 20.0


def standing_work(pool: NodeTemplate) -> str:
    """Return the name of the work that this claim leaves on a pool."""
    return work_name(ID, pool.pool)


def start_standing(cluster: ClusterView, pool: NodeTemplate) -> str:
    """Start the work that keeps a pool awake: all cards of one node, or of one slice; returns its name."""
    return start_job(cluster, ID, pool.pool, for_cards(cluster, pool), pods=pool.hosts)


def check(_: StageView, subject: Subject) -> Outcome:
    """Start the work, see where it runs and what was made for it; the work stays if all is well."""
    cluster, pool = subject.cluster, subject.pool
    if pool.resource is None and CARD_LABEL in pool.labels:
        return red(f"the pool promises {CARD_LABEL}={pool.labels[CARD_LABEL]}, and its machine {pool.machine} carries no card")
    if pool.resource is None:
        return not_applicable("the pool's machines carry no card")
    if why := cluster.autoscaler.not_rehearsed.get(pool.pool):
        return not_rehearsed(why)
    why_asleep = cluster.autoscaler.asleep.get(pool.pool, "")
    work = start_standing(cluster, pool)
    stays = False
    try:
        patience = subject.patience.more(_ASLEEP_SECONDS) if why_asleep else subject.patience
        began = patience.passed
        pods = wait_running(cluster, pool, work, patience, pool.hosts)
        outcome = _judged(subject, pods, patience.passed - began)
        stays = outcome.green
    finally:
        if not stays:
            with suppress(ApiFaultError, NotInTimeError):  # the cause is told, not what became of tidying up
                end(cluster, work, subject.patience.more(_TIDY_SECONDS))
    return outcome


def _judged(subject: Subject, pods: list[Pod], seconds: float) -> Outcome:
    """Return what to say of the nodes that the pods run on."""
    cluster, pool = subject.cluster, subject.pool
    nodes: list[Node] = []
    for pod in pods:
        landed, node = pool_landed(cluster, pod)
        if node is None or landed != pool.pool:
            raise NotSoError(_elsewhere(pool, pod, landed, node))
        if wrong := stray_card(pool, node) or _wrong_node(pool, node):
            return red(wrong)
        nodes.append(node)
    if extra := subject.patience.hold(_SETTLE_SECONDS, lambda: _too_many(cluster, pool)):
        return red(extra)
    zones = sorted({labels_of(node)[ZONE_LABEL] for node in nodes})
    where = ", ".join(sorted({name_of(node) for node in nodes}))
    return green(f"awake after {seconds:.1f} s in {', '.join(zones)}", awake_seconds=round(seconds, 1), node=where)


def _elsewhere(pool: NodeTemplate, pod: Pod, landed: str, node: Node | None) -> str:
    """Return what to say of work that runs in another pool than the one it was for."""
    if node is None:
        return f"{name_of(pod)} ran for {pool.pool}, and its node is gone"
    taints = ", ".join(str(taint) for taint in taints_of(node)) or "none"
    where = f"{landed or 'no declared pool'} on {name_of(node)}"
    return f"{name_of(pod)} is for {pool.pool} and runs in {where}, whose taints are: {taints}"


def _wrong_node(pool: NodeTemplate, node: Node) -> str:
    """Return what a node has that differs from what the pool declares, empty when nothing does."""
    zone = labels_of(node).get(ZONE_LABEL)
    if zone not in pool.zones:
        return f"node {name_of(node)} is in zone {zone}, and the pool is declared for {', '.join(pool.zones)}"
    if missing := set(pool.taints) - set(taints_of(node)):
        return f"node {name_of(node)} came up without the declared taint {', '.join(str(taint) for taint in sorted(missing))}"
    wrong = sorted(f"{key}={value}" for key, value in pool.labels.items() if labels_of(node).get(key) != value)
    return f"node {name_of(node)} came up without the declared label {', '.join(wrong)}" if wrong else ""


def _too_many(cluster: ClusterView, pool: NodeTemplate) -> str | None:
    """Return what to say when more nodes were made than one for each piece of work, None when not."""
    for each in cluster.declared.templates:
        present = len(nodes_by_pool(cluster)[each.pool])
        most = max(each.min_nodes, each.hosts if each.resource else 0)
        if present > most:
            whose = "the pool has" if each.pool == pool.pool else f"pool {each.pool} has"
            return f"{whose} {present} nodes, and {most} would do for the work there is"
    return None


CLAIM = Claim(
    id=ID,
    title="work for the card wakes exactly this pool from zero",
    reason="This is what the fleet is for: a card when it is asked for, one node of the right kind, and none otherwise.",
    per=Per.POOL,
    deadline_seconds=60,
    check=check,
    requires=(at_min.ID,),
    side_by_side=True,
)
