"""A program's run ends when all that it set going has ended, and what the SDK adds of itself stays out of the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.declaring import run_text


def test_outputs_without_a_promise_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack that exports plain values only has them recorded, however soon the monitor answers the call to shut down."""

    async def answered_at_once() -> None:
        """Take the place of the call, which gives the outputs' registration time by chance."""

    monkeypatch.setattr("pulumi.runtime.stack._wait_for_shutdown", answered_at_once)
    graph = run_text('pulumi.export("registered", ["a", "b"])', tmp_path).monitor.graph()
    assert graph.outputs == {"registered": ["a", "b"]}


def test_aliases_of_other_api_versions_are_left_out(tmp_path: Path) -> None:
    """azure-native's own aliases say nothing; a former type and a former name do, and stay."""
    body = """
        import pulumi_azure_native as azure

        former = [pulumi.Alias(name="old"), pulumi.Alias(type_="azure-native:containerservice/v20230101:Pool")]
        azure.containerservice.AgentPool(
            "new", resource_group_name="g", resource_name_="c", opts=pulumi.ResourceOptions(aliases=former)
        )
    """
    (pool,) = run_text(body, tmp_path).monitor.graph().of_type("azure-native:containerservice:AgentPool")
    assert {urn.split("::", 2)[2] for urn in pool.options.aliases} == {
        "azure-native:containerservice:AgentPool::old",
        "azure-native:containerservice/v20230101:Pool::new",
    }
