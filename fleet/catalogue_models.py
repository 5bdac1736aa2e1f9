"""The catalogue's border: what may stand in ``catalogue/*.yaml``, as pydantic models and as JSON Schemas for editors.

Each file has a ``sources`` table (name -> text and date), and each row names its source. `fleet.catalogue_parsing` makes frozen
records of these models.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from fleet.accelerators import AcceleratorKind
from fleet.catalogue import Attachment, Status
from fleet.clouds import Cloud
from fleet.records import GpuMode

LabelValue = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$")]
"""A Kubernetes label value that is not empty: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/."""

IsoDate = Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
"""A year, month or day, quoted in YAML so that it stays text."""

Text = Annotated[str, Field(min_length=1)]


class _Border(BaseModel):
    """What all models share: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceModel(_Border):
    """Where facts are from, and when that was right."""

    text: Text
    as_of: Text


class CardModel(_Border):
    """One card; see `fleet.catalogue.Card`."""

    name: LabelValue
    kind: AcceleratorKind
    source: Text
    aliases: list[Text] = []
    memory_gib: PositiveFloat | None = None
    google_accelerator_type: Text | None = None
    gke_tpu_accelerator: LabelValue | None = None
    tpu_cores_per_chip: PositiveInt | None = None
    note: str = ""


class CardsFile(_Border):
    """The file ``cards.yaml``."""

    sources: dict[str, SourceModel]
    cards: list[CardModel]


class RegionModel(_Border):
    """What is particular to one region; prices in US dollars for one machine and hour."""

    zones: list[Text] | None = None
    on_demand_usd_per_hour: PositiveFloat | None = None
    spot_usd_per_hour: PositiveFloat | None = None
    spot_is_estimate: bool = False
    spot_above_on_demand: Text | None = Field(default=None, description="Why the spot price is above on-demand, if it truly is.")
    source: Text | None = Field(default=None, description="Overrides the machine's source.")


class MachineModel(_Border):
    """One machine type with one count of cards; see `fleet.catalogue.Offer`."""

    machine: Text
    card: LabelValue
    kind: Attachment = Attachment.BUNDLED
    accelerators: PositiveInt | None
    card_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    vcpus: PositiveInt | None
    memory_gib: PositiveFloat | None
    architecture: Literal["amd64", "arm64"] = "amd64"
    status: Status
    retired_on: IsoDate | None = None
    retires_on: IsoDate | None = None
    note: str = ""
    source: Text
    spot_sold: bool | None = None
    mode: GpuMode | None = None
    site: Text | None = None
    accelerator_type: Text | None = Field(default=None, description="Where it differs from the card's.")
    last_on_demand_usd_per_hour: PositiveFloat | None = Field(default=None, description="Of a retired machine.")
    regions: dict[str, RegionModel] = {}


class NotOfferedModel(_Border):
    """Cards that the file's cloud does not sell."""

    cards: list[LabelValue]
    reason: Text
    source: Text


class CeilingModel(_Border):
    """How large a machine may be for so many attached cards."""

    card: LabelValue
    accelerators: PositiveInt
    vcpus: PositiveInt
    memory_gib: PositiveFloat
    source: Text


class MachinesFile(_Border):
    """A file ``machines/<cloud>.yaml``."""

    cloud: Cloud
    sources: dict[str, SourceModel]
    attach_ceilings: list[CeilingModel] = []
    not_offered: list[NotOfferedModel] = []
    machines: list[MachineModel]


def catalogue_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the catalogue's files, by the file name they are committed under."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {
        "cards.schema.json": {"$schema": draft, **CardsFile.model_json_schema()},
        "machines.schema.json": {"$schema": draft, **MachinesFile.model_json_schema()},
    }
