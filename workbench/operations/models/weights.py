"""What smaller weights of a run cost in labels, score, time and size: measured once per run on
request, on dev documents, and kept in the folder of the run.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths, scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import json_text
from workbench.base.watch import QUIET, Watch
from workbench.exporters.model.results import score_text
from workbench.exporters.model.weights import (
    EVENT,
    FULL,
    MIN_SPEEDUP,
    MIXED,
    TARGET,
    WeightsRow,
    WeightsTable,
)
from workbench.jobs.spec import JobSpec
from workbench.operations.evaluation import scoring
from workbench.operations.models import export
from workbench.operations.runs import results, train
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text import dataset
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.metrics.evaluation import Measured
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

__all__ = ["EVENT", "WeightsRow", "WeightsTable", "columns", "sentence", "stored", "weights_table"]

FILE = "weights.json"
MAX_DOCUMENTS = 1000  # of dev


def stored(project: Project, run: Run) -> WeightsTable | None:
    """The table that was measured before, None without one that can be read."""
    try:
        raw = json.loads(_file(project, run).read_text(encoding="utf-8"))
        return WeightsTable.from_json(raw)
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _file(project: Project, run: Run) -> Path:
    return paths.run_folder(project.path, run.id) / FILE


def weights_table(
    project: Project, queue: Queue, run: Run, *, again: bool = False, watch: Watch = QUIET
) -> WeightsTable:
    """The table of a run; a job measures it if it was not measured before, or `again`.

    The job reports {"kind": "stage", "stage", "title", "text"} at each step and {"kind": EVENT,
    "row", "done", "total"} with the JSON form of each `WeightsRow` as it is measured
    (`Watch.on_event`).

    Not for the main thread. Raises Cancelled, JobFailed, or WorkbenchError if the run has no
    weights that are exported as ONNX, or there is no text to measure on.
    """
    if not again and (table := stored(project, run)) is not None:
        return table
    model, layer = train.model_folder(project, run), results.layer_of(project, run)
    info = tasks.info(results.task_of(run))
    chosen = _measured_on(project, run)
    folder = scratch.make("weights")
    try:
        texts, others = folder / "texts.jsonl", folder / "calibration.jsonl"
        dataset.write(texts, (), chosen, ids=True)
        calibration = export.calibration_records(project, info.texts, layer=layer.name)
        dataset.write(others, (), calibration, ids=True)
        job = JobSpec(
            TARGET,
            {
                "model": str(model),
                "texts": str(texts),
                "calibration": str(others),
                "layer": layer.name,
                "run": {"project": project.uid, "id": run.id, "purpose": "weights"},
            },
            str(folder),
            device="cpu",
            title=_("Measure smaller weights of {name}", name=run.name),
            project=str(project.path),
        )
        table = replace(WeightsTable.from_json(queue.run(job, watch)), at=now())
    finally:
        scratch.remove(folder)
    with suppress(OSError):  # a disk that is full or read-only: measured again next time
        _file(project, run).write_text(json_text(table.to_json(), indent=1), encoding="utf-8")
    return table


def _measured_on(project: Project, run: Run) -> list[dataset.Record]:
    """Records of dev with gold, evenly sampled. Raises WorkbenchError without any."""
    layer, info = results.layer_of(project, run), tasks.info(results.task_of(run))
    records = list(scoring.usable_records(project, info, layer, splits=("dev",)))
    if not records:
        raise WorkbenchError(
            _("No submitted document of layer {layer!r} is in dev.", layer=layer.name),
            hint=_("Assign submitted documents to dev: smaller weights are measured on them."),
        )
    return export.evenly(records, MAX_DOCUMENTS)


# ---------------------------------------------------------------- texts


def columns(table: WeightsTable) -> tuple[Column, ...]:
    """Of `WeightsRow`."""
    name = table.score

    def bound(of: str, end: str) -> Column:
        return Column("", attrgetter(f"{of}.{end}"), key=f"{of}_{end}")

    title = tasks.score_title(name) if name else _("Score")
    return (
        Column("", attrgetter("id"), key="id"),
        Column(_("Weights"), attrgetter("title"), key="title"),
        Column(_("Size"), _bytes, kind=ValueKind.BYTES, key="bytes"),
        _milliseconds(_("ms, one text"), "ms_1", _("Median time per text, one text at a time.")),
        _milliseconds(_("ms, 32 texts"), "ms_32", _("Median time per text, in batches of 32.")),
        Column(
            _("Equal labels"),
            attrgetter("equal_share"),
            kind=ValueKind.PERCENT,
            display=_equal_text,
            key="equal_share",
            hint=_("Labels that are the same as with weights of 32 bits."),
        ),
        Column("", attrgetter("equal"), key="equal"),
        Column("", attrgetter("labels"), key="labels"),
        Column(
            title,
            attrgetter("score.value"),
            display=lambda row: score_text(row.score, name),
            key="score",
            hint=_("On documents of dev, with its 95% interval."),
        ),
        *(bound("score", end) for end in ("low", "high")),
        Column(
            _("Change"),
            attrgetter("change.value"),
            display=lambda row: score_text(row.change, name, signed=True),
            key="change",
            hint=_("From weights of 32 bits, with the 95% interval of the paired bootstrap."),
        ),
        *(bound("change", end) for end in ("low", "high")),
        Column("", attrgetter("products"), key="products"),
        Column("", attrgetter("kept"), kind=ValueKind.NAMES, key="kept"),
        Column("", attrgetter("problem"), key="problem"),
    )


def _bytes(row: WeightsRow) -> int | None:
    return row.bytes or None


def _milliseconds(title: str, key: str, hint: str) -> Column:
    return Column(title, attrgetter(key), kind=ValueKind.NUMBER, key=key, digits=2, hint=hint)


def _equal_text(row: WeightsRow) -> str | None:
    if row.problem or not row.labels:
        return None
    return _("{equal:,} of {labels:,}", equal=row.equal, labels=row.labels)


def sentence(table: WeightsTable) -> str:
    """What the weights with 8 bits cost, in plain words; "" before they are measured."""
    full, row = table.row(FULL), table.row(MIXED)
    if full is None or row is None:
        return ""
    if not full.bytes or table.speedup is None:
        return _("There are no weights with 8 bits: {reason}", reason=row.problem)
    parts = (_faster(row, table.speedup, row.bytes / full.bytes), _changed(row))
    used = _("Suggestions are made with them.") if table.suggests else ""
    return " ".join(filter(None, (*parts, _score_changed(row.change, table.score), used)))


def _faster(row: WeightsRow, speed: float, share: float) -> str:
    if speed < MIN_SPEEDUP:
        return _("{title}: {share:.0%} of the size, not faster here.", title=row.title, share=share)
    return _(
        "{title}: {speed:.1f} times as fast at {share:.0%} of the size.",
        title=row.title,
        speed=speed,
        share=share,
    )


def _changed(row: WeightsRow) -> str:
    if not row.changed:
        return ngettext(
            "The label is the same.", "All {n:,} labels are the same.", row.labels, n=row.labels
        )
    return ngettext(
        "{n:,} of {all:,} labels changes.",
        "{n:,} of {all:,} labels change.",
        row.changed,
        n=row.changed,
        all=row.labels,
    )


def _score_changed(change: Measured, name: str) -> str:
    """ "" without a change that is known with its interval."""
    if change.value is None or change.interval is None:
        return ""
    value, low, high = (
        tasks.score_text(name, number, signed=True) for number in (change.value, *change.interval)
    )
    if not any((change.value, *change.interval)):
        return _("The score is the same.")
    if change.interval[0] <= 0 <= change.interval[1]:
        return _(
            "The change of the score ({value}, 95%: {low} to {high}) may be chance.",
            value=value,
            low=low,
            high=high,
        )
    return _(
        "The change of the score ({value}, 95%: {low} to {high}) is more than chance.",
        value=value,
        low=low,
        high=high,
    )
