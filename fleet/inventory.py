"""What an operator writes: the border model of ``inventory.yaml``. Unknown keys are refused, all but the clusters has defaults.

A setting can stand at four places; the one nearest to the pool wins: ``defaults``, ``sites.<site>``,
``clusters.<site>.<cluster>`` and an entry of ``gpus``. `fleet.plan` resolves them. Only shape is judged here; whether it can be
bought is the plan's business.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from fleet.clouds import Cloud, MagnumDriver
from fleet.labels import TaintEffect
from fleet.records import GpuDriver, GpuMode

MOST_NODES = 1000
"""Most nodes of one pool. AKS allows 1,000 (AgentPool.count, azure-native 3.29.0); larger pools are better split anywhere."""


def _ipv4_range(text: str) -> str:
    """Return an IPv4 range in the one spelling that clouds take, ``address/length``."""
    try:
        return str(ipaddress.IPv4Network(text))
    except ValueError:
        pass
    try:
        around = ipaddress.IPv4Interface(text).network
    except ValueError:
        raise ValueError("not an IPv4 range such as 10.0.0.0/16") from None
    raise ValueError(f"an address inside a range; the range is {around}")


def _ipv4_address(text: str) -> str:
    """Return `text` if it is an IPv4 address."""
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise ValueError("not an IPv4 address such as 8.8.8.8") from None


def _lower(value: object) -> object:
    """Return text in lower case, for values whose case carries nothing."""
    return value.lower() if isinstance(value, str) else value


def _card_alone(value: object) -> object:
    """Return a card's name standing alone as the entry it abbreviates."""
    return {"card": value} if isinstance(value, str) else value


Name = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$")]
LabelKey = Annotated[
    str,
    StringConstraints(pattern=r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"),
]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$")]
Range = Annotated[str, AfterValidator(_ipv4_range)]
Version = Annotated[str, StringConstraints(pattern=r"^1\.[1-9][0-9](\.[0-9]{1,2})?$")]
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=253, pattern=r"^[^\x00-\x20\x7f]([^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?$")
]
PoolName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$")]
Count = Annotated[int, Field(ge=0, le=MOST_NODES)]


class Model(BaseModel):
    """Settings: unknown keys are refused, nothing is coerced, nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TaintSettings(Model):
    """A taint to add to the pool's own."""

    key: LabelKey = Field(description="Qualified name, such as team.example.org/reserved.")
    value: LabelValue = Field(default="", description="At most 63 letters, digits, dashes, dots and underscores.")
    effect: Annotated[TaintEffect, Field(strict=False)] = Field(
        default=TaintEffect.NO_SCHEDULE, description="NoSchedule, PreferNoSchedule or NoExecute."
    )


class PoolDefaults(Model):
    """What can be said of pools anywhere: for one, for a cluster's, a site's or all."""

    min: Count | None = Field(default=None, description="Fewest nodes; 0 starts the pool from zero.")
    max: Annotated[int, Field(ge=1, le=MOST_NODES)] | None = Field(default=None, description="Most nodes over all zones.")
    spot: Literal["never", "only", "prefer"] | None = Field(
        default=None,
        description="never (default): on-demand nodes. only: spot nodes. prefer: a spot pool that is tried first, "
        "and an on-demand pool beside it.",
    )
    disk_gib: Annotated[int, Field(ge=20, le=4096)] | None = Field(default=None, description="Boot disk in GiB.")
    gpu_driver: Annotated[GpuDriver, Field(strict=False)] | None = Field(
        default=None,
        description="cloud (default): the cloud's image or installer brings the kernel driver. operator: yours does.",
    )
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict, description="Node labels to add; outer ones are kept.")
    taints: list[TaintSettings] = Field(default_factory=list, description="Node taints to add; outer ones are kept.")


class Pool(PoolDefaults):
    """One card in a cluster: an entry of `gpus`. A card's name alone is short for `{card: NAME}`."""

    card: Text = Field(description="A card of the catalogue, in any case: t4, a100-80, tpu-v5e.")
    name: PoolName | None = Field(
        default=None, description="Pool name; the card's by default. Needed for a second pool of one card."
    )
    per_node: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="Cards on one node; the fewest sold by default."
    )
    machine: Text | None = Field(
        default=None, description="Machine type, or OpenStack flavor; the smallest that carries the card by default."
    )
    zones: list[Text] | None = Field(
        default=None, description="Zones for this pool; by default the cluster's in which the card is sold."
    )
    topology: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,2}(x[1-9][0-9]{0,2}){1,2}$")] | None = Field(
        default=None, description="TPU slice topology, such as 2x4 or 4x4x4."
    )
    reservation: Text | None = Field(
        default=None,
        description="Draw on a Google reservation, an AWS capacity block, an Azure capacity reservation group.",
    )
    mode: Annotated[GpuMode, Field(strict=False)] | None = Field(
        default=None, description="OpenStack: bare-metal, passthrough or vgpu; the flavor's by default."
    )


PoolEntry = Annotated[Pool, BeforeValidator(_card_alone)]


class SystemPoolSettings(Model):
    """The pool without accelerators."""

    machine: Text | None = Field(default=None, description="Machine type or flavor.")
    min: Annotated[int, Field(ge=1, le=MOST_NODES)] | None = Field(default=None, description="Fewest nodes.")
    max: Annotated[int, Field(ge=1, le=MOST_NODES)] | None = Field(default=None, description="Most nodes.")
    disk_gib: Annotated[int, Field(ge=20, le=4096)] | None = Field(default=None, description="Boot disk in GiB.")


