"""Every kind of mistake in an inventory's shape, as the person who made it is told; and the schema that editors read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.errors import FleetErrors
from fleet.inventory import inventory_schema
from fleet.load import load_document, load_inventory
from fleet.reading import read_inventory
from tests.support.planning import mistakes, read

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "catalogue" / "schema" / "inventory.schema.json"
INVENTORIES = (ROOT / "inventory.yaml", *sorted((ROOT / "examples").glob("*.yaml")))
CLUSTER = "clusters: {{google: {{one: {{gpus: [t4], {}}}}}}}"
POOL = "clusters: {{google: {{one: {{gpus: [{{card: t4, {}}}]}}}}}}"
ENTRY = "clusters.google.one.gpus[0]"

SHAPES = [
    ("clusters", "clusters: [a]", "a list where a mapping is wanted", "Sites, their clusters, their cards."),
    ("clusters", "clusters:", "nothing where a mapping is wanted", "Sites, their clusters, their cards."),
    ("clusters", "clusters: {}", "empty", "Sites, their clusters, their cards."),
    ("clusters", "hub: a", "missing", "Sites, their clusters, their cards."),
    ("clusters.google", "clusters: {google: }", "nothing where a mapping is wanted", "Sites, their clusters, their cards."),
    ("clusters.google.a", "clusters: {google: {a: t4}}", "text where a mapping is wanted", "Sites, their clusters, their cards."),
    (
        "clusters.google.a.gpus",
        "clusters: {google: {a: {}}}",
        "missing",
        "The cards of the cluster, one node pool each; [] for none.",
    ),
    (
        "clusters.google.a.gpus",
        "clusters: {google: {a: {gpus: t4}}}",
        "text where a list is wanted",
        "The cards of the cluster, one node pool each; [] for none.",
    ),
    (
        "clusters.google.a.gpus[1]",
        "clusters: {google: {a: {gpus: [t4, 5]}}}",
        "a number where a mapping is wanted",
        "The cards of the cluster, one node pool each; [] for none.",
    ),
    ("clutsers", "clusters: {google: {a: {gpus: []}}}\nclutsers: 1", "unknown key", "Did you mean `clusters`?"),
    (
        "x",
        "clusters: {google: {a: {gpus: []}}}\nx: 1",
        "unknown key",
        "Known here: allow_retired, clusters, defaults, hub, sites.",
    ),
    ("[key]", 'clusters: {google: {a: {gpus: []}}}\n"[key]": 1', "unknown key", "Known here: allow_retired,"),
    ("clusters.google.one.regoin", CLUSTER.format("regoin: x"), "unknown key", "Did you mean `region`?"),
    (f"{ENTRY}.count", POOL.format("count: 2"), "unknown key", "Known here: card, disk_gib, gpu_driver, labels,"),
    (f"{ENTRY}.per-node", POOL.format("per-node: 2"), "unknown key", "Did you mean `per_node`?"),
    (f"{ENTRY}.taints[0].effekt", POOL.format("taints: [{key: a, effekt: x}]"), "unknown key", "Did you mean `effect`?"),
    (
        "allow_retired",
        "clusters: {google: {a: {gpus: []}}}\nallow_retired: yes",
        "text where true or false is wanted",
        "Plan cards",
    ),
    (f"{ENTRY}.min", POOL.format("min: -1"), "less than 0", "Fewest nodes; 0 starts the pool from zero."),
    (f"{ENTRY}.min", POOL.format("min: true"), "true or false where a whole number is wanted", "Fewest nodes;"),
    (f"{ENTRY}.min", POOL.format("min: 1.5"), "a number where a whole number is wanted", "Fewest nodes;"),
    (f"{ENTRY}.min", POOL.format('min: "1"'), "text where a whole number is wanted", "Fewest nodes;"),
    (f"{ENTRY}.max", POOL.format("max: 0"), "less than 1", "Most nodes over all zones."),
    (f"{ENTRY}.max", POOL.format("max: 1001"), "more than 1000", "Most nodes over all zones."),
    (f"{ENTRY}.per_node", POOL.format("per_node: 99999999999999999999999"), "more than 64", "Cards on one node;"),
    (f"{ENTRY}.disk_gib", POOL.format("disk_gib: 19"), "less than 20", "Boot disk in GiB."),
    (f"{ENTRY}.spot", POOL.format("spot: always"), "not one of 'never', 'only' or 'prefer'", "never (default):"),
    (f"{ENTRY}.mode", POOL.format("mode: half"), "not one of 'bare-metal', 'passthrough' or 'vgpu'", "OpenStack:"),
    (f"{ENTRY}.gpu_driver", POOL.format("gpu_driver: me"), "not one of 'cloud' or 'operator'", "cloud (default):"),
    (f"{ENTRY}.topology", POOL.format("topology: x4"), "not of the right form", "TPU slice topology, such as 2x4 or 4x4x4."),
    (
        f"{ENTRY}.name",
        POOL.format("name: Fast"),
        "not of the right form",
        "Use lower case letters, digits and dashes, starting with a letter, at most 30 characters.",
    ),
    (f"{ENTRY}.labels.a b", POOL.format("labels: {a b: c}"), "not a legal name here", "Use a Kubernetes label key, such as team"),
    (f"{ENTRY}.labels.[key]", POOL.format('labels: {"[key]": c}'), "not a legal name here", "Use a Kubernetes label key,"),
    (f"{ENTRY}.labels.a", POOL.format("labels: {a: -}"), "not of the right form", "Use at most 63 letters, digits, dashes,"),
    (f"{ENTRY}.labels.a", POOL.format("labels: {a: 1}"), "a number where text is wanted", "Node labels to add;"),
    (
        f"{ENTRY}.taints[0].effect",
        POOL.format("taints: [{key: a, effect: No}]"),
        "not one of 'NoSchedule', 'PreferNoSchedule' or 'NoExecute'",
        "NoSchedule, PreferNoSchedule or NoExecute.",
    ),
    (f"{ENTRY}.card", "clusters: {google: {one: {gpus: [{}]}}}", "missing", "A card of the catalogue, in any case:"),
    ("clusters.google.one.region", CLUSTER.format("region: ''"), "empty", "The cloud's region."),
    ("clusters.google.one.region", CLUSTER.format("region: " + "x" * 254), "longer than 253 characters", "The cloud's region."),
    ("clusters.google.one.region", CLUSTER.format("region: ' x'"), "not of the right form", "Write one line of text, without"),
    ("clusters.google.one.region", CLUSTER.format('region: "a\\nb"'), "not of the right form", "Write one line of text, without"),
    (
        "clusters.google.one.kubernetes",
        CLUSTER.format("kubernetes: 1.30"),
        "a number, which loses zeros at its end",
        'Put it in quotes: "1.30".',
    ),
    (
        "clusters.google.one.kubernetes",
        CLUSTER.format("kubernetes: '1.9'"),
        "not of the right form",
        'Kubernetes version in quotes, "1.35" or "1.35.2".',
    ),
    (
        "clusters.google.one.network.nodes_cidr",
        CLUSTER.format("network: {nodes_cidr: 10.0.0.1/16}"),
        "an address inside a range; the range is 10.0.0.0/16",
        "IPv4 range of the nodes.",
    ),
    (
        "clusters.google.one.network.pods_cidr",
        CLUSTER.format("network: {pods_cidr: fd00::/8}"),
        "not an IPv4 range such as 10.0.0.0/16",
        "IPv4 range of the pods.",
    ),
    ("clusters.google.one.maintenance.days", CLUSTER.format("maintenance: {days: [], start_hour_utc: 1}"), "empty", "Days of"),
    (
        "clusters.google.one.maintenance.days[0]",
        CLUSTER.format("maintenance: {days: [Mon], start_hour_utc: 1}"),
        "not one of 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday' or 'Sunday'",
        "Days of the week.",
    ),
    (
        "clusters.google.one.system_pool.min",
        CLUSTER.format("system_pool: {min: 0}"),
        "less than 1",
        "Fewest nodes.",
    ),
    (
        "clusters.google.UP",
        "clusters: {google: {UP: {gpus: []}}}",
        "not a legal name here",
        "Use lower case letters, digits and dashes, starting with a letter, at most 63 characters.",
    ),
    ("clusters.[key]", 'clusters: {"[key]": {}}', "not a legal name here", "Use lower case letters, digits and dashes,"),
    (
        "hub",
        "hub: Hub\nclusters: {google: {a: {gpus: []}}}",
        "not of the right form",
        "Use lower case letters, digits and dashes,",
    ),
    (
        "sites.google.cloud",
        "sites: {google: {cloud: ibm}}\nclusters: {google: {a: {gpus: []}}}",
        "not one of 'google', 'aws', 'azure' or 'openstack'",
        "google, aws, azure or openstack; by default from the site's name.",
    ),
    (
        "sites.cern.openstack.control_plane_nodes",
        "sites: {cern: {openstack: {control_plane_nodes: 2}}}\nclusters: {cern: {a: {gpus: []}}}",
        "not one of 1, 3 or 5",
        "1, 3 or 5.",
    ),
    (
        "sites.cern.openstack.dns_nameservers[0]",
        "sites: {cern: {openstack: {dns_nameservers: [dns.cern.ch]}}}\nclusters: {cern: {a: {gpus: []}}}",
        "not an IPv4 address such as 8.8.8.8",
        "IPv4 addresses of the name servers that nodes ask.",
    ),
    (
        "sites.cern.openstack.flavors.f.memory_gib",
        "sites: {cern: {openstack: {flavors: {f: {card: t4, memory_gib: 0}}}}}\nclusters: {cern: {a: {gpus: []}}}",
        "not more than 0.0",
        "Memory in GiB.",
    ),
]


@pytest.mark.parametrize(("path", "text", "reason", "remedy"), SHAPES)
def test_each_mistake_in_shape_is_told_in_its_words(path: str, text: str, reason: str, remedy: str) -> None:
    """One mistake, one message: its path, the reason, and what would be right."""
    (mistake,) = mistakes(text)
    assert (mistake.path, mistake.reason) == (path, reason)
    assert mistake.remedy.startswith(remedy)
    assert mistake.line


def test_values_are_shown_where_they_are_the_mistake() -> None:
    """A wrong value is repeated; a whole mapping, a missing or an unknown key is not."""
    found = {mistake.path: mistake.value for mistake in mistakes(POOL.format("min: -1, nim: 5, taints: {}, labels: {a b: c}"))}
    assert found == {f"{ENTRY}.min": -1, f"{ENTRY}.nim": None, f"{ENTRY}.taints": None, f"{ENTRY}.labels.a b": "a b"}


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    """Nobody mends one mistake to meet the next."""
    text = """
    hub: 5
    clusters:
      google:
        a:
          gpus:
            - card: t4
              min: -1
            - {}
      aws: {b: {gpus: [t4], zone: x}}
    defaults: {pools: {max: 0}}
    """
    assert [(mistake.line, mistake.path) for mistake in mistakes(text)] == [
        (2, "hub"),
        (8, "clusters.google.a.gpus[0].min"),
        (9, "clusters.google.a.gpus[1].card"),
        (10, "clusters.aws.b.zone"),
        (11, "defaults.pools.max"),
    ]


def test_documents_that_are_no_mapping_are_told_what_to_start_with() -> None:
    """A list, a word or a number at the top is named as such."""
    for text, what in (("- a", "a list"), ("a", "text"), ("5", "a number"), ("true", "true or false")):
        (mistake,) = mistakes(text)
        assert mistake.reason == f"{what} stands where the settings should"
        assert mistake.remedy.startswith("Start with `clusters:`, a site, a cluster and its `gpus`")


def test_what_carries_no_meaning_is_normalised() -> None:
    """A card alone is an entry, a cloud's case does not matter, and a range has one spelling."""
    inventory = read("""
    clusters: {lab: {a: {gpus: [T4, {card: t4}], network: {nodes_cidr: 10.0.0.0/255.255.0.0, control_plane_cidrs: [1.2.3.4]}}}}
    sites: {lab: {cloud: AWS}}
    """)
    cluster = inventory.clusters["lab"]["a"]
    assert [pool.card for pool in cluster.gpus] == ["T4", "t4"]
    assert (cluster.network.nodes_cidr, cluster.network.control_plane_cidrs) == ("10.0.0.0/16", ["1.2.3.4/32"])
    assert inventory.sites["lab"].cloud == "aws"


