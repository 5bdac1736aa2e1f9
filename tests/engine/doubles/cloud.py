"""The fake cloud: objects in JSON files, a journal of calls, and the one fault a test has planted. Safe for many processes."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tests.engine.doubles.rules import read_rules
from tests.engine.doubles.wire import at

Operation = Literal["create", "update", "delete"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """The call that is to fail.

    Attributes:
        operation: Which kind of call.
        nth: The how many-th such call that fits, counted from 1 when the fault is planted, over all providers.
        half: For a create: True when the object is there all the same, unfinished; False when the cloud refuses.
        type: Only calls about this resource type; empty for all.
    """

    operation: Operation
    nth: int = 1
    half: bool = False
    type: str = ""


@dataclass(kw_only=True, slots=True)
class CloudObject:
    """One thing that exists in the fake cloud; inputs and outputs are kept with their secret markers.

    Attributes:
        id: Physical id.
        type: Type token.
        scope: Within which ids and names are unique: the cluster for what is inside Kubernetes, empty for the clouds themselves.
        inputs: As declared.
        outputs: Inputs and what the cloud added.
    """

    id: str
    type: str
    scope: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


class FakeCloud:
    """The fake cloud in one directory.

    Args:
        directory: Where it lies; made if it is not there.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._objects = directory / "objects"
        self._objects.mkdir(parents=True, exist_ok=True)
        self.rules_file = directory / "rules.json"
        self._journal_file = directory / "journal.jsonl"
        self._fault_file = directory / "fault.json"

    def rules(self) -> dict[str, Any]:
        """Return the rules by type token; empty when the test has written none."""
        return read_rules(self.rules_file) if self.rules_file.exists() else {}

    def objects(self, token: str = "") -> list[CloudObject]:
        """Return what exists, all or of one type, sorted by id."""
        found = [CloudObject(**json.loads(file.read_text(encoding="utf-8"))) for file in self._objects.glob("*.json")]
        return sorted((one for one in found if token in ("", one.type)), key=lambda one: one.id)

    def get(self, token: str, identifier: str, scope: str = "") -> CloudObject | None:
        """Return the object of that type and id, or None when there is none."""
        file = self._file(token, identifier, scope)
        return CloudObject(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None

    def put(self, thing: CloudObject) -> None:
        """Make the object, or set it to what it is now."""
        with self._locked():
            self._file(thing.type, thing.id, thing.scope).write_text(json.dumps(asdict(thing)), encoding="utf-8")

    def remove(self, token: str, identifier: str, scope: str = "") -> None:
        """Remove the object; it may be gone already."""
        self._file(token, identifier, scope).unlink(missing_ok=True)

    def twin(self, token: str, scope: str, inputs: Mapping[str, Any], unique: tuple[str, ...]) -> CloudObject | None:
        """Return the living object that shares all `unique` properties with `inputs`, if the type has such properties."""
        wanted = [at(inputs, path) for path in unique]
        if not wanted or None in wanted:
            return None
        there = (one for one in self.objects(token) if one.scope == scope)
        return next((one for one in there if [at(one.inputs, path) for path in unique] == wanted), None)

    def change(self, token: str, identifier: str, **values: Any) -> None:  # noqa: ANN401 -- any JSON value
        """Change properties behind the program's back, as an autoscaler or a person would."""
        thing = self.get(token, identifier)
        if thing is None:
            raise KeyError(f"{token} {identifier}")
        thing.outputs.update(values)
        thing.inputs.update({name: value for name, value in values.items() if name in thing.inputs})
        self.put(thing)

    def plant(self, fault: Fault) -> None:
        """Let a later call fail."""
        self._fault_file.write_text(json.dumps(asdict(fault)), encoding="utf-8")

    def pull_up(self) -> bool:
        """Take the planted fault away; tell whether it was still there, which means that it never fired."""
        planted = self._fault_file.exists()
        self._fault_file.unlink(missing_ok=True)
        return planted

    def fault_for(self, operation: Operation, token: str) -> Fault | None:
        """Return the fault that this call must suffer, counting the call; None for a call that may go on."""
        with self._locked():
            if not self._fault_file.exists():
                return None
            fault = Fault(**json.loads(self._fault_file.read_text(encoding="utf-8")))
            if fault.operation != operation or fault.type not in ("", token):
                return None
            if fault.nth > 1:
                self.plant(replace(fault, nth=fault.nth - 1))
                return None
            self._fault_file.unlink()
            return fault

    def note(self, operation: str, token: str, name: str, **more: Any) -> None:  # noqa: ANN401 -- any JSON value
        """Write one line into the journal."""
        with self._locked(), self._journal_file.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"operation": operation, "type": token, "name": name, **more}) + "\n")

    def journal(self, *operations: str) -> list[dict[str, Any]]:
        """Return the journal, in order; only the lines of these operations when any are named."""
        if not self._journal_file.exists():
            return []
        lines = [json.loads(line) for line in self._journal_file.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if not operations or line["operation"] in operations]

    def _file(self, token: str, identifier: str, scope: str) -> Path:
        """Return the file of one object; ids hold slashes, so the name is a digest."""
        return self._objects / (hashlib.sha256(f"{token} {scope} {identifier}".encode()).hexdigest()[:32] + ".json")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep every other process and thread out for as long as the block runs."""
        with (self._directory / "lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
