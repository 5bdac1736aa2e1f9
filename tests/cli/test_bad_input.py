"""Inventories that cannot be used, at the command line: every mistake told once, with place and remedy, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import gpufleet

CLUSTER = "clusters: {google: {a: "

BAD: dict[str, tuple[str | bytes, list[tuple[str, ...]]]] = {
    "empty file": ("", [("mine.yaml: an empty file. Start with `clusters:`",)]),
    "no mapping": ("- google\n", [("mine.yaml", "`clusters:`")]),
    "no clusters": ("clusters: {}\n", [("mine.yaml:1: clusters: empty.",)]),
    "unknown keys": (
        CLUSTER + "{gpus: [t4], zone: x}}}\nsite: {}\n",
        [("mine.yaml:1: clusters.google.a.zone: ", "`zones`"), ("mine.yaml:2: site: ", "`sites`")],
    ),
    "misspelt card": (CLUSTER + "{gpus: [v10O]}}}\n", [("clusters.google.a.gpus[0].card = 'v10O'", "Did you mean V100")]),
    "card not sold there": (
        CLUSTER + "{region: europe-north1, gpus: [v100]}}}\n",
        [("mine.yaml:1: clusters.google.a.gpus[0].card = 'v100'", "in europe-north1", "Regions with V100: ")],
    ),
    "min above max": (
        CLUSTER + "{gpus: [{card: t4, min: 5, max: 2}]}}}\n",
        [("clusters.google.a.gpus[0].min = 5: min 5 is more than max 2", "at most 2")],
    ),
    "negative and huge counts": (
        CLUSTER + "{gpus: [{card: t4, min: -1, max: 99999999999}, {card: l4, max: 0}]}}}\n",
        [
            ("clusters.google.a.gpus[0].min = -1: less than 0",),
            ("clusters.google.a.gpus[0].max = 99999999999: more than 1000",),
            ("clusters.google.a.gpus[1].max = 0: less than 1",),
        ],
    ),
    "one cluster twice": (
        "clusters:\n  google:\n    a: {gpus: [t4]}\n    a: {gpus: [l4]}\n",
        [("mine.yaml:4: clusters.google.a: ", "line 3", "Keep one of the two.")],
    ),
    "one name on two clouds": (
        "clusters: {google: {a: {gpus: [t4]}}, aws: {a: {gpus: [t4]}}}\n",
        [("clusters.google.a = 'a'", "aws, google", "rename one")],
    ),
    "names that a cloud makes the same": (
        "clusters: {azure: {a: {gpus: [{card: t4, name: ab-c}, {card: t4, name: a-bc}]}}}\n",
        [("clusters.azure.a.gpus", "a-bc, ab-c", "would be called abc", "`name` of its own")],
    ),
    "broken YAML": ("clusters: {google: {a: [t4}\n", [("mine.yaml:1: not YAML", "Mend the text")]),
    "anchors": (
        "clusters: {google: {a: &x {gpus: [t4]}, b: *x}}\n",
        [("mine.yaml:1 = '&x'", "Write the value out"), ("mine.yaml:1 = '*x'", "Write the value out")],
    ),
    "tabs": ("clusters:\n\tgoogle: {a: {gpus: [t4]}}\n", [("mine.yaml:2: a tab", "Indent with spaces.")]),
    "tags": ("clusters: !!python/object:os.system {}\n", [("mine.yaml:1", "tags are not read")]),
    "5 MB": (b"clusters: {}\n" + b"#" * 5_000_000, [("mine.yaml: more than 1,000,000 bytes.", "Split the fleet")]),
    "Latin-1": ("clusters: {} # café\n".encode("latin-1"), [("mine.yaml: not UTF-8: byte 0xe9", "Save the file as UTF-8.")]),
    "UTF-16": ("clusters: {}\n".encode("utf-16"), [("mine.yaml: not UTF-8", "Save the file as UTF-8.")]),
    "an archive": (b"PK\x03\x04" + bytes(range(256)), [("mine.yaml", "UTF-8")]),
    "bottomless": ("[" * 5000, [("mine.yaml:1: nested more than 30 levels deep", "check the brackets")]),
}
"""What a person wrote, and what stands on each line they are told."""


@pytest.mark.parametrize("name", BAD)
def test_inventory_is_refused(name: str, tmp_path: Path) -> None:
    """One line a mistake, exit code 2, nothing on standard output, no traceback."""
    text, told = BAD[name]
    (tmp_path / "mine.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = gpufleet("inventory", "check", "mine.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == len(told), done.stderr
    for line, words in zip(lines, told, strict=True):
        assert [word for word in ("mine.yaml", *words) if word not in line] == [], line
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("place", ["missing.yaml", "."])
@pytest.mark.parametrize("words", [("inventory", "check"), ("preview", "--inventory")], ids=" ".join)
def test_inventory_that_is_not_there(words: tuple[str, ...], place: str, tmp_path: Path) -> None:
    """The file as it was named, and an example of one that is."""
    done = gpufleet(*words, place, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{place}: cannot be read: ")
    assert done.stderr.count("\n") == 1
    assert "Name an inventory file" in done.stderr


def test_preview_of_a_refused_inventory_starts_and_writes_nothing(tmp_path: Path) -> None:
    """All mistakes of the plan together, before any stack runs."""
    (tmp_path / "mine.yaml").write_text(
        "clusters:\n  google: {a: {gpus: [t5, {card: t4, min: 9, max: 2}]}}\n  mars: {m: {gpus: [t4]}}\nhub: nobody\n"
    )
    done = gpufleet("preview", "--inventory", "mine.yaml", "--json", "graphs.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split(": ")[1].split(" = ")[0] for line in done.stderr.splitlines()] == [
        "clusters.google.a.gpus[0].card",
        "clusters.google.a.gpus[1].min",
        "clusters.mars",
        "hub",
    ]
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
