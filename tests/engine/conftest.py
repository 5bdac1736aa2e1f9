"""Fixtures of the engine tests, which are skipped where the Pulumi CLI is not installed."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.engine.fleets import HUB, SITES, STACKS, FleetProject, RunningFleet
from tests.engine.running import EngineProject, Run
from tests.engine.toys import make_toy, write_fleet


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that runs the real engine where it is not installed, before any fixture asks for it."""
    missing = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]
    if missing and item.get_closest_marker("engine"):
        pytest.skip(
            f"{' and '.join(missing)} not on PATH: install the Pulumi CLI (https://www.pulumi.com/docs/iac/download-install/)"
        )


@pytest.fixture(scope="session")
def _toy_site(tmp_path_factory: pytest.TempPathFactory) -> EngineProject:
    """Return the toy project with its `site` stack up; only ever cloned."""
    project = make_toy(tmp_path_factory.mktemp("toy-site"))
    write_fleet(project)
    project.init("site")
    first = project.up("site")
    assert first.succeeded, first.text
    return project


@pytest.fixture
def site(_toy_site: EngineProject, tmp_path: Path) -> EngineProject:
    """Return a toy project of the test's own whose `site` stack is up."""
    return _toy_site.clone(tmp_path)


@pytest.fixture(scope="session")
def running_fleet(tmp_path_factory: pytest.TempPathFactory) -> RunningFleet:
    """Preview and bring up every stack once: the sites two at a time, then the hub, which reads them."""
    project = FleetProject(tmp_path_factory.mktemp("fleet"))
    previews: dict[str, Run] = {}
    ups: dict[str, Run] = {}

    def bring_up(stack: str) -> None:
        previews[stack] = project.preview(stack)
        assert previews[stack].succeeded, previews[stack].text
        ups[stack] = project.up(stack)
        assert ups[stack].succeeded, ups[stack].text

    for stack in STACKS:
        project.init(stack)
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(bring_up, SITES))
    bring_up(HUB)
    return RunningFleet(project=project, previews=previews, ups=ups)


@pytest.fixture
def fleet(running_fleet: RunningFleet, tmp_path: Path) -> FleetProject:
    """Return a project of the test's own whose stacks are all up."""
    return running_fleet.project.clone(tmp_path)


@pytest.fixture
def toy(tmp_path: Path) -> EngineProject:
    """Return the toy project with an empty cloud and nothing run yet."""
    return make_toy(tmp_path)
