"""What an API server would answer: names, namespaces, and what controllers fill in.

Shapes: pulumi-kubernetes 4.34.2 output classes, read 2026-11-21. An object without a name gets one as the provider makes it:
its logical name, a dash and a few characters.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from preview.outputs.standins import CERTIFICATE, Answer, Declared, Function, Row

_CLUSTER_WIDE = frozenset(
    {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PriorityClass", "StorageClass", "Node"}
)
_TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105 -- a type of Secret, no secret


def _metadata(declared: Declared) -> dict[str, Any]:
    """Return an object's metadata: what was declared, with name, namespace and uid filled in."""
    given = declared.inputs.get("metadata")
    metadata = dict(given) if isinstance(given, Mapping) else {}
    if not metadata.get("name"):
        prefix = str(metadata.get("generateName") or f"{declared.name}-")
        metadata["name"] = f"{prefix}{declared.digest[:7]}"
    if declared.type.rpartition(":")[2] not in _CLUSTER_WIDE:
        metadata.setdefault("namespace", "default")
    metadata.update(uid=declared.uuid(), resourceVersion="1", creationTimestamp="2000-01-01T00:00:00Z", generation=1)
    return metadata


def _object(declared: Declared) -> Answer:
    """Answer for any object: its metadata, and ``namespace/name`` as its id."""
    metadata = _metadata(declared)
    place = f"{metadata['namespace']}/" if "namespace" in metadata else ""
    return f"{place}{metadata['name']}", {"metadata": metadata}


def _secret(declared: Declared) -> Answer:
    """Answer for a Secret; one that asks for a service account's token has it."""
    identity, outputs = _object(declared)
    if declared.text("type") == _TOKEN_TYPE:
        encode = base64.b64encode
        namespace = str(outputs["metadata"].get("namespace", "default"))
        token = encode(f"simulated-token-{declared.digest[:12]}".encode()).decode()
        outputs["data"] = {"token": token, "ca.crt": CERTIFICATE, "namespace": encode(namespace.encode()).decode()}
    else:
        outputs.setdefault("type", declared.text("type", "Opaque"))
    return identity, outputs


def _service(declared: Declared) -> Answer:
    """Answer for a Service, with addresses."""
    identity, outputs = _object(declared)
    given = declared.inputs.get("spec")
    spec = dict(given) if isinstance(given, Mapping) else {}
    spec.setdefault("clusterIP", declared.private_ip())
    ingress = [{"ip": declared.public_ip()}] if spec.get("type") == "LoadBalancer" else []
    return identity, {**outputs, "spec": spec, "status": {"loadBalancer": {"ingress": ingress}}}


def _release(declared: Declared) -> Answer:
    """Answer for a Helm release."""
    name, namespace = declared.called(), declared.text("namespace", "default")
    status = {"name": name, "namespace": namespace, "revision": 1, "status": "deployed", "version": declared.text("version")}
    return f"{namespace}/{name}", {"name": name, "namespace": namespace, "status": status, "resourceNames": {}}


def row_for(_type_token: str) -> Row:
    """Return the row of any other object, custom resources included."""
    return _object


ROWS: Mapping[str, Row] = {
    "kubernetes:core/v1:Secret": _secret,
    "kubernetes:core/v1:Service": _service,
    "kubernetes:helm.sh/v3:Release": _release,
}

FUNCTIONS: Mapping[str, Function] = {}
