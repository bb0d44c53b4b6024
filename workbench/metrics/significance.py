"""Uncertainty of scores: confidence intervals and comparison of two runs."""

from __future__ import annotations

from math import comb, sqrt
from statistics import NormalDist


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