class NetworkSettings(Model):
    """Addresses of a cluster."""

    nodes_cidr: Range | None = Field(default=None, description="IPv4 range of the nodes.")
    pods_cidr: Range | None = Field(default=None, description="IPv4 range of the pods.")
    services_cidr: Range | None = Field(default=None, description="IPv4 range of the services.")
    control_plane_cidrs: list[Range] | None = Field(
        default=None, description="IPv4 ranges that may reach the API server; every address when none is named."
    )


class MaintenanceSettings(Model):
    """When the cloud may upgrade."""

    days: list[Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]] = Field(
        description="Days of the week.", min_length=1
    )
    start_hour_utc: Annotated[int, Field(ge=0, le=23)] = Field(description="Hour at which it may start, UTC.")
    hours: Annotated[int, Field(ge=4, le=24)] = Field(default=4, description="Length in hours, at least 4.")


class ClusterSettings(Model):
    """What can be said of clusters anywhere: for one, for a site's or for all."""

    region: Text | None = Field(default=None, description="The cloud's region.")
    zones: list[Text] | None = Field(default=None, description="Zones for the cluster's nodes.")
    kubernetes: Version | None = Field(default=None, description='Kubernetes version in quotes, "1.35" or "1.35.2".')
    network: NetworkSettings = Field(default_factory=NetworkSettings, description="Addresses.")
    system_pool: SystemPoolSettings = Field(default_factory=SystemPoolSettings, description="The pool without accelerators.")
    pools: PoolDefaults = Field(default_factory=PoolDefaults, description="Defaults for the pools with accelerators.")
    maintenance: MaintenanceSettings | None = Field(default=None, description="When the cloud may upgrade.")
    admins: list[Text] | None = Field(
        default=None, description="Who administers the clusters: IAM roles, Entra groups, a Google group."
    )
    tags: dict[Name, LabelValue] = Field(default_factory=dict, description="Cost tags to add; outer ones are kept.")
    billing_account: LabelValue | None = Field(default=None, description="Who pays: becomes a cost tag.")


class Flavor(Model):
    """An OpenStack flavor that carries cards."""

    card: Text = Field(description="A card of the catalogue.")
    accelerators: Annotated[int, Field(ge=1, le=64)] = Field(default=1, description="Cards on one node.")
    vcpus: Annotated[int, Field(ge=1)] | None = Field(default=None, description="Virtual processors.")
    memory_gib: Annotated[float, Field(gt=0, strict=False)] | None = Field(default=None, description="Memory in GiB.")
    mode: Annotated[GpuMode, Field(strict=False)] = Field(default=GpuMode.PASSTHROUGH, description="How the card is handed over.")
    usd_per_hour: Annotated[float, Field(gt=0, strict=False)] | None = Field(
        default=None, description="What a node costs the site."
    )


class OpenstackSettings(Model):
    """What only an OpenStack site needs to say."""

    driver: Annotated[MagnumDriver, Field(strict=False)] | None = Field(
        default=None, description="heat, capi-helm or cluster-api."
    )
    image: Text | None = Field(default=None, description="Glance image of the nodes.")
    keypair: Text | None = Field(default=None, description="Nova keypair on the nodes.")
    external_network: Text | None = Field(default=None, description="Neutron network that gives floating addresses.")
    control_plane_flavor: Text | None = Field(default=None, description="Flavor of control plane nodes.")
    control_plane_nodes: Literal[1, 3, 5] | None = Field(default=None, description="1, 3 or 5.")
    dns_nameservers: list[Annotated[str, AfterValidator(_ipv4_address)]] | None = Field(
        default=None, description="IPv4 addresses of the name servers that nodes ask."
    )
    gpu_autoscaler: Text | None = Field(
        default=None, description="The autoscaler that can wake an empty GPU node group here, in your words: allows min 0."
    )
    flavors: dict[Text, Flavor] = Field(default_factory=dict, description="Flavors with cards, by name.")


class Site(ClusterSettings):
    """One account on one cloud: one stack."""

    cloud: Annotated[Cloud, Field(strict=False), BeforeValidator(_lower)] | None = Field(
        default=None, description="google, aws, azure or openstack; by default from the site's name."
    )
    account: Text | None = Field(
        default=None,
        description="Google project, AWS account number, Azure subscription or clouds.yaml entry; the credentials' own if unset.",
    )
    openstack: OpenstackSettings | None = Field(default=None, description="OpenStack sites only.")


class Cluster(ClusterSettings):
    """One cluster."""

    gpus: list[PoolEntry] = Field(description="The cards of the cluster, one node pool each; [] for none.")


class Inventory(Model):
    """The fleet as an operator states it."""

    clusters: dict[Name, dict[Name, Cluster]] = Field(description="Sites, their clusters, their cards.", min_length=1)
    sites: dict[Name, Site] = Field(default_factory=dict, description="Settings of the sites.")
    defaults: ClusterSettings = Field(default_factory=ClusterSettings, description="Settings of all clusters.")
    hub: Name | None = Field(default=None, description="The cluster that carries ArgoCD; the first of the file by default.")
    allow_retired: bool = Field(default=False, description="Plan cards that their cloud no longer sells, with a warning.")


def inventory_schema() -> dict[str, Any]:
    """Return the JSON Schema of an inventory, for editors; a card's name may stand for an entry of `gpus`."""
    schema = Inventory.model_json_schema()
    gpus = schema["$defs"]["Cluster"]["properties"]["gpus"]
    gpus["items"] = {"anyOf": [{"type": "string", "description": Pool.model_fields["card"].description}, gpus["items"]]}
    _close(schema)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema


def _close(schema: object) -> None:
    """Refuse keys that match no pattern, in place: JSON Schema lets any other key through where only patterns are given."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        for inner in schema.values():
            _close(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _close(inner)
