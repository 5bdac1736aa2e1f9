"""The project's own source files, parsed, for tests that look at code instead of running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGES = ("fleet", "components", "preview", "rehearsal", "cli")
"""What the program is made of, besides ``__main__.py``."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One source file.

    Attributes:
        path: Relative to the project, with slashes.
        text: What stands in it.
        tree: Its syntax tree.
    """

    path: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """First part of the path, without its ending."""
        return self.path.split("/")[0].removesuffix(".py")

    def code_strings(self) -> Iterator[str]:
        """Yield every string constant that is not a docstring or a bare string below a name."""
        bare = {id(node.value) for node in ast.walk(self.tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
                yield node.value


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Return the sources under `folders`, sorted by path; ``__main__.py`` at the top counts as a folder."""
    files = [file for name in folders for file in (sorted((PROJECT / name).rglob("*.py")) or [PROJECT / name])]
    return tuple(
        Source(path=file.relative_to(PROJECT).as_posix(), text=text, tree=ast.parse(text))
        for file in files
        for text in [file.read_text(encoding="utf-8")]
    )
