"""Runs a Pulumi project under the real engine, on its own: temporary home, file backend, doubles in place of all providers.

The CLI is driven as a subprocess with ``--event-log``, the same stream that the Automation API reads, because that API knows
no time limits: here each run has one, and a run that exceeds it is ended by its process group.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import yaml

from tests.engine.doubles import DIRECTORY_VARIABLE
from tests.engine.doubles.cloud import FakeCloud

REPOSITORY = Path(__file__).resolve().parents[2]
TIME_LIMIT_SECONDS = 120
ORGANIZATION = "organization"
"""The one organization that a file backend has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What the engine did, or would do, to one resource.

    Attributes:
        operation: The engine's word: same, create, update, replace, create-replacement, delete-replaced, delete, read ...
        urn: The resource.
        type: Its type token.
        parent: URN of its parent; empty for the stack.
        inputs: Its new inputs, secrets as the CLI prints them, unknown values as the protocol's marker; empty for a deletion.
        changed: Property paths that differ, when the operation is a change.
        protect: Whether the engine would refuse to delete it.
    """

    operation: str
    urn: str
    type: str
    parent: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    protect: bool = False

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.rsplit("::", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the CLI.

    Attributes:
        succeeded: Whether it exited with 0.
        text: All it printed.
        events: The engine's events, in order.
    """

    succeeded: bool
    text: str
    events: Sequence[Mapping[str, Any]]

    @cached_property
    def steps(self) -> list[Step]:
        """All steps over resources, the stack itself left out."""
        metadata = (event["resourcePreEvent"]["metadata"] for event in self.events if "resourcePreEvent" in event)
        return [_step(one) for one in metadata if one["type"] != "pulumi:pulumi:Stack"]

    @property
    def changes(self) -> list[tuple[str, str]]:
        """Operation and name of every step that is a change, sorted; empty when nothing would change."""
        quiet = {"same", "read", "refresh"}
        return sorted((step.operation, step.name) for step in self.steps if step.operation not in quiet)

    @property
    def errors(self) -> list[str]:
        """Error messages, without colour codes."""
        found = (event["diagnosticEvent"] for event in self.events if "diagnosticEvent" in event)
        return [_plain(one["message"]) for one in found if one["severity"] == "error"]

    def operations_on(self, token: str) -> set[str]:
        """Return the operations that resources of one type saw."""
        return {step.operation for step in self.steps if step.type == token}


