"""A toy fleet: one stack `site` with the clusters of ``fleet.json``, one stack `hub` that reads it."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pulumi

FLEET = Path(__file__).with_name("fleet.json")


class Resource(pulumi.CustomResource):
    """Any resource of the toy cloud; its outputs are read with `get`."""

    def __init__(self, kind: str, name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions, *outputs: str) -> None:
        super().__init__(f"toy:cloud:{kind}", name, dict.fromkeys(outputs) | inputs, opts)

    def get(self, name: str) -> pulumi.Output[Any]:
        """Return one output."""
        return getattr(self, name)


class Cluster(pulumi.ComponentResource):
    """A cluster with its pools, children of this component."""

    def __init__(self, name: str, said: dict[str, Any], provider: pulumi.ProviderResource) -> None:
        super().__init__("toy:index:Cluster", name, {}, pulumi.ResourceOptions(providers=[provider]))
        mine = pulumi.ResourceOptions(parent=self)
        secret = pulumi.ResourceOptions(parent=self, protect=said.get("protect"), additional_secret_outputs=["kubeconfig"])
        cluster = Resource(
            "Cluster",
            f"{name}-cluster",
            {"region": said["region"], "password": pulumi.Output.secret("hush hush")},
            secret,
            "name",
            "endpoint",
            "kubeconfig",
        )
        template = Resource("Template", f"{name}-template", {"disk": said.get("disk", 50)}, mine, "latestVersion")
        for card, pool in said["pools"].items():
            node = {"spot": pool.get("spot", False), "template": template.get("latestVersion")}
            inputs = {
                "cluster": cluster.id,
                "machine": pool["machine"],
                "max": pool["max"],
                "count": pool.get("count", 0),
                "node": node,
            }
            Resource("Pool", f"{name}-{card}", inputs, pulumi.ResourceOptions(parent=self, ignore_changes=["count"]), "nodeCount")
        self.facts = {"endpoint": cluster.get("endpoint"), "kubeconfig": cluster.get("kubeconfig")}
        self.register_outputs(self.facts)


def site() -> None:
    """Declare the clusters, with an explicit provider for each region."""
    clusters = json.loads(FLEET.read_text(encoding="utf-8"))
    for name, said in sorted(clusters.items()):
        provider = pulumi.ProviderResource("toy", f"{name}-provider", {"region": said["region"]})
        pulumi.export(name, Cluster(name, said, provider).facts)


def hub() -> None:
    """Register every cluster of the `site` stack, or say in one message that it is not there yet."""
    reference = f"{pulumi.get_organization()}/{pulumi.get_project()}/site"
    try:
        found = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": reference}).value
    except Exception as error:
        if "unknown stack" not in str(error):
            raise
        found = {"outputs": {}}
    if not found["outputs"]:
        pulumi.log.error(f"Stack {reference} has no clusters yet. Run `pulumi up -s site` first.")
        sys.exit(32)
    outputs = pulumi.StackReference(reference)
    for name in sorted(found["outputs"]):
        facts = outputs.require_output(name)
        Resource(
            "Secret", f"{name}-secret", {"kubeconfig": facts.apply(lambda known: known["kubeconfig"])}, pulumi.ResourceOptions()
        )


# The engine interrupts its program when a provider fails: dying at once beats a traceback and five seconds of waiting.
signal.signal(signal.SIGINT, signal.SIG_DFL)
{"site": site, "hub": hub}[pulumi.get_stack()]()
