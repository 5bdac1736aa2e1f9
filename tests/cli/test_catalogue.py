"""``gpufleet catalogue``: filters, unknown cards, and a question without an answer."""

from __future__ import annotations

from tests.support.command import gpufleet


def rows(*words: str) -> list[list[str]]:
    """Return the cells of the table that a question is answered with."""
    done = gpufleet("catalogue", *words)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["card", "cloud", "region", "machine"]
    return [line.split() for line in lines[1:] if "is not offered on" not in line]


def test_filters_join() -> None:
    """Card in any case, cloud and region together."""
    found = rows("--card", "t4", "--cloud", "aws", "--region", "us-east-1")
    assert {tuple(row[:3]) for row in found} == {("T4", "aws", "us-east-1")}
    assert "g4dn.xlarge" in {row[3] for row in found}


def test_without_filters_every_cloud_is_there() -> None:
    """The whole catalogue, in the order of cards."""
    found = rows("--all")
    assert {row[1] for row in found} == {"google", "aws", "azure", "openstack"}
    assert [row[0] for row in found] == sorted(row[0] for row in found)


def test_what_is_gone_is_shown_on_demand() -> None:
    """A retired machine has no region to be had in, and its day stands beside it."""
    assert not [row for row in rows("--card", "t4") if "retired" in row]
    assert [row for row in rows("--card", "k80", "--cloud", "aws", "--all") if "retired" in row and "2025-04-17" in row]


def test_unknown_card_is_told_with_the_nearest_names() -> None:
    """A misspelt card is refused, not searched for."""
    done = gpufleet("catalogue", "--card", "h10")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--card = 'h10': no such card. Did you mean ")
    assert "H100" in done.stderr


def test_nothing_found_is_an_exit_code() -> None:
    """A script can tell an empty answer from an answer."""
    done = gpufleet("catalogue", "--card", "t4", "--region", "nowhere")
    assert (done.returncode, done.stderr) == (1, "")
    assert "Nothing in the catalogue answers to that" in done.stdout


def test_a_card_that_a_cloud_lacks_has_its_reason() -> None:
    """Not finding a card on a cloud is a fact with a source, where one is known."""
    done = gpufleet("catalogue", "--card", "tpu-v5e", "--cloud", "google")
    assert done.returncode == 0
    assert "TPU-v5e" in done.stdout
