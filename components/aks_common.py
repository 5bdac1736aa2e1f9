"""What the modules of the Azure component share: tags by Azure's rules, and the way round a name that the SDK uses twice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pulumi

from components.base import tags
from components.contract import ClusterArgs

LONGEST_TAG_NAME = 512
LONGEST_TAG_VALUE = 256
RESERVED_TAG_PREFIXES = ("microsoft", "azure", "windows")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterPlace:
    """Where the parts of a cluster are put.

    Attributes:
        resource_group: Name of the resource group.
        cluster: The cluster's name on Azure.
        subnet_id: ARM id of the nodes' subnet.
    """

    resource_group: pulumi.Input[str]
    cluster: pulumi.Input[str]
    subnet_id: pulumi.Input[str]


def to_tags(args: ClusterArgs, card: str | None = None) -> dict[str, str]:
    r"""Return the cost tags of a cluster, or of one of its pools, as Azure takes them.

    A name has at most 512 characters, none of ``<>%&\?/``, and must not start with a reserved prefix; a value has at most 256
    characters; names that differ in case alone are one name, of which the first in alphabetical order counts. Sources:
    Resource Manager, tag limitations and predefined tag names; AKS, use-tags.md of 2026-08.
    """
    legal: dict[str, str] = {}
    seen: set[str] = set()
    for name, value in sorted(tags(args, card).items()):
        spelled = re.sub(r"[<>%&\\?/]", "-", name)
        if spelled.lower().startswith(RESERVED_TAG_PREFIXES):
            spelled = f"x-{spelled}"
        spelled = spelled[:LONGEST_TAG_NAME]
        if spelled.lower() not in seen:
            seen.add(spelled.lower())
            legal[spelled] = value[:LONGEST_TAG_VALUE]
    return legal


def keywords(args: object) -> dict[str, Any]:
    """Return the fields of one of the SDK's ``*Args`` records as the keyword arguments of its resource class.

    Where a resource has a property ``resourceName``, its class cannot take the record itself: the property then collides with
    the logical name ("got multiple values for argument 'resource_name'", azure-native 3.29.0), and the keyword to use is
    ``resource_name_``. The SDK unpacks a record in the same way, so nothing else changes.
    """
    fields = dict(vars(args))
    fields["resource_name_"] = fields.pop("resource_name")
    return fields
