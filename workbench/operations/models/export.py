"""Model export: the chosen formats as folders; the ONNX model is then verified against the original
on the user's texts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.base import owned_folder, scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.exporters.model import spec as exporters
from workbench.exporters.model.results import ExportResult
from workbench.exporters.model.spec import ExporterInfo, ExportSpec, default_formats, loading_code
from workbench.jobs.spec import JobSpec
from workbench.operations.evaluation import quality, slices
from workbench.operations.models import installed
from workbench.operations.runs import missing, predict, results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_results import trained
from workbench.storage.documents import documents
from workbench.tasks import spec as tasks
from workbench.text import dataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.base.settings import Settings
    from workbench.jobs.queue import Queue
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.dataset import Record
    from workbench.text.document import Document

__all__ = ["default_formats", "loading_code"]
MAX_SLICES = 5  # of the model card

CALIBRATION_TEXTS = 300
Item = TypeVar("Item")


@dataclass(frozen=True)
class FormatOffer:
    """A format on offer for one run, with display texts.

    bytes: estimated size. group: of which use it is. unfit: why the run does not support it, "" if
    it does.
    """

    id: str
    title: str
    purpose: str
    short: str
    bytes: int
    group: str = ""
    unfit: str = ""


def formats_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """ "hf,onnx" → ("hf", "onnx"). Raises SpecError for an unknown format."""
    return exporters.parse_formats(names)


def exportable_runs(project: Project) -> tuple[Run, ...]:
    """Finished runs with a model, newest first."""
    return tuple(
        run
        for run in results.all_runs(project)
        if run.status in ("done", "stopped")
        and kinds.info(run.kind).fine_tunes
        and not missing.of_run(run)
        and _has_model(project, run)
    )


def exportable_models(settings: Settings | None = None) -> tuple[ModelInfo, ...]:
    """Models of the Models page that were published for a task, such as taggers, and those language
    models that a format fits.
    """
    return tuple(card for card in installed.list(settings) if card.usable and _exportable(card))


def _exportable(card: ModelInfo) -> bool:
    return bool(card.task) or any(not offer.unfit for offer in offers_of_model(card))


def model_named(name: str, settings: Settings | None = None) -> ModelInfo:
    """One of `exportable_models`, or in a folder. Raises ModelError if it cannot be exported."""
    card = installed.find(name, settings)
    return card if _exportable(card) else installed.trained(name, settings)


def _has_model(project: Project, run: Run) -> bool:
    try:
        train.model_folder(project, run)
    except WorkbenchError:
        return False
    return True


def check_records(project: Project, texts: int, layer: str = "") -> tuple[Record, ...]:
    """Documents with their labels for the verification: dev and test documents with so many texts,
    at most 500, evenly sampled.

    Any documents with so many texts if there are none. layer: name of the one whose labels are
    read, with the spans that it connects; "" for all labels, without such spans.
    """
    ids: list[int] = []
    for split in ("dev", "test"):
        ids += documents.ids(project.db, documents.Filter(split=split, texts=texts))
    ids = ids or list(documents.ids(project.db, documents.Filter(texts=texts)))
    return _records(project, evenly(ids, exporters.MAX_VERIFICATION_TEXTS), layer)


def calibration_records(
    project: Project, texts: int, without: Sequence[Record] = (), layer: str = ""
) -> tuple[Record, ...]:
    """Documents with so many texts outside dev and test, and not `without`, evenly sampled, for
    formats that measure labels while they are written. () if there are none. layer: as for
    `check_records`.
    """
    taken = {record.document.id for record in without}
    for split in ("train", "none"):
        ids = documents.ids(project.db, documents.Filter(split=split, texts=texts))
        left = [id for id in ids if id not in taken]
        if records := _records(project, evenly(left, CALIBRATION_TEXTS), layer):
            return records
    return ()


def evenly(items: Sequence[Item], most: int) -> list[Item]:
    """At most so many items, evenly sampled."""
    step = max(1.0, len(items) / most)
    return [items[int(number * step)] for number in range(min(len(items), most))]


def _records(project: Project, ids: Sequence[int], layer: str) -> tuple[Record, ...]:
    records = documents.records(project.db, ids=ids, layers=(layer,) if layer else None)
    return tuple(record for record in records if record.document.text.strip())


def offers(project: Project, run: Run) -> tuple[FormatOffer, ...]:
    """The formats of the method of a run, with the reason where the run does not support one.

    Raises WorkbenchError if the weights are missing.
    """
    return _offers(train.model_folder(project, run), exporters.trained_formats())


def offers_of_model(card: ModelInfo) -> tuple[FormatOffer, ...]:
    """As `offers`, for a published model."""
    formats = exporters.trained_formats() if card.task else exporters.language_model_formats()
    return _offers(Path(card.path), formats)


def _offers(folder: Path, formats: Sequence[ExporterInfo]) -> tuple[FormatOffer, ...]:
    offers, places = [], {group: place for place, group in enumerate(exporters.GROUPS)}
    suiting = [info for info in formats if info.suits(folder)]
    for info in sorted(suiting, key=lambda info: places.get(info.group, len(places))):
        title, purpose = info.described(folder)
        short, unfit = _(info.short) or title, info.unfit(folder)
        size = 0 if unfit else info.size(folder)
        group = exporters.GROUPS.get(info.group, info.group)
        offers.append(FormatOffer(info.id, title, purpose, short, size, _(group), unfit))
    return tuple(offers)


def export_run(
    project: Project,
    queue: Queue,
    run: Run,
    out: Path | str,
    formats: Sequence[str] = (),
    *,
    watch: Watch = QUIET,
) -> ExportResult:
    """Export the model of a run in a worker, by default in the default formats.

    The worker yields what `exporters.model.run.export` does. Raises WorkbenchError if the weights
    are missing or the run does not support a format; Cancelled, or JobFailed, as for a folder that
    cannot be used.
    """
    model, texts = train.model_folder(project, run), results.layer_of(project, run).texts
    spec = ExportSpec(
        str(model), "", str(Path(out).absolute()), tuple(formats), facts(project, run)
    )
    owner = {"project": project.uid, "id": run.id, "purpose": "export"}
    return _export(project, queue, spec, texts, run.name, {"run": owner}, run=run, watch=watch)


def export_published(
    project: Project,
    queue: Queue,
    card: ModelInfo,
    out: Path | str,
    formats: Sequence[str] = (),
    *,
    watch: Watch = QUIET,
) -> ExportResult:
    """As `export_run`, of a published model that is trained for a task, or of a language model,
    verified on the project's texts.

    That the user has allowed to open a pickle was asked when the model was found.
    """
    described = {"base_model": card.name, "base_licence": card.licence}
    spec = ExportSpec(
        card.path, "", str(Path(out).absolute()), tuple(formats), described, card.pickled
    )
    texts = tasks.info(card.task).texts if card.task else 1
    return _export(project, queue, spec, texts, card.name, {}, watch=watch)


def _export(
    project: Project,
    queue: Queue,
    spec: ExportSpec,
    texts: int,
    name: str,
    owner: Mapping[str, Any],
    *,
    run: Run | None = None,
    watch: Watch,
) -> ExportResult:
    exporters.check_fit(spec.model, spec.formats)
    exporters.check_target(Path(spec.out))  # before a worker is started, which takes seconds
    folder, layer = scratch.make("export"), run.layer if run is not None else ""
    try:
        texts_file = folder / "texts.jsonl"
        records = check_records(project, texts, layer)
        dataset.write(texts_file, (), records, ids=True)
        chosen = [record.document for record in records]
        stored = _write_stored(project, run, chosen, folder / "predictions.jsonl") if run else ""
        others = folder / "calibration.jsonl"
        dataset.write(others, (), calibration_records(project, texts, records, layer), ids=True)
        spec = replace(
            spec,
            texts=str(texts_file),
            predictions=stored,
            layer=layer,
            calibration=str(others),
        )
        job = JobSpec(
            exporters.TARGET,
            {**spec.to_json(), **owner},
            str(folder),
            device="cpu",
            title=_("Export {name}", name=name),
            project=str(project.path),
        )
        return ExportResult.from_json(queue.run(job, watch))
    finally:
        scratch.remove(folder)
        # a worker that was killed left its temporary folder
        owned_folder.remove(exporters.draft_of(Path(spec.out), folder))


def _write_stored(project: Project, run: Run, chosen: Sequence[Document], path: Path) -> str:
    """Write the predictions that are stored with the run for these documents; "" without any."""
    stored = predict.stored(project, run, chosen)
    lines = [
        json.dumps({"document_id": id, "prediction": prediction.to_json()}) + "\n"
        for id, prediction in stored.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path) if lines else ""


def facts(project: Project, run: Run) -> dict[str, Any]:
    """Training details for the model card. Contains none of the user's texts; names of slices have
    metadata.
    """
    spec, plan, result = train.spec_of(run), run.spec.get("plan", {}), trained(run)
    return {
        "run": run.name,
        "project": project.name,
        "layer": run.layer,
        "base_model": spec.model_name or Path(spec.model).name,
        "base_licence": run.spec.get("licence", ""),
        "chain": run.spec.get("chain") or [],
        "seed": spec.seed,
        "options": dict(result.options or spec.options),
        "counts": _viewed(run, result.used or plan.get("used", {})),
        "left_out": plan.get("left_out", []),
        "cut": result.cut or 0,
        "scores": _viewed(run, run.scores),
        "slices": _slices(project, run),
        "definition": tasks.info(spec.task).definition,
        "versions": run.versions,
        "at": run.at,
    }


def _slices(project: Project, run: Run) -> dict[str, Any] | None:
    """The lowest slices of dev, but for those by file; None without predictions that are scored."""
    evidence = replace(quality.evidence(project, run, "dev"), files=())
    table = slices.slices(evidence)
    if table is None:
        return None
    below = [row for row in table.rows if row.score.value < table.whole][:MAX_SLICES]
    rows = [
        {
            "name": row.name,
            "n": row.score.n,
            "value": row.score.value,
            "low": row.score.low,
            "high": row.score.high,
            "is_low": row.is_low,
        }
        for row in below
    ]
    return {
        "split": "dev",
        "score": table.score,
        "value": table.whole,
        "n": table.n,
        "rows": rows,
    }


def _viewed(run: Run, by_split: Mapping[str, Any]) -> dict[str, Any]:
    """Counts or scores without empty ones, and without test if nobody has viewed its score."""
    return {
        split: value
        for split, value in by_split.items()
        if value and (split != "test" or run.seen_test)
    }
