"""Suggestions that are not stored: of the instant model, and of runs that order or pre-annotate.

They are stored when the user accepts or rejects them, together with that decision in one undo
step, so that new predictions leave no trace in the history. Their ids are negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import suggest, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.runs import predict, results
from workbench.storage.annotation import suggestions as proposals
from workbench.storage.annotation.suggestions import SuggestionRow
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing
from workbench.storage.queries.listing import Filter
from workbench.storage.queries.queue import TO_DO
from workbench.storage.runs import runs as stored_runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text.dataset import Record
from workbench.text.fields import WordTags
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.project.project import Project
    from workbench.text.document import Document
    from workbench.text.labels import Layer

CHUNK = 200  # documents between two reports of progress
RULE, INSTANT = "rule", "instant"  # kind and ref of the source of the instant model
INSTANT_WORDS = "instant-words"  # ref while it learns from words, without vectors of a model
Act = Callable[..., int]
TagChances = Mapping[tuple[int, int], Sequence[tuple[str, float]]]


def of_instant(
    document_id: int,
    layer: Layer,
    answers: Sequence[Sequence[Any]],
    field: str,
    ref: str = INSTANT,
) -> list[SuggestionRow]:
    """answers: [number of the label, start, end, probability]; see `active.instant`. ref: of the
    source.
    """
    ids = [row_id(label) for label in layer.labels]
    new = [
        NewSuggestion(document_id, row_id(layer), ids[label], start, end, field, score)
        for label, start, end, score in answers
        if label < len(ids)
    ]
    return [
        _row(suggestion, -number, RULE, ref, None, "") for number, suggestion in enumerate(new, 1)
    ]


def keep_instant(
    project: Project,
    layer: Layer,
    answers: Mapping[int, Sequence[Sequence[Any]]],
    *,
    ref: str = INSTANT,
    watch: Watch = QUIET,
) -> int:
    """Store predictions of the instant model, by document, in place of those stored before.

    Those that were rejected, or equal gold, are left out, as is all of documents that are finished
    or have a class already. One undo step. Returns how many are open. Not for the main thread.
    """
    filter_ = Filter(queue_layers=(row_id(layer),), queued=TO_DO, ids=sorted(answers))
    ids = listing.ids(project.db, filter_)
    has_one = layer.traits.on_document and not layer.traits.several
    rows = list[NewSuggestion]()
    for some in watch.part(0.0, 0.5).over(
        list(documents.records(project.db, layers=(layer.name,), ids=ids)), CHUNK
    ):
        for record in some:
            id = row_id(record.document)
            if not (has_one and record.marks.get(layer.name)):
                suggestions = of_instant(id, layer, answers[id], record.document.fields[0])
                rows += map(_new, suggestions)
    shut = proposals.rejected_of(project.db, RULE)
    with project.edit(_("Keep suggestions of the instant model"), watch=watch.part(0.5, 1.0)):
        proposals.delete_open_of(project.db, RULE, INSTANT)  # and INSTANT_WORDS
        return suggestion_edits.add_suggestions(
            project, None, (row for row in rows if row.what not in shut), kind=RULE, ref=ref
        )


def of_run(project: Project, run_id: int, layer_id: int, doc: DocumentView) -> list[SuggestionRow]:
    """The stored prediction of a run as suggestions; [] if there is none for this text, or if the
    plugin of the run's task is disabled or fails.
    """
    try:
        run = stored_runs.get(project.db, run_id)
        layer = labels.layer(project.db, layer_id)
        tasks.info(results.task_of(run))
    except (KeyError, WorkbenchError):
        return []  # deleted since, or without its task
    document = document_of_layer(project, layer, doc.document)
    answer = predict.stored(project, run, [document]).get(row_id(document))
    if answer is None:
        return []
    suggestions = suggest.rows_of(project, run, layer, Record(document), answer)
    return [
        _row(suggestion, -number, "run", str(run.id), run.id, run.name)
        for number, suggestion in enumerate(suggestions, 1)
    ]


def tag_chances(project: Project, run_id: int, document: Document) -> TagChances:
    """The most probable tags of each token by the stored prediction of a run, by offsets:
    (label, probability), best first. Empty without a prediction for this text.
    """
    try:
        run = stored_runs.get(project.db, run_id)
    except KeyError:
        return {}  # deleted since
    answer = predict.stored(project, run, [document]).get(row_id(document))
    words = answer.get(WordTags) if answer is not None else None
    return {
        (word.start, word.end): ((word.label, word.score), *word.others)
        for word in (words.words if words is not None else ())
        if word.label is not None and word.others
    }


def _row(
    suggestion: NewSuggestion, id: int, kind: str, ref: str, run: int | None, name: str
) -> SuggestionRow:
    return SuggestionRow(
        id, suggestion.document_id, suggestion.layer_id, suggestion.label_id,
        suggestion.kind, suggestion.start, suggestion.end,
        suggestion.field if suggestion.written is None else suggestion.written,
        suggestion.score, run, name or ref, 0, "open", kind, ref, None, now(),
        suggestion.value if suggestion.question is None else suggestion.question,
    )  # fmt: skip


def document_of_layer(project: Project, layer: Layer, document: Document) -> Document:
    """The document as a run of the layer reads it: with the questions or spans of this layer
    only.
    """
    if not (layer.traits.asks or layer.traits.between_spans):
        return document
    records = documents.records(project.db, layers=(layer.name,), ids=[row_id(document)])
    return next((record.document for record in records), document)


def open_ones(
    project: Project, doc: DocumentView, rows: Iterable[SuggestionRow]
) -> list[SuggestionRow]:
    """Rows without those equal to gold, to a stored suggestion, or to one that was rejected."""
    rows, id = list(rows), row_id(doc.document)
    if not rows:  # nearly always; reading the gold of a long document takes 50 ms
        return []
    shut = proposals.gold_of(project.db, [id])
    shut |= {_new(row).what for row in doc.suggestions if row.id > 0}
    shut |= {_new(row).what for row in proposals.suggestions(project.db, id, "rejected")}
    return [row for row in rows if _new(row).what not in shut]


def deciding(act: Act, live: Mapping[int, SuggestionRow]) -> Act:
    """`suggestion_edits.accept` or `reject`, which first stores those that are live."""

    def decide(project: Project, ids: Iterable[int], **named: Any) -> int:
        suggestion_ids = list(ids)
        rows = [live[id] for id in suggestion_ids if id in live]
        if not rows:
            return act(project, suggestion_ids, **named)
        with project.edit(_("Decide on suggestions"), origin=named.get("origin")):
            stored_ids = [id for id in suggestion_ids if id > 0]
            return act(project, [*stored_ids, *_stored(project, rows)], **named)

    return decide


def _stored(project: Project, rows: Sequence[SuggestionRow]) -> list[int]:
    """Insert the rows; returns their ids."""
    suggestion_ids = list[int]()
    by_source: dict[tuple[str, str, int | None], list[SuggestionRow]] = {}
    for row in rows:
        run = row.run_id
        if run is not None and all(item.id != run for item in stored_runs.all(project.db)):
            run = None  # the run was deleted meanwhile
        by_source.setdefault((row.source_kind, row.source_ref, run), []).append(row)
    for (kind, ref, run), some in by_source.items():
        source = project.source(kind, ref, annotator=False)
        new = [_new(row) for row in some]
        proposals.add_suggestions(project.db, new, source_id=source, run_id=run)
        for id in {row.document_id for row in some}:
            there = proposals.suggestions(project.db, id)
            suggestion_ids += [row.id for row in there if row.source_id == source]
    return suggestion_ids


def _new(row: SuggestionRow) -> NewSuggestion:
    question = row.question
    return NewSuggestion(
        row.document_id, row.layer_id, row.label_id, row.start, row.end, row.field, row.score,
        row.value if question is None else None, question, row.written,
    )  # fmt: skip
