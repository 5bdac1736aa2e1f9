"""``--against``: what a change adds, updates, replaces and deletes, as far as an offline preview can tell."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cli.progress import showing
from cli.project import PROJECT, stack_names
from fleet.errors import FleetErrors, Mistake
from fleet.load import load_inventory
from preview.diff import PREDICTED, Change, Changes, diff
from preview.graph import ResourceGraph
from preview.run import StackPreview, preview_stacks
from preview.settings import load_settings

_GIT_SECONDS = 60
_MOST_CHANGES = 12


def base_graphs(
    against: str, inventory: Path, layers: Sequence[Sequence[str]], time_limit_seconds: float, *, of_all: bool
) -> dict[str, ResourceGraph]:
    """Return the graphs to compare with, by stack: from a file, or by previewing a Git revision.

    Args:
        against: The file or the revision.
        inventory: The inventory; one inside the project is read as of the revision.
        layers: The stacks that are previewed today.
        time_limit_seconds: For each stack.
        of_all: Whether stacks whose site has left the inventory since are wanted as well.

    Raises:
        FleetErrors: `against` is neither, or the revision cannot be previewed.
    """
    file = Path(against)
    if file.is_file():
        return _read_graphs(file)
    with _checkout(against) as folder:
        present, file = stack_names(folder), _same_place(inventory, folder)
        names = [[name for name in layer if name in present] for layer in layers]
        if of_all:
            names.insert(0, _gone(folder, file, present, {name for layer in layers for name in layer}))
        with showing([name for layer in names for name in layer]) as progress:
            previews = preview_stacks(folder, names, inventory=file, progress=progress, time_limit_seconds=time_limit_seconds)
    _refuse_failed(against, previews)
    return {preview.stack: preview.graph for preview in previews if preview.graph}


def _gone(folder: Path, inventory: Path, present: Sequence[str], in_use: set[str]) -> list[str]:
    """Return the stacks in `folder` whose site stands in the inventory there, and that nobody uses today."""
    try:
        sites = set(load_inventory(inventory).clusters)
    except FleetErrors:
        return []  # the previews tell what is wrong with it
    return [name for name in present if name not in in_use and load_settings(folder, name).config.get("gpufleet:site") in sites]


def _refuse_failed(against: str, previews: Sequence[StackPreview]) -> None:
    """Refuse a revision whose previews failed, each failure told once with the stacks that have it.

    Raises:
        FleetErrors: Any failed.
    """
    stacks: dict[str, list[str]] = {}
    for preview in previews:
        if preview.error is not None:
            stacks.setdefault(preview.error, []).append(preview.stack)
    remedy = "Name a revision that can be previewed."
    failed = [
        Mistake(path="--against", value=against, reason=f"{', '.join(names)} cannot be previewed there: {error}", remedy=remedy)
        for error, names in stacks.items()
    ]
    if failed:
        raise FleetErrors(failed)


def print_changes(
    console: Console, base: Mapping[str, ResourceGraph], head: Mapping[str, ResourceGraph], *, of_all: bool
) -> None:
    """Print what changes from `base` to `head`, stack by stack, replacements and deletions first.

    A stack of `base` alone is told of when `of_all` stacks are shown: its resources stay until somebody destroys it.
    """
    console.print(Text(f"Changes. {PREDICTED}", style="bold"))
    for stack in sorted(base.keys() | head.keys()):
        if stack not in head:
            if of_all:
                words = f"{len(base[stack].resources)} resources and no site any more: `pulumi destroy -s {stack}` deletes them"
                console.print(Text(f"  {stack}: {words}", style="bold red"))
            continue
        empty = ResourceGraph(project=head[stack].project, stack=stack, resources=(), outputs={}, findings=())
        _print_stack(console, stack, diff(base.get(stack, empty), head[stack]))


def _print_stack(console: Console, stack: str, changes: Changes) -> None:
    """Print one stack's changes."""
    counts = (
        f"{len(changes.replaces)} to replace, {len(changes.deletes)} to delete, "
        f"{len(changes.updates)} to update, {len(changes.adds)} to add"
    )
    console.print(Text(f"  {stack}: {counts}", style="bold"))
    for replaced in changes.replaces:
        console.print(Text(f"    ± replace {replaced.resource.name}  {replaced.resource.type}", style="bold red"))
        _print_values(console, replaced.changes)
        for urn in replaced.because:
            console.print(Text(f"        follows {urn.rsplit('::', 1)[-1]}"))
    for gone in changes.deletes:
        console.print(Text(f"    - delete {gone.name}  {gone.type}", style="red"))
    for updated in changes.updates:
        console.print(Text(f"    ~ update {updated.resource.name}  {updated.resource.type}", style="yellow"))
        _print_values(console, updated.changes)
    for added in changes.adds:
        console.print(Text(f"    + add {added.name}  {added.type}", style="green"))


def _print_values(console: Console, changes: Sequence[Change]) -> None:
    """Print the property changes of a resource, and how many more there are than are shown."""
    for change in changes[:_MOST_CHANGES]:
        console.print(Text(f"        {change.path}: {json.dumps(change.before)} -> {json.dumps(change.after)}"))
    if len(changes) > _MOST_CHANGES:
        console.print(Text(f"        and {len(changes) - _MOST_CHANGES} more"))


def _read_graphs(file: Path) -> dict[str, ResourceGraph]:
    """Return the graphs in a file that ``--json`` wrote."""
    try:
        stacks = json.loads(file.read_text(encoding="utf-8"))["stacks"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        remedy = "Name a file that `gpufleet preview --json FILE` wrote, or a Git revision."
        reason = "holds no graphs of a preview"
        raise FleetErrors([Mistake(path="--against", value=str(file), reason=reason, remedy=remedy)]) from error
    return {stack: ResourceGraph.from_plain(graph, file=str(file)) for stack, graph in stacks}


@contextmanager
def _checkout(revision: str) -> Iterator[Path]:
    """Yield a folder with the project as of a Git revision; it is gone afterwards."""
    known = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if known.returncode:
        remedy = "Name a branch, tag or commit, or a file that `gpufleet preview --json FILE` wrote."
        raise FleetErrors([Mistake(path="--against", value=revision, reason="no such file and no such revision", remedy=remedy)])
    with tempfile.TemporaryDirectory(prefix="gpufleet-against-") as parent:
        folder = Path(parent) / "tree"
        try:
            added = _git("worktree", "add", "--detach", str(folder), known.stdout.strip())
            if added.returncode:
                reason = f"cannot be checked out: {added.stderr.strip().splitlines()[-1]}"
                raise FleetErrors([Mistake(path="--against", value=revision, reason=reason, remedy="Mend the repository.")])
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    """Run git in the project and return what it said.

    Raises:
        FleetErrors: There is no git, or it does not come to an end.
    """
    command = ["git", "-C", str(PROJECT), *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        remedy = "Mend git, or name a file that `gpufleet preview --json FILE` wrote."
        raise FleetErrors([Mistake(path="--against", reason=f"git does not run: {error}", remedy=remedy)]) from error


def _same_place(inventory: Path, folder: Path) -> Path:
    """Return where an inventory of the project stands in another checkout; one from elsewhere is the same file."""
    path = inventory.resolve()
    return folder / path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path
