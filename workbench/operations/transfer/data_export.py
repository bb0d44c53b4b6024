"""Data export: gold labels, predictions or both, in a supported format.

Files are written atomically.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.base import registry
from workbench.base.errors import Cancelled, ExportFailed
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.models import export_files
from workbench.operations.people import people
from workbench.storage.annotation import people as store
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.text import result_view
from workbench.text.dataset import Record
from workbench.text.document import SPLITS
from workbench.text.labels import Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.base.manifest import Contribution
    from workbench.exporters.data.base import DataExporter, ExportPlan, FolderExporter
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction

SOURCES = ("gold", "people", "predictions", "both")


@dataclass(frozen=True)
class ExportOutcome:
    documents: int
    warnings: tuple[str, ...]


def formats() -> tuple[Contribution, ...]:
    """Formats for data export;

    `options` has `suffix`, `several` (supports gold and predictions together), and `folder` if
    each document has files of its own.
    """
    return registry.registry().all("exporter")


def with_people() -> tuple[str, ...]:
    """The formats that can hold the labels of several people."""
    return tuple(format_.id for format_ in formats() if format_.options.get("people"))


def _options(format: str) -> Mapping[str, Any]:
    return registry.registry().entry("exporter", format).options


def _exporter(format: str) -> DataExporter | FolderExporter:
    known = [format_.id for format_ in formats()]
    if format not in known:
        raise ExportFailed(
            _("There is no export format {format!r}.", format=format),
            hint=registry.plugin_hint(format) or _("Known: {known}.", known=", ".join(known)),
        )
    exporter: DataExporter | FolderExporter = registry.registry().get("exporter", format)()
    return exporter


def what_is_lost(
    format: str, project: Project, *, source: str = "gold", run: Run | None = None
) -> tuple[str, ...]:
    """Warnings: what the format cannot represent, and what the chosen `source` omits."""
    layers = labels.layers(project.db)
    if (
        source == "predictions"
        and run is not None
        and (mine := [layer for layer in layers if layer.id == run.layer_id])
    ):
        return (*_lost(format, mine), *_left_out(layers, run))
    return _lost(format, layers)


def _lost(format: str, layers: Sequence[Layer]) -> tuple[str, ...]:
    losses: object = _exporter(format).lost(layers)
    if not isinstance(losses, (list, tuple)):
        message = _("`lost` of the exporter {format} returned {kind}, expected a tuple of texts.")
        message = message.format(format=format, kind=type(losses).__name__)
        raise ExportFailed(message, hint=registry.contract_hint(format))
    asking = ", ".join(layer.name for layer in layers if layer.traits.asks)
    if not asking or _options(format).get("questions"):
        return tuple(losses)
    message = _(
        "Questions and answers are not written ({names}); the format SQuAD holds them.",
        names=asking,
    )
    return (*losses, message)


def _left_out(layers: Iterable[Layer], run: Run) -> tuple[str, ...]:
    """The warning about layers without predictions in an export of predictions only."""
    names = ", ".join(layer.name for layer in layers if layer.id != run.layer_id)
    message = _(
        "Only the predictions for layer {layer} are exported. Layers without predictions "
        "were omitted: {names}."
    )
    return (message.format(layer=run.layer, names=names),) if names else ()


def export_data(
    project: Project,
    path: Path | str,
    *,
    format: str,
    split: str | None = None,
    ids: Sequence[int] | None = None,
    source: str = "gold",
    run: Run | None = None,
    escape_formulas: bool = False,
    watch: Watch = QUIET,
) -> ExportOutcome:
    """Export documents and labels. Raises ExportFailed; an existing file is then unchanged.

    `source`: gold labels of all layers; predictions (of `run`, only for its layer and the documents
    that have one); or both, if the format supports it (an additional layer named after the run);
    people: the labels of all people, if the format supports it.
    `ids`: only these documents.
    `escape_formulas`: escape table cells that spreadsheet programs would evaluate as formulas; the
    importer removes the escapes. Other formats ignore it.
    Cancelling `watch` raises Cancelled, and no file is written.
    """
    from workbench.exporters.data.base import ExportPlan

    exporter = _exporter(format)
    is_folder = _options(format).get("folder", False)
    path = export_files.target(Path(path), project, is_folder=is_folder)
    _check(format, split, source, run)
    hidden = people.hidden_layers(project) if project.db.hides_others else {}
    layers = tuple(layer for layer in labels.layers(project.db) if layer.id not in hidden)
    splits = None if split is None else [None if split == "none" else split]
    records: Iterable[Record] = documents.records(project.db, splits=splits, ids=ids, remarks=True)
    plan = ExportPlan(layers, escape=escape_formulas)
    if hidden:
        names = {layer.name for layer in layers}
        records = (
            replace(record, states={name: record.states[name] for name in names & {*record.states}})
            for record in records
        )
        left_out = [layer.name for layer in labels.layers(project.db) if layer.id in hidden]
        plan.warn(_("Blind mode: {layers} are left out.", layers=", ".join(left_out)))
    if source != "gold" and run is not None:  # `_check` has refused a missing run
        plan, records = _with_predictions(
            project, run, layers, records, plan, both=source == "both"
        )
    if source == "people":
        plan, records = _of_people(project, records, plan)
    if watch is not QUIET:  # counting may take a second
        total = len(ids) if ids is not None else _number_of_documents(project, split)
        records = _reported(records, max(1, total), watch)
    try:
        if is_folder:
            writes = cast("FolderExporter", exporter)
            count = export_files.write_folder(path, writes, records, plan)
        else:
            writer = cast("DataExporter", exporter)
            count = export_files.write_file(
                path,
                lambda out: _count(format, writer.write(records, plan, out)),
                plan,
                is_json=str(_options(format).get("suffix", "")).startswith(".json"),
            )
    except Cancelled as error:
        raise Cancelled(_("Export cancelled. No file was written.")) from error
    if source == "predictions" and run is not None:
        for sentence in _left_out(layers, run):
            plan.warn(sentence)
    if not count:
        plan.warn(_("No documents were exported: none matches the selection."))
    return ExportOutcome(count, plan.warnings)


def _count(format: str, count: object) -> int:
    """What an exporter returned. Raises ExportFailed unless it is a number of documents."""
    if isinstance(count, int):
        return count
    message = _("The exporter {format} returned {kind}, expected the number of documents.")
    message = message.format(format=format, kind=type(count).__name__)
    raise ExportFailed(message, hint=registry.contract_hint(format))


def _number_of_documents(project: Project, split: str | None) -> int:
    counts = documents.counts(project.db)
    return counts.documents if split is None else counts.splits.get(split, 0)


def _reported(records: Iterable[Record], total: int, watch: Watch) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        yield record
        watch.at(number / total)


def _check(format: str, split: str | None, source: str, run: Run | None) -> None:
    if split not in (None, "none", *SPLITS):
        raise ExportFailed(
            _("There is no split {split!r}.", split=split),
            hint=_("Known: train, dev, test."),
        )
    if source not in SOURCES:
        raise ExportFailed(
            _("There is no source {source!r}.", source=source),
            hint=_("Known: {known}.", known=", ".join(SOURCES)),
        )
    if source == "people" and not _options(format).get("people"):
        raise ExportFailed(
            _("{format} cannot hold the labels of several people.", format=format),
            hint=_("Export gold, or choose one of: {known}.", known=", ".join(with_people())),
        )
    if source in ("predictions", "both") and run is None:
        raise ExportFailed(_("No run was specified for the predictions."))
    if source == "both" and not _options(format).get("several"):
        raise ExportFailed(
            _("{format} cannot hold gold labels and predictions together.", format=format),
            hint=_("Export one of them, or choose another format."),
        )


# ---------------------------------------------------------------- people


def _of_people(
    project: Project, records: Iterable[Record], plan: ExportPlan
) -> tuple[ExportPlan, Iterator[Record]]:
    """The records, and a plan that has the labels of all people for the page they come from."""
    labelling = store.labelling(project.db)
    persons = [person for person in store.every(project.db) if person.id in labelling]
    versions: dict[int, list[tuple[str, Record]]] = {}

    def paged() -> Iterator[Record]:
        every = iter(records)
        while page := list(islice(every, documents.PAGE)):
            versions.clear()
            ids = [row_id(record.document) for record in page]
            for person in persons:
                with project.db.labels_of(person.id):
                    for record in documents.records(project.db, ids=ids):
                        if record.states or record.marks or record.spans:
                            its = versions.setdefault(row_id(record.document), [])
                            its.append((person.name, record))
            yield from page

    of = replace(plan, versions=lambda record: versions.get(row_id(record.document), []))
    return of, paged()


# ---------------------------------------------------------------- predictions


def _with_predictions(
    project: Project,
    run: Run,
    layers: tuple[Layer, ...],
    records: Iterable[Record],
    plan: ExportPlan,
    *,
    both: bool,
) -> tuple[ExportPlan, Iterator[Record]]:

    layer = next((layer for layer in layers if layer.id == run.layer_id), None)
    if layer is None:
        raise ExportFailed(
            _("The layer of run {name!r} was deleted.", name=run.name),
            hint=_("Undo its deletion, or choose another run."),
        )
    predictions = runs.predictions(project.db, run.id)
    if not predictions:
        raise ExportFailed(
            _("Run {name!r} has no predictions.", name=run.name),
            hint=_("Evaluate it or create suggestions with it first."),
        )
    name = f"{layer.name} ({run.name})" if both else layer.name
    predicted = replace(
        layer,
        name=name,
        guideline="",
        options={**layer.options, "predicted": run.name, "of": layer.name},
    )
    counts = replace(plan, layers=(*layers, predicted) if both else (predicted,))
    return counts, _predicted(records, predictions, name, counts, both)


def _predicted(
    records: Iterable[Record],
    predictions: dict[int, tuple[str, Prediction]],
    name: str,
    plan: ExportPlan,
    both: bool,
) -> Iterator[Record]:
    for record in records:
        document = record.document
        text_hash, prediction = predictions.get(row_id(document)) or ("", None)
        unknown = prediction is None or prediction.is_unread
        if prediction is None or unknown or text_hash != document.asked_hash:
            if both:
                plan.count(_without_prediction)
                yield record
            else:
                plan.count(_omitted)
            continue
        base = record if both else Record(document)
        base = replace(base, states={**base.states, name: "submitted"})
        view = result_view.of(prediction)
        yield view.as_gold(base, name, prediction, record.questions)


def _without_prediction(n: int) -> str:
    return ngettext(
        "{n} document has no prediction of this run.",
        "{n} documents have no prediction of this run.",
        n,
    )


def _omitted(n: int) -> str:
    return ngettext(
        "{n} document has no prediction of this run and was omitted.",
        "{n} documents have no prediction of this run and were omitted.",
        n,
    )
