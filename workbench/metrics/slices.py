"""Scores on subsets of documents, and whether they differ from the rest by more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics.resampling import ROUNDS, Statistic, bounds, resampled

CELLS = 20_000_000  # permutations × documents; fewer permutations for many documents
SEED = 1


@dataclass(frozen=True)
class SliceScore:
    """n documents of a slice: score with 95% interval, and p of a permutation test.

    p: two-sided, of the hypothesis that the documents are a random subset of all. holm: p
    corrected for the number of slices (Holm 1979). None if it was not tested.
    """

    name: str
    n: int
    value: float
    low: float | None
    high: float | None
    p: float | None = None
    holm: float | None = None


def measured(
    statistic: Statistic,
    score: str,
    members: Mapping[str, np.ndarray],
    n: int,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[SliceScore, ...]:
    """Score every slice, lowest p first.

    members: name → positions of its documents, int (K,), out of n.
    """
    every = statistic.taken(np.arange(n))
    whole = float(every(np.ones((1, n), np.float32))[score][0])
    orders = _orders(n, min(rounds, max(1, CELLS // max(1, n))), seed)
    scores = []
    for name, rows in members.items():
        part = statistic.taken(rows)
        value = float(part(np.ones((1, len(rows)), np.float32))[score][0])
        low, high = bounds(resampled(part, len(rows), rounds, seed=seed)[score])
        random = every((orders < len(rows)).astype(np.float32))[score]
        extreme = np.abs(random - whole) >= abs(value - whole) - 1e-12
        p = float((1 + extreme.sum()) / (1 + len(random)))
        scores.append(SliceScore(name, len(rows), value, float(low), float(high), p))
    corrected = holm([score.p or 0.0 for score in scores])
    with_correction = [
        SliceScore(score.name, score.n, score.value, score.low, score.high, score.p, p)
        for score, p in zip(scores, corrected, strict=True)
    ]
    return tuple(sorted(with_correction, key=lambda item: (item.p or 0.0, item.value)))


def _orders(n: int, rounds: int, seed: int) -> np.ndarray:
    """Random permutations int32 (rounds, n): a document is in a subset of size k if below k."""
    draw = np.random.default_rng(seed)
    return draw.permuted(np.tile(np.arange(n, dtype=np.int32), (rounds, 1)), axis=1)


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected for their number, in the given order. Source: Holm 1979."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, highest = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, values[at] * (len(values) - rank)))
        corrected[at] = highest
    return corrected
