"""YAML text to plain data with the line of every value: what people write is read strictly, and every mistake is told.

The core schema of YAML 1.2 is applied (``no`` and ``on`` are text, ``1:30`` is text), anchors, aliases and tags are refused, and
so are duplicate keys: a path in an error message then names exactly one place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml
from yaml.reader import Reader, ReaderError

from fleet.errors import FleetErrors, Mistake

LARGEST_BYTES = 1_000_000
"""Largest document read: a thousand clusters take about a fifth of it."""

_DEEPEST = 30
_KEY_SHOWN_CHARACTERS = 120

Path = tuple[str | int, ...]

_LINE_BREAKS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What libyaml counts lines by."""

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A document that was read.

    Attributes:
        file: Its name, as messages show it.
        data: Mappings, lists and scalars.
        lines: Line, from 1, of each value by its path.
        mistakes: What stands in it twice or cannot be a value; the rest of it was read all the same, so that
            whoever reads on can tell those together with mistakes of its own.
    """

    file: str
    data: object
    lines: Mapping[Path, int]
    mistakes: tuple[Mistake, ...] = ()

    def line_of(self, path: Path) -> int:
        """Return the line of `path`, or of the nearest thing around it that stands in the document."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def mistake(self, path: Path, reason: str, remedy: str, value: object = None) -> Mistake:
        """Return a mistake at `path` with this document's file and line filled in."""
        return Mistake(file=self.file, line=self.line_of(path), path=path_text(path), value=value, reason=reason, remedy=remedy)


class _CoreLoader(yaml.CSafeLoader):
    """Parses with libyaml, and resolves plain scalars by YAML 1.2's core schema instead of YAML 1.1's."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 -- PyYAML's own attribute


for _name, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    ("float", r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$", list("-+0123456789.")),
):
    _CoreLoader.add_implicit_resolver(_TAG + _name, re.compile(_pattern), _first)


def path_text(path: Path) -> str:
    """Return a path as people write it: ``clusters.google.gke-a.gpus[2].card``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_key_text(part)}" for part in path)
    return text.removeprefix(".")


def _key_text(key: str) -> str:
    """Return a key as paths show it: quoted when empty or unprintable, cut when long, so that a message stays one line."""
    shown = key if key.isprintable() and key else repr(key)
    return shown if len(shown) <= _KEY_SHOWN_CHARACTERS else f"{shown[:_KEY_SHOWN_CHARACTERS]}…"


def parse_document(content: bytes, file: str) -> Document:
    """Return the document that `content` holds; `file` is what messages call it.

    Raises:
        FleetErrors: The content is too large, not UTF-8, not YAML, or uses anchors, aliases or tags; all of it is listed.
    """
    text = _decode(content, file)
    try:
        mistakes = list(_refused_events(text, file))
        if mistakes:
            raise FleetErrors(mistakes)
        node = yaml.compose(text, Loader=_CoreLoader)
    except yaml.YAMLError as error:
        raise FleetErrors([_broken(error, text, file)]) from error
    lines: dict[Path, int] = {}
    builder = _Builder(file, lines)
    data = None if node is None else builder.build(node, ())
    return Document(file=file, data=data, lines=lines, mistakes=tuple(builder.mistakes))


def _decode(content: bytes, file: str) -> str:
    """Return the text of `content`, or refuse it by size or encoding."""
    if len(content) > LARGEST_BYTES:
        remedy = "Split the fleet into several inventories, or check that this is the right file."
        raise FleetErrors([Mistake(file=file, path="", reason=f"more than {LARGEST_BYTES:,} bytes", remedy=remedy)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}"
        raise FleetErrors([Mistake(file=file, path="", reason=reason, remedy="Save the file as UTF-8.")]) from error


def _refused_events(text: str, file: str) -> Iterator[Mistake]:
    """Yield what YAML allows and this program does not: anchors, aliases, tags, and nesting deeper than any inventory's.

    Depth is looked at before anything is composed, because composing recurses.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_CoreLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            reason = f"nested more than {_DEEPEST} levels deep"
            yield Mistake(file=file, line=line, path="", reason=reason, remedy="No setting is that deep: check the brackets.")
            return
        anchor = getattr(event, "anchor", None)
        if anchor:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            value = f"{sign}{anchor}"
            remedy = "Write the value out; what clusters share can stand under `defaults` or their site."
            yield Mistake(file=file, line=line, path="", value=value, reason="anchors and aliases are not read", remedy=remedy)
        tag = getattr(event, "tag", None)
        if tag:
            yield Mistake(file=file, line=line, path="", value=tag, reason="tags are not read", remedy="Write plain values.")


def _broken(error: yaml.YAMLError, text: str, file: str) -> Mistake:
    """Return a parser's complaint as a mistake."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if mark is None:
        line = _line_of_unprintable(text) if isinstance(error, ReaderError) else 0
        return Mistake(file=file, line=line, path="", reason=f"not YAML: {problem}", remedy="Write plain text.")
    line = mark.line + 1
    if _is_tab_trouble(text, mark):
        return Mistake(
            file=file, line=line, path="", reason="a tab stands where YAML takes only spaces", remedy="Indent with spaces."
        )
    context = getattr(error, "context", None)
    reason = f"not YAML: {context}, {problem}" if context else f"not YAML: {problem}"
    return Mistake(file=file, line=line, path="", reason=reason, remedy=f"Mend the text at column {mark.column + 1}.")


def _is_tab_trouble(text: str, mark: yaml.Mark) -> bool:
    """Return whether a tab stands where the parser gave up: in the indentation of the line, or at the very place."""
    lines = _LINE_BREAKS.split(text)
    line = lines[mark.line] if mark.line < len(lines) else ""
    indentation = line[: len(line) - len(line.lstrip(" \t-"))]
    return "\t" in indentation or line[mark.column : mark.column + 1] == "\t"


def _line_of_unprintable(text: str) -> int:
    """Return the line of the first character that YAML does not allow, 0 when none is found."""
    found = Reader.NON_PRINTABLE.search(text)
    return len(_LINE_BREAKS.split(text[: found.start()])) if found else 0


class _Builder:
    """Builds plain data from a node graph, noting lines and mistakes as it goes."""

    def __init__(self, file: str, lines: dict[Path, int]) -> None:
        self.file = file
        self.lines = lines
        self.mistakes: list[Mistake] = []

    def build(self, node: yaml.Node, path: Path) -> object:
        """Return the plain value of `node`."""
        self.lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self._add(line, path, None, "a key must be plain text", "Write one word before the colon.")
                continue
            key = str(key_node.value)
            if key in result:
                first = self.lines[(*path, key)]
                self._add(line, (*path, key), None, f"the key stands here and on line {first}", "Keep one of the two.")
                continue
            result[key] = self.build(value_node, (*path, key))
            self.lines[(*path, key)] = line
        return result

    def _scalar(self, node: yaml.Node, path: Path) -> object:
        text = str(node.value)
        kind = node.tag.removeprefix(_TAG)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        try:
            if kind == "int":
                return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
            if kind == "float" and math.isfinite(number := float(text)):
                return number
        except ValueError:  # Python reads no whole number of more than 4300 digits
            pass
        if kind in {"int", "float"}:
            self._add(node.start_mark.line + 1, path, text, "too large a number", "Write a number that can be meant.")
        return text

    def _add(self, line: int, path: Path, value: object, reason: str, remedy: str) -> None:
        self.mistakes.append(Mistake(file=self.file, line=line, path=path_text(path), value=value, reason=reason, remedy=remedy))
