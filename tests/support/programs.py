"""Runs small Pulumi programs under the recording monitor, for tests."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from preview.graph import Finding, Resource
from preview.program import Run, run_program
from preview.settings import StackSettings


def declare(
    body: str, folder: Path, *, references: Mapping[str, Any] | None = None, config: Mapping[str, str] | None = None
) -> Run:
    """Run a program's source text in `folder` as stack ``dev`` of project ``toy``; config keys in ``secret`` are secret."""
    main = folder / "__main__.py"
    main.write_text("import pulumi\n" + textwrap.dedent(body), encoding="utf-8")
    settings = StackSettings(
        project="toy",
        stack="dev",
        main=main,
        config=dict(config or {}),
        secret_keys=tuple(key for key in config or {} if "secret" in key),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the SDKs' own, at import
        return run_program(settings, references)


def only(run: Run, type_token: str) -> Resource:
    """Return the one resource of a type."""
    (found,) = run.monitor.graph().of_type(type_token)
    return found


def by_path(findings: list[Finding]) -> dict[str, Finding]:
    """Return findings by property path."""
    return {finding.path: finding for finding in findings}
