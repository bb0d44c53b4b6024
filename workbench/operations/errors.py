"""The errors of a run, one by one: sorted, filtered, accepted as gold or kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.operations import predict, results, reviews
from workbench.operations.reviews import Review
from workbench.tasks import spec as tasks
from workbench.text.document import Document
from workbench.text.mistakes import KINDS, Mistake
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs import Run

CONFIDENCE, LOSS, KIND, DOCUMENT = "confidence", "loss", "kind", "document"
SORTS = {
    CONFIDENCE: N_("Confidence of the wrong prediction"),
    LOSS: N_("Loss"),
    KIND: N_("Kind of error"),
    DOCUMENT: N_("Order of the documents"),
}
OPEN, REVIEWED = "open", "reviewed"


@dataclass(frozen=True)
class ErrorItem:
    """One mistake in a document. place: its number in the split; review: None while it is open."""

    document_id: int
    key: str
    place: int
    text: str
    mistake: Mistake
    review: Review | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        return self.document_id, *self.mistake.identity

    @property
    def quote(self) -> str:
        """The words at the place, or the beginning of the document."""
        place = self.mistake.place
        return self.text[slice(*place) if place else slice(160)]

    @property
    def verdict(self) -> str:
        return self.review.verdict if self.review is not None else ""

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key,
            **self.mistake.to_json(),
            "quote": self.quote,
            "review": self.verdict or None,
        }


@dataclass(frozen=True)
class Wanted:
    """Which errors are shown, and in which order. None and "" do not restrict.

    gold, predicted: labels, where tasks.NONE stands for no label. match: text anywhere in the
    document, regardless of case. documents: ids. state: OPEN, REVIEWED or "".
    """

    sort: str = CONFIDENCE
    kind: str = ""
    gold: str = ""
    predicted: str = ""
    match: str = ""
    documents: Collection[int] | None = None
    state: str = ""


def items(project: Project, run: Run, split: str = "dev") -> tuple[ErrorItem, ...]:
    """Every mistake of the stored predictions on a split against current gold, by document.

    Those that were accepted as gold stay, with their review. Run it in a thread.
    """
    layer = results.layer_of(project, run)
    info = tasks.info(results.task_of(run))
    found = results.scored(project, run, split)
    answers = predict.stored(project, run, [one.document for one in found])
    known = reviews.latest(project, row_id(layer))
    given: list[ErrorItem] = []
    for place, one in enumerate(found):
        id, document = row_id(one.document), one.document
        if id in answers:
            given += [
                ErrorItem(id, document.key, place, _content(document, mistake), mistake)
                for mistake in info.mistakes(document, one.gold, answers[id])
            ]
    given = [replace(item, review=_still(known.get(item.identity))) for item in given]
    shown = {item.identity for item in given}
    places = {row_id(one.document): (place, one.document) for place, one in enumerate(found)}
    for review in known.values():
        if review.run_id == run.id and review.document_id in places:
            place, document = places[review.document_id]
            if review.identity not in shown and review.verdict == reviews.ACCEPTED:
                text = _content(document, review.mistake)
                item = ErrorItem(
                    review.document_id, document.key, place, text, review.mistake, review
                )
                given.append(item)
    return tuple(sorted(given, key=_by_document))


def _still(review: Review | None) -> Review | None:
    """A mistake that was accepted and is one again is open: its gold was changed back."""
    return None if review is None or review.verdict == reviews.ACCEPTED else review


def _content(document: Document, mistake: Mistake) -> str:
    try:
        return document.content(mistake.field)
    except KeyError:
        return document.text


def arranged(given: Iterable[ErrorItem], wanted: Wanted) -> tuple[ErrorItem, ...]:
    """The errors that are wanted, in the wanted order."""
    needle = wanted.match.casefold()
    found = [
        item
        for item in given
        if (not wanted.kind or item.mistake.kind == wanted.kind)
        and (not wanted.gold or (item.mistake.gold or tasks.NONE) == wanted.gold)
        and (not wanted.predicted or (item.mistake.predicted or tasks.NONE) == wanted.predicted)
        and (wanted.documents is None or item.document_id in wanted.documents)
        and (not wanted.state or (wanted.state == REVIEWED) == bool(item.verdict))
        and (not needle or needle in item.text.casefold())
    ]
    if wanted.sort == CONFIDENCE:
        found.sort(key=lambda item: (-item.mistake.confidence, _by_document(item)))
    elif wanted.sort == LOSS:
        found.sort(key=lambda item: (-item.mistake.loss, _by_document(item)))
    elif wanted.sort == KIND:
        found.sort(key=lambda item: (KINDS.index(item.mistake.kind), -item.mistake.confidence))
    else:
        found.sort(key=_by_document)
    return tuple(found)


def _by_document(item: ErrorItem) -> tuple[int, tuple[int, int], str, str]:
    mistake = item.mistake
    return item.place, mistake.place or (0, 0), mistake.gold, mistake.predicted


def counts(given: Iterable[ErrorItem]) -> Counter[str]:
    """Number of errors by kind."""
    return Counter(item.mistake.kind for item in given)


# ---------------------------------------------------------------- decisions


def accept(project: Project, run: Run, item: ErrorItem, *, origin: object = None) -> None:
    """Make the prediction gold at this place. Raises WorkbenchError if gold has changed there."""
    title = _("Accept prediction of {run}").format(run=run.name)
    layer = results.layer_of(project, run)
    given = layer, item.document_id, item.mistake
    reviews.accept(project, *given, title=title, run_id=run.id, origin=origin)


def keep(project: Project, run: Run, item: ErrorItem, *, origin: object = None) -> None:
    """Keep gold, and remember that it was reviewed."""
    layer = results.layer_of(project, run)
    reviews.keep(project, layer, item.document_id, item.mistake, run_id=run.id, origin=origin)


def check_split(run: Run, split: str) -> None:
    """Raises WorkbenchError for test before its score was viewed."""
    if split == "test" and not run.seen_test:
        raise WorkbenchError(
            _("The test score of run {name!r} has not been viewed, so its errors stay hidden.")
            .format(name=run.name),
            hint=_("View the test score first."),
        )  # fmt: skip
