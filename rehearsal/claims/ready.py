"""Claim: a cluster's control plane is ready."""

from __future__ import annotations

from lightkube.resources.core_v1 import ServiceAccount

from rehearsal.claims.claim import Claim, NotInTimeError, Outcome, Per, Subject, green, red
from rehearsal.claims.view import Part, StageView

ID = "ready"


def check(_: StageView, subject: Subject) -> Outcome:
    """Wait until every program is ready and the API gives pods an account to run under."""
    cluster = subject.cluster
    try:
        subject.patience.wait("programs ready", lambda: all(cluster.programs.is_ready(part) for part in Part))
    except NotInTimeError:
        waiting = [part for part in Part if not cluster.programs.is_ready(part)]
        return red(f"not ready: {', '.join(waiting) or 'they were not all ready at once'}; their logs say why")
    subject.patience.wait("the default service account", lambda: cluster.api.find(ServiceAccount, "default", "default"))
    return green("API server, scheduler, controller-manager, etcd and autoscaler are ready")


CLAIM = Claim(
    id=ID,
    title="control plane ready",
    reason="Nothing else can be shown of a cluster whose programs do not run.",
    per=Per.CLUSTER,
    deadline_seconds=30,
    check=check,
)