class EngineProject:
    """A copy of a project that can be run.

    Args:
        directory: Empty directory; takes the copy, the backend and everything else.
        sources: Files and folders by the path they are to have in the copy; ``Pulumi.yaml`` must be among them.
        packages: Version by provider package that gets a double.
    """

    def __init__(self, directory: Path, sources: Mapping[str, Path], packages: Mapping[str, str]) -> None:
        self._packages = dict(packages)
        self._settle(directory)
        for name in ("project", "backend", "home"):
            (directory / name).mkdir()
        for name, source in sources.items():
            target = self.directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
            _ = (
                shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
                if source.is_dir()
                else shutil.copyfile(source, target)
            )
        self._adapt()

    def clone(self, directory: Path) -> Self:
        """Return a project that goes on, in another empty directory, from where this one stands: state, cloud and files."""
        shutil.copytree(self._scratch, directory, dirs_exist_ok=True)
        twin = copy(self)
        twin._settle(directory)
        twin._adapt()
        return twin

    def init(self, stack: str) -> None:
        """Make a stack; it may be there already."""
        self._must("stack", "select", "--create", stack)

    def preview(self, stack: str, *more: str) -> Run:
        """Preview an update."""
        return self._run("preview", "--stack", stack, *more)

    def up(self, stack: str, *more: str) -> Run:
        """Update, without the preview that usually goes before."""
        return self._run("up", "--stack", stack, "--yes", "--skip-preview", *more)

    def refresh(self, stack: str) -> Run:
        """Take the fake cloud's truth into the state."""
        return self._run("refresh", "--stack", stack, "--yes", "--skip-preview")

    def destroy(self, stack: str) -> Run:
        """Delete everything that the stack holds."""
        return self._run("destroy", "--stack", stack, "--yes", "--skip-preview")

    def outputs(self, stack: str) -> dict[str, Any]:
        """Return the stack's outputs, secrets in clear."""
        return json.loads(self._must("stack", "output", "--stack", stack, "--json", "--show-secrets"))

    def resources(self, stack: str) -> list[dict[str, Any]]:
        """Return the resources in the stack's state, secrets encrypted."""
        return json.loads(self.state_text(stack))["deployment"].get("resources", [])

    def state_text(self, stack: str) -> str:
        """Return the stack's state as exported: what lies in the backend."""
        return self._must("stack", "export", "--stack", stack)

    def backend_text(self) -> str:
        """Return everything the backend keeps, as one text."""
        files = sorted(file for file in (self._scratch / "backend").rglob("*") if file.is_file())
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)

    def _settle(self, directory: Path) -> None:
        """Take `directory` for the place of everything."""
        self._scratch = directory
        self.directory = directory / "project"
        self.cloud = FakeCloud(directory / "cloud")

    def _install(self, package: str, version: str) -> None:
        """Write the plugin of one package: a script that starts the double."""
        folder = self._scratch / "plugins" / package
        folder.mkdir(parents=True, exist_ok=True)
        plugin = folder / f"pulumi-resource-{package}"
        command = f'exec "{sys.executable}" -P -m tests.engine.doubles {package} {version}'
        plugin.write_text(f'#!/bin/sh\nPYTHONPATH="{REPOSITORY}" {command}\n', encoding="utf-8")
        plugin.chmod(0o755)

    def _adapt(self) -> None:
        """Install the doubles; point the copy's Pulumi.yaml at them and at this interpreter's virtual environment."""
        for package, version in self._packages.items():
            self._install(package, version)
        file = self.directory / "Pulumi.yaml"
        settings = yaml.safe_load(file.read_text(encoding="utf-8"))
        settings["runtime"] = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        providers = [{"name": package, "path": str(self._scratch / "plugins" / package)} for package in self._packages]
        settings["plugins"] = {"providers": providers}
        file.write_text(yaml.safe_dump(settings), encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        """Return the whole environment of a run: nothing of the caller's but the search path, and so no credentials."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._scratch / "home"),
            "LANG": "C.UTF-8",
            "PULUMI_HOME": str(self._scratch / "home"),
            "PULUMI_BACKEND_URL": f"file://{self._scratch / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "a passphrase for tests",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
            "PULUMI_DEBUG_COMMANDS": "true",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            DIRECTORY_VARIABLE: str(self._scratch / "cloud"),
        }

    def _run(self, *arguments: str) -> Run:
        """Run an operation of the engine and read its events."""
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            log = Path(folder, "events.jsonl")
            code, text = self._execute(*arguments, "--event-log", str(log))
            lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return Run(succeeded=code == 0, text=text, events=[json.loads(line) for line in lines])

    def _must(self, *arguments: str) -> str:
        """Run a command that has to succeed; return what it printed on standard output."""
        code, text = self._execute(*arguments)
        if code:
            raise AssertionError(f"pulumi {' '.join(arguments)} failed:\n{text}")
        return text

    def _execute(self, *arguments: str) -> tuple[int, str]:
        """Run the CLI within the time limit; on excess end it with all that it started."""
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never"]
        errors = subprocess.STDOUT if "--event-log" in arguments else subprocess.PIPE
        with subprocess.Popen(
            command,
            cwd=self.directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                text, complaint = process.communicate(timeout=TIME_LIMIT_SECONDS)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return process.returncode, text + (complaint or "" if process.returncode else "")


def _step(metadata: Mapping[str, Any]) -> Step:
    """Read one step from the engine's event."""
    new = metadata.get("new") or {}
    return Step(
        operation=metadata["op"],
        urn=metadata["urn"],
        type=metadata["type"],
        parent=new.get("parent", ""),
        inputs=new.get("inputs") or {},
        changed=tuple(sorted(metadata.get("detailedDiff") or {})),
        protect=bool(new.get("protect")),
    )


def _plain(text: str) -> str:
    """Return text without the engine's colour markers."""
    return re.sub(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*m", "", text).strip()
