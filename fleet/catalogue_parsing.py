"""From the catalogue's plain data to its frozen records, with every mistake told at once.

What pydantic cannot see, because it spans rows or files, is checked here, so that a catalogue that was parsed can be relied on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from fleet.catalogue import AttachCeiling, Attachment, Card, Catalogue, NotOffered, Offer, Status
from fleet.catalogue_models import CardModel, CardsFile, MachineModel, MachinesFile, RegionModel, SourceModel
from fleet.clouds import Cloud
from fleet.errors import FleetErrors, Mistake

CARDS_FILE = "cards.yaml"
"""Name of the file of cards; all other files of a catalogue are machines."""


def parse_catalogue(documents: Mapping[str, object]) -> Catalogue:
    """Make the catalogue from plain data.

    Args:
        documents: File name relative to the catalogue's folder (``cards.yaml``, ``machines/google.yaml``) -> what YAML holds.

    Returns:
        The checked catalogue.

    Raises:
        FleetErrors: With every mistake found, each with file and path.
    """
    mistakes: list[Mistake] = []
    cards_file: CardsFile | None = None
    machines: dict[str, MachinesFile] = {}
    for name, data in sorted(documents.items()):
        try:
            if name == CARDS_FILE:
                cards_file = CardsFile.model_validate(data)
            else:
                machines[name] = MachinesFile.model_validate(data)
        except ValidationError as error:
            mistakes.extend(_mistakes_of(name, error))
    if CARDS_FILE not in documents:
        mistakes.append(Mistake(file=CARDS_FILE, path="", reason="the file of cards is missing", remedy="Add it."))
    if mistakes or cards_file is None:
        raise FleetErrors(mistakes)
    mistakes.extend(_checks(cards_file, machines))
    if mistakes:
        raise FleetErrors(mistakes)
    return _catalogue(cards_file, machines)


def _mistakes_of(file: str, error: ValidationError) -> Iterator[Mistake]:
    """Yield pydantic's complaints in our words."""
    for detail in error.errors(include_url=False):
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
        value = None if detail["type"] == "missing" else detail["input"]
        yield Mistake(
            file=file, path=path, value=value, reason=detail["msg"], remedy="See catalogue/schema/ for what may stand here."
        )


def _checks(cards_file: CardsFile, machines: Mapping[str, MachinesFile]) -> Iterator[Mistake]:
    """Yield the mistakes that span rows or files."""
    yield from _card_mistakes(cards_file)
    known = {card.name for card in cards_file.cards}
    for name, file in machines.items():
        yield from _reference_mistakes(name, file, known)
        yield from _ceiling_mistakes(name, file)
        seen: set[tuple[object, ...]] = set()
        for index, row in enumerate(file.machines):
            path = f"machines[{index}]"
            identity = (row.machine, row.card, row.accelerators, row.site)
            if identity in seen:
                yield Mistake(
                    file=name,
                    path=path,
                    value=row.machine,
                    reason="the same machine, card and count stand in the file twice",
                    remedy="Merge the rows.",
                )
            seen.add(identity)
            yield from _row_mistakes(name, path, row)


def _card_mistakes(file: CardsFile) -> Iterator[Mistake]:
    """Yield names and aliases that two cards share, and sources that are not in the table."""
    owners: dict[str, str] = {}
    for index, card in enumerate(file.cards):
        for spelling in (card.name, *card.aliases):
            owner = owners.setdefault(spelling.lower(), card.name)
            if owner != card.name or (spelling != card.name and spelling.lower() == card.name.lower()):
                yield Mistake(
                    file=CARDS_FILE,
                    path=f"cards[{index}]",
                    value=spelling,
                    reason=f"the name already means {owner}",
                    remedy="Give it to one card only.",
                )
        if card.source not in file.sources:
            yield _no_source(CARDS_FILE, f"cards[{index}].source", card.source)


def _reference_mistakes(name: str, file: MachinesFile, known: set[str]) -> Iterator[Mistake]:
    """Yield cards and sources that rows name and that do not exist."""
    cards = [(f"machines[{index}].card", row.card) for index, row in enumerate(file.machines)]
    cards += [(f"attach_ceilings[{index}].card", row.card) for index, row in enumerate(file.attach_ceilings)]
    cards += [(f"not_offered[{index}].cards", card) for index, row in enumerate(file.not_offered) for card in row.cards]
    for path, card in cards:
        if card not in known:
            yield Mistake(
                file=name,
                path=path,
                value=card,
                reason="no such card in cards.yaml",
                remedy="Add the card there, or use its canonical name.",
            )
    sources = [(f"machines[{index}].source", row.source) for index, row in enumerate(file.machines)]
    sources += [
        (f"machines[{index}].regions.{region}.source", listed.source)
        for index, row in enumerate(file.machines)
        for region, listed in row.regions.items()
        if listed.source
    ]
    sources += [(f"attach_ceilings[{index}].source", row.source) for index, row in enumerate(file.attach_ceilings)]
    sources += [(f"not_offered[{index}].source", row.source) for index, row in enumerate(file.not_offered)]
    yield from (_no_source(name, path, source) for path, source in sources if source not in file.sources)


def _no_source(file: str, path: str, source: str) -> Mistake:
    """Return the mistake of a source that the file's table lacks."""
    return Mistake(file=file, path=path, value=source, reason="no such source", remedy="Add it to the file's `sources`.")


