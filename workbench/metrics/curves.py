"""Curves over decision thresholds: precision and recall, ROC. numpy only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.metrics.ranking import by_threshold


@dataclass(frozen=True, eq=False)
class Curve:
    """x, y float (K,) in [0, 1]; thresholds float (K,), descending: the decision is score >= it.

    PR: x is recall, y precision; ROC: x is the false, y the true positive rate. The first point
    of a ROC curve has an infinite threshold: nothing is predicted. area: average precision, or the
    area under the ROC curve; None if it is not defined.
    """

    x: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    thresholds: np.ndarray = field(repr=False)
    area: float | None

    def __len__(self) -> int:
        return len(self.x)

    def nearest(self, threshold: float) -> int:
        """The point of the decisions that a threshold makes."""
        fits = np.flatnonzero(self.thresholds >= threshold)
        return int(fits[-1]) if len(fits) else 0


def precision_recall(scores: np.ndarray, relevant: np.ndarray, *, gold: int | None = None) -> Curve:
    """One point for each distinct score, from the highest; as scikit-learn, lowest score last.

    scores (N,) float, relevant (N,) bool. gold: number of relevant items, if some have no score.
    """
    right, predicted, values = by_threshold(scores, relevant)
    every = int(relevant.sum()) if gold is None else gold
    if not every:
        return Curve(np.zeros(0), np.zeros(0), np.zeros(0), None)
    precision, recall = right / predicted, right / every
    area = float((precision * np.diff(recall, prepend=0.0)).sum())
    return Curve(recall, precision, values, area)


def roc(scores: np.ndarray, relevant: np.ndarray) -> Curve:
    """As scikit-learn's `roc_curve` without dropped points; empty if one side has no item.

    scores float (N,); relevant bool (N,). With K distinct scores, the points are (K + 1,): the
    first is (0, 0) at the threshold inf.
    """
    right, predicted, values = by_threshold(scores, relevant)
    positives, negatives = float(relevant.sum()), float((~relevant).sum())
    if not positives or not negatives:
        return Curve(np.zeros(0), np.zeros(0), np.zeros(0), None)
    true = np.append(0.0, right / positives)
    false = np.append(0.0, (predicted - right) / negatives)
    area = float(((true[1:] + true[:-1]) / 2 * np.diff(false)).sum())
    return Curve(false, true, np.append(np.inf, values), area)
