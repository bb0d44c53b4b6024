"""Uncertainty of scores: confidence intervals and comparison of two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, comb, cos, pi, sin, sqrt, tan
from statistics import NormalDist, fmean, variance


def wilson(right: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of a proportion, here accuracy: `right` of `n`. (0, 1) if `n` is 0.

    Source: Wilson 1927; without continuity correction.
    """
    if not n:
        return 0.0, 1.0
    z, share = NormalDist().inv_cdf((1 + level) / 2), right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p-value of the hypothesis that two runs are equally good.

    Computed from the documents that only one of the runs predicted correctly.

    Source: McNemar 1947, with the binomial distribution instead of chi-square.
    """
    n = only_first + only_second
    tail = sum(comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << n))


@dataclass(frozen=True)
class MeanInterval:
    """The mean of n scores, or of n paired differences, with its interval.

    p: two-sided, of the hypothesis that the mean is 0. None where it is not defined: all but the
    mean for one value, p for values without spread.
    """

    n: int
    mean: float
    low: float | None = None
    high: float | None = None
    p: float | None = None


def t_interval(
    values: Sequence[float], *, overlap: float = 0.0, level: float = 0.95
) -> MeanInterval | None:
    """Interval of a mean by the distribution of Student; None without values.

    overlap: documents that a run is scored on divided by those that it is trained on, for runs
    whose training documents overlap, as those of folds: 1 / (k - 1) for k folds. Their scores are
    dependent, so the variance of the mean is not s² / n but s² (1 / n + overlap). 0: independent.

    Source: Nadeau and Bengio 2003, section 3; Bouckaert and Frank 2004 for repeated folds.
    """
    n = len(values)
    if n < 2:
        return MeanInterval(n, values[0]) if values else None
    mean = fmean(values)
    error = sqrt(variance(values) * (1 / n + overlap))
    half = _within(level, n - 1) * error
    p = 1 - _share_within(atan2(abs(mean) / error, sqrt(n - 1)), n - 1) if error else None
    return MeanInterval(n, mean, mean - half, mean + half, p)


def _share_within(angle: float, freedom: int) -> float:
    """P(|T| ≤ t) of Student's T with `freedom` degrees of freedom; angle: arctan(t / √freedom).

    Source: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.
    """
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for n in range(2 + odd, freedom - 1, 2):
        term *= (n - 1) / n * cos(angle) ** 2
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _within(level: float, freedom: int) -> float:
    """The t with P(|T| ≤ t) = level, by bisection of its angle."""
    low, high = 0.0, pi / 2
    for _step in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _share_within(middle, freedom) < level else (low, middle)
    return tan(high) * sqrt(freedom)
