"""What Google Cloud would answer for the resources of a GKE fleet. Shapes: pulumi-gcp 10.2.0 output classes, read 2026-11-21."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preview.outputs.standins import CERTIFICATE, PROJECT, Answer, Declared, Function, Row

_API = "https://www.googleapis.com"


def _project(declared: Declared) -> str:
    """Return the resource's own project, else the stand-in project."""
    return declared.text("project", PROJECT)


def _compute(collection: str) -> Row:
    """Return the row of a Compute Engine resource; `collection` is its part of the URL, regional unless it says global."""

    def answer(declared: Declared) -> Answer:
        name, project = declared.called(), _project(declared)
        place = collection
        if not collection.startswith("global/"):
            place = f"regions/{declared.text('region', 'simulated-region1')}/{collection}"
        path = f"projects/{project}/{place}/{name}"
        return path, {
            "name": name,
            "project": project,
            "region": None if collection.startswith("global/") else declared.text("region", "simulated-region1"),
            "selfLink": f"{_API}/compute/v1/{path}",
            "gatewayIpv4": "192.0.2.1",
            "creationTimestamp": "2000-01-01T00:00:00.000-00:00",
        }

    return answer


def _cluster(declared: Declared) -> Answer:
    """Answer for a GKE cluster: bare address as endpoint, CA in base64, as the provider gives them."""
    name, project = declared.called(), _project(declared)
    location = declared.text("location", "simulated-region1")
    path = f"projects/{project}/locations/{location}/clusters/{name}"
    version = declared.text("minMasterVersion", "1.33.0-gke.0")
    return path, {
        "name": name,
        "project": project,
        "location": location,
        "endpoint": declared.public_ip(),
        "masterAuth": {"clientCertificate": "", "clientKey": "", "clusterCaCertificate": CERTIFICATE},
        "masterVersion": version,
        "selfLink": f"{_API}/container/v1/{path}",
        "clusterIpv4Cidr": declared.text("clusterIpv4Cidr", "192.0.2.0/24"),
        "servicesIpv4Cidr": "198.51.100.0/24",
        "workloadIdentityConfig": declared.inputs.get("workloadIdentityConfig", {"workloadPool": f"{project}.svc.id.goog"}),
        "controlPlaneEndpointsConfig": _endpoints(declared, project),
        "labelFingerprint": declared.digest[:8],
    }


def _endpoints(declared: Declared, project: str) -> dict[str, Any]:
    """Return the control plane's endpoints: what was declared, and a DNS name."""
    given = declared.inputs.get("controlPlaneEndpointsConfig")
    config = dict(given) if isinstance(given, Mapping) else {}
    dns = dict(config.get("dnsEndpointConfig") or {})
    dns["endpoint"] = f"gke-{declared.digest[:12]}.{project}.invalid"
    return {**config, "dnsEndpointConfig": dns}


def _node_pool(declared: Declared) -> Answer:
    """Answer for a node pool, with one instance group per zone."""
    name, project = declared.called(), _project(declared)
    cluster = declared.text("cluster").rpartition("/")[2]
    location = declared.text("location", "simulated-region1")
    zones = declared.inputs.get("nodeLocations") or [location]
    group = f"gke-{cluster}-{name}-{declared.digest[:8]}-grp"
    base = f"{_API}/compute/v1/projects/{project}/zones"
    return f"projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}", {
        "name": name,
        "project": project,
        "location": location,
        "nodeLocations": list(zones),
        "version": declared.text("version", "1.33.0-gke.0"),
        "instanceGroupUrls": [f"{base}/{zone}/instanceGroupManagers/{group}" for zone in zones],
        "managedInstanceGroupUrls": [f"{base}/{zone}/instanceGroups/{group}" for zone in zones],
    }


def _service_account(declared: Declared) -> Answer:
    """Answer for a service account: its address and IAM member name."""
    account, project = declared.called("accountId"), _project(declared)
    email = f"{account}@{project}.iam.gserviceaccount.com"
    path = f"projects/{project}/serviceAccounts/{email}"
    return path, {
        "accountId": account,
        "project": project,
        "email": email,
        "member": f"serviceAccount:{email}",
        "name": path,
        "uniqueId": str(int(declared.digest[:16], 16)),
    }


def _binding(declared: Declared) -> Answer:
    """Answer for an IAM binding: its etag."""
    where = declared.text("project") or declared.text("serviceAccountId") or PROJECT
    return f"{where}/{declared.text('role')}/{declared.text('member')}", {"etag": declared.digest[:12]}


def _service(declared: Declared) -> Answer:
    """Answer for an enabled API."""
    return f"{_project(declared)}/{declared.text('service')}", {"project": _project(declared)}


def _key_ring(declared: Declared) -> Answer:
    """Answer for a KMS key ring."""
    path = f"projects/{_project(declared)}/locations/{declared.text('location')}/keyRings/{declared.called()}"
    return path, {"name": declared.called(), "project": _project(declared)}


def _crypto_key(declared: Declared) -> Answer:
    """Answer for a KMS key."""
    return f"{declared.text('keyRing')}/cryptoKeys/{declared.called()}", {"name": declared.called()}


def row_for(_type_token: str) -> Row:
    """Return the row of any other Google resource: a name, a project, a path as its id."""

    def answer(declared: Declared) -> Answer:
        kind = declared.type.rpartition(":")[2]
        project = _project(declared)
        return f"projects/{project}/{kind}/{declared.called()}", {"name": declared.called(), "project": project}

    return answer


ROWS: Mapping[str, Row] = {
    "gcp:compute/network:Network": _compute("global/networks"),
    "gcp:compute/subnetwork:Subnetwork": _compute("subnetworks"),
    "gcp:compute/router:Router": _compute("routers"),
    "gcp:compute/routerNat:RouterNat": _compute("nats"),
    "gcp:compute/firewall:Firewall": _compute("global/firewalls"),
    "gcp:compute/address:Address": _compute("addresses"),
    "gcp:compute/globalAddress:GlobalAddress": _compute("global/addresses"),
    "gcp:container/cluster:Cluster": _cluster,
    "gcp:container/nodePool:NodePool": _node_pool,
    "gcp:serviceaccount/account:Account": _service_account,
    "gcp:serviceAccount/account:Account": _service_account,
    "gcp:projects/iAMMember:IAMMember": _binding,
    "gcp:serviceaccount/iAMMember:IAMMember": _binding,
    "gcp:serviceAccount/iAMMember:IAMMember": _binding,
    "gcp:projects/service:Service": _service,
    "gcp:kms/keyRing:KeyRing": _key_ring,
    "gcp:kms/cryptoKey:CryptoKey": _crypto_key,
}


def _get_project(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a project look-up."""
    project = args.get("projectId") or PROJECT
    return {"id": f"projects/{project}", "projectId": project, "name": project, "number": "000000000000", "labels": {}}


def _get_client_config(_args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for the look-up of the credentials in use."""
    return {"id": "simulated", "project": PROJECT, "region": "simulated-region1", "zone": "", "accessToken": "simulated"}


def _get_zones(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for the zones of a region."""
    region = args.get("region") or "simulated-region1"
    return {"id": region, "names": [f"{region}-{letter}" for letter in "abc"], "project": PROJECT, "region": region}


FUNCTIONS: Mapping[str, Function] = {
    "gcp:organizations/getProject:getProject": _get_project,
    "gcp:organizations/getClientConfig:getClientConfig": _get_client_config,
    "gcp:compute/getZones:getZones": _get_zones,
}
