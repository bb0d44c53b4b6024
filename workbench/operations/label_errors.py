"""Probably wrong gold labels: ranked by confident learning on out-of-fold predictions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base.i18n import _
from workbench.metrics import confident as learning
from workbench.operations import folds, reviews
from workbench.operations.folds import Measured
from workbench.operations.reviews import Review
from workbench.operations.scoring import Scored
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.fields import DocumentLabels, Prediction
from workbench.text.mistakes import LABEL, MISSED, SPURIOUS, Mistake, loss_of
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer

NO_LABEL = ""  # of a word outside of every span


@dataclass(frozen=True)
class Suspect:
    """A gold label that is probably wrong. margin: see `metrics.confident`; low ones first."""

    document_id: int
    key: str
    text: str
    mistake: Mistake
    margin: float
    fold: int
    review: Review | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        return self.document_id, *self.mistake.identity

    @property
    def verdict(self) -> str:
        return self.review.verdict if self.review is not None else ""

    @property
    def quote(self) -> str:
        place = self.mistake.place
        return self.text[slice(*place) if place else slice(160)]

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key,
            **self.mistake.to_json(),
            "quote": self.quote,
            "margin": self.margin,
            "fold": self.fold + 1,
            "review": self.verdict or None,
        }


@dataclass(frozen=True)
class Ranking:
    """Suspects of a layer, most doubtful first, those already reviewed included.

    share: estimated share of wrong labels; low, high: its 95% interval over documents; units:
    labels that it is a share of (documents, decisions or words). changed: documents whose gold has
    changed since the measurement. agreement: share of labels that equal their out-of-fold
    predictions; the lower it is, the less the other numbers say.
    """

    measured: Measured
    suspects: tuple[Suspect, ...]
    share: float
    low: float
    high: float
    units: int
    documents: int
    changed: int
    agreement: float


@dataclass(frozen=True, eq=False)
class _Units:
    """Labels as units of confident learning: given (N,), probabilities (N, K), document (N,)."""

    names: tuple[str, ...]
    given: np.ndarray
    probabilities: np.ndarray
    document: np.ndarray
    word: tuple[tuple[int, int] | None, ...]


def ranking(project: Project, layer: Layer) -> Ranking | None:
    """Rank the current gold labels by the last measurement; None without one.

    Run it in a thread.
    """
    kept = folds.measured(project, layer)
    if kept is None:
        return None
    info = tasks.info(kept.task)
    given = [
        label
        for label in folds.given_labels(project, kept.task, layer)
        if kept.predictions.get(label.document.id or 0, ("",))[0] == label.document.asked_hash
    ]
    answers = [kept.predictions[row_id(scored.document)][1] for scored in given]
    known = {review.identity: review for review in reviews.reviews(project, row_id(layer))}
    suspects, share, spread, units, agreement = _suspects(info, layer, given, answers, kept.fold)
    rows = [_reviewed(suspect, known) for suspect in suspects]
    rows += _decided(given, known, {row.identity for row in rows}, kept)
    changed = sum(
        kept.given.get(row_id(scored.document)) != _plain(scored.gold.to_json()) for scored in given
    )
    rows.sort(key=lambda row: (row.margin, row.document_id, row.mistake.place or (0, 0)))
    return Ranking(kept, tuple(rows), share, *spread, units, len(given), changed, agreement)


def _plain(value: object) -> object:
    """As it is after a trip through JSON."""
    return json.loads(json.dumps(value))


def _reviewed(suspect: Suspect, known: Mapping[tuple[object, ...], Review]) -> Suspect:
    review = known.get(suspect.identity)
    done = review is not None and review.verdict in (reviews.KEPT, reviews.SKIPPED)
    return replace(suspect, review=review if done else None)


def _decided(
    given: Sequence[Scored],
    known: Mapping[tuple[object, ...], Review],
    shown: set[tuple[object, ...]],
    kept: Measured,
) -> Iterator[Suspect]:
    """Labels that were changed here: no longer suspect, but part of what was reviewed."""
    documents = {row_id(scored.document): scored.document for scored in given}
    for identity, review in known.items():
        document = documents.get(review.document_id)
        if review.verdict != reviews.CHANGED or document is None or identity in shown:
            continue
        mistake, id = review.mistake, review.document_id
        text = document.text
        margin = 1 - 2 * mistake.confidence
        yield Suspect(id, document.key, text, mistake, margin, kept.fold.get(id, 0), review)


def _suspects(
    info: TaskInfo,
    layer: Layer,
    given: Sequence[Scored],
    answers: Sequence[Prediction],
    fold: Mapping[int, int],
) -> tuple[list[Suspect], float, tuple[float, float], int, float]:
    """(suspects, share of wrong labels, its interval, number of labels, agreement)."""
    found: list[Suspect] = []
    judged_units = []
    for units in _units(info, layer, given, answers):
        if not len(units.given):
            continue
        judged = learning.confident(units.given, units.probabilities)
        judged_units.append((units, judged))
        if units.word[0] is None:
            found += _of_documents(info, layer, given, units, judged, fold)
        else:
            found += _of_words(info, given, answers, units, judged, fold)
    total = sum(len(units.given) for units, _judged in judged_units)
    if not total:
        return [], 0.0, (0.0, 0.0), 0, 0.0
    share = sum(judged_unit.share * len(units.given) for units, judged_unit in judged_units) / total
    same = sum(
        int((units.probabilities.argmax(axis=1) == units.given).sum())
        for units, _one in judged_units
    )
    return found, share, _interval(judged_units, len(given)), total, same / total


def _interval(
    judged: Sequence[tuple[_Units, learning.Confident]], n: int, resamples: int = 200
) -> tuple[float, float]:
    """95% bootstrap interval over documents of the share of wrong labels."""
    rng = np.random.default_rng(1)
    values = []
    for _number in range(resamples):
        weights = np.bincount(rng.integers(n, size=n), minlength=n)
        parts = [_share(units, item, weights) for units, item in judged]
        values.append(sum(s * c for s, c in parts) / max(sum(c for _s, c in parts), 1))
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def _share(units: _Units, judged: learning.Confident, weights: np.ndarray) -> tuple[float, float]:
    """(share of wrong labels, number of labels) with weights of the documents."""
    mine = weights[units.document]
    joint = learning.joint_of(units.given, judged.guess, mine, len(units.names))
    return float(1 - np.trace(joint)), float(mine.sum())


def _units(
    info: TaskInfo, layer: Layer, given: Sequence[Scored], answers: Sequence[Prediction]
) -> Iterator[_Units]:
    if layer.traits.on_document and layer.traits.several:
        yield from _binary(layer, given, answers)
    elif layer.traits.on_document:
        yield _classes(layer, given, answers)
    else:
        yield _words(info, layer, given, answers)


def _scores(names: Sequence[str], answer: Prediction) -> list[float]:
    found = answer.get(DocumentLabels)
    scores = found.as_dict() if found is not None else {}
    return [scores.get(name, 0.0) for name in names]


def _classes(layer: Layer, given: Sequence[Scored], answers: Sequence[Prediction]) -> _Units:
    names = layer.names
    rows = [names.index(next(iter(scored.gold.labels()))) for scored in given]
    scores = np.array([_scores(names, answer) for answer in answers]).reshape(-1, len(names))
    return _Units(names, np.array(rows, int), scores, np.arange(len(given)), (None,) * len(given))


def _binary(
    layer: Layer, given: Sequence[Scored], answers: Sequence[Prediction]
) -> Iterator[_Units]:
    """Every label on its own: absent (0) or present (1)."""
    scores = np.array([_scores(layer.names, answer) for answer in answers]).reshape(len(given), -1)
    for at, name in enumerate(layer.names):
        has = np.array([name in set(scored.gold.labels()) for scored in given], int)
        both = np.stack([1 - scores[:, at], scores[:, at]], axis=1)
        yield _Units((NO_LABEL, name), has, both, np.arange(len(given)), (None,) * len(given))


def _words(
    info: TaskInfo, layer: Layer, given: Sequence[Scored], answers: Sequence[Prediction]
) -> _Units:
    """Every word with its label. The probability of a label that is given but not predicted is at
    most the rest; that is what it gets, so that thresholds are cautious.
    """
    names = (NO_LABEL, *layer.names)
    number = {name: at for at, name in enumerate(names)}
    rows, scores, documents, places = [], [], [], []
    for at, (scored, answer) in enumerate(zip(given, answers, strict=True)):
        gold = _gold_words(scored.gold, [(word.start, word.end) for word in answer.words])
        for word, label in zip(answer.words, gold, strict=True):
            if label is None and not layer.traits.several:
                continue  # a token without a tag is not labelled, rather than labelled as none
            row = np.zeros(len(names))
            mine, theirs = number[label or NO_LABEL], number.get(word.label or NO_LABEL, 0)
            row[mine] = min(1 - word.score, word.score)
            row[theirs] = word.score
            rows.append(mine)
            scores.append(row)
            documents.append(at)
            places.append((word.start, word.end))
    table = np.array(scores).reshape(-1, len(names))
    return _Units(names, np.array(rows, int), table, np.array(documents, int), tuple(places))


def _gold_words(gold: Any, words: Sequence[tuple[int, int]]) -> list[str | None]:
    """The label of the gold span that covers each word."""
    found: list[str | None] = [None] * len(words)
    for span in gold.spans:
        for at, (start, end) in enumerate(words):
            if start < span.end and span.start < end:
                found[at] = span.label
    return found


def _of_documents(
    info: TaskInfo,
    layer: Layer,
    given: Sequence[Scored],
    units: _Units,
    judged: learning.Confident,
    fold: Mapping[int, int],
) -> Iterator[Suspect]:
    for at in np.flatnonzero(judged.suspect):
        document = given[units.document[at]].document
        mine, theirs = int(units.given[at]), int(judged.guess[at])
        sure, own = (float(units.probabilities[at, number]) for number in (theirs, mine))
        kind = LABEL if units.names[0] else (MISSED if mine else SPURIOUS)
        mistake = Mistake(kind, units.names[mine], units.names[theirs], sure, loss_of(own))
        id = row_id(document)
        margin = float(judged.margin[at])
        yield Suspect(id, document.key, document.text, mistake, margin, fold.get(id, 0))


def _of_words(
    info: TaskInfo,
    given: Sequence[Scored],
    answers: Sequence[Prediction],
    units: _Units,
    judged: learning.Confident,
    fold: Mapping[int, int],
) -> Iterator[Suspect]:
    """Mistakes with a suspect word, by their worst word (Wang and Mueller 2022)."""
    doubtful: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for at in np.flatnonzero(judged.suspect):
        start, end = units.word[at] or (0, 0)
        doubtful[int(units.document[at])].append((start, end, float(judged.margin[at])))
    for number, words in doubtful.items():
        document, gold = given[number].document, given[number].gold
        for mistake in info.mistakes(document, gold, answers[number]):
            place = mistake.place or (0, 0)
            inside = [margin for start, end, margin in words if start < place[1] and end > place[0]]
            if inside:
                id = row_id(document)
                worst = min(inside)
                yield Suspect(id, document.key, document.text, mistake, worst, fold.get(id, 0))


# ---------------------------------------------------------------- decisions


def keep(project: Project, layer: Layer, suspect: Suspect, *, origin: object = None) -> None:
    """Keep gold; it is not suspected again for the same answer."""
    reviews.keep(project, layer, suspect.document_id, suspect.mistake, origin=origin)


def skip(project: Project, layer: Layer, suspect: Suspect, *, origin: object = None) -> None:
    """Decide later."""
    given = suspect.document_id, suspect.mistake
    reviews.keep(project, layer, *given, verdict=reviews.SKIPPED, origin=origin)


def change(
    project: Project, layer: Layer, suspect: Suspect, label: str = "", *, origin: object = None
) -> None:
    """Replace the gold label with the out-of-fold prediction, or with another label."""
    mistake = replace(suspect.mistake, predicted=label) if label else suspect.mistake
    title = _("Correct label of {key}").format(key=suspect.key)
    reviews.accept(
        project,
        layer,
        suspect.document_id,
        mistake,
        title=title,
        verdict=reviews.CHANGED,
        origin=origin,
    )
