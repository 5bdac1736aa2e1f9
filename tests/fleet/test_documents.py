"""YAML as it is read here: strictly, with a line for everything, and never with another exception than FleetErrors."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fleet.documents import LARGEST_BYTES, Document, parse_document, path_text
from fleet.errors import FleetErrors, Mistake
from fleet.reading import read_inventory

FILE = "fleet.yaml"


def parsed(text: str | bytes) -> Document:
    """Return the document that a text holds."""
    return parse_document(text.encode() if isinstance(text, str) else text, FILE)


def refused(text: str | bytes) -> tuple[Mistake, ...]:
    """Return why a text is refused."""
    with pytest.raises(FleetErrors) as caught:
        parsed(text)
    return caught.value.mistakes


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: [b\n", 2, "while parsing a flow sequence, did not find expected ',' or ']'"),
        ("a: 'b\n", 2, "while scanning a quoted scalar, found unexpected end of stream"),
        ("a: 1\n  b: 2\n", 2, "mapping values are not allowed in this context"),
        ("a:\tb: c\n", 1, "mapping values are not allowed in this context"),
        ("a: 1\nb: @x\n", 2, "while scanning for the next token, found character that cannot start any token"),
        ("a: 1\n---\nb: 2\n", 2, "expected a single document in the stream, but found another document"),
        ("a: 1\nb: \x07\n", 2, "control characters are not allowed"),
        ("a: 1\nb: 2\nc: x\x00y\n", 3, "control characters are not allowed"),
        ("a: 1\u2028b: \x07\n", 2, "control characters are not allowed"),
    ],
)
def test_broken_yaml_is_told_with_its_line(text: str, line: int, reason: str) -> None:
    """A parser's complaint comes with the line that it is about and a next step."""
    (mistake,) = refused(text)
    assert (mistake.file, mistake.line) == (FILE, line)
    assert mistake.reason.startswith("not YAML: ")
    assert mistake.reason.endswith(reason)
    assert mistake.remedy


@pytest.mark.parametrize("text", ["a:\n\tb: c\n", "a:\n  b: 1\n\tc: 2\n", "a: x\nb:\n  \tc: 2\n"])
def test_tabs_are_named_as_tabs(text: str) -> None:
    """A tab in the indentation is called one, because nobody sees it."""
    (mistake,) = refused(text)
    assert mistake.line == text[: text.index("\t")].count("\n") + 1
    assert mistake.reason == "a tab stands where YAML takes only spaces"
    assert mistake.remedy == "Indent with spaces."


def test_tabs_inside_values_are_text() -> None:
    """YAML allows tabs between and inside values."""
    assert parsed('a:\t"x\ty"\n').data == {"a": "x\ty"}


def test_every_duplicate_key_is_listed_and_the_rest_is_read() -> None:
    """Duplicates name both lines, and mistakes of shape are told in the same go."""
    text = "hub: x\nhub: y\nclusters:\n  google:\n    a: {gpus: [], gpus: [t4]}\n    a: {gpus: []}\nclutsers: {}\n"
    document = parsed(text)
    assert [(mistake.line, mistake.path, mistake.reason) for mistake in document.mistakes] == [
        (2, "hub", "the key stands here and on line 1"),
        (5, "clusters.google.a.gpus", "the key stands here and on line 5"),
        (6, "clusters.google.a", "the key stands here and on line 5"),
    ]
    with pytest.raises(FleetErrors) as caught:
        read_inventory(document)
    told = [(mistake.line, mistake.path) for mistake in caught.value.mistakes]
    assert told == [(2, "hub"), (5, "clusters.google.a.gpus"), (6, "clusters.google.a"), (7, "clutsers")]


def test_duplicate_keys_alone_are_refused() -> None:
    """A document whose shape is right is not read past its duplicates."""
    with pytest.raises(FleetErrors, match="the key stands here and on line 1"):
        read_inventory(parsed("clusters: {google: {a: {gpus: []}}}\nclusters: {google: {a: {gpus: []}}}\n"))


def test_anchors_aliases_merge_keys_and_tags_are_all_listed() -> None:
    """What would make a path ambiguous or a value something else is refused, each place by itself."""
    text = "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\ne: !!str 1\nf: !x 1\n&y g: 1\n"
    assert [(mistake.line, mistake.value, mistake.reason) for mistake in refused(text)] == [
        (1, "&x", "anchors and aliases are not read"),
        (2, "*x", "anchors and aliases are not read"),
        (4, "*x", "anchors and aliases are not read"),
        (5, "tag:yaml.org,2002:str", "tags are not read"),
        (6, "!x", "tags are not read"),
        (7, "&y", "anchors and aliases are not read"),
    ]


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    """Aliases that would multiply to billions of values cost nothing."""
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    assert len(refused("\n".join(lines))) == 60 + 2 * 59


@pytest.mark.parametrize("size", [LARGEST_BYTES + 1, 5_000_000])
def test_files_that_are_too_large_are_refused_unread(size: int) -> None:
    """Size is looked at first."""
    (mistake,) = refused(b"a" * size)
    assert mistake.reason == "more than 1,000,000 bytes"
    assert "Split the fleet" in mistake.remedy


def test_the_largest_file_is_read() -> None:
    """The limit is itself allowed."""
    assert parsed(b"a: " + b"b" * (LARGEST_BYTES - 3)).data == {"a": "b" * (LARGEST_BYTES - 3)}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a: 1".encode("utf-16"), "not UTF-8: byte 0xff at offset 0"),
        ("a: é".encode("latin-1"), "not UTF-8: byte 0xe9 at offset 3"),
        (b"a: \xed\xa0\x80", "not UTF-8: byte 0xed at offset 3"),
    ],
)
def test_other_encodings_are_refused(content: bytes, reason: str) -> None:
    """The first byte that is not UTF-8 is named."""
    (mistake,) = refused(content)
    assert (mistake.reason, mistake.remedy) == (reason, "Save the file as UTF-8.")


