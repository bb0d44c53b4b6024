"""Scores of labels from counts per document: accuracy, precision, recall, F1, MCC, kappa.

For classes, independent labels and tags of tokens alike. Definitions are those of scikit-learn
with zero_division=0; macro means are over the labels that are gold or predicted. NONE, no
answer, is a class that is always wrong: it has no part in macro means, as it is no label.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.metrics.ranking import Ranking
from workbench.metrics.resampling import LABEL, Arrays, divided, mean_of, weighted_sums
from workbench.text.result_view import NONE

BLOCK = 64  # resamples ranked at a time: their sums stay in the cache of the processor


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Counts of N documents and L labels, each float (N, L).

    right, predicted, gold: units of each label. exclusive: every unit has exactly one gold label,
    so that accuracy, MCC and kappa are defined. scores (N, L): of the labels, for rankings;
    None without them.
    """

    labels: tuple[str, ...]
    right: np.ndarray
    predicted: np.ndarray
    gold: np.ndarray
    exclusive: bool
    scores: np.ndarray | None = None

    def taken(self, rows: np.ndarray) -> LabelCounts:
        """The counts of the documents at the positions `rows` int (K,), without rankings."""
        parts = (self.right[rows], self.predicted[rows], self.gold[rows])
        return LabelCounts(self.labels, *parts, self.exclusive)

    def __call__(self, weights: np.ndarray) -> Arrays:
        right, predicted, gold = (
            weighted_sums(weights, counts) for counts in (self.right, self.predicted, self.gold)
        )
        is_label = np.array([label != NONE for label in self.labels], bool)
        scores = averages(right, predicted, gold, is_label | (self.gold > 0).any(0))
        if self.exclusive:
            scores |= agreement(right, predicted, gold)
        else:
            scores |= self._per_document(weights)
        if self.scores is not None:
            scores |= self.ranked(weights)
        return scores

    def _per_document(self, weights: np.ndarray) -> dict[str, np.ndarray]:
        """Scores that are means over documents, for independent labels."""
        wrong = self.predicted + self.gold - 2 * self.right
        rows = {
            "exact_match": (wrong.sum(1) == 0).astype(np.float64),
            "decision_accuracy": 1 - wrong.mean(1) if len(self.labels) else np.zeros(len(wrong)),
            "samples_precision": divided(self.right.sum(1), self.predicted.sum(1)),
            "samples_recall": divided(self.right.sum(1), self.gold.sum(1)),
            "samples_f1": divided(2 * self.right.sum(1), (self.predicted + self.gold).sum(1)),
        }
        sums = weighted_sums(weights, np.stack([*rows.values()], axis=1))
        means = divided(sums, weights.sum(1, dtype=np.float64)[:, None])
        return dict(zip(rows, means.T, strict=True))

    @cached_property
    def _rankings(self) -> list[Ranking]:
        """The ranking of each label; [] without scores."""
        if self.scores is None:
            return []
        columns = zip(self.scores.T, self.gold.T, strict=True)
        return [Ranking.of(column, gold > 0) for column, gold in columns]

    def ranked(self, weights: np.ndarray) -> dict[str, np.ndarray]:
        """Average precision and area under the ROC curve of each label, and their means.

        weights (R, N) → (R, L), and (R,) for the means.
        """
        rounds = len(weights)
        precision, area = np.zeros((2, rounds, len(self._rankings)))
        for start in range(0, rounds, BLOCK):
            rows = slice(start, start + BLOCK)
            by_document = np.ascontiguousarray(weights[rows].T)
            for at, ranking in enumerate(self._rankings):
                precision[rows, at], area[rows, at] = ranking(by_document)
        return {
            "mean_average_precision": mean_of(precision, np.isfinite(precision)),
            "macro_roc_auc": _mean_defined(area),
            f"{LABEL}average_precision": precision,
            f"{LABEL}roc_auc": area,
        }


def _mean_defined(values: np.ndarray) -> np.ndarray:
    defined = np.isfinite(values)
    return np.where(defined.any(-1), mean_of(values, defined), np.nan)


