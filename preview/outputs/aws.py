"""What AWS would answer for the resources of an EKS fleet. Shapes: pulumi-aws 7.51.1 output classes, read 2026-11-21."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from preview.outputs.standins import ACCOUNT, CERTIFICATE, Answer, Declared, Function, Row

_REGION = "simulated-region-1"


def _region(declared: Declared) -> str:
    """Return the resource's own region, else the stand-in region."""
    return declared.text("region", _REGION)


def _arn(service: str, region: str, resource: str) -> str:
    """Return an Amazon resource name in the stand-in account; IAM's have no region."""
    return f"arn:aws:{service}:{region}:{ACCOUNT}:{resource}"


def _ec2(prefix: str, kind: str) -> Row:
    """Return the row of an EC2 resource, whose id is `prefix` and 17 digits and whose ARN names `kind`."""

    def answer(declared: Declared) -> Answer:
        identity = declared.code(prefix)
        region = _region(declared)
        return identity, {
            "arn": _arn("ec2", region, f"{kind}/{identity}"),
            "ownerId": ACCOUNT,
            "region": region,
            "tagsAll": declared.inputs.get("tags"),
        }

    return answer


def _vpc(declared: Declared) -> Answer:
    """Answer for a VPC, with the route table, ACL and security group that AWS makes along."""
    identity, outputs = _ec2("vpc", "vpc")(declared)
    return identity, {
        **outputs,
        "mainRouteTableId": declared.code("rtb"),
        "defaultRouteTableId": declared.code("rtb"),
        "defaultSecurityGroupId": declared.code("sg"),
        "defaultNetworkAclId": declared.code("acl"),
        "dhcpOptionsId": declared.code("dopt"),
    }


def _subnet(declared: Declared) -> Answer:
    """Answer for a subnet, in the zone it asked for."""
    identity, outputs = _ec2("subnet", "subnet")(declared)
    zone = declared.text("availabilityZone", f"{_region(declared)}a")
    return identity, {**outputs, "availabilityZone": zone, "availabilityZoneId": f"sim-{zone}"}


def _eip(declared: Declared) -> Answer:
    """Answer for an elastic address."""
    identity = declared.code("eipalloc")
    address = {"publicIp": declared.public_ip(), "privateIp": declared.private_ip(), "allocationId": identity}
    return identity, {**address, "arn": _arn("ec2", _region(declared), f"elastic-ip/{identity}")}


def _nat(declared: Declared) -> Answer:
    """Answer for a NAT gateway."""
    identity, outputs = _ec2("nat", "natgateway")(declared)
    addresses = {"publicIp": declared.public_ip(), "privateIp": declared.private_ip()}
    return identity, {**outputs, **addresses, "networkInterfaceId": declared.code("eni")}


def _role(declared: Declared) -> Answer:
    """Answer for an IAM role."""
    name = declared.called()
    return name, {"name": name, "arn": _arn("iam", "", f"role/{name}"), "uniqueId": f"AROA{declared.digest[:17].upper()}"}


def _policy(declared: Declared) -> Answer:
    """Answer for an IAM policy."""
    name = declared.called()
    arn = _arn("iam", "", f"policy/{name}")
    return arn, {"name": name, "arn": arn, "policyId": f"ANPA{declared.digest[:17].upper()}"}


def _instance_profile(declared: Declared) -> Answer:
    """Answer for an IAM instance profile."""
    name = declared.called()
    return name, {"name": name, "arn": _arn("iam", "", f"instance-profile/{name}")}


def _oidc_provider(declared: Declared) -> Answer:
    """Answer for an OpenID Connect provider."""
    arn = _arn("iam", "", f"oidc-provider/{declared.text('url').removeprefix('https://')}")
    return arn, {"arn": arn, "thumbprintLists": declared.inputs.get("thumbprintLists") or ["0" * 40]}


def _cluster(declared: Declared) -> Answer:
    """Answer for an EKS cluster: endpoint with its scheme, CA in base64, issuer, security group."""
    name, region = declared.called(), _region(declared)
    host = f"{declared.digest[:32].upper()}.simulated.{region}.eks.invalid"
    given = declared.inputs.get("vpcConfig")
    vpc = dict(given) if isinstance(given, Mapping) else {}
    vpc.update(clusterSecurityGroupId=declared.code("sg"), vpcId=declared.code("vpc"))
    return name, {
        "name": name,
        "arn": _arn("eks", region, f"cluster/{name}"),
        "region": region,
        "endpoint": f"https://{host}",
        "certificateAuthority": {"data": CERTIFICATE},
        "certificateAuthorities": [{"data": CERTIFICATE}],
        "identities": [{"oidcs": [{"issuer": f"https://oidc.{host}/id/{declared.digest[:32].upper()}"}]}],
        "vpcConfig": vpc,
        "version": declared.text("version", "1.33"),
        "platformVersion": "eks.simulated",
        "status": "ACTIVE",
        "clusterId": name,
        "createdAt": "2000-01-01T00:00:00Z",
    }


