"""Suggestions of a run for unlabelled documents, which the user accepts or rejects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import questions, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.runs import predict, results, run_folders, span_runs
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.annotation.suggestions import field_of_ends
from workbench.storage.documents import documents
from workbench.tasks import spec as tasks
from workbench.text.relations import allowed, directed
from workbench.text.result_view import UNKNOWN
from workbench.text.rows import row_id
from workbench.text.scale import Scale

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.dataset import Record
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer
    from workbench.text.relations import Relation
    from workbench.text.result_view import Answer, ResultView


@dataclass(frozen=True)
class Suggested:
    """`documents` were predicted, `suggestions` new rows are open;

    `note` is a remark for the user, or "".
    """

    run: str
    documents: int
    suggestions: int
    note: str = ""


def describe(outcome: Suggested) -> str:
    """A summary of the result, as sentences."""
    suggested = ngettext(
        "{run} created {n:,} suggestion.",
        "{run} created {n:,} suggestions.",
        outcome.suggestions,
        run=outcome.run,
    )
    processed = ngettext(
        "{n:,} unlabelled document was processed.",
        "{n:,} unlabelled documents were processed.",
        outcome.documents,
    )
    return f"{suggested} {processed}"


def waiting_documents(
    project: Project, layer: Layer, *, split: str | None = None, ids: Sequence[int] | None = None
) -> tuple[Record, ...]:
    """The pending documents of the layer, of one split or of the selected ones only.

    Of questions, those with an open one; asking it has made the document a draft.
    """
    filter_ = documents.Filter(layer_id=layer.id, state="pending", split=split, ids=ids)
    chosen = [*documents.ids(project.db, filter_)]
    if layer.traits.asks:
        chosen += documents.ids(project.db, replace(filter_, state="draft"))
    records = documents.records(project.db, layers=(layer.name,), ids=chosen)
    if layer.traits.asks:
        records = (
            record
            for record in records
            if any(q.is_open for q in record.questions.get(layer.name, ()))
        )
    return tuple(record for record in records if record.document.text.strip())


def _answers(
    project: Project, task: str, layer: Layer, record: Record, answer: Prediction
) -> list[NewSuggestion]:
    """Answers to the open questions of a document; the label of each is its question."""
    id, layer_id = row_id(record.document), row_id(layer)
    by_question = {item.label: item for item in tasks.info(task).answers(answer)}
    return [
        NewSuggestion(
            id, layer_id, None, item.start, item.end, item.field, item.score, None, row.id
        )
        for row in questions.asked(project, id, layer_id)
        if row.question.is_open and (item := by_question.get(row.question.text)) is not None
    ]


def _relations(
    layer: Layer, record: Record, answers: Sequence[Answer], ids: Mapping[str, int]
) -> list[NewSuggestion]:
    """The predicted relations that the rules of the layer allow."""
    rows = []
    for item in answers:
        if item.relation is None or item.label not in ids:
            continue
        ends = item.relation.from_span, item.relation.to_span
        if allowed(layer, item.label, ends[0].label, ends[1].label):
            rows.append(of_relation(row_id(record.document), layer, ids[item.label], item.relation))
    return rows


def of_relation(document_id: int, layer: Layer, label_id: int, relation: Relation) -> NewSuggestion:
    ends = relation.from_span, relation.to_span
    field = field_of_ends(ends, directed=directed(layer, relation.label))
    return NewSuggestion(document_id, row_id(layer), label_id, field=field, score=relation.score)


def suggest(
    project: Project,
    queue: Queue,
    run: Run,
    *,
    split: str | None = None,
    ids: Sequence[int] | None = None,
    spans: Run | None = None,
    watch: Watch = QUIET,
) -> Suggested:
    """Add predictions of the run to unlabelled documents as suggestions.

    Open suggestions of this run are replaced; rejected ones and those equal to gold are omitted.
    spans: the run whose predicted spans a run of relations connects, by default those of the layer.
    Raises WorkbenchError if the project is open read-only, or `spans` does not predict such spans.
    """
    if project.read_only:
        raise WorkbenchError(_("The project is open read-only."), hint=project.read_only_reason)
    layer = results.layer_of(project, run)
    records = waiting_documents(project, layer, split=split, ids=ids)
    unlabelled = [record.document for record in records]
    if spans is not None:
        span_runs.check(project, run, spans)
        unlabelled = predict.with_spans(project, queue, spans, unlabelled, watch=watch)
    answers, rounded = predict.for_suggestions(project, queue, run, unlabelled, watch=watch)
    rows = [
        row
        for record in records
        for row in rows_of(project, run, layer, record, answers[row_id(record.document)])
    ]
    title = _("Suggest with {run}", run=run.name)
    kind, ref = kinds.of(run).source(run)
    count = suggestion_edits.add_suggestions(project, run.id, rows, title=title, kind=kind, ref=ref)
    tagger = kinds.info(run.kind).fine_tunes and tasks.info(results.task_of(run)).windows
    notes = [_("They were predicted with weights of 8 bits.")] if rounded else []
    if tagger:
        notes.append(predict.token_note(run_folders.model(project, run.id), unlabelled))
    return Suggested(run.name, len(records), count, " ".join(filter(None, notes)))


def rows_of(
    project: Project, run: Run, layer: Layer, record: Record, answer: Prediction
) -> list[NewSuggestion]:
    """The content of a prediction, limited to labels or open questions that the layer has.

    A number is moved to the nearest step of the scale, so that it can be accepted; a blank text is
    left out.
    """
    task = results.task_of(run)
    if layer.traits.asks:
        return _answers(project, task, layer, record, answer)
    answers = tasks.info(task).answers(answer)
    if not layer.traits.has_labels:
        scale, place = Scale.of(layer.options), (row_id(record.document), row_id(layer), None)
        return [
            NewSuggestion(*place, value=scale.nearest(item.value))
            for item in answers
            if item.value is not None
        ] + [
            NewSuggestion(*place, score=item.score, written=item.written)
            for item in answers
            if item.written is not None
        ]
    ids = {label.name: row_id(label) for label in layer.labels}
    if layer.traits.between_spans:
        return _relations(layer, record, answers, ids)
    return [
        NewSuggestion(
            row_id(record.document),
            row_id(layer),
            ids[item.label],
            item.start,
            item.end,
            item.field,
            item.score,
            item.chain,
        )
        for item in answers
        if item.label in ids
    ]


def view_of(project: Project, run_id: int | None) -> ResultView:
    """How suggestions of a run are shown; those of other sources, and of a run that was deleted,
    as plain labels.
    """
    try:
        return tasks.view_of(results.task_of(results.run(project, run_id or 0)))
    except KeyError:
        return UNKNOWN
