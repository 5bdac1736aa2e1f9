"""Where a cluster stands in its inventory: the layers of settings around it, and the place to put what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fleet.clouds import TRAITS, Cloud, CloudTraits
from fleet.documents import Document, Path
from fleet.errors import FleetErrors, Mistake
from fleet.inventory import Cluster, ClusterSettings, Inventory, MaintenanceSettings, Model, Pool, PoolDefaults, Site
from fleet.labels import Taint
from fleet.notes import Note, NoteLevel


@dataclass(slots=True)
class Findings:
    """Collects refusals and notes while a fleet is planned.

    Attributes:
        document: Where the inventory was read from.
        mistakes: What has to be mended before there is a plan.
        notes: What the operator should know.
    """

    document: Document
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    _told: set[str] = field(default_factory=set, repr=False)

    def refuse(self, path: Path, reason: str, remedy: str, value: object = None) -> None:
        """Note that what stands at `path` cannot be planned; a setting that many clusters share is told once."""
        mistake = self.document.mistake(path, reason, remedy, value)
        if str(mistake) not in self._told:
            self._told.add(str(mistake))
            self.mistakes.append(mistake)

    def note(self, about: str, text: str, level: NoteLevel = NoteLevel.INFO) -> None:
        """Note something about `about`, which is ``site/cluster/pool`` or a part of that."""
        self.notes.append(Note(path=about, level=level, text=text))

    def raise_refusals(self) -> None:
        """Raise FleetErrors with every refusal, if there is one."""
        if self.mistakes:
            raise FleetErrors(self.mistakes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """A cluster of the inventory with the settings around it.

    Attributes:
        inventory: The whole of it.
        site_name: Name of the cluster's site.
        cluster_name: Name of the cluster.
        cloud: The site's cloud.
        findings: Where to put refusals and notes.
    """

    inventory: Inventory
    site_name: str
    cluster_name: str
    cloud: Cloud
    findings: Findings

    @property
    def traits(self) -> CloudTraits:
        """Facts of the cloud."""
        return TRAITS[self.cloud]

    @property
    def site(self) -> Site:
        """Settings of the site; the defaults when the inventory has none."""
        return self.inventory.sites.get(self.site_name) or Site()

    @property
    def cluster(self) -> Cluster:
        """The cluster itself."""
        return self.inventory.clusters[self.site_name][self.cluster_name]

    @property
    def path(self) -> Path:
        """Where the cluster stands."""
        return ("clusters", self.site_name, self.cluster_name)

    @property
    def about(self) -> str:
        """What notes call the cluster."""
        return f"{self.site_name}/{self.cluster_name}"

    def layers(self) -> Iterator[tuple[Path, ClusterSettings]]:
        """Yield the settings that apply, each with where it stands, the nearest first."""
        yield self.path, self.cluster
        yield ("sites", self.site_name), self.site
        yield ("defaults",), self.inventory.defaults

    def setting(self, *names: str) -> tuple[object, Path]:
        """Return the nearest stated value of a cluster setting and where it stands; None and the cluster's path if unstated."""
        for path, layer in self.layers():
            value: object = layer
            for name in names:
                value = getattr(value, name)
            if value is not None:
                return value, (*path, *names)
        return None, self.path

    def text(self, *names: str) -> str | None:
        """Return the nearest stated text setting, None when unstated."""
        value, _ = self.setting(*names)
        return value if isinstance(value, str) else None

    def number(self, default: int, *names: str) -> int:
        """Return the nearest stated number, `default` when unstated."""
        value, _ = self.setting(*names)
        return value if isinstance(value, int) else default

    def texts(self, name: str, *names: str) -> tuple[tuple[str, ...], Path]:
        """Return the nearest stated list of texts, sorted, each once, and where it stands; empty when unstated."""
        value, path = self.setting(name, *names)
        return (tuple(sorted(set(value))) if isinstance(value, list) else ()), path

    def maintenance(self) -> MaintenanceSettings | None:
        """Return the nearest stated maintenance window."""
        value, _ = self.setting("maintenance")
        return value if isinstance(value, MaintenanceSettings) else None

    def tags(self) -> dict[str, str]:
        """Return the inventory's own cost tags, where inner layers win."""
        merged: dict[str, str] = {}
        for _, layer in reversed(list(self.layers())):
            merged |= layer.tags
        return merged

    def pool_layers(self, pool: Pool, index: int) -> Iterator[tuple[Path, PoolDefaults]]:
        """Yield the settings that apply to an entry of `gpus`, each with where it stands, the nearest first."""
        yield (*self.path, "gpus", index), pool
        for path, layer in self.layers():
            yield (*path, "pools"), layer.pools


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolScope:
    """An entry of `gpus` with the settings around it.

    Attributes:
        scope: Its cluster.
        index: Its place in `gpus`.
    """

    scope: Scope
    index: int

    @property
    def pool(self) -> Pool:
        """The entry itself."""
        return self.scope.cluster.gpus[self.index]

    @property
    def path(self) -> Path:
        """Where the entry stands."""
        return (*self.scope.path, "gpus", self.index)

    def setting(self, name: str) -> tuple[object, Path]:
        """Return the nearest stated value of a pool setting and where it stands; None and the entry's path if unstated."""
        for path, layer in self.scope.pool_layers(self.pool, self.index):
            value = getattr(layer, name)
            if value is not None:
                return value, (*path, name)
        return None, self.path

    def number(self, name: str, default: int) -> int:
        """Return the nearest stated number, `default` when unstated."""
        value, _ = self.setting(name)
        return value if isinstance(value, int) else default

    def labels(self) -> dict[str, str]:
        """Return the labels that the inventory adds, where inner layers win."""
        merged: dict[str, str] = {}
        for _, layer in reversed(list(self.scope.pool_layers(self.pool, self.index))):
            merged |= layer.labels
        return merged

    def taints(self) -> tuple[Taint, ...]:
        """Return the taints that the inventory adds, one for each key and effect, where inner layers win."""
        merged: dict[tuple[str, str], Taint] = {}
        for _, layer in reversed(list(self.scope.pool_layers(self.pool, self.index))):
            merged |= {
                (taint.key, taint.effect): Taint(key=taint.key, value=taint.value, effect=taint.effect) for taint in layer.taints
            }
        return tuple(merged.values())

    def stated(self, field_name: str) -> tuple[tuple[Path, Model], ...]:
        """Return the layers that state anything for a mapping or list setting, outermost last."""
        layers = self.scope.pool_layers(self.pool, self.index)
        return tuple((path, layer) for path, layer in layers if getattr(layer, field_name))

    def refuse(self, path: Path, reason: str, remedy: str, value: object = None) -> None:
        """Note that what stands at `path` cannot be planned."""
        self.scope.findings.refuse(path, reason, remedy, value)
