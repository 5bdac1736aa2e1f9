"""What the source itself must keep to: size, and words that belong to one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from fleet import versions
from fleet.clouds import Cloud
from tests.support.sources import PACKAGES, Source, sources

PROGRAM = (*PACKAGES, "__main__.py")

MODULE_LINES, FUNCTION_LINES = 300, 40
TEST_MODULE_LINES, TEST_FUNCTION_LINES = 600, 80
MOST_PARAMETERS = 6

EFFECT_WORDS = ("NO_SCHEDULE", "NO_EXECUTE", "NoSchedule", "NoExecute")
"""Parts of every spelling of a taint's effect."""

EFFECTS_SPELLED_IN = {
    "fleet/labels.py",  # the vocabulary, and the table of each cloud's spelling
    "fleet/inventory.py",  # the description of what an operator may write, which is Kubernetes' own spelling
    "preview/enums.py",  # what each provider's API takes, from its own sources: it checks our spelling
    "preview/rules.py",  # likewise, for AKS' text form
}

CLOUDS_COMPARED_IN = {"fleet/clouds.py", "fleet/labels.py"}
"""Where somebody may ask which cloud it is; all others look up a row of a table."""


def _sized(kind: str, *folders: str) -> Iterator[tuple[Source, int]]:
    """Yield each source with the length of the whole, or of each of its functions."""
    for source in sources(*folders):
        if kind == "module":
            yield source, len(source.text.splitlines())
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield source, (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize(
    ("kind", "folders", "most"),
    [
        ("module", (*PROGRAM, "benchmarks"), MODULE_LINES),
        ("function", (*PROGRAM, "benchmarks"), FUNCTION_LINES),
        ("module", ("tests",), TEST_MODULE_LINES),
        ("function", ("tests",), TEST_FUNCTION_LINES),
    ],
)
def test_nothing_is_too_long_to_read(kind: str, folders: tuple[str, ...], most: int) -> None:
    """A module or function that outgrows its limit wants to be two."""
    long = {f"{source.path}: a {kind} of {lines} lines" for source, lines in _sized(kind, *folders) if lines > most}
    assert not long


def test_no_function_takes_too_many_parameters() -> None:
    """More than six parameters want to be a record."""
    wrong = set()
    for source in sources(*PROGRAM, "benchmarks", "tests"):
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len([name for name in names if name not in {"self", "cls"}]) > MOST_PARAMETERS:
                    wrong.add(f"{source.path}:{node.lineno} {node.name}")
    assert not wrong


def test_effects_are_spelled_in_one_place() -> None:
    """Inside there is one vocabulary; a cloud's spelling of an effect stands in the table and in checks of it."""
    spelled = {
        source.path
        for source in sources(*PROGRAM)
        if any(word in text for text in source.code_strings() for word in EFFECT_WORDS)
    }
    assert spelled == EFFECTS_SPELLED_IN


def _asks_which_cloud(node: ast.AST) -> bool:
    """Return whether a comparison or a case names a member of Cloud, or compares something called cloud with a cloud's name."""
    if not isinstance(node, ast.Compare | ast.MatchValue | ast.match_case):
        return False
    parts = list(ast.walk(node if not isinstance(node, ast.match_case) else node.pattern))
    names_member = any(isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "Cloud" for part in parts)
    says_cloud = any("cloud" in getattr(part, "id", getattr(part, "attr", "")).lower() for part in parts)
    names_text = any(isinstance(part, ast.Constant) and part.value in set(Cloud) for part in parts)
    return names_member or (says_cloud and names_text)


def test_nobody_asks_which_cloud_it_is() -> None:
    """What a cloud lacks or does otherwise is a row of a table with its reason, so that a fifth cloud is a row as well."""
    wrong = {
        f"{source.path}:{getattr(node, 'lineno', '?')}"
        for source in sources(*PROGRAM)
        if source.path not in CLOUDS_COMPARED_IN
        for node in ast.walk(source.tree)
        if _asks_which_cloud(node)
    }
    assert not wrong


@pytest.mark.parametrize(
    "text", ["cloud is Cloud.AWS", "x.cloud == 'aws'", "plan.cloud in {Cloud.AWS, Cloud.AZURE}", "cloud != 'azure'"]
)
def test_the_question_is_recognised(text: str) -> None:
    """The test above would see these."""
    assert any(_asks_which_cloud(node) for node in ast.walk(ast.parse(text)))


def test_versions_stand_in_one_file() -> None:
    """A pinned version that is written out a second time would be missed by the next change of it."""
    pinned = {value for name, value in vars(versions).items() if name.isupper() and isinstance(value, str)}
    assert pinned
    again = {source.path for source in sources(*PROGRAM) for text in source.code_strings() if text in pinned}
    assert again == {"fleet/versions.py"}


def test_the_program_is_short_and_has_no_branch() -> None:
    """Settings, plan, resources, outputs: whatever needs a decision is made elsewhere."""
    (main,) = sources("__main__.py")
    assert len(main.text.splitlines()) < 40
    assert not [node for node in ast.walk(main.tree) if isinstance(node, ast.If | ast.Match | ast.IfExp | ast.While)]
