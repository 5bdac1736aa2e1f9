"""What starting costs: each stack's program up to its first resource, against the bare imports, and the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.fleets import SITES
from benchmarks.measuring import Usage, median, run

RUNS = 5
SDKS = ("pulumi_aws", "pulumi_azure_native", "pulumi_gcp", "pulumi_kubernetes", "pulumi_openstack")

_PROGRAM = """
import json, sys
sys.argv = ["worker", *{arguments!r}]
from preview.worker import main
code = main(sys.argv[1:])
loaded = [name for name, module in sys.modules.items() if name.startswith("pulumi_") and hasattr(module, "__file__")]
print(json.dumps({{"code": code, "modules": sorted(loaded)}}), flush=True)
import os; os._exit(code)
"""


def print_start_times(folder: Path, root: Path) -> None:
    """Print the start times; `folder` holds the two-cluster inventory of the measured stack, `root` is the project's."""
    print(f"Starts (seconds on the wall, median of {RUNS}): a whole preview of the repository's own inventory, and an import of")
    print("the SDK modules it loaded, alone. Loaded: the provider SDKs found in the process at the end.")
    print("stack       preview  bare import  loaded")
    for site in SITES.values():
        arguments = ["--stack", site.stack, "--project-dir", str(root), "--out", str(folder / "start.json")]
        program = _repeated((sys.executable, "-c", _PROGRAM.format(arguments=arguments)), folder)
        modules = json.loads(program.output)["modules"]
        imports = _repeated((sys.executable, "-c", "\n".join(("import pulumi", *_imports(modules)))), folder)
        loaded = [sdk for sdk in SDKS if any(name == sdk or name.startswith(f"{sdk}.") for name in modules)]
        print(f"{site.stack:10} {program.seconds:8.2f} {imports.seconds:12.2f}  {', '.join(loaded)}", flush=True)
    commands = {
        "./gpufleet --help": (str(root / "gpufleet"), "--help"),
        "python -c pass": (sys.executable, "-c", "pass"),
        "import click": (sys.executable, "-c", "import click"),
    }
    for title, command in commands.items():
        print(f"{title:18} {_repeated(command, folder).seconds:.3f} s", flush=True)


def _imports(modules: list[str]) -> list[str]:
    """Return import statements for the modules, in the order of their names."""
    return [f"import {name}" for name in modules]


def _repeated(command: tuple[str, ...], folder: Path) -> Usage:
    """Return the medians of several runs of a command."""
    return median([run(command, folder) for _ in range(RUNS)])
