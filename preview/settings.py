"""A stack's settings as the CLI would hand them to the program: Pulumi.yaml, its config schema, and the stack's own file.

Source: pulumi/pulumi sdk/go/common/workspace/project.go and config/value.go, read 2026-11-21.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fleet.errors import FleetErrors, Mistake

SECRET_STAND_IN = "simulated-secret"  # noqa: S105 -- says that it is none
"""Value of every encrypted setting: the preview has no key and asks for none."""

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str, int, float),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class StackSettings:
    """What a program's run is given.

    Attributes:
        project: Project name.
        stack: Stack name.
        main: The program file.
        config: Values as the runtime holds them: text, or JSON text for what has structure.
        secret_keys: Keys whose values are secret.
    """

    project: str
    stack: str
    main: Path
    config: Mapping[str, str]
    secret_keys: tuple[str, ...]


def load_settings(project_dir: Path, stack: str, overrides: Mapping[str, str] | None = None) -> StackSettings:
    """Read a stack's settings.

    Args:
        project_dir: Folder with Pulumi.yaml.
        stack: Stack name; its file is Pulumi.<stack>.yaml in the project's ``stackConfigDir``.
        overrides: Config values that win over both files.

    Raises:
        FleetErrors: A file is missing or broken, a required value is missing, or a value has the wrong type.
    """
    project_file = project_dir / "Pulumi.yaml"
    project = _read(project_file, "Run this in the folder that holds Pulumi.yaml")
    name = project.get("name")
    if not isinstance(name, str):
        raise FleetErrors([Mistake(file=str(project_file), path="name", reason="The project has no name", remedy="Add one")])
    stack_file = project_dir / str(project.get("stackConfigDir") or ".") / f"Pulumi.{stack}.yaml"
    there = sorted(file.name.split(".")[1] for file in stack_file.parent.glob("Pulumi.*.yaml"))
    own = _read(stack_file, f"Use a stack that has one: {', '.join(there) or 'there is none yet'}")
    values: dict[str, Any] = {_qualified(key, name): value for key, value in (own.get("config") or {}).items()}
    values.update(overrides or {})
    main = project_dir / str(project.get("main") or "") / "__main__.py"
    config, secret_keys = _settled(project, stack_file, values)
    return StackSettings(project=name, stack=stack, main=main, config=config, secret_keys=secret_keys)


def _settled(project: Mapping[str, Any], stack_file: Path, values: dict[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return config and secret keys: a stack's values with the schema's defaults beneath them.

    Raises:
        FleetErrors: With every value that is missing or of the wrong type.
    """
    name = str(project["name"])
    mistakes: list[Mistake] = []
    secret_keys = {key for key, value in values.items() if isinstance(value, dict) and "secure" in value}
    for key, declared in (project.get("config") or {}).items():
        qualified = _qualified(key, name)
        schema = declared if isinstance(declared, dict) else {"value": declared}
        if schema.get("secret"):
            secret_keys.add(qualified)
        if qualified not in values and ("default" in schema or "value" in schema):
            values[qualified] = schema.get("value", schema.get("default"))
        mistakes.extend(_mistakes(schema, qualified, values, stack_file))
    if mistakes:
        raise FleetErrors(mistakes)
    config = {key: SECRET_STAND_IN if _is_encrypted(value) else _as_text(value) for key, value in values.items()}
    return config, tuple(sorted(secret_keys))


def _mistakes(schema: Mapping[str, Any], key: str, values: Mapping[str, Any], file: Path) -> list[Mistake]:
    """Return what is wrong with one declared setting: absent, or of another type."""
    kind = str(schema.get("type", "string"))
    if key not in values:
        remedy = f"Set it: `pulumi config set {key} VALUE`. It means: {schema.get('description', 'not described')}"
        return [Mistake(file=str(file), path=f"config.{key}", reason="A required setting is missing", remedy=remedy)]
    value = values[key]
    wanted = _KINDS.get(kind, (object,))
    wrong_switch = isinstance(value, bool) and bool not in wanted and object not in wanted
    if _is_encrypted(value) or "value" in schema or (isinstance(value, wanted) and not wrong_switch):
        return []
    if isinstance(value, str) and _parses_as(value, wanted):
        return []
    reason, remedy = f"The setting is not of type {kind}", f"Write a value of type {kind}"
    return [Mistake(file=str(file), path=f"config.{key}", value=value, reason=reason, remedy=remedy)]


def _parses_as(text: str, wanted: tuple[type, ...]) -> bool:
    """Return whether text, which is what `pulumi config set` writes, holds a value of a wanted type."""
    try:
        return isinstance(json.loads(text), wanted)
    except ValueError:
        return False


def _is_encrypted(value: object) -> bool:
    """Return whether a setting is encrypted."""
    return isinstance(value, dict) and "secure" in value


def _as_text(value: object) -> str:
    """Return a setting as the runtime holds it."""
    return value if isinstance(value, str) else json.dumps(value)


def _qualified(key: str, project: str) -> str:
    """Return a config key with its namespace; the project's own may be left out."""
    return key if ":" in key else f"{project}:{key}"


def _read(file: Path, remedy: str) -> dict[str, Any]:
    """Return a YAML file that holds a mapping.

    Raises:
        FleetErrors: It is missing, no YAML, or no mapping; `remedy` is for a missing one.
    """
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FleetErrors([Mistake(file=str(file), path="", reason="There is no such file", remedy=remedy)]) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(f"It is not YAML: {error}".split())
        raise FleetErrors([Mistake(file=str(file), path="", reason=reason, remedy="Put the file right")]) from None
    if not isinstance(found, dict):
        raise FleetErrors([Mistake(file=str(file), path="", reason="It holds no settings", remedy="Put the file right")])
    return found
