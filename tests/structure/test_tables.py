"""A cloud is a row in every table: each is exhaustive, and each cloud's module keeps the one contract."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module, resources
from pathlib import Path
from types import ModuleType

import pytest

from components.base import CLOUD_KINDS
from components.contract import BUILDERS, ClusterModule, builder
from fleet import labels
from fleet.accelerators import KINDS, AcceleratorKind
from fleet.clouds import DRIVERS, TRAITS, Cloud, MagnumDriver
from fleet.load import load_plan
from fleet.naming import CLUSTER_NAMES, NAME_RULES, POOL_NAMES, NameKind
from tests.support.sources import PACKAGES, PROJECT, sources

NAMED = {
    "TRAITS": TRAITS,
    "BUILDERS": BUILDERS,
    "POOL_NAMES": POOL_NAMES,
    "CLUSTER_NAMES": CLUSTER_NAMES,
    "CLOUD_KINDS": CLOUD_KINDS,
}


def modules() -> list[ModuleType]:
    """Return every module of the program."""
    names = [source.path.removesuffix(".py").replace("/", ".") for source in sources(*PACKAGES) if "__main__" not in source.path]
    return [import_module(name.removesuffix(".__init__")) for name in names]


@pytest.mark.parametrize("name", NAMED)
def test_a_table_of_clouds_has_them_all(name: str) -> None:
    """A cloud without a row would fail late and without a reason."""
    assert NAMED[name].keys() == set(Cloud)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own, at import
def test_every_table_keyed_by_cloud_has_them_all() -> None:
    """Tables that nobody thought of above are found by their keys."""
    partial, seen = [], 0
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, Mapping) and value and all(isinstance(key, Cloud) for key in value):
                seen += 1
                partial += [f"{module.__name__}.{name}"] if value.keys() != set(Cloud) else []
    assert not partial
    assert seen > len(NAMED)


@pytest.mark.parametrize("cloud", Cloud)
def test_a_cloud_has_its_files(cloud: Cloud) -> None:
    """What it sells, and what it would answer in a preview."""
    assert (PROJECT / "catalogue" / "machines" / f"{cloud}.yaml").is_file()
    assert resources.files("preview.outputs").joinpath(f"{cloud}.py").is_file()


def test_no_file_is_of_no_cloud() -> None:
    """A file of machines that no cloud reads is a mistake."""
    assert {file.stem for file in (PROJECT / "catalogue" / "machines").glob("*.yaml")} == set(Cloud)


def test_the_fleet_of_today_is_on_every_cloud() -> None:
    """The first command of the README shows all of them."""
    assert {cluster.cloud for cluster in load_plan(PROJECT / "inventory.yaml").clusters} == set(Cloud)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own, at import
@pytest.mark.parametrize("cloud", Cloud)
def test_a_clouds_module_keeps_the_contract(cloud: Cloud) -> None:
    """The same two functions with the same parameters, in one order."""
    module = builder(cloud)
    for name in ("make_provider", "build"):
        wanted = list(inspect.signature(getattr(ClusterModule, name)).parameters)[1:]
        assert list(inspect.signature(getattr(module, name)).parameters) == wanted
    assert Path(str(inspect.getsourcefile(module.build))).parent.name == "components"


def test_other_closed_lists_have_their_rows() -> None:
    """Drivers, kinds of accelerator, kinds of names, and the effects of taints on each cloud."""
    assert DRIVERS.keys() == set(MagnumDriver)
    assert KINDS.keys() == set(AcceleratorKind)
    assert NAME_RULES.keys() == set(NameKind)
    assert {(effect, cloud) for effect in labels.TaintEffect for cloud in Cloud if labels.spell_effect(effect, cloud)} == {
        (effect, cloud) for effect in labels.TaintEffect for cloud in Cloud
    }
