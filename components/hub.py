"""The hub's stack: everything inside Kubernetes, on all clusters, from the facts that the sites' stacks export.

Kubeconfigs come from stacks that are already up, so the first preview knows them. Every provider has an identifier of its own:
a new kubeconfig, or a pool that was scaled, never looks like another cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.expander import PoolPriorities, needs_priorities
from components.registration import ARGOCD_NAMESPACE, ClusterRegistration, RegistrationArgs
from components.settings import Settings
from fleet.clouds import TRAITS
from fleet.errors import FleetErrors, Mistake
from fleet.records import ClusterPlan, FleetPlan

_READ_OUTPUTS = "pulumi:pulumi:readStackOutputs"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Exports:
    """What a site's stack exports.

    Attributes:
        clusters: Facts in clear, by cluster.
        kubeconfigs: By cluster, secret.
    """

    clusters: pulumi.Output[Any]
    kubeconfigs: pulumi.Output[Any]


def compose(fleet: FleetPlan, settings: Settings) -> Mapping[str, Any]:
    """Declare ArgoCD's namespace and the registration of every cluster; return which clusters are registered where.

    Raises:
        FleetErrors: A site's stack is not there, or lacks a cluster of the inventory; all of them are listed.
    """
    _check_sites(fleet, settings)
    exports = {site: _exports(site) for site in fleet.sites}
    providers = {plan.name: _provider(plan, exports[plan.site]) for plan in fleet.clusters}
    hub = providers[fleet.hub.name]
    namespace = Namespace(
        f"{fleet.hub.name}-argocd",
        metadata=ObjectMetaArgs(name=ARGOCD_NAMESPACE),
        opts=pulumi.ResourceOptions(provider=hub),
    )
    for plan in fleet.clusters:
        _register(plan, exports[plan.site], providers[plan.name], hub, namespace)
    return {"hub": fleet.hub.name, "registered": [plan.name for plan in fleet.clusters]}


def _stack_of(site: str) -> str:
    """Return the full name of a site's stack: this one's organisation and project, and the site's name."""
    return f"{pulumi.get_organization()}/{pulumi.get_project()}/{site}"


def _exports(site: str) -> _Exports:
    """Declare the reference to a site's stack and return what it exports.

    Each is required once for all clusters: the SDK walks every leaf of all that the stack exports whenever one is required,
    so requiring them by cluster makes the time grow with the square of the clusters.
    """
    reference = pulumi.StackReference(_stack_of(site))
    return _Exports(clusters=reference.require_output("clusters"), kubeconfigs=reference.require_output("kubeconfigs"))


def _check_sites(fleet: FleetPlan, settings: Settings) -> None:
    """Refuse to go on before every site is up.

    The engine ends a program that refers to a missing stack, and the program cannot catch it; reading a stack's outputs by
    the built-in function fails as an ordinary exception instead. Its values are not used: they carry secrets in clear.
    """
    mistakes: list[Mistake] = []
    for site in fleet.sites:
        try:
            answer = pulumi.runtime.invoke(_READ_OUTPUTS, {"name": _stack_of(site)}).value or {}
        except Exception as error:  # noqa: BLE001 -- the SDK raises a bare Exception for a stack that does not exist
            remedy = f"Bring the site up first: pulumi up -s {site}"
            mistakes.append(settings.mistake("site", f"{_last_line(error)}", remedy, settings.site))
            continue
        known = (answer.get("outputs") or {}).get("clusters") or {}
        missing = [plan.name for plan in fleet.of_site(site) if plan.name not in known]
        if missing:
            reason = f"the stack {_stack_of(site)} has no cluster {', '.join(missing)} yet"
            mistakes.append(settings.mistake("site", reason, f"Bring it up first: pulumi up -s {site}", settings.site))
    if mistakes:
        raise FleetErrors(mistakes)


def _last_line(error: Exception) -> str:
    """Return the end of the engine's message, which names the stack."""
    return str(error).strip().splitlines()[-1].strip()


def _provider(plan: ClusterPlan, exports: _Exports) -> kubernetes.Provider:
    """Return the Kubernetes provider of a cluster."""
    return kubernetes.Provider(
        f"{plan.name}-kubernetes",
        kubeconfig=exports.kubeconfigs.apply(lambda kubeconfigs: kubeconfigs[plan.name]),
        cluster_identifier=f"{plan.site}/{plan.name}",
        enable_server_side_apply=True,
    )


def _register(
    plan: ClusterPlan,
    exports: _Exports,
    spoke: kubernetes.Provider,
    hub: kubernetes.Provider,
    namespace: Namespace,
) -> None:
    """Declare what one cluster needs to be known to ArgoCD, and its pools' priorities."""
    facts = exports.clusters.apply(lambda clusters: clusters[plan.name])
    args = RegistrationArgs(
        plan=plan,
        endpoint=facts["endpoint"],
        ca_certificate=facts["ca_certificate"],
        spoke=spoke,
        hub=hub,
        namespace=namespace.metadata.name,
    )
    ClusterRegistration(args)
    if TRAITS[plan.cloud].reads_priorities and needs_priorities(plan):
        PoolPriorities(plan, spoke)
