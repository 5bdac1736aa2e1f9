"""What OpenStack would answer for the resources of a Magnum fleet. Shapes: pulumi-openstack 5.5.3, read 2026-11-21."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preview.outputs.standins import Answer, Declared, Function, Row

_PEM = "-----BEGIN {kind}-----\nc2ltdWxhdGVk\n-----END {kind}-----\n"
_REGION = "simulated"


def _named(declared: Declared) -> Answer:
    """Answer for any OpenStack resource: a UUID, a name, a region."""
    return declared.uuid(), {"name": declared.called(), "region": declared.text("region", _REGION), "allTags": []}


def _cluster(declared: Declared) -> Answer:
    """Answer for a Magnum cluster; the kubeconfig map has snake_case keys and a CA in PEM, as the provider gives them."""
    identity, outputs = _named(declared)
    address = f"https://{declared.public_ip()}:6443"
    kubeconfig = {
        "raw_config": f"apiVersion: v1\nkind: Config\nclusters: [{{name: simulated, cluster: {{server: '{address}'}}}}]\n",
        "host": address,
        "cluster_ca_certificate": _PEM.format(kind="CERTIFICATE"),
        "client_certificate": _PEM.format(kind="CERTIFICATE"),
        "client_key": _PEM.format(kind="PRIVATE KEY"),
    }
    return identity, {
        **outputs,
        "apiAddress": address,
        "kubeconfig": kubeconfig,
        "stackId": declared.uuid(),
        "masterAddresses": [declared.private_ip()],
        "nodeAddresses": [],
        "coeVersion": "simulated",
        "containerVersion": "simulated",
        "createdAt": "2000-01-01T00:00:00Z",
        "projectId": "0" * 32,
        "userId": "0" * 32,
    }


def _keypair(declared: Declared) -> Answer:
    """Answer for a key pair: its name is its id."""
    name = declared.called()
    return name, {
        "name": name,
        "fingerprint": ":".join(["00"] * 16),
        "publicKey": declared.text("publicKey", "ssh-rsa simulated"),
    }


def row_for(_type_token: str) -> Row:
    """Return the row of any other OpenStack resource."""
    return _named


ROWS: Mapping[str, Row] = {
    "openstack:containerinfra/cluster:Cluster": _cluster,
    "openstack:compute/keypair:Keypair": _keypair,
}


def _found(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a look-up by name: a stable id beside what was asked for."""
    declared = Declared(type="", name=str(args.get("name", "")), urn=f"lookup {sorted(args.items())}", inputs=args)
    return {**args, "id": declared.uuid(), "region": args.get("region") or _REGION}


def _flavor(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a flavor look-up."""
    found = _found(args)
    return {**found, "flavorId": found["id"]}


FUNCTIONS: Mapping[str, Function] = {
    "openstack:compute/getFlavor:getFlavor": _flavor,
    "openstack:images/getImage:getImage": _found,
    "openstack:networking/getNetwork:getNetwork": _found,
    "openstack:networking/getSubnet:getSubnet": _found,
    "openstack:networking/getRouter:getRouter": _found,
    "openstack:identity/getProject:getProject": _found,
    "openstack:containerinfra/getClusterTemplate:getClusterTemplate": _found,
    "openstack:containerinfra/getCluster:getCluster": _found,
}
