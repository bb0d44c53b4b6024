"""Gold labels as units of confident learning: a given label, and out-of-fold probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from workbench.text import result_view
from workbench.text.fields import Answers, Prediction

if TYPE_CHECKING:
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.text.labels import Layer
    from workbench.text.questions import PredictedAnswer

NO_LABEL = ""  # of a word outside of every span
GIVEN, OTHER = ("given", "other")  # an answer has no label: it is the given one or another


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
