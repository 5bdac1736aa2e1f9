"""What Azure would answer for the resources of an AKS fleet.

Shapes: pulumi-azure-native 3.29.0 output classes, read 2026-11-21.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from preview.outputs.standins import CERTIFICATE, SUBSCRIPTION, Answer, Declared, Function, Row


def _path(declared: Declared, provider: str, *segments: str) -> str:
    """Return a resource's path in the stand-in subscription."""
    group = declared.text("resourceGroupName", "simulated-group")
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{provider}/{'/'.join(segments)}"


def _common(declared: Declared, name: str, kind: str) -> dict[str, Any]:
    """Return what every Azure resource answers."""
    return {
        "name": name,
        "type": kind,
        "location": declared.text("location", "simulated"),
        "provisioningState": "Succeeded",
        "azureApiVersion": "simulated",
    }


def _group(declared: Declared) -> Answer:
    """Answer for a resource group."""
    name = declared.called("resourceGroupName")
    path = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"
    return path, {
        **_common(declared, name, "Microsoft.Resources/resourceGroups"),
        "properties": {"provisioningState": "Succeeded"},
    }


def _network(kind: str, name_key: str) -> Row:
    """Return the row of a Microsoft.Network resource whose name stands in input `name_key`."""

    def answer(declared: Declared) -> Answer:
        name = declared.called(name_key)
        path = _path(declared, "Microsoft.Network", kind, name)
        return path, {**_common(declared, name, f"Microsoft.Network/{kind}"), "etag": declared.digest[:8]}

    return answer


def _public_ip(declared: Declared) -> Answer:
    """Answer for a public address."""
    path, outputs = _network("publicIPAddresses", "publicIpAddressName")(declared)
    return path, {**outputs, "ipAddress": declared.public_ip()}


def _subnet(declared: Declared) -> Answer:
    """Answer for a subnet of a network."""
    name = declared.called("subnetName")
    path = _path(declared, "Microsoft.Network", "virtualNetworks", declared.text("virtualNetworkName"), "subnets", name)
    return path, {"name": name, "type": "Microsoft.Network/virtualNetworks/subnets", "provisioningState": "Succeeded"}


def _identity_block(declared: Declared) -> dict[str, Any] | None:
    """Return a cluster's identity as Azure answers it: the declared list of identities becomes a map with their ids."""
    given = declared.inputs.get("identity")
    if not isinstance(given, Mapping):
        return None
    named = given.get("userAssignedIdentities") or []
    ids = {"clientId": declared.uuid(), "principalId": declared.uuid()}
    block = {"type": given.get("type", "SystemAssigned"), "principalId": declared.uuid(), "tenantId": SUBSCRIPTION}
    return {**block, "userAssignedIdentities": {str(one): ids for one in named}} if named else block


def _cluster(declared: Declared) -> Answer:
    """Answer for an AKS cluster: host name, issuer, the kubelet's identity, the group of its nodes."""
    name, location = declared.called("resourceName"), declared.text("location", "simulated")
    host = f"{declared.text('dnsPrefix', name)}-{declared.digest[:8]}.hcp.{location}.azmk8s.invalid"
    node_group = declared.text("nodeResourceGroup") or f"MC_{declared.text('resourceGroupName')}_{name}_{location}"
    kubelet = {"clientId": declared.uuid(), "objectId": declared.uuid()}
    kubelet["resourceId"] = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{node_group}/kubelet"
    issuer = {"enabled": True, "issuerURL": f"https://{location}.oic.azmk8s.invalid/{SUBSCRIPTION}/{declared.uuid()}/"}
    given = declared.inputs.get("oidcIssuerProfile")
    version = declared.text("kubernetesVersion", "1.33")
    return _path(declared, "Microsoft.ContainerService", "managedClusters", name), {
        **_common(declared, name, "Microsoft.ContainerService/ManagedClusters"),
        "fqdn": host,
        "privateFQDN": f"private-{host}",
        "azurePortalFQDN": f"portal-{host}",
        "nodeResourceGroup": node_group,
        "identity": _identity_block(declared),
        "identityProfile": {"kubeletidentity": kubelet},
        "oidcIssuerProfile": {**given, **issuer} if isinstance(given, Mapping) else None,
        "kubernetesVersion": version,
        "currentKubernetesVersion": version,
        "maxAgentPools": 100,
        "powerState": {"code": "Running"},
        "eTag": declared.digest[:8],
        "resourceUID": declared.digest[:24],
    }