def test_a_byte_order_mark_is_read_over() -> None:
    """Editors on Windows write one."""
    assert parsed(b"\xef\xbb\xbfa: 1").data == {"a": 1}


@pytest.mark.parametrize("text", ["[" * 31, "- " * 31 + "a", "{a: " * 5000, "[" * 200_000])
def test_deep_nesting_is_refused_before_it_can_recurse(text: str) -> None:
    """Depth is told with its line; nothing overflows the stack."""
    (mistake,) = refused(text)
    assert mistake.line == 1
    assert mistake.reason == "nested more than 30 levels deep"


def test_thirty_levels_are_read() -> None:
    """The limit is itself allowed."""
    data = parsed("[" * 30 + "]" * 30).data
    for _ in range(29):
        assert isinstance(data, list)
        (data,) = data
    assert data == []


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "1e999", "-1e999"])
def test_numbers_beyond_all_measure_are_mistakes(number: str) -> None:
    """Neither Python's limit on digits nor an infinite float reaches anybody."""
    (mistake,) = parsed(f"a: 1\nb: {number}\n").mistakes
    assert (mistake.line, mistake.path, mistake.reason) == (2, "b", "too large a number")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
def test_empty_documents_hold_nothing(text: str) -> None:
    """An empty file is not an error of YAML; reading says what to start with."""
    document = parsed(text)
    assert document.data is None
    with pytest.raises(FleetErrors, match=r"an empty file\. Start with `clusters:`"):
        read_inventory(document)


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2026-11-21", "2026-11-21"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("=", "="),
        ("<<", "<<"),
        ("0b1", "0b1"),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("017", 17),
        ("0o17", 15),
        ("0x1f", 31),
        ("+3", 3),
        ("-3", -3),
        ("1.30", 1.3),
        (".5", 0.5),
        ("1e3", 1000.0),
        ('"1.30"', "1.30"),
        ("'null'", "null"),
        ("x: |", None),
    ],
)
def test_scalars_are_those_of_yaml_1_2(scalar: str, value: object) -> None:
    """Countries, switches, times and dates stay text, as YAML 1.2's core schema has it."""
    if scalar == "x: |":
        assert parsed("a: |\n  no\n").data == {"a": "no\n"}
        return
    read = parsed(f"a: {scalar}\n").data
    assert read == {"a": value}
    assert isinstance(read, dict)
    assert type(read["a"]) is type(value)


def test_every_path_has_its_line() -> None:
    """Keys are found where they stand, items where they start, and what is missing at what is around it."""
    document = parsed("a:\n  b:\n    - 1\n    - c: 2\n      d:\n        3\n'e f': x\n")
    assert document.lines == {
        (): 1,
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "b", 0): 3,
        ("a", "b", 1): 4,
        ("a", "b", 1, "c"): 4,
        ("a", "b", 1, "d"): 5,
        ("e f",): 7,
    }
    assert document.line_of(("a", "b", 1, "x", "y")) == 4
    assert parsed("").line_of(("a",)) == 0


def test_paths_are_written_as_people_write_them() -> None:
    """Keys after dots, places in brackets; what would break a line or hide is quoted, what is endless is cut."""
    assert path_text(("clusters", "google", "gke-a", "gpus", 2, "card")) == "clusters.google.gke-a.gpus[2].card"
    assert path_text(("a\nb\x1b[31m", "")) == r"'a\nb\x1b[31m'.''"
    assert path_text(("x" * 500,)) == "x" * 120 + "…"


@pytest.mark.parametrize("text", ["? [a]\n: 1\n", "? {a: b}\n: 1\n"])
def test_keys_are_plain_text(text: str) -> None:
    """A list or mapping as a key is told with its line, and the rest is read."""
    (mistake,) = parsed(text).mistakes
    assert (mistake.line, mistake.reason) == (1, "a key must be plain text")


def test_messages_are_one_line_each() -> None:
    """File, line, path, value, reason and remedy, whatever stands in the value."""
    message = str(parsed("a: 1\n").mistake(("a",), "wrong.", "Mend it.", "x\n" * 200))
    assert message.startswith("fleet.yaml:1: a = 'x\\nx")
    assert message.endswith("…: wrong. Mend it.")
    assert "\n" not in message


MARKS = "a :  -  \n    \t [ ] { } ' \" &x *x !t |\n # \\ % ---\n ...\n clusters gpus [key] 1 . e9 \0 é\u2028\x85 ? ,"
PIECES = st.sampled_from([b" ", b": ", b"- ", b"\n", b"\xff", *(mark.encode() for mark in MARKS.split(" "))])


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=30).map(b"".join)))
@example(b'"[key]": 1')
@example(b'clusters: {"[key]": {"[key]": {gpus: [{labels: {"[key]": 1}, "[key]": 2}]}}}')
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    """No input ends in another exception, and what is refused has file, reason, remedy and, inside a text, a line."""
    try:
        read_inventory(parsed(content))
    except FleetErrors as errors:
        found = errors.mistakes
    else:
        return
    assert found
    for mistake in found:
        assert mistake.file == FILE
        assert mistake.reason
        assert mistake.remedy
        assert "\n" not in str(mistake)
        assert mistake.line or mistake.reason.startswith(("not UTF-8", "an empty file")), mistake
