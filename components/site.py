"""A site's stack: its clusters, and nothing inside Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components.contract import ClusterArgs, ClusterFacts, builder
from components.settings import Settings
from fleet.clouds import Cloud
from fleet.errors import FleetErrors
from fleet.records import FleetPlan
from fleet.sites import HUB_STACK

_Place = tuple[Cloud, str | None, str]


def compose(fleet: FleetPlan, settings: Settings) -> Mapping[str, Any]:
    """Declare the clusters of a site and return ``clusters`` (facts in clear, by name) and ``kubeconfigs`` (secret, by name).

    Raises:
        FleetErrors: The inventory has no such site.
    """
    plans = fleet.of_site(settings.site)
    if not plans:
        remedy = f"Name one of {', '.join((*fleet.sites, HUB_STACK))}, or add the site to {settings.inventory}."
        raise FleetErrors([settings.mistake("site", f"{settings.inventory} has no such site", remedy, settings.site)])
    providers: dict[_Place, pulumi.ProviderResource] = {}
    facts: list[ClusterFacts] = []
    for plan in plans:
        args = ClusterArgs(plan=plan, deletion_protection=settings.protect)
        module = builder(plan.cloud)
        place = (plan.cloud, plan.account, plan.region)
        if place not in providers:
            providers[place] = module.make_provider(f"{plan.site}-{plan.region}", args)
        facts.append(module.build(args, providers[place]))
    return {
        "clusters": {cluster.name: cluster.public() for cluster in facts},
        "kubeconfigs": pulumi.Output.secret({cluster.name: cluster.kubeconfig for cluster in facts}),
    }