def _agent_pool(declared: Declared) -> Answer:
    """Answer for a node pool of a cluster."""
    name = declared.text("agentPoolName") or f"{declared.name[:5].lower()}{declared.digest[:7]}"
    path = _path(declared, "Microsoft.ContainerService", "managedClusters", declared.text("resourceName"), "agentPools", name)
    return path, {
        "name": name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "provisioningState": "Succeeded",
        "currentOrchestratorVersion": declared.text("orchestratorVersion", "1.33"),
        "nodeImageVersion": "simulated",
        "eTag": declared.digest[:8],
        "azureApiVersion": "simulated",
    }


def _identity(declared: Declared) -> Answer:
    """Answer for a user-assigned identity."""
    name = declared.called("resourceName")
    path = _path(declared, "Microsoft.ManagedIdentity", "userAssignedIdentities", name)
    ids = {"clientId": declared.uuid(), "principalId": declared.uuid(), "tenantId": SUBSCRIPTION}
    return path, {**_common(declared, name, "Microsoft.ManagedIdentity/userAssignedIdentities"), **ids}


def _role_assignment(declared: Declared) -> Answer:
    """Answer for a role assignment."""
    name = declared.text("roleAssignmentName", declared.uuid())
    path = f"{declared.text('scope')}/providers/Microsoft.Authorization/roleAssignments/{name}"
    return path, {"name": name, "type": "Microsoft.Authorization/roleAssignments", "createdBy": SUBSCRIPTION}


def row_for(type_token: str) -> Row:
    """Return the row of any other Azure resource: a path, a name, a type."""
    _, module, kind = type_token.split(":")

    def answer(declared: Declared) -> Answer:
        key = f"{kind[0].lower()}{kind[1:]}Name"
        name = declared.text(key) or declared.called("resourceName")
        return _path(declared, f"Microsoft.{module.capitalize()}", kind, name), _common(declared, name, kind)

    return answer


ROWS: Mapping[str, Row] = {
    "azure-native:resources:ResourceGroup": _group,
    "azure-native:network:VirtualNetwork": _network("virtualNetworks", "virtualNetworkName"),
    "azure-native:network:NatGateway": _network("natGateways", "natGatewayName"),
    "azure-native:network:NetworkSecurityGroup": _network("networkSecurityGroups", "networkSecurityGroupName"),
    "azure-native:network:RouteTable": _network("routeTables", "routeTableName"),
    "azure-native:network:PublicIPAddress": _public_ip,
    "azure-native:network:Subnet": _subnet,
    "azure-native:containerservice:ManagedCluster": _cluster,
    "azure-native:containerservice:AgentPool": _agent_pool,
    "azure-native:managedidentity:UserAssignedIdentity": _identity,
    "azure-native:authorization:RoleAssignment": _role_assignment,
}


def _credentials(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a cluster's kubeconfig: one file in base64, as the API gives it."""
    name = args.get("resourceName", "simulated")
    cluster = f"{{name: {name}, cluster: {{server: 'https://{name}.invalid:443', certificate-authority-data: {CERTIFICATE}}}}}"
    text = f"apiVersion: v1\nkind: Config\ncurrent-context: {name}\nclusters: [{cluster}]\n"
    text += (
        f"contexts: [{{name: {name}, context: {{cluster: {name}, user: simulated}}}}]\nusers: [{{name: simulated, user: {{}}}}]\n"
    )
    return {"kubeconfigs": [{"name": "clusterUser", "value": base64.b64encode(text.encode()).decode()}]}


def _client_config(_args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for the credentials in use."""
    ids = ("clientId", "objectId", "subscriptionId", "tenantId")
    return dict.fromkeys(ids, SUBSCRIPTION)


FUNCTIONS: Mapping[str, Function] = {
    "azure-native:containerservice:listManagedClusterUserCredentials": _credentials,
    "azure-native:containerservice:listManagedClusterAdminCredentials": _credentials,
    "azure-native:authorization:getClientConfig": _client_config,
}