@pytest.mark.parametrize("name", ["nowhere.yaml", "."])
def test_files_that_cannot_be_read_are_told(tmp_path: Path, name: str) -> None:
    """A missing file and a folder end in a message that names them."""
    with pytest.raises(FleetErrors, match=r"cannot be read: .*Name an inventory file") as caught:
        load_inventory(tmp_path / name)
    assert caught.value.mistakes[0].file == str(tmp_path / name)


def test_the_committed_schema_is_the_models() -> None:
    """Editors check what the program checks; GPUFLEET_UPDATE_GOLDEN=1 rewrites the file."""
    wanted = json.dumps(inventory_schema(), indent=2, sort_keys=True) + "\n"
    if os.environ.get("GPUFLEET_UPDATE_GOLDEN") == "1":
        SCHEMA.write_text(wanted)
    assert SCHEMA.read_text() == wanted


@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: path.name)
def test_inventories_name_the_schema(path: Path) -> None:
    """The first line of each file leads an editor to the committed schema."""
    header = path.read_text().splitlines()[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", header)
    assert found
    assert (path.parent / found[1]).resolve() == SCHEMA


def problems(schema: Mapping[str, Any], value: object, root: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a JSON Schema has against a value, for the keywords that our schema uses; KeyError on any other."""
    for keyword, stated in schema.items():
        yield from CHECKS[keyword](stated, value, schema, root)


def _typed(stated: str, value: object) -> bool:
    """Return whether a value is of a JSON type."""
    kinds = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool, "integer": int}
    if stated == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kinds[stated]) and not (stated == "integer" and isinstance(value, bool))


def _properties(stated: Any, value: Any, _schema: Any, root: Any) -> Iterator[str]:  # noqa: ANN401 -- JSON
    for name, schema in stated.items() if isinstance(value, dict) else ():
        if name in value:
            yield from (f"{name}: {text}" for text in problems(schema, value[name], root))


def _patterns(stated: Any, value: Any, _schema: Any, root: Any) -> Iterator[str]:  # noqa: ANN401 -- JSON
    for pattern, schema in stated.items():
        for name in value if isinstance(value, dict) else ():
            if re.search(pattern, name):
                yield from (f"{name}: {text}" for text in problems(schema, value[name], root))


def _others(stated: Any, value: Any, schema: Any, root: Any) -> Iterator[str]:  # noqa: ANN401 -- JSON
    for name in value if isinstance(value, dict) else ():
        if name in schema.get("properties", {}) or any(re.search(one, name) for one in schema.get("patternProperties", {})):
            continue
        if stated is False:
            yield f"{name}: unknown key"
        elif isinstance(stated, dict):
            yield from (f"{name}: {text}" for text in problems(stated, value[name], root))


def _nothing(*_: object) -> tuple[str, ...]:
    return ()


def _when(is_right: Any) -> Any:  # noqa: ANN401 -- a check of any keyword
    return lambda stated, value, _schema, _root: () if is_right(stated, value) else (f"{value!r} against {stated!r}",)


CHECKS: dict[str, Any] = {
    **dict.fromkeys(("$schema", "$defs", "title", "description", "default", "propertyNames"), _nothing),
    "$ref": lambda stated, value, _, root: problems(root["$defs"][stated.removeprefix("#/$defs/")], value, root),
    "type": _when(_typed),
    "enum": _when(lambda stated, value: value in stated),
    "required": _when(lambda stated, value: not isinstance(value, dict) or set(stated) <= set(value)),
    "pattern": _when(lambda stated, value: not isinstance(value, str) or re.search(stated, value)),
    "minLength": _when(lambda stated, value: not isinstance(value, str) or len(value) >= stated),
    "maxLength": _when(lambda stated, value: not isinstance(value, str) or len(value) <= stated),
    "minItems": _when(lambda stated, value: not isinstance(value, list) or len(value) >= stated),
    "minProperties": _when(lambda stated, value: not isinstance(value, dict) or len(value) >= stated),
    "minimum": _when(lambda stated, value: not _typed("number", value) or value >= stated),
    "exclusiveMinimum": _when(lambda stated, value: not _typed("number", value) or value > stated),
    "maximum": _when(lambda stated, value: not _typed("number", value) or value <= stated),
    "properties": _properties,
    "patternProperties": _patterns,
    "additionalProperties": _others,
    "items": lambda stated, value, _, root: (
        text for item in (value if isinstance(value, list) else ()) for text in problems(stated, item, root)
    ),
    "anyOf": lambda stated, value, _, root: (
        () if any(not list(problems(one, value, root)) for one in stated) else (f"{value!r} is none of what may stand here",)
    ),
}


@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: path.name)
def test_the_schema_accepts_our_inventories(path: Path) -> None:
    """An editor finds nothing wrong with the files that we ship."""
    schema = inventory_schema()
    assert list(problems(schema, yaml.safe_load(path.read_text()), schema)) == []


@pytest.mark.parametrize(
    "text",
    [
        "x: 1\nclusters: {google: {a: {gpus: []}}}",
        "clusters: {google: {a: {gpus: [], x: 1}}}",
        "clusters: {google: {a: {gpus: [{card: t4, x: 1}]}}}",
        "clusters: {google: {a: {gpus: [{card: t4, min: -1}]}}}",
        "clusters: {google: {a: {gpus: [5]}}}",
        "clusters: {google: {a: {}}}",
        "clusters: {google: {A: {gpus: []}}}",
        "clusters: {Google: {a: {gpus: []}}}",
        "clusters: {google: {a: {gpus: [], tags: {A: b}}}}",
        "clusters: {google: {a: {gpus: [{card: t4, labels: {a b: c}}]}}}",
        "clusters: {}",
    ],
)
def test_the_schema_and_the_models_refuse_alike(text: str) -> None:
    """What reading refuses an editor marks too."""
    schema = inventory_schema()
    assert list(problems(schema, yaml.safe_load(text), schema))
    assert mistakes(text)


def test_reading_keeps_its_own_words() -> None:
    """No message of the table above carries the turns of phrase of the library underneath."""
    for _, text, _, _ in SHAPES:
        for mistake in mistakes(text):
            assert not re.search(r"Input|valid|should|String|pydantic", f"{mistake.reason} {mistake.remedy}"), mistake


def test_read_inventory_is_what_load_inventory_gives() -> None:
    """Reading a file and reading its document are one thing."""
    document = load_document(INVENTORIES[0])
    assert read_inventory(document) == load_inventory(INVENTORIES[0])
    assert document.file == str(INVENTORIES[0])