def averages(
    right: np.ndarray, predicted: np.ndarray, gold: np.ndarray, is_label: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Micro, macro and weighted precision, recall and F1 from counts (R, L), and those per label.

    is_label (L,) bool: which columns have a part in macro means, by default all. Precision is
    right / predicted, recall right / gold, F1 2 · right / (predicted + gold).
    """
    rows = {
        "precision": divided(right, predicted),
        "recall": divided(right, gold),
        "f1": divided(2 * right, predicted + gold),
    }
    occurs = (predicted + gold) > 0
    occurs = occurs if is_label is None else occurs & is_label
    pooled = [counts.sum(-1) for counts in (right, predicted, gold)]
    micro = {
        "precision": divided(pooled[0], pooled[1]),
        "recall": divided(pooled[0], pooled[2]),
        "f1": divided(2 * pooled[0], pooled[1] + pooled[2]),
    }
    scores: dict[str, np.ndarray] = {}
    for name, values in rows.items():
        scores[f"micro_{name}"] = micro[name]
        scores[f"macro_{name}"] = mean_of(values, occurs)
        scores[f"weighted_{name}"] = divided((values * gold).sum(-1), pooled[2])
        scores[f"{LABEL}{name}"] = values
    return scores


def agreement(right: np.ndarray, predicted: np.ndarray, gold: np.ndarray) -> dict[str, np.ndarray]:
    """Accuracy, Matthews correlation and Cohen's kappa from counts (R, L) of single labels.

    Sources: Gorodkin 2004 (R_K, the correlation for several classes); Cohen 1960.
    """
    n, c = gold.sum(-1), right.sum(-1)
    chance = (predicted * gold).sum(-1)
    spread = (n * n - (predicted**2).sum(-1)) * (n * n - (gold**2).sum(-1))
    return {
        "accuracy": divided(c, n),
        "mcc": divided(c * n - chance, np.sqrt(np.maximum(spread, 0.0))),
        "kappa": divided(c * n - chance, n * n - chance),
    }


def of_sets(
    gold: Sequence[Collection[str]],
    predicted: Sequence[Collection[str]],
    labels: Sequence[str],
    *,
    scores: np.ndarray | None = None,
    exclusive: bool,
) -> LabelCounts:
    """Counts of documents with a set of labels on each side (one label each if `exclusive`).

    Labels that are not in `labels` are appended, sorted; `scores` (N, L) are those of `labels`.
    """
    extra = sorted({label for side in (*gold, *predicted) for label in side} - {*labels})
    known = (*labels, *extra)
    ours, theirs = (_one_hot(side, known) for side in (gold, predicted))
    if scores is not None and extra:
        scores = np.hstack([scores, np.zeros((len(scores), len(extra)))])
    return LabelCounts(known, ours * theirs, theirs, ours, exclusive, scores)


def of_units(units: Sequence[Sequence[tuple[str, str]]], labels: Sequence[str]) -> LabelCounts:
    """Counts of documents with several units, each a pair (gold label, predicted label)."""
    extra = sorted({label for pairs in units for pair in pairs for label in pair} - {*labels})
    known = (*labels, *extra)
    number = {label: at for at, label in enumerate(known)}
    right, predicted, gold = (np.zeros((len(units), len(known))) for _ in range(3))
    for row, pairs in enumerate(units):
        for ours, theirs in pairs:
            gold[row, number[ours]] += 1
            predicted[row, number[theirs]] += 1
            right[row, number[ours]] += ours == theirs
    return LabelCounts(known, right, predicted, gold, exclusive=True)


def _one_hot(side: Sequence[Collection[str]], labels: Sequence[str]) -> np.ndarray:
    number = {label: at for at, label in enumerate(labels)}
    matrix = np.zeros((len(side), len(labels)))
    for row, chosen in enumerate(side):
        for label in chosen:
            matrix[row, number[label]] = 1.0
    return matrix
