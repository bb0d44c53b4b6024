"""Data out: gold, predictions or both, in one of the formats; written whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import registry
from workbench.base.errors import ExportFailed
from workbench.base.i18n import _
from workbench.storage import documents, labels, runs
from workbench.storage.header import is_project
from workbench.text.document import SPLITS
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.base.manifest import Contribution
    from workbench.exporters.data.base import DataExporter
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.dataset import Record
    from workbench.text.fields import Prediction

SOURCES = ("gold", "predictions", "both")


@dataclass(frozen=True)
class ExportOutcome:
    documents: int
    warnings: tuple[str, ...]


def formats() -> tuple[Contribution, ...]:
    """What data can be written as; `options` has `suffix` and `several` (room for gold and predictions)."""
    return tuple(
        one for one in registry.registry().all("exporter") if one.options.get("what") == "data"
    )


def _exporter(format: str) -> DataExporter:
    known = [one.id for one in formats()]
    if format not in known:
        raise ExportFailed(
            _("There is no export format {format!r}.").format(format=format),
            hint=_("Known: {known}.").format(known=", ".join(known)),
        )
    return registry.registry().get("exporter", format)()


def what_is_lost(
    format: str, project: Project, *, source: str = "gold", run: Run | None = None
) -> tuple[str, ...]:
    """Sentences on what this format cannot hold of this project, and on what the choice of `source` leaves out."""
    layers = labels.layers(project.db)
    if (
        source == "predictions"
        and run is not None
        and (mine := [one for one in layers if one.id == run.layer_id])
    ):
        return (*_exporter(format).lost(mine), *_left_out(layers, run))
    return _exporter(format).lost(layers)


def _left_out(layers: Iterable[Layer], run: Run) -> tuple[str, ...]:
    """What an export of predictions alone says of the layers that the run did not learn."""
    names = ", ".join(one.name for one in layers if one.id != run.layer_id)
    told = _(
        "Only the predictions for layer {layer} are written; not predicted, so left out: {names}."
    )
    return (told.format(layer=run.layer, names=names),) if names else ()


def export_data(
    project: Project,
    path: Path | str,
    *,
    format: str,
    split: str | None = None,
    source: str = "gold",
    run: Run | None = None,
    progress: Callable[[int], None] | None = None,
    escape_formulas: bool = False,
) -> ExportOutcome:
    """Write documents and labels. Raises ExportFailed; the file that stood there before is then left as it was.

    `source`: gold of all layers; predictions (of `run`, for its layer and nothing else, of the documents that have one); or both,
    where the format has room (a further layer named after the run).
    `escape_formulas`: mark cells of a table that spreadsheet programs would run as formulas; our
    importer removes the marks again. Other formats ignore it.
    `progress(n)` is called after each document read; what it raises (Cancelled) ends the export, and
    nothing is written then.
    """
    from workbench.exporters.data.base import Plan

    exporter = _exporter(format)
    path = _target(Path(path), project)
    _check(format, split, source, run)
    layers = labels.layers(project.db)
    wanted = None if split is None else [None if split == "none" else split]
    records: Iterable[Record] = documents.records(project.db, splits=wanted)
    plan = Plan(layers, escape=escape_formulas)
    if source != "gold":
        plan, records = _with_predictions(
            project, run, layers, records, plan, both=source == "both"
        )
    if progress is not None:
        records = _counted(records, progress)
    count = _write(path, lambda out: exporter.write(records, plan, out))
    if source == "predictions" and run is not None:
        for sentence in _left_out(layers, run):
            plan.count(sentence.replace("{", "{{").replace("}", "}}"))
    if not count:
        plan.count(_("No document was written: there is none that fits."))
    return ExportOutcome(count, plan.warnings)


def _counted(records: Iterable[Record], progress: Callable[[int], None]) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        yield record
        progress(number)


def _target(path: Path, project: Project) -> Path:
    """Where the file goes, links followed. Raises ExportFailed for what must not be put in its place."""
    try:
        there = path.resolve()
        if there.is_dir():
            raise ExportFailed(
                _("{path} is a folder.").format(path=path), hint=_("Name a file in it.")
            )
        if there.exists() and not there.is_file():  # /dev/null would become a file
            raise ExportFailed(
                _("{path} is no file but a pipe or a device.").format(path=path),
                hint=_("Name a file."),
            )
        if there.exists() and (there.samefile(project.path) or is_project(there)):
            raise ExportFailed(
                _("{path} is a project.").format(path=path), hint=_("Choose another name.")
            )
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        reason = getattr(error, "strerror", None) or str(error)
        hint = _("Does the folder exist, and may you write there?")
        raise ExportFailed(
            _("{path} could not be written: {reason}.").format(path=path, reason=reason), hint=hint
        ) from error
    return there


def _check(format: str, split: str | None, source: str, run: Run | None) -> None:
    if split not in (None, "none", *SPLITS):
        raise ExportFailed(
            _("There is no split {split!r}.").format(split=split),
            hint=_("Known: train, dev, test."),
        )
    if source not in SOURCES:
        raise ExportFailed(
            _("There is no source {source!r}.").format(source=source),
            hint=_("Known: {known}.").format(known=", ".join(SOURCES)),
        )
    if source != "gold" and run is None:
        raise ExportFailed(_("Whose predictions? No run was named."))
    if source == "both" and not registry.registry().entry("exporter", format).options.get(
        "several"
    ):
        raise ExportFailed(
            _("{format} has no room for gold and predictions at once.").format(format=format),
            hint=_("Export one of them, or choose another format."),
        )


def _write(path: Path, write) -> int:
    """`write(file)` into a file beside the wanted one, which then takes its place."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        # A lone half of a surrogate pair is written as it stands in the text.
        with open(draft, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            count = write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        reason = error.strerror or str(error)
        full = getattr(error, "errno", 0) == 28
        hint = (
            _("Make room on the disk, then try again.")
            if full
            else _("Does the folder exist, and may you write there?")
        )
        raise ExportFailed(
            _("{path} could not be written: {reason}.").format(path=path, reason=reason), hint=hint
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return count


# ---------------------------------------------------------------- predictions


def _with_predictions(
    project: Project,
    run: Run,
    layers: tuple[Layer, ...],
    records: Iterable[Record],
    plan,
    *,
    both: bool,
):

    layer = next((one for one in layers if one.id == run.layer_id), None)
    if layer is None:
        raise ExportFailed(
            _("The layer of run {name!r} is gone.").format(name=run.name),
            hint=_("Undo its deletion, or choose another run."),
        )
    found = runs.predictions(project.db, run.id)
    if not found:
        raise ExportFailed(
            _("Run {name!r} has no predictions.").format(name=run.name),
            hint=_("Evaluate it or let it suggest first."),
        )
    name = f"{layer.name} ({run.name})" if both else layer.name
    predicted = replace(
        layer,
        name=name,
        guideline="",
        options={**layer.options, "predicted": run.name, "of": layer.name},
    )
    counts = replace(plan, layers=(*layers, predicted) if both else (predicted,))
    return counts, _predicted(records, found, name, counts, both)


def _predicted(
    records: Iterable[Record], found: dict[int, tuple[str, Prediction]], name: str, plan, both: bool
) -> Iterator[Record]:
    for record in records:
        document = record.document
        text_hash, prediction = found.get(document.id, ("", None))
        if prediction is None or text_hash != document.text_hash:
            if both:
                plan.count(_("{n} documents have no prediction of this run."))
                yield record
            else:
                plan.count(_("{n} documents have no prediction of this run and were left out."))
            continue
        states, marks, spans = (
            (dict(record.states), dict(record.marks), dict(record.spans)) if both else ({}, {}, {})
        )
        states[name] = "submitted"
        if prediction.labels is not None:
            marks[name] = prediction.labels
        if prediction.spans:
            spans[name] = prediction.spans
        yield replace(record, states=states, marks=marks, spans=spans)
