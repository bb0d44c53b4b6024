"""Scores of predicted numbers: Pearson, Spearman, mean squared and mean absolute error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics.resampling import Arrays

ROUNDING = 1e-28  # of squares of float64, relative


def pearson(gold: Sequence[float], predicted: Sequence[float]) -> float | None:
    """Correlation from -1 to 1; None if either side is constant, or there are fewer than two.

    Raises ValueError if the two differ in length. Source: as in scipy.stats.pearsonr.
    """
    left, right = _sides(gold, predicted)
    if len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return None
    left, right = left - left.mean(), right - right.mean()
    # Scaled first, so that the squares of tiny and of huge numbers are finite.
    left, right = left / np.abs(left).max(), right / np.abs(right).max()
    value = float((left @ right) / np.sqrt((left @ left) * (right @ right)))
    return min(1.0, max(-1.0, value))


def spearman(gold: Sequence[float], predicted: Sequence[float]) -> float | None:
    """Pearson correlation of the ranks; equal values share their mean rank.

    None and errors as for `pearson`. Source: as in scipy.stats.spearmanr.
    """
    left, right = _sides(gold, predicted)
    return pearson(ranks(left).tolist(), ranks(right).tolist())


def mean_squared_error(gold: Sequence[float], predicted: Sequence[float]) -> float | None:
    """Mean squared error, in the squared unit of gold; None without documents.

    Source: scikit-learn.
    """
    left, right = _sides(gold, predicted)
    return float(np.mean((left - right) ** 2)) if len(left) else None


def mean_absolute_error(gold: Sequence[float], predicted: Sequence[float]) -> float | None:
    """Mean absolute error, in the unit of gold; None without documents. Source: scikit-learn."""
    left, right = _sides(gold, predicted)
    return float(np.mean(np.abs(left - right))) if len(left) else None


def distances(gold: Sequence[float], predicted: Sequence[float]) -> np.ndarray:
    """(N,) how far each difference is from the median one, in robust standard deviations.

    The deviation is 1.4826 times the median absolute one; inf where that is 0. Source: Leys et al.
    2013, Detecting outliers: Do not use standard deviation around the mean, use absolute
    deviation around the median.
    """
    left, right = _sides(gold, predicted)
    off = np.abs((left - right) - np.median(left - right)) if len(left) else left - right
    deviation = 1.4826 * float(np.median(off)) if len(off) else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(off > 0, off / deviation, 0.0)


def scores(gold: Sequence[float], predicted: Sequence[float]) -> dict[str, float | None]:
    """`pearson`, `spearman`, `mse` and `mae`."""
    return {
        "pearson": pearson(gold, predicted),
        "spearman": spearman(gold, predicted),
        "mse": mean_squared_error(gold, predicted),
        "mae": mean_absolute_error(gold, predicted),
    }


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, float; equal values get the mean of their ranks.

    values (N,). Returns float (N,).
    """
    _unique, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    mean_ranks: np.ndarray = (last - (count - 1) / 2)[group]
    return mean_ranks


@dataclass(frozen=True)
class Numbers:
    """gold, predicted float (N,). A `Statistic`; correlations of equal numbers are 0."""

    gold: np.ndarray
    predicted: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, gold: Sequence[float], predicted: Sequence[float]) -> Numbers:
        """Raises ValueError if the two differ in length."""
        return cls(*_sides(gold, predicted))

    def taken(self, rows: np.ndarray) -> Numbers:
        """The numbers of the documents at the positions `rows` int (K,)."""
        return Numbers(self.gold[rows], self.predicted[rows])

    def __call__(self, weights: np.ndarray) -> Arrays:
        """NaN without documents."""
        counted = weights.astype(np.float64, copy=False)
        errors, totals = self.predicted - self.gold, counted.sum(axis=1)
        sides = self.gold, self.predicted
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "pearson": _correlations(counted, *sides),
                "spearman": _correlations(counted, *(_weighted_ranks(counted, s) for s in sides)),
                "mse": counted @ errors**2 / totals,
                "mae": counted @ np.abs(errors) / totals,
            }


def _correlations(weights: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Pearson correlation of each row of weights (R, N); sides are (N,) or (R, N).

    Returns (R,): 0 where all numbers of either side are equal, NaN without documents.
    """
    totals = weights.sum(axis=1, keepdims=True)
    sides = [side - (weights * side).sum(axis=1, keepdims=True) / totals for side in (left, right)]
    products = (weights * sides[0] * sides[1]).sum(axis=1)
    spreads = [(weights * side**2).sum(axis=1) for side in sides]
    sizes = [(weights * side**2).sum(axis=1) for side in (left, right)]
    # equal numbers differ from their mean by rounding
    equal = (spreads[0] <= ROUNDING * sizes[0]) | (spreads[1] <= ROUNDING * sizes[1])
    spread = np.where(equal, 1.0, np.sqrt(spreads[0]) * np.sqrt(spreads[1]))
    correlations = np.where(equal, 0.0, np.clip(products / spread, -1.0, 1.0))
    return np.where(totals[:, 0] > 0, correlations, np.nan)


def _weighted_ranks(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Ranks (R, N) of values (N,) that occur as often as weights (R, N) say, as `ranks`."""
    _unique, group = np.unique(values, return_inverse=True)  # (N,)
    size = int(group.max(initial=-1)) + 1
    counts = np.zeros((len(weights), size))
    np.add.at(counts.T, group, weights.T)
    last = counts.cumsum(axis=1)
    mean_ranks: np.ndarray = (last - (counts - 1) / 2)[:, group]
    return mean_ranks


def _sides(gold: Sequence[float], predicted: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold numbers, but {len(predicted)} predicted numbers")
    return np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
