"""The kubelets of one cluster, simulated by kwok: nodes turn Ready and stay so, pods run, end and go, no container is started.

The stages below say what a simulated kubelet does. They stand in kwok's own configuration file, so that the cluster needs no
custom resources for them. Field names are those of kwok v0.8.0 (pkg/apis/v1alpha1), read on 2026-11-21.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rehearsal.api import objects
from rehearsal.controlplane import RANK_CLIENTS, ControlPlane
from rehearsal.flags import Program
from rehearsal.pki import write_private
from rehearsal.probes import http_probe
from rehearsal.processes import ProcessSpec

USER = "gpufleet:kubelets"
"""Who kwok is. Not a node: one kwok speaks for all nodes of a cluster, and a node's identity may speak for that node alone."""

SIMULATED = "simulated by kwok"
"""Label for whatever shows nodes or pods to people."""

NODE_ANNOTATION = ("kwok.x-k8s.io/node", "fake")
"""Nodes that carry it are simulated; Karpenter's provider for kwok sets it on those it makes."""

DELAY_ANNOTATION = "pod-complete.stage.kwok.x-k8s.io/delay"
JITTER_ANNOTATION = "pod-complete.stage.kwok.x-k8s.io/jitter-delay"

_LEASE_SECONDS = 40
"""As a real kubelet's lease (kubernetes.io/docs/concepts/architecture/leases, 2026-11-21); kwok renews at a quarter of it."""

_NAME = "gpufleet-kubelets"


def works_for(seconds: float) -> dict[str, str]:
    """Return the annotations that make a Job's pod run for so long and then succeed."""
    return {DELAY_ANNOTATION: f"{seconds}s", JITTER_ANNOTATION: f"{seconds}s"}


class Kubelets:
    """The simulated kubelets of a cluster.

    Args:
        plane: The cluster's control plane, ready when `start` is called.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.name = plane.name_of(Program.KUBELETS)

    def start(self) -> float:
        """Give kwok its rights, start it and return the seconds until it was ready; raises FleetErrors."""
        for obj in objects(_RIGHTS):
            self._plane.api.apply(obj)
        return self._plane.ground.supervisor.start_ready(self._spec())

    def _spec(self) -> ProcessSpec:
        """Return how kwok is run."""
        ground = self._plane.ground
        folder = ground.folder(f"{self._plane.id}/kubelets")
        config = folder / "kwok.yaml"
        write_private(config, "\n---\n".join(json.dumps(document) for document in (_CONFIGURATION, *STAGES)).encode())
        port = ground.ports.take()
        options = {
            "kubeconfig": self._plane.kubeconfig_for(USER),
            "config": config,
            "manage-nodes-with-annotation-selector": "=".join(NODE_ANNOTATION),
            "node-ip": "127.0.0.1",
            "node-port": port,
            "server-address": f"127.0.0.1:{port}",
        }
        return ProcessSpec(
            name=self.name,
            argv=(str(ground.program(Program.KUBELETS)), *(f"--{name}={value}" for name, value in options.items())),
            env=ground.environment(folder),
            cwd=folder,
            ready=http_probe(port, "/healthz"),
            rank=RANK_CLIENTS,
        )


def _stage(name: str, kind: str, matching: list[dict[str, Any]], **behaviour: object) -> dict[str, Any]:
    """Return a stage: objects of `kind` that match all expressions are changed as `behaviour` says."""
    spec = {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": {"matchExpressions": matching}, **behaviour}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def _is(path: str, *values: str) -> dict[str, Any]:
    """Match objects whose value at a path is one of these."""
    return {"key": path, "operator": "In", "values": list(values)}


def _is_not(path: str, *values: str) -> dict[str, Any]:
    """Match objects whose value at a path is none of these, or absent."""
    return {"key": path, "operator": "NotIn", "values": list(values)}


def _from_annotation(annotation: str) -> dict[str, str]:
    """Take a duration from an annotation."""
    return {"expressionFrom": f'.metadata.annotations["{annotation}"]'}


_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_STAYS = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}

_NODE_READY = """
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
addresses:
- type: InternalIP
  address: {{ NodeIP | Quote }}
