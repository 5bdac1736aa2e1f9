"""What every component of ours shares: its type token, its parent's place, and outputs that are always registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components.contract import ClusterArgs, ClusterFacts
from fleet.clouds import Cloud


class Component(pulumi.ComponentResource):
    """A component whose children name it as their parent and take nothing else from the caller's options.

    Args:
        kind: Last part of the type token, ``gpufleet:index:<kind>``.
        name: Logical name; every child's name starts with it.
        opts: The caller's options; they stay on the component.
    """

    def __init__(self, kind: str, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"gpufleet:index:{kind}", name, {}, opts)
        self._logical_name = name

    def child(self, suffix: str) -> str:
        """Return the logical name of a child: this component's name, a dash and `suffix`."""
        return f"{self._logical_name}-{suffix}"

    def child_options(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401 -- the options of ResourceOptions
        """Return options that make a resource this component's child, with `options` of its own."""
        return pulumi.ResourceOptions(parent=self, **options)

    def register(self, outputs: Mapping[str, Any]) -> None:
        """Register the component's outputs; every component does so exactly once, last."""
        self.register_outputs(dict(outputs))


class ClusterComponent(Component):
    """A cluster of one cloud. Subclasses declare their resources, then set `facts` with `finish`.

    Args:
        kind: Last part of the type token.
        args: The cluster as planned.
        provider: The cloud's provider, used by every child.
    """

    facts: ClusterFacts

    def __init__(self, kind: str, args: ClusterArgs, provider: pulumi.ProviderResource) -> None:
        super().__init__(kind, args.plan.name, pulumi.ResourceOptions(providers=[provider]))
        self.args = args
        self.plan = args.plan

    def finish(self, facts: ClusterFacts) -> None:
        """Keep the cluster's facts and register them as the component's outputs."""
        self.facts = facts
        self.register({**facts.public(), "kubeconfig": facts.kubeconfig})


def tags(args: ClusterArgs, card: str | None = None) -> dict[str, str]:
    """Return the cost tags of a cluster, or of one of its pools: the plan's own, with the card's name for a pool."""
    return dict(args.plan.tags) | ({"card": card} if card else {})


CLOUD_KINDS: Mapping[Cloud, str] = {
    Cloud.GOOGLE: "GkeCluster",
    Cloud.AWS: "EksCluster",
    Cloud.AZURE: "AksCluster",
    Cloud.OPENSTACK: "MagnumCluster",
}
"""Last part of the type token of each cloud's cluster component."""
