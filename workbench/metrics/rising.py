"""Whether a score on dev was still rising when a training ended."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

LAST = 3  # the last 1/3 of the evaluations is compared with those before


def rise(scores: Sequence[float], n: int) -> tuple[float, float] | None:
    """(best score before the last third of the evaluations, last score) if the score was still
    rising, else None.

    scores: fractions of 1, higher is better, of every evaluation in order, on n dev documents.

    It was rising if the last evaluation is the only best one, and the last third gained more than
    one standard error of a score on this dev set, √(p(1 − p)/n). One evaluation that is best by
    chance gains less; and since all checkpoints are scored on the same documents, the error of
    their difference is usually below that of one score, so the rule says too little, not too much.
    The best score before is compared, not the mean, so that one bad evaluation is no rise. p is
    estimated with one right and one wrong document more, as otherwise a score of 0 has no error.
    """
    first = len(scores) - ceil(len(scores) / LAST)
    if first < 1 or n < 1 or scores[-1] <= max(scores[:-1]):
        return None
    before, last = max(scores[:first]), scores[-1]
    p = (min(1.0, max(0.0, before)) * n + 1) / (n + 2)
    return (before, last) if last - before > sqrt(p * (1 - p) / n) else None
