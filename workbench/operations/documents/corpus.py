"""The documents of a project: list, filter, bulk edits, splits, statistics."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.base import deprecation
from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.schema.labels import LabelRow
from workbench.operations.schema.labels import columns as label_columns
from workbench.project import backup
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import answers, states
from workbench.storage.documents import bulk, deletion, documents
from workbench.storage.documents.documents import DocumentCounts, DocumentRow, Filter
from workbench.storage.integrity import integrity
from workbench.storage.labels import labels as layers
from workbench.storage.queries import columns, listing
from workbench.storage.queries.columns import SortOrder
from workbench.storage.runs import runs  # fmt: skip
from workbench.text.columns import record
from workbench.text.document import SPLITS
from workbench.text.labels import Label, Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.document import Document

__all__ = [
    "DocumentCounts", "DocumentRow", "Filter", "SortOrder", "any_documents", "check", "counts",
    "delete_documents", "filter_ids", "first_ids", "info", "labels", "narrowed", "rows",
    "set_class", "set_split", "set_state",
]  # fmt: skip

if not TYPE_CHECKING:
    _TRANSFER = "workbench.operations.transfer"
    __getattr__ = deprecation.former(
        __name__,
        BY_NAME=f"{_TRANSFER}.import_choice.BY_NAME",
        ExportOutcome=f"{_TRANSFER}.data_export.ExportOutcome",
        ImportOutcome=f"{_TRANSFER}.import_outcome.ImportOutcome",
        ImportPreview=f"{_TRANSFER}.import_preview.ImportPreview",
        PreviewRow=f"{_TRANSFER}.import_preview.PreviewRow",
        SkippedRecord=f"{_TRANSFER}.import_outcome.SkippedRecord",
        SplitOutcome="workbench.operations.documents.splits.SplitOutcome",
        create_sample="workbench.operations.application.sample.create_sample",
        described_splits=f"{_TRANSFER}.import_choice.described_splits",
        export_data=f"{_TRANSFER}.data_export.export_data",
        formats=f"{_TRANSFER}.data_export.formats",
        import_files=f"{_TRANSFER}.data_import.import_files",
        import_settings=f"{_TRANSFER}.import_preview.settings_of",
        make_splits="workbench.operations.documents.splits.make_splits",
        preview=f"{_TRANSFER}.import_preview.preview",
        refused=f"{_TRANSFER}.import_preview.refused",
        suggested_splits=f"{_TRANSFER}.import_choice.suggested_splits",
        what_is_lost=f"{_TRANSFER}.data_export.what_is_lost",
    )

STATES = ("pending", "draft", "submitted", "discarded")
COLUMNS = tuple(columns.EXPRESSIONS)  # further columns of tables of documents
LARGE_PROJECT_BYTES = 8_000_000
META = columns.META  # start of the name of a column for a metadata field


# ---------------------------------------------------------------- reading


def is_large(project: Project) -> bool:
    """Whether counting or listing all documents may take more than a few milliseconds.

    Decided by the size of the project file.
    """
    return project.path.stat().st_size > LARGE_PROJECT_BYTES


def filter_ids(
    project: Project,
    filter: Filter,
    order: SortOrder | None = None,
    layer_ids: Sequence[int] | None = None,
    *,
    watch: Watch = QUIET,
) -> array[int]:
    """Ids of the documents that pass the filter, in order, as array('q'). Labels and states are
    those of these layers.

    Takes up to a second for a million documents: not for the main thread. Raises Cancelled soon
    after `watch` is cancelled.
    """
    with project.db.until(lambda: watch.cancelled):
        return documents.ids(project.db, filter, order, layer_ids)


def first_ids(project: Project, filter: Filter) -> array[int]:
    """Some of the documents that pass a filter with a text, for the first rows of a table.

    Takes some hundredths of a second for a million documents.
    """
    return listing.first_ids(project.db, filter)


def narrowed(filter: Filter, before: Filter, ids: Sequence[int]) -> Filter:
    """`wanted`, restricted to what `before` has found if it can only match some of that."""
    return listing.narrowed(filter, before, ids)


def rows(
    project: Project,
    ids: Iterable[int],
    layer_ids: Sequence[int] | None = None,
    *,
    found_by: str = "",
    more: Sequence[str] = (),
) -> tuple[DocumentRow, ...]:
    """Table rows of the documents; labels and states are those of the layers (None: all).

    With `found_by`, the preview shows the text around its first match. `more`: further columns
    (`storage.queries.columns`) whose values the rows have.
    """
    return documents.rows(project.db, ids, layer_ids, found_by=found_by, more=more)


def texts(project: Project, ids: Sequence[int]) -> tuple[str, ...]:
    """The texts of documents, in the order of `ids`; both texts of a pair, on two lines."""
    by_id = {
        record.document.id: "\n".join(content for _name, content in record.document.texts)
        for record in documents.records(project.db, ids=ids)
    }
    return tuple(by_id[id] for id in ids if id in by_id)


def documents_of(
    project: Project, ids: Sequence[int], *, layers: Sequence[str] = ()
) -> Iterator[Document]:
    """The documents with their texts, in order of id; with what models of these layers read."""
    return (record.document for record in documents.records(project.db, ids=ids, layers=layers))


def any_documents(project: Project) -> bool:
    return documents.any_at_all(project.db)


def counts(project: Project, layer_ids: Sequence[int] | None = None) -> DocumentCounts:
    """Statistics of all documents; states, spans and suggestions are those of the layers (None:
    all).
    """
    return documents.counts(project.db, layer_ids)


def check(project: Project) -> tuple[str, ...]:
    """Damage in the project file, as sentences; empty if there is none."""
    return tuple(integrity.problems(project.db))


def info(project: Project) -> dict[str, Any]:
    """The data of `project info`: documents, layers, splits, states, runs.

    `states` counts each document once, in its highest state; `states` of a layer counts the
    documents
    to which the layer applies.
    """
    counts = documents.counts(project.db)
    highest = states.highest_counts(project.db)
    return {
        "documents": counts.documents,
        "layers": [
            {
                "layer": layer.name,
                "kind": layer.kind,
                "labels": len(layer.labels),
                "states": dict(states.counts(project.db, [row_id(layer)]).states),
            }
            for layer in layers.layers(project.db)
        ],
        "splits": {split: counts.splits.get(split, 0) for split in (*SPLITS, "none")},
        "states": {state: highest[state] for state in STATES},
        "runs": [_run(run) for run in runs.all(project.db)],
    }


def _run(run: runs.Run) -> dict[str, Any]:
    spec = run.spec or {}
    return {
        "name": run.name,
        "status": run.status,
        "task": spec.get("task", run.kind),
        "model": spec.get("model_name") or spec.get("model", ""),
        "scores": run.scores or {},
    }


def labels(project: Project) -> list[dict[str, Any]]:
    """Layers with their labels; count = number of class labels and spans.

    Layers of questions have their numbers.
    """
    count, described = layers.counts(project.db), label_columns()[:-1]
    return [
        {
            "layer": layer.name,
            "kind": layer.kind,
            "labels": [
                record(described, LabelRow(label, count.get(row_id(label), 0)))
                | _group(layer, label, count)
                for label in layer.labels
            ],
            **(
                {"questions": asdict(answers.counts(project.db, row_id(layer)))}
                if layer.traits.asks
                else {}
            ),
        }
        for layer in layers.layers(project.db)
    ]


def _group(layer: Layer, label: Label, count: Mapping[int, int]) -> dict[str, object]:
    """The parent of a sublabel; what a label counts together with its sublabels."""
    if label.parent:
        return {"parent": label.parent}
    below = layer.sublabels(label.name)
    total = sum(count.get(row_id(item), 0) for item in (label, *below))
    return {"count_with_sublabels": total} if below else {}


# ---------------------------------------------------------------- bulk edits
# `watch` reports the progress of each; cancelling it raises Cancelled and rolls back, without an
# undo step.

STORED = 0.7  # fraction of the work before the undo step is completed


def delete_documents(
    project: Project, ids: Sequence[int], *, origin: object = None, watch: Watch = QUIET
) -> int:
    """Delete documents with their labels. Returns how many were deleted.

    The project is backed up before more than `backup.LARGE_CHANGE` are deleted. Raises
    ProjectError if that fails.
    """
    title = ngettext("Delete {n:,} document", "Delete {n:,} documents", len(ids))
    start = 0.1
    backup.before(project, backup.DELETE, len(ids), watch=watch.part(0.0, start))
    with (
        deletion.prepared(project.db, len(ids)),
        project.edit(title.format(n=len(ids)), origin=origin, watch=watch.part(STORED, 1.0)),
    ):
        return documents.delete(project.db, ids, watch=watch.part(start, STORED))


def set_split(
    project: Project,
    ids: Sequence[int],
    split: str | None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """`split`: train, dev, test or None. Returns how many documents changed.

    Raises SpecError for an unknown split.
    """
    if split not in (None, *SPLITS):
        raise SpecError(_("There is no split {split!r}.", split=split))
    title = ngettext("Set split of {n:,} document", "Set split of {n:,} documents", len(ids))
    with project.edit(title, origin=origin, watch=watch.part(STORED, 1.0)):
        return documents.set_split(project.db, ids, split, watch=watch.part(0.0, STORED))


def set_class(
    project: Project,
    ids: Sequence[int],
    layer_id: int,
    label_id: int | None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Set the class of documents in a layer, or remove it (None). Pending documents become drafts.
    Documents to which the layer does not apply are skipped.

    Returns how many documents were changed.

    Raises SpecError for a layer without classes.
    """
    layer = layers.layer(project.db, layer_id)
    if not layer.traits.on_document:
        raise SpecError(_("Layer {name} has no classes.", name=layer.name))
    title = ngettext("Set class of {n:,} document", "Set class of {n:,} documents", len(ids))
    with project.edit(title, origin=origin, watch=watch.part(STORED, 1.0)):
        fitting = bulk.with_texts(project.db, ids, layer.texts)
        return bulk.set_class(
            project.db,
            fitting,
            layer_id,
            label_id,
            annotator_id=project.gold(layer_id),
            source=lambda: project.source("person"),
            watch=watch.part(0.0, STORED),
        )


def set_state(
    project: Project,
    ids: Sequence[int],
    layer_id: int,
    state: str,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Set the state of documents in a layer.

    Documents without a label become drafts if the layer requires one. Returns how many documents
    were changed.

    Raises SpecError for an unknown state.
    """
    if state not in STATES:
        raise SpecError(_("There is no state {state!r}.", state=state))
    layer = layers.layer(project.db, layer_id)
    title = ngettext("Set state of {n:,} document", "Set state of {n:,} documents", len(ids))
    title, body = title.format(n=len(ids)), watch.part(0.0, STORED)
    with project.edit(title, origin=origin, watch=watch.part(STORED, 1.0)):
        fitting, bare = bulk.with_texts(project.db, ids, layer.texts), []
        if state == "submitted" and not layer.traits.empty_is_answer:
            bare = bulk.without_label(project.db, fitting, layer_id, project.gold(layer_id))
        share = len(bare) / max(1, len(fitting))
        key = (layer_id, project.gold(layer_id))
        annotation_rows.set_state(project.db, bare, *key, "draft", watch=body.part(0.0, share))
        rest = sorted(set(fitting) - set(bare))
        return annotation_rows.set_state(project.db, rest, *key, state, watch=body.part(share, 1.0))