def _ceiling_mistakes(name: str, file: MachinesFile) -> Iterator[Mistake]:
    """Yield attached rows whose count has no ceiling or whose machine is above it."""
    ceilings = {(row.card, row.accelerators): row for row in file.attach_ceilings}
    for index, row in enumerate(file.machines):
        if row.kind is not Attachment.ATTACHED:
            continue
        ceiling = ceilings.get((row.card, row.accelerators or 0))
        if ceiling is None:
            reason = f"no ceiling is listed for {row.accelerators} x {row.card}"
        elif (row.vcpus or 0) > ceiling.vcpus or (row.memory_gib or 0) > ceiling.memory_gib:
            reason = (
                f"above the ceiling of {ceiling.vcpus} vCPUs and {ceiling.memory_gib:g} GiB for {row.accelerators} x {row.card}"
            )
        else:
            continue
        yield Mistake(
            file=name, path=f"machines[{index}]", value=row.machine, reason=reason, remedy="Correct it, or `attach_ceilings`."
        )


def _row_mistakes(name: str, path: str, row: MachineModel) -> Iterator[Mistake]:
    """Yield what is wrong within one machine: dates against status, zones against region, spot against on-demand."""
    retired = row.status is Status.RETIRED
    if retired and (row.regions or not (row.retired_on or row.note)):
        yield Mistake(
            file=name,
            path=path,
            value=row.machine,
            reason="a retired machine lists no regions, and needs a date or a note",
            remedy="Remove `regions`; say when it went, or in `note` why that is not known.",
        )
    if not retired and (row.retired_on or row.last_on_demand_usd_per_hour):
        yield Mistake(
            file=name,
            path=path,
            value=row.machine,
            reason="`retired_on` and `last_on_demand_usd_per_hour` are for retired machines",
            remedy="Set the status, or remove them.",
        )
    if row.status is Status.UNVERIFIED and not row.note:
        yield Mistake(
            file=name, path=path, value=row.machine, reason="an unverified machine needs a note", remedy="Say what is unverified."
        )
    yield from _region_mistakes(name, path, row)


def _region_mistakes(name: str, path: str, row: MachineModel) -> Iterator[Mistake]:
    """Yield what is wrong with a machine's regions: zones of another region, spot dearer than on-demand."""
    for region, listed in row.regions.items():
        for zone in listed.zones or ():
            if not zone.startswith(region) or zone == region:
                yield Mistake(
                    file=name,
                    path=f"{path}.regions.{region}.zones",
                    value=zone,
                    reason="the zone is not in the region",
                    remedy="Write the full zone name.",
                )
        spot, on_demand = listed.spot_usd_per_hour, listed.on_demand_usd_per_hour
        if spot is not None and on_demand is not None and spot > on_demand and not listed.spot_above_on_demand:
            yield Mistake(
                file=name,
                path=f"{path}.regions.{region}.spot_usd_per_hour",
                value=spot,
                reason="spot costs more than on-demand",
                remedy="Correct it, or give the reason in `spot_above_on_demand`.",
            )


def _catalogue(cards_file: CardsFile, machines: Mapping[str, MachinesFile]) -> Catalogue:
    """Return the records of checked models."""
    cards = tuple(_card(model, cards_file.sources[model.source]) for model in cards_file.cards)
    by_name = {card.name: card for card in cards}
    files = machines.values()
    return Catalogue(
        cards=cards,
        offers=tuple(offer for file in files for row in file.machines for offer in _offers(file, row, by_name[row.card])),
        not_offered=tuple(
            NotOffered(cloud=file.cloud, card=card, reason=row.reason, source=source.text, as_of=source.as_of)
            for file in files
            for row in file.not_offered
            for source in (file.sources[row.source],)
            for card in row.cards
        ),
        ceilings=tuple(
            AttachCeiling(cloud=file.cloud, source=source.text, as_of=source.as_of, **row.model_dump(exclude={"source"}))
            for file in files
            for row in file.attach_ceilings
            for source in (file.sources[row.source],)
        ),
    )


def _card(model: CardModel, source: SourceModel) -> Card:
    """Return one card's record."""
    fields = model.model_dump(exclude={"source", "aliases"})
    return Card(aliases=tuple(sorted(alias.lower() for alias in model.aliases)), source=source.text, as_of=source.as_of, **fields)


def _offers(file: MachinesFile, row: MachineModel, card: Card) -> Iterator[Offer]:
    """Yield one offer for each region of a machine, or a single one without region where none is listed."""
    fields = row.model_dump(exclude={"kind", "source", "regions", "spot_sold", "accelerator_type", "last_on_demand_usd_per_hour"})
    types = {Cloud.GOOGLE: card.google_accelerator_type}
    for region, listed in (row.regions or {None: RegionModel(on_demand_usd_per_hour=row.last_on_demand_usd_per_hour)}).items():
        source = file.sources[listed.source or row.source]
        yield Offer(
            cloud=file.cloud,
            attachment=row.kind,
            region=region,
            zones=None if listed.zones is None else tuple(sorted(listed.zones)),
            on_demand_usd_per_hour=listed.on_demand_usd_per_hour,
            spot_usd_per_hour=listed.spot_usd_per_hour,
            spot_is_estimate=listed.spot_is_estimate,
            spot_sold=True if listed.spot_usd_per_hour is not None else row.spot_sold,
            accelerator_type=row.accelerator_type or types.get(file.cloud),
            source=source.text,
            as_of=source.as_of,
            **fields,
        )
