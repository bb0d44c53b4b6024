"""Predictions as one table of numbers, whatever their task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import _
from workbench.inspection.group_swap.info import COUNT, PROBABILITY, VALUE
from workbench.text.document import Document
from workbench.text.fields import Answers, DocumentLabels, Number, Prediction
from workbench.text.questions import PredictedAnswer

NONE = "–"


@dataclass(frozen=True)
class Scored:
    """labels: L names. table (N, L): the scores of N documents. predicted: N texts. keys: equal if
    the same is predicted. scores: PROBABILITY, VALUE or COUNT.
    """

    labels: tuple[str, ...]
    table: np.ndarray
    predicted: tuple[str, ...]
    keys: tuple[Hashable, ...]
    scores: str


def scored(
    predictions: Sequence[Prediction], documents: Sequence[Document], labels: Sequence[str]
) -> Scored:
    """labels: of the run. The predictions are of one task, each for one of the documents."""
    first = predictions[0]
    if first.get(DocumentLabels) is not None:
        return _labels(predictions)
    if first.get(Number) is not None:
        values = [prediction.required(Number).value for prediction in predictions]
        texts = tuple(f"{value:.3g}" for value in values)
        return Scored((_("number"),), np.array(values)[:, None], texts, texts, VALUE)
    if first.get(Answers) is not None:
        return _answers(predictions, documents)
    return _counts(predictions, labels)


def _labels(predictions: Sequence[Prediction]) -> Scored:
    label_predictions = [prediction.required(DocumentLabels) for prediction in predictions]
    names = tuple(label_predictions[0].as_dict())
    table = np.array([[labels.as_dict()[name] for name in names] for labels in label_predictions])
    texts = tuple(_joined(labels.chosen) for labels in label_predictions)
    return Scored(names, table, texts, texts, PROBABILITY)


def _answers(predictions: Sequence[Prediction], documents: Sequence[Document]) -> Scored:
    """The mean probability of the answers; "no answer" is one, too.

    Words of an answer may be exchanged: it is the same if it has the same words.
    """
    all_answers = [prediction.required(Answers).answers for prediction in predictions]
    means = [
        np.mean([answer.score for answer in answers]) if answers else 0.0 for answers in all_answers
    ]
    texts = tuple(_joined([answer.answer or NONE for answer in answers]) for answers in all_answers)
    keys = tuple(
        tuple(_place(answer, document.text) for answer in answers)
        for answers, document in zip(all_answers, documents, strict=True)
    )
    return Scored((_("answer"),), np.array(means)[:, None], texts, keys, PROBABILITY)


def _place(answer: PredictedAnswer, text: str) -> tuple[int, int]:
    best = answer.best
    if best is None:
        return -1, -1
    return len(text[: best.start].split()), len(text[: best.end].split())


def _counts(predictions: Sequence[Prediction], labels: Sequence[str]) -> Scored:
    """How many spans have each label; tags of words where there are no spans at all."""
    spans = any(prediction.spans for prediction in predictions)
    of: Callable[[Prediction], list[str]] = _span_labels if spans else _tags
    names_by_document = [of(prediction) for prediction in predictions]
    names = tuple(
        dict.fromkeys((*labels, *(name for items in names_by_document for name in items)))
    )
    counts = [Counter(items) for items in names_by_document]
    table = np.array([[count[name] for name in names] for count in counts], float)
    texts = tuple(map(_joined, names_by_document))
    return Scored(names, table.reshape(len(names_by_document), len(names)), texts, texts, COUNT)


def _span_labels(prediction: Prediction) -> list[str]:
    return [span.label or "" for span in sorted(prediction.spans, key=lambda span: span.start)]


def _tags(prediction: Prediction) -> list[str]:
    return [word.label for word in prediction.words if word.label]


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names) or NONE
