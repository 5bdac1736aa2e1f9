"""Which way imports point: read from the import statements of every module, against one table."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from tests.support.sources import PACKAGES, PROJECT, Source, sources

ALLOWED: Mapping[str, set[str]] = {
    "fleet": set(),
    "components": {"fleet"},
    "preview": {"fleet"},
    "rehearsal": {"fleet", "preview"},
    "cli": {"fleet", "preview", "rehearsal"},
    "__main__": {"components", "fleet"},
}
"""Who may read whom, besides oneself. Tests and benchmarks may read all; nobody reads them."""

OWN = {*ALLOWED, "tests", "benchmarks"}

FLEET_LIBRARIES = {"pydantic", "annotated_types", "yaml"}
"""Installed packages that the pure core uses: the border's models, the classes in which pydantic hands out their limits, and the
parser of documents."""

FLEET_FORBIDDEN = {"os", "sys", "time", "datetime", "random", "socket", "subprocess", "secrets", "uuid", "importlib", "tempfile"}
"""Standard modules by which clock, environment, chance or the world outside would enter the plan."""

FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "glob", "rglob", "exists", "is_file"}

SDKS: Mapping[str, str] = {
    "google": "pulumi_gcp",
    "aws": "pulumi_aws",
    "azure": "pulumi_azure_native",
    "cern": "pulumi_openstack",
    "hub": "pulumi_kubernetes",
}
"""The one provider SDK that each stack's program loads."""


def imported(source: Source) -> Iterator[str]:
    """Yield the top package of every import in a module, wherever it stands, and of modules imported by a literal name."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield source.package if node.level else (node.module or "").split(".")[0]
    modules = {other.path.removesuffix(".py").replace("/", ".") for other in sources(*PACKAGES)}
    yield from (text.split(".")[0] for text in source.code_strings() if text in modules)


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(package: str) -> None:
    """A package reads itself and what the table allows, and nothing else of ours."""
    folder = "__main__.py" if package == "__main__" else package
    wrong = {
        f"{source.path} imports {name}"
        for source in sources(folder)
        for name in imported(source)
        if name in OWN - {package} and name not in ALLOWED[package]
    }
    assert not wrong


def test_every_package_is_in_the_table() -> None:
    """A new package needs its row."""
    found = {file.parent.name for file in PROJECT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert found == set(PACKAGES) == ALLOWED.keys() - {"__main__"}


def test_the_core_is_pure() -> None:
    """The plan depends on the inventory and the catalogue alone: no SDK, no clock, no chance, no environment."""
    names = {(source.path, name) for source in sources("fleet") for name in imported(source)}
    standard = {(path, name) for path, name in names if name in FLEET_FORBIDDEN}
    foreign = {(path, name) for path, name in names if name not in {*sys.stdlib_module_names, *FLEET_LIBRARIES, "fleet"}}
    assert not standard | foreign


def test_only_the_loader_opens_files() -> None:
    """One module of the core touches the disk."""
    wrong = {
        f"{source.path}:{node.lineno}"
        for source in sources("fleet")
        if source.path != "fleet/load.py"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in FILE_CALLS
    }
    assert not wrong


_LOADED = """
import json, sys
from pathlib import Path
from preview.program import ProgramFailedError
from preview.worker import preview_stack
try:
    preview_stack(Path.cwd(), sys.argv[1])
except ProgramFailedError as error:
    assert sys.argv[1] == "hub", error  # without the sites' outputs it stops after its imports
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules if name.startswith("pulumi_")})))
"""


@pytest.mark.parametrize("stack", SDKS)
def test_a_stack_loads_one_provider_sdk(stack: str) -> None:
    """The others would cost seconds and hundreds of megabytes for nothing."""
    command = [sys.executable, "-W", "ignore", "-c", _LOADED, stack]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [SDKS[stack]]


def test_every_stack_is_in_the_table() -> None:
    """A new stack says which SDK it loads."""
    assert {file.name.split(".")[1] for file in (PROJECT / "stacks").glob("Pulumi.*.yaml")} == SDKS.keys()
