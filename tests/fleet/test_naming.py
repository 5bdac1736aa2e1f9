"""Names are legal, within limits, stable, and different for different things."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet.clouds import Cloud
from fleet.naming import CLUSTER_NAMES, NAME_RULES, POOL_NAMES, NameKind, cloud_name

LEGAL = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
KINDS = st.sampled_from(list(NameKind))
SLUGS = st.from_regex(r"[a-z]([a-z0-9-]{0,120}[a-z0-9])?", fullmatch=True)


def test_every_kind_and_cloud_has_its_rule() -> None:
    """The tables are complete, and each rule names its source."""
    assert set(NAME_RULES) == set(NameKind)
    assert set(CLUSTER_NAMES) == set(POOL_NAMES) == set(Cloud)
    assert all(rule.source and rule.shortest <= rule.longest for rule in NAME_RULES.values())


@pytest.mark.parametrize(
    ("kind", "parts", "name"),
    [
        (NameKind.GKE_CLUSTER, ("gke-a",), "gke-a"),
        (NameKind.GKE_NODE_POOL, ("gke-a", "T4"), "gke-a-t4"),
        (NameKind.AKS_NODE_POOL, ("t4-spot",), "t4spot"),
        (NameKind.AKS_NODE_POOL, ("a100-80-x8-spot",), "a10080x8spot"),
        (NameKind.AKS_NODE_POOL, ("rtx-pro-6000-spot",), "rtxpro5798ff"),
        (NameKind.GOOGLE_SERVICE_ACCOUNT, ("ab",), "ab-fb8e20"),
        (NameKind.GKE_CLUSTER, ("1a",), "n1a-a73fcf"),
        (NameKind.GKE_CLUSTER, ("a_b",), "a-b-648fa9"),
    ],
)
def test_names_by_example(kind: NameKind, parts: tuple[str, ...], name: str) -> None:
    """Names that fit stay as they are; others end in a digest. A change here renames what people run."""
    assert cloud_name(kind, *parts) == name


@settings(max_examples=300, deadline=None)
@given(KINDS, st.lists(st.text(max_size=80), min_size=1, max_size=3))
def test_any_text_gives_a_legal_name_or_a_value_error(kind: NameKind, parts: list[str]) -> None:
    """Legal, within limits, the same again; ValueError only where there is neither letter nor digit to use."""
    rule = NAME_RULES[kind]
    try:
        name = cloud_name(kind, *parts)
    except ValueError:
        assert not re.search(r"[a-z0-9]", "-".join(parts).lower())
        return
    assert LEGAL.fullmatch(name)
    assert rule.shortest <= len(name) <= rule.longest
    assert rule.dashes or "-" not in name
    assert cloud_name(kind, *parts) == name


@settings(max_examples=300, deadline=None)
@given(KINDS, SLUGS, SLUGS)
def test_different_names_stay_different(kind: NameKind, one: str, other: str) -> None:
    """Cut names do not collide, nor do names that differ in more than the dashes a cloud has not."""
    assume(one != other)
    if not NAME_RULES[kind].dashes:
        assume(one.replace("-", "") != other.replace("-", ""))
    assert cloud_name(kind, one) != cloud_name(kind, other)


@settings(max_examples=100, deadline=None)
@given(KINDS, SLUGS)
def test_names_that_differ_at_the_end_alone_stay_different(kind: NameKind, name: str) -> None:
    """Where everything that is kept is equal, the digest still tells."""
    long = name + "x" * 100
    assert cloud_name(kind, long + "a") != cloud_name(kind, long + "b")


@pytest.mark.parametrize(("one", "other"), [("1a", "n1a"), ("a b", "a-b"), ("a.b", "a-b"), ("é", "e"), ("-a", "a")])
def test_mended_names_are_not_those_of_others(one: str, other: str) -> None:
    """A name that had to be mended never equals one that had not."""
    made = {cloud_name(NameKind.GKE_CLUSTER, text, "x") for text in (one, other)}
    assert len(made) == 2


def test_faithful_names_are_kept() -> None:
    """A legal name within the limit is the cloud's name."""
    for kind, rule in NAME_RULES.items():
        name = "a" * rule.longest
        assert cloud_name(kind, name) == name
        assert cloud_name(kind, name + "a") != name
