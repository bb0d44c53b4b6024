"""Stored predictions as the decisions that strategies read. numpy only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.active.base import Decisions
from workbench.text.fields import ClassScores, DocumentLabels, Prediction


def decisions_of(predictions: Sequence[Prediction], labels: Sequence[str]) -> Decisions:
    """Decisions per document: one for a class, one per label for several classes, else one per
    word.

    Columns of a class follow `labels`; those of words begin with no label. Of a word only the
    probability of its label is stored: the rest is shared equally by all others, which makes its
    entropy an upper bound.
    """
    words = not any(prediction.get(DocumentLabels) for prediction in predictions)
    rows = [
        _rows(prediction, tuple(labels))
        for prediction in predictions
        if words or prediction.get(DocumentLabels)
    ]
    if len(rows) == len(predictions):
        return Decisions.of(rows, outside=words)
    every, none = iter(rows), rows[0][:0]  # texts that the model could not read
    return Decisions.of(
        [next(every) if prediction.get(DocumentLabels) else none for prediction in predictions]
    )


def _rows(prediction: Prediction, labels: tuple[str, ...]) -> np.ndarray:
    labels_of_document = prediction.get(DocumentLabels)
    if labels_of_document is None:
        return _words(prediction, labels)
    scores = labels_of_document.as_dict()
    row = np.array([scores.get(label, 0.0) for label in labels])
    if isinstance(labels_of_document, ClassScores):
        return row[None]
    return np.stack([1 - row, row], axis=1)


def _words(prediction: Prediction, labels: tuple[str, ...]) -> np.ndarray:
    column: dict[str | None, int] = {None: 0, **{label: at for at, label in enumerate(labels, 1)}}
    words = [word for word in prediction.words if word.label in column]
    best = np.array([word.score for word in words])
    chosen = np.array([column[word.label] for word in words], int)
    rows = np.repeat(((1 - best) / max(1, len(labels)))[:, None], len(labels) + 1, axis=1)
    rows[np.arange(len(words)), chosen] = best
    return rows
