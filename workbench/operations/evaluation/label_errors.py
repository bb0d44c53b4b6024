"""Probably wrong gold labels: ranked by confident learning on out-of-fold predictions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from workbench.base.i18n import _
from workbench.metrics import confident as learning
from workbench.metrics import regression
from workbench.operations.evaluation import folds, reviews
from workbench.operations.evaluation.folds import FoldPredictions
from workbench.operations.evaluation.reviews import Review, ReviewItem
from workbench.operations.evaluation.scoring import GoldDocument
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text import result_view
from workbench.text.fields import Answers, Prediction
from workbench.text.mistakes import LABEL, MISSED, SPURIOUS, Mistake, loss_of
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.document import Document
    from workbench.text.labels import Layer
    from workbench.text.questions import PredictedAnswer

FAR = 2.5  # robust standard deviations from which a number is doubtful (Leys et al. 2013)
LEAST_GAIN = 0.2  # of what chance leaves to predict, below which a measurement says little
GOOD_GAIN = 0.9  # from which most disagreement can be that of gold, so that its share is estimated
FARTHEST = 1e3  # distance above which the order no longer matters
NO_LABEL = ""  # of a word outside of every span
GIVEN, OTHER = ("given", "other")  # an answer has no label: it is the given one or another


@dataclass(frozen=True)
class Suspect(ReviewItem):
    """A gold label that is probably wrong.

    margin: the order, low ones first; see `metrics.confident`. Of a number, 1 minus its distance
    from the prediction as a multiple of FAR.
    """

    margin: float = field(kw_only=True)
    fold: int = field(kw_only=True)

    def to_json(self) -> dict[str, object]:
        about = super().to_json()
        verdict = about.pop("review")
        return {**about, "margin": self.margin, "fold": self.fold + 1, "review": verdict}


def _suspect(
    document: Document,
    mistake: Mistake,
    margin: float,
    fold: Mapping[int, int],
    review: Review | None = None,
) -> Suspect:
    id = row_id(document)
    about = id, document.key, document.text, mistake, review
    return Suspect(*about, margin=margin, fold=fold.get(id, 0))


@dataclass(frozen=True)
class SuspectRanking:
    """Suspects of a layer, most doubtful first, those already reviewed included.

    share: estimated share of wrong labels; low, high: its 95% interval over documents. The errors
    of the folds count as wrong labels, so it is None unless they agree well with gold (GOOD_GAIN).
    units: labels that were compared (documents, decisions, words or questions). changed: documents
    whose gold has changed since the measurement. agreement: share of labels that equal their
    out-of-fold predictions; the lower it is, the less the other numbers say.
    chance: share of the most frequent label, None where labels are not shared.
    Numbers have no share, interval and agreement (None), but a correlation (Pearson), which only
    they have; None where it is not defined.
    """

    measured: FoldPredictions
    suspects: tuple[Suspect, ...]
    share: float | None
    low: float | None
    high: float | None
    units: int
    documents: int
    changed: int
    agreement: float | None
    correlation: float | None = None
    chance: float | None = None

    @property
    def weak(self) -> bool:
        """Whether the folds predict the labels hardly better than the most frequent one does."""
        if self.agreement is None or self.chance is None or self.chance == 1:
            return False
        return _gain(self.agreement, self.chance) < LEAST_GAIN


def _gain(agreement: float, chance: float) -> float:
    """The part of what chance leaves that is predicted; 0 where chance leaves nothing."""
    return (agreement - chance) / (1 - chance) if chance < 1 else 0.0


@dataclass(frozen=True)
class _Found:
    """The doubtful labels, and the numbers of `SuspectRanking` about all labels."""

    suspects: Sequence[Suspect] = ()
    share: float | None = 0.0
    interval: tuple[float | None, float | None] = (0.0, 0.0)
    units: int = 0
    agreement: float | None = 0.0
    correlation: float | None = None
    chance: float | None = None


def ranking(project: Project, layer: Layer) -> SuspectRanking | None:
    """Rank the current gold labels by the last measurement; None without one.

    Run it in a thread.
    """
    measured = folds.measured(project, layer)
    if measured is None:
        return None
    info = tasks.info(measured.task)
    labelled = [
        label
        for label in folds.given_labels(project, measured.task, layer)
        if measured.predictions.get(label.document.id or 0, ("",))[0] == label.document.asked_hash
    ]
    answers = [measured.predictions[row_id(scored.document)][1] for scored in labelled]
    known = {review.identity: review for review in reviews.reviews(project, row_id(layer))}
    judge = _labels if layer.traits.has_labels else _numbers
    judged = judge(info, layer, labelled, answers, measured.fold)
    rows = [_reviewed(suspect, known) for suspect in judged.suspects]
    rows += _decided(labelled, known, {row.identity for row in rows}, measured)
    changed = sum(
        measured.given.get(row_id(scored.document)) != _plain(scored.gold.to_json())
        for scored in labelled
    )
    rows.sort(key=lambda row: (row.margin, row.document_id, row.mistake.place or (0, 0)))
    return SuspectRanking(
        measured,
        tuple(rows),
        judged.share,
        *judged.interval,
        units=judged.units,
        documents=len(labelled),
        changed=changed,
        agreement=judged.agreement,
        correlation=judged.correlation,
        chance=judged.chance,
    )


def _plain(value: object) -> object:
    """As it is after a trip through JSON."""
    return json.loads(json.dumps(value))


def _reviewed(suspect: Suspect, known: Mapping[tuple[object, ...], Review]) -> Suspect:
    review = known.get(suspect.identity)
    done = review is not None and review.verdict in (reviews.KEPT, reviews.SKIPPED)
    return replace(suspect, review=review if done else None)


def _decided(
    labelled: Sequence[GoldDocument],
    known: Mapping[tuple[object, ...], Review],
    listed: set[tuple[object, ...]],
    measured: FoldPredictions,
) -> Iterator[Suspect]:
    """Labels that were changed here: no longer suspect, but part of what was reviewed."""
    documents = {row_id(scored.document): scored.document for scored in labelled}
    for identity, review in known.items():
        document = documents.get(review.document_id)
        if review.verdict != reviews.CHANGED or document is None or identity in listed:
            continue
        margin = 1 - 2 * review.mistake.confidence
        yield _suspect(document, review.mistake, margin, measured.fold, review)


def _labels(
    info: TaskInfo,
    layer: Layer,
    labelled: Sequence[GoldDocument],
    answers: Sequence[Prediction],
    fold: Mapping[int, int],
) -> _Found:
    """By confident learning."""
    suspects: list[Suspect] = []
    judged_units = []
    for units in units_of(layer, labelled, answers):
        if not len(units.given):
            continue
        judged = learning.confident(units.given, units.probabilities, common=units.common)
        judged_units.append((units, judged))
        if units.place[0] is None:
            suspects += _of_documents(labelled, units, judged, fold)
        elif layer.traits.asks:
            suspects += _of_answers(info, labelled, answers, units, judged, fold)
        else:
            suspects += _of_words(info, labelled, answers, units, judged, fold)
    total = sum(len(units.given) for units, _judged in judged_units)
    if not total:
        return _Found()
    same = sum(
        int((units.probabilities.argmax(axis=1) == units.given).sum())
        for units, _one in judged_units
    )
    often = sum(int(np.bincount(units.given).max()) for units, _one in judged_units)
    agreement, chance = same / total, None if layer.traits.asks else often / total
    share: float | None = None
    interval: tuple[float | None, float | None] = None, None
    if _gain(agreement, chance or 0.0) >= GOOD_GAIN:
        share = sum(judged.share * len(units.given) for units, judged in judged_units) / total
        interval = _interval(judged_units, len(labelled))
    return _Found(suspects, share, interval, total, agreement, chance=chance)


def _numbers(
    info: TaskInfo,
    layer: Layer,
    labelled: Sequence[GoldDocument],
    answers: Sequence[Prediction],
    fold: Mapping[int, int],
) -> _Found:
    """Numbers that are unusually far from their predictions."""
    pairs = [
        (scored, answer, answer.number)
        for scored, answer in zip(labelled, answers, strict=True)
        if answer.number is not None
    ]
    golds = [cast(Any, scored.gold).value for scored, _answer, _number in pairs]
    predicted = [number for _scored, _answer, number in pairs]
    suspects = []
    for far, (scored, answer, _number) in zip(
        regression.distances(golds, predicted), pairs, strict=True
    ):
        if far <= FAR:
            continue
        margin = 1 - min(float(far), FARTHEST) / FAR
        mistakes = info.mistakes(scored.document, scored.gold, answer)
        suspects += [_suspect(scored.document, mistake, margin, fold) for mistake in mistakes]
    correlation = regression.pearson(golds, predicted)
    return _Found(suspects, None, (None, None), len(pairs), None, correlation)


def _interval(
    judged: Sequence[tuple[LabelledUnits, learning.Confident]], n: int, resamples: int = 200
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


def _share(
    units: LabelledUnits, judged: learning.Confident, weights: np.ndarray
) -> tuple[float, float]:
    """(share of wrong labels, number of labels) with weights of the documents."""
    mine = weights[units.document]
    joint = learning.joint_of(units.given, judged.guess, mine, len(units.names))
    return float(1 - np.trace(joint)), float(mine.sum())


def _of_documents(
    labelled: Sequence[GoldDocument],
    units: LabelledUnits,
    judged: learning.Confident,
    fold: Mapping[int, int],
) -> Iterator[Suspect]:
    for at in np.flatnonzero(judged.suspect):
        document = labelled[units.document[at]].document
        mine, theirs = int(units.given[at]), int(judged.guess[at])
        sure, own = (float(units.probabilities[at, number]) for number in (theirs, mine))
        kind = LABEL if units.names[0] else (MISSED if mine else SPURIOUS)
        mistake = Mistake(kind, units.names[mine], units.names[theirs], sure, loss_of(own))
        yield _suspect(document, mistake, float(judged.margin[at]), fold)


def _of_words(
    info: TaskInfo,
    labelled: Sequence[GoldDocument],
    answers: Sequence[Prediction],
    units: LabelledUnits,
    judged: learning.Confident,
    fold: Mapping[int, int],
) -> Iterator[Suspect]:
    """Mistakes with a suspect word, by their worst word (Wang and Mueller 2022)."""
    doubtful: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for at in np.flatnonzero(judged.suspect):
        start, end = _range(units.place[at])
        doubtful[int(units.document[at])].append((start, end, float(judged.margin[at])))
    for number, words in doubtful.items():
        document, gold = labelled[number].document, labelled[number].gold
        for mistake in info.mistakes(document, gold, answers[number]):
            place = mistake.place or (0, 0)
            inside = [margin for start, end, margin in words if start < place[1] and end > place[0]]
            if inside:
                yield _suspect(document, mistake, min(inside), fold)


def _range(place: tuple[int, int] | str | None) -> tuple[int, int]:
    return place if isinstance(place, tuple) else (0, 0)


def _of_answers(
    info: TaskInfo,
    labelled: Sequence[GoldDocument],
    answers: Sequence[Prediction],
    units: LabelledUnits,
    judged: learning.Confident,
    fold: Mapping[int, int],
) -> Iterator[Suspect]:
    """Wrong answers to doubtful questions, which are the labels of their mistakes."""
    doubtful: dict[int, dict[object, float]] = defaultdict(dict)
    for at in np.flatnonzero(judged.suspect):
        doubtful[int(units.document[at])][units.place[at]] = float(judged.margin[at])
    for number, questions in doubtful.items():
        document = labelled[number].document
        for mistake in info.mistakes(document, labelled[number].gold, answers[number]):
            margin = questions.get(mistake.gold or mistake.predicted)
            if margin is not None:
                yield _suspect(document, mistake, margin, fold)


# ---------------------------------------------------------------- units


@dataclass(frozen=True, eq=False)
class LabelledUnits:
    """given int (N,): the labels; probabilities float (N, K); document int (N,): its place.

    place: what each label is of: the range of a word, the question of an answer, None for a
    document. common: whether all labels share one threshold.
    """

    names: tuple[str, ...]
    given: np.ndarray
    probabilities: np.ndarray
    document: np.ndarray
    place: tuple[tuple[int, int] | str | None, ...]
    common: bool = False


def units_of(
    layer: Layer, documents: Sequence[GoldDocument], answers: Sequence[Prediction]
) -> Iterator[LabelledUnits]:
    """The labels of documents with their out-of-fold predictions, which are judged together."""
    if layer.traits.asks:
        yield _answers(documents, answers)
    elif layer.traits.on_document and layer.traits.several:
        yield from _binary(layer, documents, answers)
    elif layer.traits.on_document:
        yield _classes(layer, documents, answers)
    else:
        yield _words(layer, documents, answers)


def _scores(names: Sequence[str], answer: Prediction) -> list[float]:
    scores = result_view.of(answer).shares(answer)
    return [scores.get(name, 0.0) for name in names]


def _classes(
    layer: Layer, labelled: Sequence[GoldDocument], answers: Sequence[Prediction]
) -> LabelledUnits:
    names = layer.names
    rows = [names.index(next(iter(scored.gold.labels()))) for scored in labelled]
    scores = np.array([_scores(names, answer) for answer in answers]).reshape(-1, len(names))
    return LabelledUnits(
        names, np.array(rows, int), scores, np.arange(len(labelled)), (None,) * len(labelled)
    )


def _binary(
    layer: Layer, labelled: Sequence[GoldDocument], answers: Sequence[Prediction]
) -> Iterator[LabelledUnits]:
    """Every label on its own: absent (0) or present (1)."""
    scores = np.array([_scores(layer.names, answer) for answer in answers]).reshape(
        len(labelled), -1
    )
    for at, name in enumerate(layer.names):
        has = np.array([name in set(scored.gold.labels()) for scored in labelled], int)
        both = np.stack([1 - scores[:, at], scores[:, at]], axis=1)
        yield LabelledUnits(
            (NO_LABEL, name), has, both, np.arange(len(labelled)), (None,) * len(labelled)
        )


def _words(
    layer: Layer, labelled: Sequence[GoldDocument], answers: Sequence[Prediction]
) -> LabelledUnits:
    """Every word with its label. The probability of a label that is given but not predicted is at
    most the rest; that is what it gets, so that thresholds are cautious.
    """
    names = (NO_LABEL, *layer.names)
    number = {name: at for at, name in enumerate(names)}
    rows, scores, documents, places = [], [], [], []
    for at, (scored, answer) in enumerate(zip(labelled, answers, strict=True)):
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
    return LabelledUnits(names, np.array(rows, int), table, np.array(documents, int), tuple(places))


def _gold_words(gold: Any, words: Sequence[tuple[int, int]]) -> list[str | None]:
    """The label of the gold span that covers each word."""
    labels: list[str | None] = [None] * len(words)
    for span in gold.spans:
        for at, (start, end) in enumerate(words):
            if start < span.end and span.start < end:
                labels[at] = span.label
    return labels


def _answers(labelled: Sequence[GoldDocument], answers: Sequence[Prediction]) -> LabelledUnits:
    """Every question. Each has an answer of its own, so there are no labels that several share:
    the threshold is the mean probability of all given answers.
    """
    rows, documents, questions = [], [], []
    for at, (scored, answer) in enumerate(zip(labelled, answers, strict=True)):
        predicted_answers, gold = answer.get(Answers), cast(Any, scored.gold)
        for gold_question in gold.questions:
            predicted = (
                predicted_answers.to(gold_question.question)
                if predicted_answers is not None
                else None
            )
            if predicted is None:
                continue
            rows.append(_given_and_other(gold_question.ranges, predicted))
            documents.append(at)
            questions.append(gold_question.question)
    table = np.array(rows).reshape(-1, 2)
    zeros = np.zeros(len(rows), int)
    return LabelledUnits(
        (GIVEN, OTHER), zeros, table, np.array(documents, int), tuple(questions), True
    )


def _given_and_other(
    ranges: Sequence[tuple[int, int]], predicted: PredictedAnswer
) -> tuple[float, float]:
    """Probabilities of the gold answers and of the best other answer; () is "no answer".

    Ranges that overlap gold count as gold: where an answer begins and ends varies too much
    between annotators to be an error.
    """
    if not ranges:
        best = max((candidate.score for candidate in predicted.candidates), default=0.0)
        return predicted.null_score, best
    own, other = 0.0, predicted.null_score if predicted.is_null else 0.0
    for candidate in predicted.candidates:
        if any(candidate.start < end and start < candidate.end for start, end in ranges):
            own += candidate.score
        else:
            other = max(other, candidate.score)
    return min(own, 1.0), other


# ---------------------------------------------------------------- decisions


def keep(project: Project, layer: Layer, suspect: Suspect, *, origin: object = None) -> None:
    """Keep gold; it is not suspected again for the same answer."""
    reviews.keep(project, layer, suspect.document_id, suspect.mistake, origin=origin)


def skip(project: Project, layer: Layer, suspect: Suspect, *, origin: object = None) -> None:
    """Decide later."""
    place = suspect.document_id, suspect.mistake
    reviews.keep(project, layer, *place, verdict=reviews.SKIPPED, origin=origin)


def change(
    project: Project, layer: Layer, suspect: Suspect, label: str = "", *, origin: object = None
) -> None:
    """Replace the gold label with the out-of-fold prediction, or with another label."""
    mistake = replace(suspect.mistake, predicted=label) if label else suspect.mistake
    title = _("Correct label of {key}", key=suspect.key)
    reviews.accept(
        project,
        layer,
        suspect.document_id,
        mistake,
        title=title,
        verdict=reviews.CHANGED,
        origin=origin,
    )
