"""Scores of labels that are decided independently: average precision, and thresholds for F1."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np


def table(
    scores: Sequence[Mapping[str, float]], gold: Sequence[Collection[str]], labels: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """scores (N, L) float64, 0 for a label without a score, and gold (N, L) bool."""
    shape = len(scores), len(labels)
    score_rows = [[row.get(label, 0.0) for label in labels] for row in scores]
    relevant = [[label in chosen for label in labels] for chosen in gold]
    return np.array(score_rows, np.float64).reshape(shape), np.array(relevant, bool).reshape(shape)


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


@dataclass(frozen=True, eq=False)
class Ranking:
    """N documents ranked once by their score of a label, for any number of resamples.

    Only the scores that a relevant document has are looked at: with G of them, a resample takes
    one sum over the documents and arrays of G numbers.
    order int (N,): documents by falling score. cuts: ascending places in this order where sums
    begin. before, upto int (G,): numbers of the cuts where the documents of each score begin and
    end. relevant int (P,), first int (G,): the relevant documents in this order, and the first of
    each score.
    """

    order: np.ndarray
    cuts: np.ndarray
    before: np.ndarray
    upto: np.ndarray
    relevant: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, relevant: np.ndarray) -> Ranking:
        """scores (N,) float, relevant (N,) bool. Documents with one score share a threshold."""
        order = np.argsort(-scores, kind="stable")
        ranked, chosen = scores[order], relevant[order]
        starts = np.append(0, np.flatnonzero(np.diff(ranked)) + 1)
        group = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
        used, first = np.unique(group[chosen], return_index=True)
        begin, end = starts[used], np.append(starts[1:], len(order))[used]
        cuts = np.unique(np.concatenate([[0], begin, end]))
        places = np.searchsorted(cuts, begin), np.searchsorted(cuts, end)
        return cls(order, cuts[cuts < len(order)], *places, order[chosen], first)

    def __call__(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(average precision, area under the ROC curve) of R resamples; both float64 (R,).

        weights (N, R), contiguous. NaN: no relevant document in a resample, or (for the area) no
        other one. Equal to scikit-learn's `average_precision_score` and `roc_auc_score` with sample
        weights.
        """
        rounds = weights.shape[1]
        if not len(self.first):
            return np.full(rounds, np.nan), np.full(rounds, np.nan)
        sums = np.zeros((len(self.cuts) + 1, rounds))  # of the weights before each cut
        np.cumsum(np.add.reduceat(weights[self.order], self.cuts), axis=0, out=sums[1:])
        before, upto = sums[self.before], sums[self.upto]
        gained = np.add.reduceat(weights[self.relevant], self.first).astype(np.float64)
        right = np.cumsum(gained, axis=0)
        positives, negatives = right[-1], sums[-1] - right[-1]
        precision = np.divide(right, upto, out=np.zeros_like(right), where=upto > 0)
        ties = upto - before - gained  # other documents with the same score count half
        below = negatives - (upto - right) + ties / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            average_precision = (precision * gained).sum(0) / positives
            area = (below * gained).sum(0) / (positives * negatives)
        defined = positives * negatives > 0
        return np.where(positives > 0, average_precision, np.nan), np.where(defined, area, np.nan)


@dataclass(frozen=True, eq=False)
class DecisionRanking:
    """The average precision of the decisions in N documents, as a function of their weights.

    documents int (M,): that of each of the M ranked decisions. right, gold float (N,): correct
    decisions, and items of gold, of which some may have no decision.
    """

    ranking: Ranking
    documents: np.ndarray
    right: np.ndarray
    gold: np.ndarray

    @classmethod
    def of(
        cls, scores: np.ndarray, right: np.ndarray, documents: np.ndarray, gold: np.ndarray
    ) -> DecisionRanking:
        """scores float, right bool, documents int (M,); gold float (N,)."""
        counted = np.bincount(documents[right], minlength=len(gold)).astype(np.float64)
        return cls(Ranking.of(scores, right), documents, counted, gold.astype(np.float64))

    def __call__(self, weights: np.ndarray) -> dict[str, np.ndarray]:
        """weights (R, N) → "average_precision" (R,); NaN for a resample without gold."""
        precision, _area = self.ranking(np.ascontiguousarray(weights[:, self.documents].T))
        reached, gold = weights @ self.right, weights @ self.gold
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"average_precision": np.where(reached > 0, precision, 0.0) * reached / gold}


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
    """For each distinct score, descending: relevant and all items at or above it, and the score.

    scores float (N,); relevant bool (N,). Returns three arrays float (K,) for K distinct scores.
    """
    if not len(scores):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    right = np.cumsum(relevant[order].astype(np.float64))[ends]
    return right, ends + 1.0, ranked[ends]
