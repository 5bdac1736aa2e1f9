"""Karpenter's custom resources and rights in a rehearsed cluster.

The definitions are of our own making: names, scope, status and one default, without the schemas of fields. Karpenter's
own (300 KB of YAML a cluster) would have to be fetched, and checked again what the program checks itself: it reports what it
does not like in a NodePool's conditions, which `rehearsal.autoscaler.Autoscaler.start` waits for.
Rights are those of the chart's roles (v1.14.3, kwok/charts/templates), read on 2026-11-21, without leases of leaders.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.api import custom_kind

USER = "gpufleet:autoscaler"
"""Who Karpenter is."""

NODE_POOL = custom_kind("karpenter.sh/v1", "NodePool", "nodepools", namespaced=False)
NODE_CLAIM = custom_kind("karpenter.sh/v1", "NodeClaim", "nodeclaims", namespaced=False)

_NAME = "gpufleet-autoscaler"
_RBAC = "rbac.authorization.k8s.io"
_SUBJECT = {"kind": "User", "name": USER, "apiGroup": _RBAC}
_READ = ("get", "list", "watch")
_LOOSE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_READY = {
    "conditions": [
        {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z"}
    ]
}
"""Nothing reports on a node class of kwok, and a NodePool waits for its class to be ready: so it is from the start."""


def _definition(api_version: str, kind: str, status: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition of a kind that lives outside namespaces."""
    group, _, version = api_version.rpartition("/")
    plural = "kwoknodeclasses" if kind == "KWOKNodeClass" else f"{kind.lower()}s"
    schema = {"type": "object", "properties": {"spec": _LOOSE, "status": {**_LOOSE, **status}}}
    served = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "scope": "Cluster",
            "versions": [{**served, "schema": {"openAPIV3Schema": schema}}],
        },
    }


DEFINITIONS: tuple[Mapping[str, Any], ...] = (
    _definition("karpenter.sh/v1", "NodePool", {}),
    _definition("karpenter.sh/v1", "NodeClaim", {}),
    _definition("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", {"default": _READY}),
)


def _may(group: str, kinds: list[str], *verbs: str) -> dict[str, list[str]]:
    """Return an RBAC rule."""
    return {"apiGroups": [group], "resources": kinds, "verbs": list(verbs)}


RIGHTS: tuple[Mapping[str, Any], ...] = (
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": _NAME},
        "rules": [
            _may("karpenter.kwok.sh", ["kwoknodeclasses", "kwoknodeclasses/status"], *_READ, "patch", "update"),
            _may("karpenter.sh", ["nodepools", "nodepools/status", "nodepools/finalizers"], *_READ, "patch", "update"),
            _may(
                "karpenter.sh",
                ["nodeclaims", "nodeclaims/status", "nodeclaims/finalizers"],
                *_READ,
                "create",
                "delete",
                "patch",
                "update",
            ),
            _may("", ["pods", "persistentvolumes", "persistentvolumeclaims", "replicationcontrollers", "namespaces"], *_READ),
            _may("", ["nodes"], *_READ, "create", "delete", "patch", "update"),
            _may("", ["events"], "create", "patch"),
            _may("", ["pods/eviction"], "create"),
            _may("", ["pods"], "delete"),
            _may("storage.k8s.io", ["storageclasses", "csinodes", "volumeattachments"], *_READ),
            _may("apps", ["daemonsets", "deployments", "replicasets", "statefulsets"], *_READ),
            _may("apiextensions.k8s.io", ["customresourcedefinitions"], *_READ),
            _may("policy", ["poddisruptionbudgets"], *_READ),
            _may("coordination.k8s.io", ["leases"], *_READ, "delete"),
        ],
    },
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _NAME},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _NAME},
        "subjects": [_SUBJECT],
    },
)
"""Least rights for Karpenter."""
