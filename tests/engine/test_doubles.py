"""The doubles under the real engine, with a toy program: what they are trusted with in the other tests is shown to work here."""

from __future__ import annotations

import json

import pytest

from tests.engine.doubles.cloud import Fault
from tests.engine.running import EngineProject
from tests.engine.toys import write_fleet

pytestmark = pytest.mark.engine

POOL, CLUSTER, SECRET = "toy:cloud:Pool", "toy:cloud:Cluster", "toy:cloud:Secret"
PARTS_OF_ONE = ["one", "one-cluster", "one-provider", "one-t4", "one-template"]
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def test_preview_makes_nothing_and_knows_no_computed_value(toy: EngineProject) -> None:
    """A preview declares everything, leaves the cloud empty, and computed values stay unknown down the line."""
    write_fleet(toy)
    toy.init("site")
    preview = toy.preview("site")
    assert preview.succeeded, preview.text
    assert preview.changes == [("create", name) for name in PARTS_OF_ONE]
    pool = next(step for step in preview.steps if step.type == POOL)
    assert pool.inputs["cluster"] == UNKNOWN
    assert pool.inputs["node"]["template"] == UNKNOWN
    assert pool.inputs["max"] == 3
    assert pool.parent.endswith("toy:index:Cluster::one")
    assert toy.cloud.objects() == []


def test_second_up_changes_nothing(site: EngineProject) -> None:
    """After an update the same program has nothing to do, made-up names included."""
    again = site.up("site")
    assert again.succeeded
    assert again.changes == []
    (cluster,) = site.cloud.objects(CLUSTER)
    assert cluster.inputs["name"].startswith("one-cluster-")
    assert site.outputs("site")["one"] == {"endpoint": "https://192.0.2.1", "kubeconfig": "top secret"}


def test_update_in_place_and_by_table_replacement(site: EngineProject) -> None:
    """A property outside the table updates; one in it, nested too, replaces; one that is ignored does neither."""
    (before,) = site.cloud.objects(POOL)
    write_fleet(site, pools={"t4": {"machine": "m1", "max": 9}})
    assert site.up("site").changes == [("update", "one-t4")]
    (updated,) = site.cloud.objects(POOL)
    assert (updated.id, updated.inputs["max"]) == (before.id, 9)

    write_fleet(site, pools={"t4": {"machine": "m1", "max": 9, "count": 5}})
    assert site.up("site").changes == []

    write_fleet(site, pools={"t4": {"machine": "m1", "max": 9, "spot": True}})
    replaced = site.up("site")
    assert replaced.operations_on(POOL) == {"create-replacement", "replace", "delete-replaced"}
    (after,) = site.cloud.objects(POOL)
    assert after.id != before.id


def test_what_keeps_its_name_is_deleted_before_it_is_replaced(site: EngineProject) -> None:
    """A replaced object whose unique name stays goes first, so the cloud never refuses its successor; its dependants follow."""
    before = len(site.cloud.journal("create", "delete"))
    write_fleet(site, region="r2")
    run = site.up("site")
    assert run.succeeded, run.text
    calls = [(line["operation"], line["name"]) for line in site.cloud.journal("create", "delete")[before:]]
    assert calls == [("delete", "one-t4"), ("delete", "one-cluster"), ("create", "one-cluster"), ("create", "one-t4")]
    assert site.cloud.journal("create refused") == []


def test_a_computed_number_raised_by_updates_reaches_its_readers(site: EngineProject) -> None:
    """An update raises the template's version: unknown in the preview, and the pool that reads it follows."""
    write_fleet(site, disk=80)
    planned = site.preview("site")
    assert planned.changes == [("update", "one-t4"), ("update", "one-template")]
    run = site.up("site")
    assert run.changes == planned.changes
    (pool,) = site.cloud.objects(POOL)
    assert pool.inputs["node"]["template"] == 2


def test_refresh_takes_in_what_the_autoscaler_did(site: EngineProject) -> None:
    """A node count changed behind the program's back shows in the state after a refresh, and the next update leaves it alone."""
    (pool,) = site.cloud.objects(POOL)
    site.cloud.change(POOL, pool.id, nodeCount=7, count=7)
    assert site.refresh("site").succeeded
    state = next(one for one in site.resources("site") if one["type"] == POOL)
    assert (state["outputs"]["nodeCount"], state["inputs"]["count"]) == (7, 7)
    assert site.up("site").changes == []
    (after,) = site.cloud.objects(POOL)
    assert after.inputs["count"] == 7


