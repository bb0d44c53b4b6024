"""The strategies that ship with the application. numpy only.

Sources: Lewis and Gale 1994 (least confidence), Scheffer, Decomain and Wrobel 2001 (margin),
Settles and Craven 2008 (sequences), Sener and Savarese 2018 (k-center greedy), Seung, Opper and
Sompolinsky 1992 (disagreement).
"""

from __future__ import annotations

import numpy as np

from workbench.active.base import (
    DECISIONS,
    SECOND,
    VECTORS,
    Decisions,
    Pool,
    Strategy,
    required,
)

TINY = 1e-12
DOUBTFUL = 0.9  # a word outside of spans with a lower probability may belong to a span
CENTERS = 500  # documents that diversity selects; all others follow by their distance
BLOCK_ROWS = 8192  # rows that are compared at a time


def _total(values: np.ndarray, decisions: Decisions) -> np.ndarray:
    """Sums (N,) of values (M,) over the decisions of each document."""
    return np.bincount(decisions.owner, values, minlength=len(decisions))


def _highest(values: np.ndarray, decisions: Decisions) -> np.ndarray:
    """Maxima (N,) of values (M,); 0 for a document without decisions."""
    maxima = np.zeros(len(decisions))
    np.maximum.at(maxima, decisions.owner, values)
    return maxima


def _two_best(decisions: Decisions) -> tuple[np.ndarray, np.ndarray]:
    """The highest and second highest probability (M,) of each decision."""
    values = decisions.values
    if values.shape[1] < 2:
        values = np.pad(values, ((0, 0), (0, 2 - values.shape[1])))
    ordered = np.partition(values, -2, axis=1)
    return ordered[:, -1], ordered[:, -2]


def _joint(best: np.ndarray, decisions: Decisions) -> np.ndarray:
    """The probability (N,) of all decisions together."""
    probabilities: np.ndarray = np.exp(_total(np.log(np.maximum(best, TINY)), decisions))
    return probabilities


class Random(Strategy):
    """A random order: the control of all others."""

    each = False

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,) in [0, 1), one per document."""
        return np.random.default_rng(pool.seed).random(pool.size)


class LeastConfidence(Strategy):
    """1 minus the probability of the predicted labels of the document."""

    needs = frozenset({DECISIONS})

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,), one per document. Raises ValueError without predictions."""
        decisions = required(pool)
        best, _second = _two_best(decisions)
        return 1 - _joint(best, decisions)


class Margin(Strategy):
    """1 minus the difference in probability of the best and the second best labelling.

    Of independent decisions, the second best labelling differs in the one with the closest second.
    """

    needs = frozenset({DECISIONS})

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,), one per document. Raises ValueError without predictions."""
        decisions = required(pool)
        best, second = _two_best(decisions)
        closest = _highest(second / np.maximum(best, TINY), decisions)
        scores: np.ndarray = 1 - _joint(best, decisions) * (1 - closest)
        return scores


class Entropy(Strategy):
    """Entropy of the predicted distribution in nats, summed over the decisions."""

    needs = frozenset({DECISIONS})

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,), one per document. Raises ValueError without predictions."""
        decisions = required(pool)
        values = decisions.values
        return _total(-(values * np.log(np.maximum(values, TINY))).sum(1), decisions)


