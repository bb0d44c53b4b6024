"""Calibration of probabilities: reliability, expected calibration error, temperature.

Source: Guo, Pleiss, Sun and Weinberger 2017, On Calibration of Modern Neural Networks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from workbench.metrics.evaluation import Measured
from workbench.metrics.report import SEED, measured
from workbench.metrics.resampling import Arrays, bounds, pivotal, resampled, weighted_sums

BINS = 10
COLDEST, HOTTEST = 0.05, 20.0  # range of temperatures
STEPS = 60  # of the search: an interval of log T shrinks to 1e-12 of its size
TINY = 1e-12  # least probability, so that its logarithm is finite


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of equal width by confidence.

    count int (B,); confidence, correct float (B,): means, NaN in empty bins. error: expected
    calibration error, the mean of |correct − confidence| weighted by count. members: bin of each
    item, int (M,).
    """

    count: np.ndarray
    confidence: np.ndarray = field(repr=False)
    correct: np.ndarray = field(repr=False)
    members: np.ndarray = field(repr=False)
    error: float


def reliability(confidence: np.ndarray, correct: np.ndarray, bins: int = BINS) -> Reliability:
    """confidence float (M,) in [0, 1], correct bool (M,); edges belong to the lower bin."""
    members = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    count = np.bincount(members, minlength=bins)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(members, confidence, bins) / count
        share = np.bincount(members, correct.astype(np.float64), bins) / count
    gaps = np.where(count > 0, np.abs(share - mean), 0.0)
    error = float((gaps * count).sum() / max(1, count.sum()))
    return Reliability(count, mean, share, members, error)


@dataclass(frozen=True, eq=False)
class BinnedDecisions:
    """Decisions of N documents by bin, as a function of the weights of documents.

    count, correct (decisions that are), confidence (its sum): float (N, B).
    """

    count: np.ndarray
    correct: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(
        cls,
        reliability: Reliability,
        confidence: np.ndarray,
        correct: np.ndarray,
        documents: np.ndarray,
        n: int,
    ) -> BinnedDecisions:
        """confidence float, correct bool, documents int (M,), as for `reliability`; n documents."""
        bins = len(reliability.count)
        cells = documents * bins + reliability.members
        columns = (
            np.bincount(cells, values, n * bins).reshape(n, bins)
            for values in (None, correct.astype(np.float64), confidence)
        )
        return cls(*columns)

    def __call__(self, weights: np.ndarray) -> Arrays:
        """weights (R, N) → "error" (R,), the expected calibration error, and "correct" (R, B).

        NaN for a resample without decisions, or a bin of it.
        """
        count = weighted_sums(weights, self.count)
        correct = weighted_sums(weights, self.correct)
        gaps = np.abs(correct - weighted_sums(weights, self.confidence))
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"error": gaps.sum(1) / count.sum(1), "correct": correct / count}


@dataclass(frozen=True)
class BinnedIntervals:
    """error: expected calibration error with its interval; correct: share of each bin with its."""

    error: Measured
    correct: tuple[Measured, ...]


def binned_intervals(decisions: BinnedDecisions) -> BinnedIntervals:
    """95% intervals by a bootstrap over documents; that of the error is pivotal.

    Resampling adds differences of chance to every bin, so that resampled errors are too high, and
    their percentiles with them.

    Source of the pivotal interval: Kumar, Liang and Ma 2019, Verified Uncertainty Calibration.
    """
    n = len(decisions.count)
    exact, drawn = decisions(np.ones((1, n), np.float32)), resampled(decisions, n, seed=SEED)
    low, high = pivotal(exact["error"][0], drawn["error"])
    lows, highs = bounds(drawn["correct"])
    bins = zip(exact["correct"][0], lows, highs, strict=True)
    return BinnedIntervals(
        measured(exact["error"][0], max(0.0, low), max(0.0, high)),
        tuple(measured(*row) for row in bins),
    )


def decisions(
    rows: Iterable[tuple[float, bool, int]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidence float (M,), whether it was right bool (M,), document int (M,), from rows."""
    confidence, correct, documents = tuple(zip(*rows, strict=True)) or ((), (), ())
    return np.array(confidence, float), np.array(correct, bool), np.array(documents, np.int64)


def log_probabilities(scores: ArrayLike) -> np.ndarray:
    """The logarithms, which serve as logits: softmax undoes additive constants.

    Of any shape, which is kept.
    """
    logs: np.ndarray = np.log(np.maximum(np.asarray(scores, float), TINY))
    return logs


def class_temperature(probabilities: ArrayLike, gold: ArrayLike) -> float:
    """The temperature with the least negative log-likelihood of gold.

    probabilities (N, L) at temperature 1, gold int (N,).
    """
    logits, right = log_probabilities(probabilities), np.asarray(gold)
    rows = np.arange(len(right))

    def loss(temperature: float) -> float:
        scaled = logits / temperature
        highest = scaled.max(axis=1, keepdims=True)
        normal = np.log(np.exp(scaled - highest).sum(axis=1)) + highest[:, 0]
        return float((normal - scaled[rows, right]).mean())

    return _least(loss)


def label_temperature(probabilities: np.ndarray, relevant: np.ndarray) -> float:
    """As `class_temperature` for independent labels: both (N, L), relevant bool."""
    logits = logit(probabilities)
    sign = np.where(relevant, -1.0, 1.0)

    def loss(temperature: float) -> float:
        return float(np.logaddexp(0.0, sign * logits / temperature).mean())

    return _least(loss)


def logit(probabilities: ArrayLike) -> np.ndarray:
    """The inverse of the sigmoid; probabilities are limited to [TINY, 1 − TINY].

    Of any shape, which is kept.
    """
    limited = np.clip(np.asarray(probabilities, float), TINY, 1 - TINY)
    log_odds: np.ndarray = np.log(limited) - np.log1p(-limited)
    return log_odds


def _least(loss: Callable[[float], float]) -> float:
    """The minimum of a function of the temperature by golden section search over its logarithm.

    The loss is convex in 1 / T, so that it has one minimum over log T.
    """
    ratio = (np.sqrt(5.0) - 1) / 2
    low, high = np.log(COLDEST), np.log(HOTTEST)
    for _step in range(STEPS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if loss(np.exp(left)) <= loss(np.exp(right)):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))