def test_drift_that_is_not_ignored_is_put_right(site: EngineProject) -> None:
    """A maximum changed by hand comes back as declared after a refresh."""
    (pool,) = site.cloud.objects(POOL)
    site.cloud.change(POOL, pool.id, max=99)
    site.refresh("site")
    assert site.up("site").changes == [("update", "one-t4")]
    (after,) = site.cloud.objects(POOL)
    assert after.inputs["max"] == 3


def test_an_object_that_vanished_is_made_again(site: EngineProject) -> None:
    """What the cloud lost is dropped by a refresh and created by the next update."""
    (pool,) = site.cloud.objects(POOL)
    site.cloud.remove(POOL, pool.id)
    site.refresh("site")
    assert ("create", "one-t4") in site.up("site").changes


def test_destroy_leaves_nothing(site: EngineProject) -> None:
    """After a destroy neither the cloud nor the state holds anything."""
    assert site.destroy("site").succeeded
    assert site.cloud.objects() == []
    assert site.resources("site") == []


def test_a_protected_cluster_is_not_destroyed(site: EngineProject) -> None:
    """Protection is refused by the engine before the cloud hears of it; taken off, the stack goes."""
    write_fleet(site, protect=True)
    assert site.up("site").succeeded
    refused = site.destroy("site")
    assert not refused.succeeded
    assert any("protected" in message for message in refused.errors)
    assert len(site.cloud.objects(CLUSTER)) == 1
    write_fleet(site)
    assert site.up("site").succeeded
    assert site.destroy("site").succeeded


@pytest.mark.parametrize("half", [False, True], ids=["refused", "unfinished"])
def test_a_failed_create_and_a_clean_second_up(toy: EngineProject, *, half: bool) -> None:
    """However a create fails, the update says so, and the next one ends with one of each and nothing left to do."""
    write_fleet(toy)
    toy.init("site")
    toy.cloud.plant(Fault(operation="create", nth=2, half=half))
    failed = toy.up("site")
    assert not failed.succeeded
    assert any("planted fault" in message for message in failed.errors)
    assert not toy.cloud.pull_up()
    second = toy.up("site")
    assert second.succeeded, second.text
    assert len(toy.cloud.objects()) == 3
    assert toy.up("site").changes == []


def test_a_failed_update_and_a_failed_delete_are_told(site: EngineProject) -> None:
    """Faults hit updates and deletions too, and a second run gets through."""
    site.cloud.plant(Fault(operation="update"))
    write_fleet(site, pools={"t4": {"machine": "m1", "max": 9}})
    assert not site.up("site").succeeded
    assert site.up("site").changes == [("update", "one-t4")]
    site.cloud.plant(Fault(operation="delete", type=CLUSTER))
    assert not site.destroy("site").succeeded
    assert [one.type for one in site.cloud.objects(CLUSTER)] == [CLUSTER]
    assert site.destroy("site").succeeded


def test_secrets_are_encrypted_in_the_backend(site: EngineProject) -> None:
    """A secret input, a secret output and a secret stack output reach the cloud in clear and never the backend."""
    (cluster,) = site.cloud.objects(CLUSTER)
    assert "hush hush" in json.dumps(cluster.inputs)
    assert "one-cluster" in site.backend_text()
    for hidden in ("hush hush", "top secret"):
        assert hidden not in site.backend_text()
        assert hidden not in site.up("site").text


def test_another_stack_reads_this_one(site: EngineProject) -> None:
    """A hub reads the first stack's facts by reference, and a secret stays one on the way."""
    site.init("hub")
    run = site.up("hub")
    assert run.succeeded, run.text
    (made,) = site.cloud.objects(SECRET)
    assert "top secret" in json.dumps(made.inputs)
    assert "top secret" not in site.backend_text()


@pytest.mark.parametrize("made", [False, True], ids=["missing", "never-updated"])
def test_a_hub_before_its_sites_says_so_in_one_message(toy: EngineProject, *, made: bool) -> None:
    """A stack that is not there, or still empty, ends in one error without a traceback."""
    if made:
        toy.init("site")
    toy.init("hub")
    run = toy.preview("hub")
    assert not run.succeeded
    assert run.errors == ["Stack organization/toy/site has no clusters yet. Run `pulumi up -s site` first."]
    assert "Traceback" not in run.text