class SpanUncertainty(Strategy):
    """1 minus the confidence of each possible span, summed over the document.

    Possible spans are runs of words that are predicted with a label, or without one at a
    probability below DOUBTFUL. The confidence is the geometric mean over the words.
    """

    needs = frozenset({DECISIONS})

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,), one per document. Raises ValueError without predictions."""
        decisions = required(pool)
        best = decisions.values.max(1)
        inside = np.ones(len(best), bool)
        if decisions.outside:
            inside = (decisions.values.argmax(1) > 0) | (best < DOUBTFUL)
        runs = _runs(inside, decisions)
        if not runs.any():
            return np.zeros(len(decisions))
        number = runs[inside] - 1  # of the run of each word
        sums = np.bincount(number, np.log(np.maximum(best[inside], TINY)))
        confidence = np.exp(sums / np.bincount(number))
        first = np.unique(number, return_index=True)[1]
        owner = decisions.owner[inside][first]
        return np.bincount(owner, 1 - confidence, minlength=len(decisions))


def _runs(inside: np.ndarray, decisions: Decisions) -> np.ndarray:
    """The number (M,), from 1, of the run of decisions that each is in; 0 outside of runs.

    Without an outside, every decision is a run of its own.
    """
    if not decisions.outside:
        return np.arange(1, len(inside) + 1)
    owner = decisions.owner
    begins = inside.copy()
    begins[1:] &= ~inside[:-1] | (owner[1:] != owner[:-1])
    return np.where(inside, np.cumsum(begins), 0)


class Disagreement(Strategy):
    """Jensen-Shannon divergence of the predictions of two runs in nats, summed over decisions."""

    needs = frozenset({DECISIONS, SECOND})

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,), one per document. Raises ValueError without the predictions of two runs."""
        first, second = required(pool), required(pool, SECOND)
        a, b = _aligned(first, second)
        mean = (a + b) / 2
        both = sum(
            (p * np.log(np.maximum(p, TINY) / np.maximum(mean, TINY))).sum(1) for p in (a, b)
        )
        return _total(both / 2, first)


def _aligned(first: Decisions, second: Decisions) -> tuple[np.ndarray, np.ndarray]:
    """The values of both; decisions that the second does not have are copied from the first."""
    other = first.values.copy()
    counts = np.minimum(np.diff(first.starts), np.diff(second.starts))
    places = np.concatenate([np.arange(count) for count in counts] or [np.zeros(0, int)])
    into = np.repeat(first.starts[:-1], counts) + places
    other[into] = second.values[np.repeat(second.starts[:-1], counts) + places]
    return first.values, other


class Diversity(Strategy):
    """K-center greedy: the distance to the nearest document that is labelled or comes before."""

    needs = frozenset({VECTORS})
    each = False

    def scores(self, pool: Pool) -> np.ndarray:
        """float (N,), one per document. Raises ValueError without vectors."""
        if pool.vectors is None:
            raise ValueError("the pool has no vectors")
        known = pool.known if pool.known is not None else pool.vectors[:0]
        return k_center(pool.vectors, known, CENTERS, seed=pool.seed)


def k_center(vectors: np.ndarray, known: np.ndarray, most: int, *, seed: int = 1) -> np.ndarray:
    """Scores (N,): of the `most` documents that are selected the distance when each was selected,
    which never rises; of the others, the distance to the nearest one selected.

    vectors (N, W) may be memory-mapped; known (L, W). Without known ones, the first is random.
    """
    nearest = np.full(len(vectors), np.inf)  # squared distances
    lengths = _lengths(vectors)
    for start in range(0, len(known), 256):
        _come_nearer(nearest, vectors, lengths, known[start : start + 256])
    distances = np.zeros(len(vectors))
    left = np.ones(len(vectors), bool)
    for _round in range(min(most, len(vectors))):
        if np.isinf(nearest[0]):
            at = int(np.random.default_rng(seed).integers(len(vectors)))
        else:
            at = int(np.where(left, nearest, -1.0).argmax())
        distances[at], left[at] = nearest[at], False
        _come_nearer(nearest, vectors, lengths, vectors[at : at + 1])
    distances[left] = nearest[left]
    finite = np.sqrt(np.where(np.isinf(distances), 0.0, distances))
    finite[np.isinf(distances)] = finite.max(initial=0.0) + 1.0  # the first one
    return finite


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """Squared lengths (N,)."""
    parts = [
        np.square(vectors[start : start + BLOCK_ROWS].astype(np.float32)).sum(1)
        for start in range(0, len(vectors), BLOCK_ROWS)
    ]
    return np.concatenate([np.zeros(0, np.float32), *parts])


def _come_nearer(
    nearest: np.ndarray, vectors: np.ndarray, lengths: np.ndarray, centers: np.ndarray
) -> None:
    """Lower `nearest` (N,) to the squared distances from any of the centers (C, W)."""
    points = centers.astype(np.float32)
    own = np.square(points).sum(1)
    for start in range(0, len(vectors), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        rows = vectors[part].astype(np.float32, copy=False)
        squared = lengths[part, None] + own - 2 * rows @ points.T
        nearest[part] = np.minimum(nearest[part], np.maximum(squared.min(1), 0.0))
