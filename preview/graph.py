"""The resource graph: every resource a stack's program declares, as plain data that any reader can use without Pulumi."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from fleet.errors import FleetErrors, Mistake

VERSION = 1
"""Version of the JSON form; raised when a reader of the old form could misread the new one."""
MASK = "[secret]"
"""What stands in place of every secret value."""
UNKNOWN = "[unknown]"
"""What stands in place of a value that no preview can know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Resource options as the engine receives them, property paths in camelCase.

    Attributes:
        protect: Whether deletion is refused; None when not said.
        ignore_changes: Property paths whose changes never show.
        delete_before_replace: Whether the old resource goes first; None when not said.
        replace_on_changes: Property paths whose change replaces the resource.
        retain_on_delete: Whether the physical resource stays when it leaves the program; None when not said.
        aliases: Former URNs, those inherited from the parent's aliases included.
        additional_secret_outputs: Outputs that count as secret.
        custom_timeouts: Time limits by operation, such as ``{"create": "30m"}``.
        depends_on: URNs of explicit and implicit dependencies together: the protocol does not keep them apart.
    """

    protect: bool | None = None
    ignore_changes: tuple[str, ...] = ()
    delete_before_replace: bool | None = None
    replace_on_changes: tuple[str, ...] = ()
    retain_on_delete: bool | None = None
    aliases: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    custom_timeouts: Mapping[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One declared resource.

    Attributes:
        urn: Its URN, built as the engine builds it.
        type: Type token, such as ``gcp:container/nodePool:NodePool``.
        name: Logical name.
        parent: URN of the parent component; None directly under the stack.
        custom: True for what a provider manages, False for a component.
        inputs: Plain JSON in the engine's camelCase spelling; secrets masked, integral numbers as int.
        id: Stand-in physical id; None for a component.
        provider: URN of the explicit provider; None for the default one.
        options: Its resource options, after transforms.
        dependencies: URNs of all it depends on, sorted.
        property_dependencies: URNs by the property that needs them, sorted.
        read: True for a resource that is looked up and not made, such as a StackReference.
    """

    urn: str
    type: str
    name: str
    parent: str | None
    custom: bool
    inputs: Mapping[str, Any]
    id: str | None = None
    provider: str | None = None
    options: Options = field(default_factory=Options)
    dependencies: tuple[str, ...] = ()
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something wrong with a declared resource that Python and the mocks let through.

    Attributes:
        severity: ``error`` when the provider would refuse it, ``warning`` when it probably is not what was meant.
        urn: The resource; empty for the stack as a whole.
        path: Property path in camelCase, such as ``nodeConfig.taints[0].effect``.
        value: The offending value as declared; None when one is missing.
        reason: Why it cannot stand.
        remedy: What would be right.
    """

    severity: Literal["error", "warning"]
    urn: str
    path: str
    value: Any
    reason: str
    remedy: str

    def __str__(self) -> str:
        """Return the finding on one line: severity, resource, path, value, reason, remedy."""
        where = ".".join(part for part in (self.urn, self.path) if part)
        shown = "" if self.value is None else f" = {json.dumps(self.value, default=str)[:120]}"
        return f"{self.severity}: {where}{shown}: {self.reason.rstrip('.')}. {self.remedy}"


@dataclass(frozen=True, kw_only=True)
class ResourceGraph:
    """All resources of one stack, sorted by URN, so that equal programs give equal bytes.

    Attributes:
        project: Pulumi project name.
        stack: Stack name.
        resources: Sorted by URN whatever order they are given in.
        outputs: Stack outputs, secrets masked.
        findings: Sorted by resource and path.
        version: Version of this form.
    """

    project: str
    stack: str
    resources: tuple[Resource, ...]
    outputs: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    version: int = VERSION

    def __post_init__(self) -> None:
        """Sort resources and findings."""
        object.__setattr__(self, "resources", tuple(sorted(self.resources, key=lambda one: one.urn)))
        object.__setattr__(self, "findings", tuple(sorted(self.findings, key=lambda one: (one.urn, one.path, one.reason))))

    @cached_property
    def by_urn(self) -> dict[str, Resource]:
        """Resources by URN."""
        return {resource.urn: resource for resource in self.resources}

    @cached_property
    def children(self) -> dict[str | None, tuple[Resource, ...]]:
        """Resources by the URN of their parent; None holds those directly under the stack."""
        found: dict[str | None, list[Resource]] = {}
        for resource in self.resources:
            found.setdefault(resource.parent, []).append(resource)
        return {parent: tuple(resources) for parent, resources in found.items()}

    def of_type(self, type_token: str) -> tuple[Resource, ...]:
        """Return the resources with this type token, sorted by URN."""
        return tuple(resource for resource in self.resources if resource.type == type_token)

    def to_json(self, *, indent: int | None = 1) -> str:
        """Return the graph as JSON text with sorted keys and a final newline; equal graphs give equal text.

        Args:
            indent: Spaces by level; None for one line, which is written several times as fast.
        """
        return json.dumps(self.to_plain(), indent=indent, sort_keys=True, ensure_ascii=False) + "\n"

    def to_plain(self) -> dict[str, Any]:
        """Return the graph as dicts, lists and plain values. Shares its inputs and outputs with the graph."""
        return {
            "version": self.version,
            "project": self.project,
            "stack": self.stack,
            "resources": [_resource_to_plain(resource) for resource in self.resources],
            "outputs": self.outputs,
            "findings": [asdict(finding) for finding in self.findings],
        }

    @classmethod
    def from_json(cls, text: str, *, file: str = "") -> ResourceGraph:
        """Read a graph from JSON text.

        Args:
            text: What `to_json` returned.
            file: Name of the file it came from, for messages.

        Raises:
            FleetErrors: The text is not JSON, not a graph, or of another version.
        """
        try:
            plain = json.loads(text)
        except ValueError as error:
            raise _not_a_graph(f"it is not JSON: {error}", file) from None
        return cls.from_plain(plain, file=file)

    @classmethod
    def from_plain(cls, plain: object, *, file: str = "") -> ResourceGraph:
        """Read a graph from what `to_plain` returned. Raises FleetErrors as `from_json` does."""
        if not isinstance(plain, dict):
            raise _not_a_graph("it is not a JSON object", file)
        if plain.get("version") != VERSION:
            raise _not_a_graph(f"this program reads version {VERSION}", file, path="version", value=plain.get("version"))
        try:
            return cls(
                project=plain["project"],
                stack=plain["stack"],
                resources=tuple(_resource_from_plain(resource) for resource in plain["resources"]),
                outputs=plain["outputs"],
                findings=tuple(Finding(**finding) for finding in plain["findings"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise _not_a_graph(f"a part is missing or unknown: {error}", file) from None


_OPTION_TUPLES = ("ignore_changes", "replace_on_changes", "aliases", "additional_secret_outputs", "depends_on")
_DEFAULT_OPTIONS = Options()


def _resource_to_plain(resource: Resource) -> dict[str, Any]:
    """Return one resource as a dict; options that were not said are left out."""
    options = resource.options
    said = {
        option.name: getattr(options, option.name)
        for option in fields(Options)
        if getattr(options, option.name) != getattr(_DEFAULT_OPTIONS, option.name)
    }
    plain = {name: getattr(resource, name) for name in _RESOURCE_FIELDS}
    plain["options"] = said
    return plain


_RESOURCE_FIELDS = tuple(one.name for one in fields(Resource))


def _resource_from_plain(plain: Mapping[str, Any]) -> Resource:
    """Read one resource; lists become tuples again."""
    options = dict(plain["options"])
    options.update({name: tuple(options[name]) for name in _OPTION_TUPLES if name in options})
    values = dict(plain)
    values["options"] = Options(**options)
    values["dependencies"] = _urns(plain["dependencies"])
    values["property_dependencies"] = {name: _urns(urns) for name, urns in plain["property_dependencies"].items()}
    return Resource(**values)


def _urns(urns: Iterable[str]) -> tuple[str, ...]:
    """Return URNs as the tuple a `Resource` holds."""
    return tuple(urns)


def _not_a_graph(reason: str, file: str, *, path: str = "", value: object = None) -> FleetErrors:
    """Return the one error for text that cannot be read as a graph of this version."""
    remedy = "Make it again with `./gpufleet preview --json FILE`"
    return FleetErrors([Mistake(file=file, path=path, value=value, reason=f"Not a resource graph: {reason}", remedy=remedy)])
