"""A stack's resources as a tree, and what the checks found in them."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from preview.graph import Resource, ResourceGraph
from preview.run import StackPreview


def print_stack(console: Console, preview: StackPreview) -> None:
    """Print a stack's resources as a tree; nothing for a stack that failed."""
    graph = preview.graph
    if graph is None:
        return
    kinds = Counter(resource.type.split(":")[0] for resource in graph.resources if resource.custom)
    counts = ", ".join(f"{count} {package}" for package, count in sorted(kinds.items()))
    tree = Tree(Text(f"{preview.stack}: {len(graph.resources)} resources ({counts})", style="bold"))
    _grow(tree, graph, None)
    console.print(tree)
    console.print()


def print_findings(console: Console, preview: StackPreview) -> None:
    """Print what the checks of a stack's inputs found."""
    for finding in preview.findings:
        style = "bold red" if finding.severity == "error" else "yellow"
        console.print(Text(f"{preview.stack}: {finding}", style=style))


def _grow(tree: Tree, graph: ResourceGraph, parent: str | None) -> None:
    """Add the children of `parent` to a tree."""
    for resource in graph.children.get(parent, ()):
        _grow(tree.add(_label(resource)), graph, resource.urn)


def _label(resource: Resource) -> Text:
    """Return a resource's line: its name, its type and what protects or shields it."""
    marks = []
    if resource.read:
        marks.append("read")
    if resource.options.protect:
        marks.append("protected")
    if resource.options.ignore_changes:
        marks.append(f"ignores {', '.join(resource.options.ignore_changes)}")
    text = Text(resource.name)
    text.append(f"  {resource.type}", style="dim")
    if marks:
        text.append(f"  [{'; '.join(marks)}]", style="cyan")
    return text