- type: Hostname
  address: {{ NodeName | Quote }}
"""
"""What a kubelet reports first. Capacity and allocatable stay as whoever made the node declared them."""

_POD_RUNNING = """
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) .metadata.uid .metadata.name .metadata.namespace | Quote }}
conditions:
{{ range ( list "Initialized" "ContainersReady" "Ready" ) }}
- type: {{ . | Quote }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }} } }
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  {{ if eq ( or .restartPolicy "" ) "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }} } }
  {{ else }}
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }} } }
  {{ end }}
{{ end }}
"""

_POD_DONE = """
{{ $now := Now }}
phase: Succeeded
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  restartCount: 0
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }} } }
{{ end }}
"""

STAGES: tuple[Mapping[str, Any], ...] = (
    _stage("node-ready", "Node", [_is_not(_READY, "True")], next={"statusTemplate": _NODE_READY}),
    _stage(
        "pod-running",
        "Pod",
        [_STAYS, _is(".status.phase", "Pending"), _is_not(_READY, "True")],
        next={"statusTemplate": _POD_RUNNING},
    ),
    _stage(
        "pod-done",
        "Pod",
        [_STAYS, _is(".status.phase", "Running"), _is(".metadata.ownerReferences.[].kind", "Job")],
        delay={
            "durationMilliseconds": 1000,
            "durationFrom": _from_annotation(DELAY_ANNOTATION),
            "jitterDurationMilliseconds": 1000,
            "jitterDurationFrom": _from_annotation(JITTER_ANNOTATION),
        },
        next={"statusTemplate": _POD_DONE},
    ),
    _stage("pod-gone", "Pod", [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}], next={"delete": True}),
)
"""What a simulated kubelet does. The heartbeat is the lease, which kwok renews without a stage."""

_CONFIGURATION: Mapping[str, Any] = {
    "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
    "kind": "KwokConfiguration",
    "options": {
        "cidr": "10.0.0.0/16",
        "nodeLeaseDurationSeconds": _LEASE_SECONDS,
        "nodeLeaseParallelism": 4,
        "nodePlayStageParallelism": 4,
        "podPlayStageParallelism": 4,
        "podsOnNodeSyncParallelism": 1,
        "enablePodsOnNodeSyncListPager": True,
        "enablePodsOnNodeSyncStreamWatch": False,  # API servers that emulate 1.33 and older refuse it
        "enableProfilingHandler": False,
    },
}
"""The defaults that kwok v0.8.0 documents (pkg/apis/config/v1alpha1), spelt out because they did not hold when it was built as a
module's dependency (2026-11-21: "node leases parallelism must be greater than 0")."""


def _may(group: str, kinds: list[str], *verbs: str) -> dict[str, list[str]]:
    """Return an RBAC rule."""
    return {"apiGroups": [group], "resources": kinds, "verbs": list(verbs)}


_RBAC = "rbac.authorization.k8s.io"
_SUBJECT = {"kind": "User", "name": USER, "apiGroup": _RBAC}

_RIGHTS: tuple[Mapping[str, Any], ...] = (
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": _NAME},
        "rules": [
            _may("", ["nodes"], "get", "list", "watch"),
            _may("", ["pods"], "get", "list", "watch", "delete", "patch"),
            _may("", ["nodes/status", "pods/status"], "patch", "update"),
            _may("", ["events"], "create", "patch", "update"),
            _may("coordination.k8s.io", ["leases"], "create", "get", "list", "watch", "patch", "update"),
        ],
    },
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _NAME},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _NAME},
        "subjects": [_SUBJECT],
    },
    {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": {"name": _NAME},
        "spec": {
            "priorityLevelConfiguration": {"name": "system"},  # where the API server puts the requests of real kubelets
            "matchingPrecedence": 500,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [
                {
                    "subjects": [{"kind": "User", "user": {"name": USER}}],
                    "resourceRules": [
                        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
                    ],
                }
            ],
        },
    },
)
"""Least rights for kwok, and the priority of kubelets for its requests, so that a Job of 1,024 pods does not crowd them out."""
