"""What a change of the program would add, update, replace and delete: a prediction from two resource graphs, without state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from preview.graph import UNKNOWN, Resource, ResourceGraph
from preview.replacement import REPLACING, SOURCE

PREDICTED = f"Replacements are predicted {SOURCE}."
"""What to print beside every diff."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One property that differs.

    Attributes:
        path: Property path, such as ``autoscaling.totalMaxNodeCount`` or ``nodeConfig.taints[0].effect``.
        before: Value in the base; None when it was absent.
        after: Value in the head; None when it is absent now.
        replaces: Whether this change replaces the resource.
    """

    path: str
    before: Any
    after: Any
    replaces: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """A resource whose inputs change.

    Attributes:
        resource: As the head declares it.
        former_urn: Its URN in the base, which differs when an alias joined them.
        changes: What differs, sorted by path; may be empty for a replacement that follows another.
        because: For a replacement that follows others: URNs of the replaced resources; empty when its own change replaces it.
    """

    resource: Resource
    former_urn: str
    changes: tuple[Change, ...]
    because: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What differs between two graphs, each part sorted by URN.

    Attributes:
        adds: Resources of the head alone.
        updates: Resources that change in place.
        replaces: Resources that are made anew.
        deletes: Resources of the base alone.
        label: The sentence that says how sure this is.
    """

    adds: tuple[Resource, ...] = ()
    updates: tuple[Update, ...] = ()
    replaces: tuple[Update, ...] = ()
    deletes: tuple[Resource, ...] = ()
    label: str = field(default=PREDICTED)

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.adds or self.updates or self.replaces or self.deletes)


def diff(base: ResourceGraph, head: ResourceGraph, replacing: Mapping[str, Iterable[str]] = REPLACING) -> Changes:
    """Return what becomes of the base's resources when the head's program is deployed.

    Args:
        base: What is declared today.
        head: What will be declared.
        replacing: By type token, the property paths whose change replaces the resource.

    Returns:
        Changes by kind. Paths under `ignore_changes` never show. A resource with an input that comes from a replaced one, through
        a property that replaces, is replaced along with it, as the engine does.
    """
    pairs = _pairs(base, head)
    compared = {
        urn: Update(resource=resource, former_urn=former.urn, changes=_changes(former, resource, replacing))
        for urn, (former, resource) in pairs.items()
    }
    replaced = _follow(compared, {urn for urn, one in compared.items() if _replaces(one)}, replacing)
    matched = {former.urn for former, _ in pairs.values()}
    return Changes(
        adds=tuple(one for one in head.resources if one.urn not in pairs and not one.read),
        updates=tuple(one for urn, one in sorted(compared.items()) if one.changes and urn not in replaced),
        replaces=tuple(replaced[urn] for urn in sorted(replaced)),
        deletes=tuple(one for one in base.resources if one.urn not in matched and not one.read),
    )


def _pairs(base: ResourceGraph, head: ResourceGraph) -> dict[str, tuple[Resource, Resource]]:
    """Return by URN of the head the resources that both declare, by URN or else by alias."""
    former = base.by_urn
    found = {one.urn: (former[one.urn], one) for one in head.resources if one.urn in former and not one.read}
    taken = set(found)
    for resource in head.resources:
        if resource.urn in found or resource.read:
            continue
        for alias in resource.options.aliases:
            if alias in former and alias not in taken:
                found[resource.urn] = (former[alias], resource)
                taken.add(alias)
                break
    return found


def _replaces(update: Update) -> bool:
    """Return whether one of its own changes replaces a resource."""
    return any(change.replaces for change in update.changes)


def _changes(former: Resource, resource: Resource, replacing: Mapping[str, Iterable[str]]) -> tuple[Change, ...]:
    """Return how a resource's inputs differ, ignored paths left out, marked where a change replaces it."""
    ignored = [_matcher(path) for path in resource.options.ignore_changes]
    paths = (*replacing.get(resource.type, ()), *resource.options.replace_on_changes) if resource.custom else ()
    forcing = [_matcher(path) for path in paths]
    found: list[Change] = []
    _compare(former.inputs, resource.inputs, "", found)
    return tuple(
        Change(path=one.path, before=one.before, after=one.after, replaces=any(each.match(one.path) for each in forcing))
        for one in sorted(found, key=lambda one: one.path)
        if not any(each.match(one.path) for each in ignored)
    )


def _compare(before: Any, after: Any, path: str, found: list[Change]) -> None:  # noqa: ANN401 -- any JSON value
    """Add to `found` every leaf that differs; an unknown side counts as no difference, since nobody can tell."""
    if before == after or UNKNOWN in (before, after):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted(before.keys() | after.keys()):
            _compare(before.get(key), after.get(key), _join(path, key), found)
    elif isinstance(before, list) and isinstance(after, list) and before and after:
        for index in range(max(len(before), len(after))):
            first = before[index] if index < len(before) else None
            second = after[index] if index < len(after) else None
            _compare(first, second, f"{path}[{index}]", found)
    else:
        found.append(Change(path=path, before=before, after=after))


def _follow(compared: Mapping[str, Update], replaced: set[str], replacing: Mapping[str, Iterable[str]]) -> dict[str, Update]:
    """Return all replacements: those by their own change, and those that follow through a replacing property."""
    found = {urn: compared[urn] for urn in sorted(replaced)}
    waiting = sorted(found)
    followers = _followers(compared, replacing)
    while waiting:
        cause = waiting.pop()
        for urn in followers.get(cause, ()):
            earlier = found.get(urn)
            if earlier is None:
                waiting.append(urn)
                found[urn] = _because(compared[urn], cause)
            elif earlier.because and cause not in earlier.because:
                found[urn] = _because(earlier, cause)
    return found


def _because(update: Update, cause: str) -> Update:
    """Return the update as one that follows `cause` too."""
    because = tuple(sorted({*update.because, cause}))
    return Update(resource=update.resource, former_urn=update.former_urn, changes=update.changes, because=because)


def _followers(compared: Mapping[str, Update], replacing: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return by URN which resources take a replacing property from it. Only whole top-level properties are known to depend."""
    found: dict[str, list[str]] = {}
    for urn, update in sorted(compared.items()):
        resource = update.resource
        paths = (*replacing.get(resource.type, ()), *resource.options.replace_on_changes)
        ignored = set(resource.options.ignore_changes)
        forcing = {_top(path) for path in paths} - ignored
        for name, causes in resource.property_dependencies.items():
            for cause in causes if name in forcing or "*" in forcing else ():
                found.setdefault(cause, []).append(urn)
    return found


def _top(path: str) -> str:
    """Return the first part of a property path."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _matcher(path: str) -> re.Pattern[str]:
    """Return a pattern for a property path and everything below it; ``*`` stands for any one key or index."""
    escaped = re.escape(path).replace(r"\[\*\]", r"\[\d+\]").replace(r"\*", r'[^.\["]+')
    return re.compile(rf"{escaped}(?=$|[.\[])")


def _join(path: str, key: str) -> str:
    """Return the path of a key inside a path; a key with a dot in it stands in brackets, as the engine writes it."""
    if not re.fullmatch(r"[A-Za-z_$][\w$-]*", key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
