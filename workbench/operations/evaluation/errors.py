"""The errors of a run, one by one: sorted, filtered, accepted as gold or kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.annotation import document_view
from workbench.operations.evaluation import reviews, scoring
from workbench.operations.evaluation.reviews import Review, ReviewItem
from workbench.operations.evaluation.scoring import GoldDocument
from workbench.operations.runs import predict, results, trained_on
from workbench.storage.documents import documents
from workbench.tasks import spec as tasks
from workbench.text import result_view
from workbench.text.columns import Column, ValueKind
from workbench.text.document import Document
from workbench.text.mistakes import KINDS, Mistake
from workbench.text.rows import row_id
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer
    from workbench.text.result_view import DetailRow, ResultView

CONFIDENCE, LOSS, DISTANCE = result_view.CONFIDENCE, result_view.LOSS, result_view.DISTANCE
KIND, DOCUMENT = result_view.ERROR_KIND, result_view.DOCUMENT
SORTS = result_view.ORDERS
OPEN, REVIEWED = "open", "reviewed"


def columns(items: Iterable[ReviewItem], view: ResultView) -> tuple[Column, ...]:
    """Of these errors, whose predictions the view shows; with their distances if any has one."""
    columns = (
        Column(_("Kind"), lambda item: view.kind_title(item.mistake.kind)),
        Column(_("Key"), lambda item: item.key),
        Column(_("Text"), lambda item: item.quote[:50]),
        Column(_("Gold"), lambda item: item.mistake.gold or None),
        Column(_("Predicted"), lambda item: item.mistake.predicted or None),
        Column(_("Confidence"), lambda item: item.mistake.confidence, kind=ValueKind.SHARE),
        Column(_("Loss"), lambda item: item.mistake.loss, kind=ValueKind.NUMBER),
        Column(_("Distance"), lambda item: item.mistake.distance),
    )
    far = any(item.mistake.distance is not None for item in items)
    return columns if far else columns[:-1]


@dataclass(frozen=True, kw_only=True)
class ErrorFilters:
    """Which errors are shown, and in which order. None and "" do not restrict.

    gold, predicted: labels, where tasks.NONE stands for no label; label: one of the two. match:
    text anywhere in the document, regardless of case. documents: ids. state: OPEN, REVIEWED or "".
    """

    sort: str = CONFIDENCE
    kind: str = ""
    gold: str = ""
    predicted: str = ""
    label: str = ""
    match: str = ""
    documents: Collection[int] | None = None
    state: str = ""

    @property
    def restricts(self) -> bool:
        return self != ErrorFilters(sort=self.sort)


def items(
    project: Project, run: Run, split: str = "dev", ids: Collection[int] | None = None
) -> tuple[ReviewItem, ...]:
    """Every mistake of the stored predictions on a split against current gold, by document.

    Those that were accepted as gold stay, with their review. `ids` restricts it to few documents;
    without them it reads the whole split: run it in a thread.
    """
    layer = results.layer_of(project, run)
    info = tasks.info(results.task_of(run))
    scored_documents = _scored(project, run, layer, split, ids)
    answers = predict.stored(project, run, [scored.document for scored in scored_documents])
    known = _known(project, row_id(layer), ids)
    by_identity: dict[tuple[object, ...], ReviewItem] = {}
    for scored in scored_documents:
        document, id = scored.document, row_id(scored.document)
        if id in answers:
            distance = info.distance(scored.gold, answers[id])
            for mistake in info.mistakes(document, scored.gold, answers[id]):
                if distance is not None:
                    mistake = replace(mistake, distance=distance)
                item = ReviewItem(id, document.key, _content(document, mistake), mistake)
                by_identity[item.identity] = replace(item, review=_still(known.get(item.identity)))
    documents_by_id = {row_id(scored.document): scored.document for scored in scored_documents}
    for review in known.values():
        reviewed_document = documents_by_id.get(review.document_id)
        if reviewed_document is None or review.run_id != run.id or review.identity in by_identity:
            continue
        if review.verdict == reviews.ACCEPTED:
            text = _content(reviewed_document, review.mistake)
            by_identity[review.identity] = ReviewItem(
                review.document_id, reviewed_document.key, text, review.mistake, review
            )
    return tuple(sorted(by_identity.values(), key=_by_document))


def refreshed(
    project: Project, run: Run, split: str, before: Iterable[ReviewItem], ids: Collection[int]
) -> tuple[ReviewItem, ...]:
    """The list updated after the gold labels of a few documents have changed."""
    unchanged = [item for item in before if item.document_id not in ids]
    return tuple(sorted((*unchanged, *items(project, run, split, ids)), key=_by_document))


def _scored(
    project: Project, run: Run, layer: Layer, split: str, ids: Collection[int] | None
) -> list[GoldDocument]:
    if ids is None:
        return list(results.scored(project, run, split))
    info = tasks.info(results.task_of(run))
    fold = trained_on.own_dev(project, run) if split == "dev" else None
    return [
        GoldDocument(record.document, gold)
        for record in documents.records(project.db, layers=(layer.name,), ids=sorted(ids))
        if (record.document.split == split if fold is None else record.document.id in fold)
        and not scoring.why_left_out(info, record, layer.name)
        and (gold := info.gold(record, layer.name)) is not None
    ]


def _known(
    project: Project, layer_id: int, ids: Collection[int] | None
) -> dict[tuple[object, ...], Review]:
    """The last review of each mistake, by its identity."""
    if ids is None:
        rows = reviews.reviews(project, layer_id)
    else:
        rows = tuple(review for id in ids for review in reviews.reviews(project, layer_id, id))
    return {review.identity: review for review in rows}


def _still(review: Review | None) -> Review | None:
    """A mistake that was accepted and is one again is open: its gold was changed back."""
    return None if review is None or review.verdict == reviews.ACCEPTED else review


def _content(document: Document, mistake: Mistake) -> str:
    try:
        return document.content(mistake.field)
    except KeyError:
        return document.text


def arranged(items: Iterable[ReviewItem], filters: ErrorFilters) -> tuple[ReviewItem, ...]:
    """The errors that pass, in the order of the filters."""
    needle = filters.match.casefold()
    matches = [
        item
        for item in items
        if (not filters.kind or item.mistake.kind == filters.kind)
        and (not filters.gold or (item.mistake.gold or tasks.NONE) == filters.gold)
        and (not filters.predicted or (item.mistake.predicted or tasks.NONE) == filters.predicted)
        and (not filters.label or filters.label in (item.mistake.gold, item.mistake.predicted))
        and (filters.documents is None or item.document_id in filters.documents)
        and (not filters.state or (filters.state == REVIEWED) == bool(item.verdict))
        and (not needle or needle in item.text.casefold())
    ]
    if filters.sort == CONFIDENCE:
        matches.sort(key=lambda item: (-item.mistake.confidence, _by_document(item)))
    elif filters.sort == LOSS:
        matches.sort(key=lambda item: (-item.mistake.loss, _by_document(item)))
    elif filters.sort == DISTANCE:
        matches.sort(key=lambda item: (-(item.mistake.distance or 0.0), _by_document(item)))
    elif filters.sort == KIND:
        matches.sort(key=lambda item: (KINDS.index(item.mistake.kind), -item.mistake.confidence))
    else:
        matches.sort(key=_by_document)
    return tuple(matches)


def _by_document(item: ReviewItem) -> tuple[int, tuple[int, int], str, str]:
    mistake = item.mistake
    return item.document_id, mistake.place or (0, 0), mistake.gold, mistake.predicted


def same_confusion(items: Iterable[ReviewItem], item: ReviewItem) -> list[ReviewItem]:
    """Every error with the gold and predicted label of this one, itself included."""
    pair = item.mistake.gold, item.mistake.predicted
    return [item for item in items if (item.mistake.gold, item.mistake.predicted) == pair]


@dataclass(frozen=True)
class Detail:
    """One document with gold and prediction of a run.

    gold, predicted: spans of the layer, () for a task on whole documents. gold_ids: ids of the
    gold spans by offsets and label. ordered: the labels are in an order.
    """

    document: Document
    state: str
    gold: tuple[Span, ...]
    predicted: tuple[Span, ...]
    gold_ids: Mapping[tuple[str, int, int, str], int]
    prediction: Prediction | None
    ordered: bool = False

    @property
    def view(self) -> ResultView:
        return result_view.of(self.prediction)

    def rows(self, mistake: Mistake) -> list[DetailRow]:
        """The prediction at the place of an error: labels in their order if they have one, else
        the most probable one first.
        """
        if self.prediction is None:
            return []
        rows = self.view.detail(self.document, self.prediction, mistake)
        if self.ordered and mistake.place is None:
            order = [*self.view.shares(self.prediction)]
            rows.sort(key=lambda row: order.index(row.label) if row.label in order else len(order))
        return rows


def detail(project: Project, run: Run, document_id: int) -> Detail:
    """With the stored prediction of a run. Raises KeyError if the document was deleted."""
    layer = results.layer_of(project, run)
    document = documents.record(project.db, document_id, (layer.name,)).document
    answer = predict.stored(project, run, [document]).get(document_id)
    ordered = tasks.info(results.task_of(run)).ordered
    detail = detail_of(project, layer, document_id, answer, ordered=ordered)
    return replace(detail, document=document)  # with what the model read


def detail_of(
    project: Project,
    layer: Layer,
    document_id: int,
    answer: Prediction | None,
    *,
    ordered: bool = False,
) -> Detail:
    """With any prediction. Raises KeyError if the document was deleted."""
    view = document_view.view(project, document_id)
    names = {label.id: label.name for label in layer.labels}
    rows = [row for row in view.spans if row.layer_id == layer.id and row.label_id in names]
    gold = tuple(
        Span(r.start, r.end, names[r.label_id], r.field, id=r.id, chain=r.chain) for r in rows
    )
    ids = {(span.field, span.start, span.end, span.label): span.id or 0 for span in gold}
    predicted = answer.spans if answer is not None and layer.traits.in_text else ()
    state = view.states.get(row_id(layer), "pending")
    return Detail(view.document, state, gold, predicted, ids, answer, ordered)


def place_in_annotate(detail: Detail | None, mistake: Mistake) -> dict[str, object]:
    """Arguments with which Annotate shows the place: its gold span, else the range of text."""
    if mistake.at is not None and detail is not None:
        span = detail.gold_ids.get((mistake.field, *mistake.at, mistake.gold))
        if span is not None:
            return {"span": span}
    place = mistake.place
    if mistake.at and mistake.predicted_at and not mistake.overlaps:
        place = mistake.at  # what is between gold and the prediction is not selected
    return {"at": (mistake.field, *place)} if place is not None else {}


def orders(view: ResultView, items: Iterable[ReviewItem]) -> tuple[str, ...]:
    """The orders of a list of errors, the default one first. Errors of a task that measures how
    far a prediction is from gold can be sorted by it.
    """
    orders = view.orders
    if DISTANCE in orders or all(item.mistake.distance is None for item in items):
        return orders
    return (*orders[:-1], DISTANCE, orders[-1])


def counts(items: Iterable[ReviewItem]) -> Counter[str]:
    """Number of errors by kind."""
    return Counter(item.mistake.kind for item in items)


# ---------------------------------------------------------------- decisions


def accept(project: Project, run: Run, item: ReviewItem, *, origin: object = None) -> None:
    """Make the prediction gold at this place. Raises WorkbenchError if gold has changed there, or
    nothing could be read from the reply of the model.
    """
    if not item.mistake.predicted_at and item.mistake.predicted in ("", tasks.NONE):
        _check_answered(project, run, item.document_id)
    title = _("Accept prediction of {run}", run=run.name)
    layer = results.layer_of(project, run)
    place = layer, item.document_id, item.mistake
    reviews.accept(project, *place, title=title, run_id=run.id, origin=origin)


def _check_answered(project: Project, run: Run, document_id: int) -> None:
    """No answer says nothing about the document, also not that a label is wrong."""
    prediction = detail(project, run, document_id).prediction
    if prediction is not None and prediction.no_answer:
        raise WorkbenchError(
            _("Run {name!r} has no answer here, so there is nothing to accept.", name=run.name),
            hint=_("Keep gold, or choose another label."),
        )


def keep(project: Project, run: Run, item: ReviewItem, *, origin: object = None) -> None:
    """Keep gold, and remember that it was reviewed."""
    layer = results.layer_of(project, run)
    reviews.keep(project, layer, item.document_id, item.mistake, run_id=run.id, origin=origin)


def check_split(run: Run, split: str) -> None:
    """Raises WorkbenchError for test before its score was viewed."""
    if split == "test" and not run.seen_test:
        raise WorkbenchError(
            _(
                "The test score of run {name!r} has not been viewed, so its errors stay hidden.",
                name=run.name,
            ),
            hint=_("View the test score first."),
        )
