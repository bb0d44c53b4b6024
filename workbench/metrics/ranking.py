"""Scores of labels that are decided independently: average precision, and thresholds for F1."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np


def table(
    scores: Sequence[Mapping[str, float]], gold: Sequence[Collection[str]], labels: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """scores (N, L) float64, 0 for a label without a score, and gold (N, L) bool."""
    shape = len(scores), len(labels)
    found = [[row.get(label, 0.0) for label in labels] for row in scores]
    relevant = [[label in chosen for label in labels] for chosen in gold]
    return np.array(found, np.float64).reshape(shape), np.array(relevant, bool).reshape(shape)


def average_precision(scores: np.ndarray, relevant: np.ndarray) -> float | None:
    """Sum over thresholds of precision × increase of recall; None without a relevant document.

    scores (N,) float, relevant (N,) bool. Documents with one score share a threshold.
    Equal to scikit-learn's `average_precision_score`.
    """
    if not relevant.any():
        return None
    right, predicted, _values = by_threshold(scores, relevant)
    gained = np.diff(right, prepend=0.0) / relevant.sum()
    return float((right / predicted * gained).sum())


def weighted_ranking(
    scores: np.ndarray, relevant: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(average precision, area under the ROC curve) of R resamples; both float (R,).

    scores (N,) float, relevant (N,) bool, weights (R, N). Documents with one score share a
    threshold. NaN: no relevant document in a resample, or (for the area) no other one.
    Equal to scikit-learn's `average_precision_score` and `roc_auc_score` with sample weights.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    ordered = weights[:, order]
    hits = np.cumsum(ordered * relevant[order].astype(weights.dtype), axis=1)[:, ends]
    every = np.cumsum(ordered, axis=1)[:, ends]
    right, seen = hits.astype(np.float64), every.astype(np.float64)
    gained, others = np.diff(right, prepend=0.0), seen - right
    positives, negatives = right[:, -1], others[:, -1]
    precision = np.divide(right, seen, out=np.zeros_like(right), where=seen > 0)
    passed = np.diff(others, prepend=0.0)
    below = (right - gained / 2) * passed  # trapezoids, so that ties count half
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (precision * gained).sum(1) / positives
        area = below.sum(1) / (positives * negatives)
    return np.where(positives > 0, found, np.nan), np.where(positives * negatives > 0, area, np.nan)


def best_threshold(scores: np.ndarray, relevant: np.ndarray, usual: float = 0.5) -> float:
    """The threshold with the highest F1 for `score >= threshold`; on a tie, nearest to `usual`.

    scores (N,) in [0, 1], relevant (N,) bool. Thresholds lie half-way between adjacent scores;
    `usual` is kept if there is no relevant document or no better threshold.
    """
    if not relevant.any():
        return usual
    right, predicted, values = by_threshold(scores, relevant)
    f1 = 2 * right / (predicted + relevant.sum())
    below = np.append(values[1:], 0.0)  # the next lower score
    inside = (below < usual) & (usual <= values)  # makes the same decisions, so it is kept
    thresholds = np.where(inside, usual, (values + below) / 2)
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    return float(thresholds[best[np.argmin(np.abs(thresholds[best] - usual))]])


def by_threshold(
    scores: np.ndarray, relevant: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each distinct score, descending: relevant and all items at or above it, and the score."""
    if not len(scores):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    right = np.cumsum(relevant[order].astype(np.float64))[ends]
    return right, ends + 1.0, ranked[ends]