def _node_group(declared: Declared) -> Answer:
    """Answer for a node group, with the autoscaling group that EKS makes for it."""
    name, cluster, region = declared.called("nodeGroupName"), declared.text("clusterName"), _region(declared)
    asg = f"eks-{name}-{declared.uuid()}"
    return f"{cluster}:{name}", {
        "nodeGroupName": name,
        "arn": _arn("eks", region, f"nodegroup/{cluster}/{name}/{declared.uuid()}"),
        "resources": [{"autoscalingGroups": [{"name": asg}], "remoteAccessSecurityGroupId": ""}],
        "region": region,
        "status": "ACTIVE",
        "version": declared.text("version", "1.33"),
        "releaseVersion": declared.text("releaseVersion", "simulated"),
    }


def _launch_template(declared: Declared) -> Answer:
    """Answer for a launch template at its first version."""
    identity = declared.code("lt")
    arn = _arn("ec2", _region(declared), f"launch-template/{identity}")
    return identity, {"name": declared.called(), "arn": arn, "latestVersion": 1, "defaultVersion": 1}


def _kms_key(declared: Declared) -> Answer:
    """Answer for a KMS key."""
    identity = declared.uuid()
    return identity, {"keyId": identity, "arn": _arn("kms", _region(declared), f"key/{identity}")}


def _of_cluster(kind: str, *parts: str) -> Row:
    """Return the row of what hangs on a cluster; its id is the values of these inputs joined by colons."""

    def answer(declared: Declared) -> Answer:
        path = [declared.text(part) for part in parts]
        arn = _arn("eks", _region(declared), f"{kind}/{'/'.join(path)}/{declared.uuid()}")
        outputs = {"accessEntryArn": arn} if kind == "access-entry" else {"arn": arn, "associationArn": arn}
        return ":".join(path), {**outputs, "associationId": declared.code("a"), "region": _region(declared)}

    return answer


def row_for(type_token: str) -> Row:
    """Return the row of any other AWS resource: a name, an ARN, an id."""
    service = type_token.split(":")[1].partition("/")[0]

    def answer(declared: Declared) -> Answer:
        name, region = declared.called(), _region(declared)
        arn = _arn(service, "" if service == "iam" else region, f"{type_token.rpartition(':')[2].lower()}/{name}")
        return name, {"name": name, "arn": arn, "region": region, "tagsAll": declared.inputs.get("tags")}

    return answer


ROWS: Mapping[str, Row] = {
    "aws:ec2/vpc:Vpc": _vpc,
    "aws:ec2/subnet:Subnet": _subnet,
    "aws:ec2/internetGateway:InternetGateway": _ec2("igw", "internet-gateway"),
    "aws:ec2/eip:Eip": _eip,
    "aws:ec2/natGateway:NatGateway": _nat,
    "aws:ec2/routeTable:RouteTable": _ec2("rtb", "route-table"),
    "aws:ec2/route:Route": _ec2("r-rtb", "route"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _ec2("rtbassoc", "route-table-association"),
    "aws:ec2/securityGroup:SecurityGroup": _ec2("sg", "security-group"),
    "aws:ec2/securityGroupRule:SecurityGroupRule": _ec2("sgrule", "security-group-rule"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2("vpce", "vpc-endpoint"),
    "aws:ec2/placementGroup:PlacementGroup": _ec2("pg", "placement-group"),
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:iam/role:Role": _role,
    "aws:iam/policy:Policy": _policy,
    "aws:iam/instanceProfile:InstanceProfile": _instance_profile,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _oidc_provider,
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/addon:Addon": _of_cluster("addon", "clusterName", "addonName"),
    "aws:eks/accessEntry:AccessEntry": _of_cluster("access-entry", "clusterName", "principalArn"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _of_cluster(
        "podidentityassociation", "clusterName", "namespace", "serviceAccount"
    ),
    "aws:kms/key:Key": _kms_key,
}


def _zones(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a region's zones."""
    region = args.get("region") or _REGION
    names = [f"{region}{letter}" for letter in "abc"]
    return {"id": region, "names": names, "zoneIds": [f"sim-{name}" for name in names], "groupNames": [region], "region": region}


def _caller(_args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for the caller's identity."""
    return {"id": ACCOUNT, "accountId": ACCOUNT, "arn": _arn("iam", "", "user/simulated"), "userId": "AIDASIMULATED"}


def _get_region(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for the region in use."""
    region = args.get("region") or _REGION
    return {"id": region, "name": region, "region": region, "description": "simulated", "endpoint": "ec2.invalid"}


def _partition(_args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for the partition in use."""
    return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


def _policy_document(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a policy document: the statements as JSON, in the data source's own words."""
    text = json.dumps({"Version": "2012-10-17", "Statement": args.get("statements", [])}, sort_keys=True)
    return {**args, "id": "simulated", "json": text, "minifiedJson": text}


def _parameter(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer for a Systems Manager parameter."""
    return {**args, "id": args.get("name"), "arn": _arn("ssm", _REGION, "parameter"), "type": "String", "value": "simulated"}


FUNCTIONS: Mapping[str, Function] = {
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    "aws:index/getCallerIdentity:getCallerIdentity": _caller,
    "aws:index/getRegion:getRegion": _get_region,
    "aws:index/getPartition:getPartition": _partition,
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
    "aws:ssm/getParameter:getParameter": _parameter,
}
