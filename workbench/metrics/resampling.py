"""Bootstrap over documents: all scores of many resamples at once, from weights of documents.

A statistic is a function of weights (R, N): how often each of N documents is in each of R
resamples. It returns arrays by name, each (R,) or (R, L); NaN where a score is not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

import numpy as np

from workbench.base.watch import QUIET, Watch

ROUNDS = 1000
LABEL = "label_"  # prefix of the names of scores per label, arrays (R, L)
CELLS = 2_000_000  # maximum weights in memory at a time

Arrays = Mapping[str, np.ndarray]
T = TypeVar("T")


class Statistic(Protocol):
    """Scores of documents with weights; `labels` are those of the arrays per label."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    def taken(self, rows: np.ndarray) -> Statistic:
        """The statistic of some documents, positions int (n,); it may leave out rankings."""
        ...

    def __call__(self, weights: np.ndarray) -> Arrays:
        """weights (R, N) → overall scores (R,), and (R, L) for names that begin with LABEL."""
        ...


def weights(n: int, rounds: int = ROUNDS, *, seed: int = 0) -> Iterator[np.ndarray]:
    """Weights float32 (R, n) of `rounds` resamples in chunks; each row sums to n.

    Equal seeds give equal weights.
    """
    draw = np.random.default_rng(seed)
    size = max(1, CELLS // max(1, n))
    for start in range(0, rounds, size):
        count = min(size, rounds - start)
        drawn = draw.integers(0, n, (count, n), dtype=np.int32) + np.arange(count)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=count * n).reshape(count, n).astype(np.float32)


def resampled(
    statistic: Callable[[np.ndarray], Arrays],
    n: int,
    rounds: int = ROUNDS,
    *,
    seed: int = 0,
    watch: Watch = QUIET,
) -> Arrays:
    """The values of a statistic over `rounds` resamples of n documents, first axis `rounds`.

    statistic: called with weights float32 (R, n), how often each document was drawn, in chunks of
    rounds.
    """
    parts = drawn(statistic, weights(n, rounds, seed=seed), rounds, watch)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def drawn(
    act: Callable[[np.ndarray], T], chunks: Iterable[np.ndarray], rounds: int, watch: Watch
) -> list[T]:
    """`act` of every chunk (R, …) of `rounds` in all, with progress by rounds."""
    results, done = list[T](), 0
    for chunk in chunks:
        watch.at(done / rounds)
        results.append(act(chunk))
        done += len(chunk)
    watch.at(1.0)
    return results


def bounds(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) percentiles over the first axis of (R, …); NaN where less than half are defined.

    Resamples in which a score is not defined (no document of a label, say) are left out.
    """
    defined = np.isfinite(values)
    low, high = np.full(values.shape[1:], np.nan), np.full(values.shape[1:], np.nan)
    enough = defined.mean(axis=0) >= 0.5
    if np.any(enough):
        chosen = np.where(defined, values, np.nan)[:, enough] if values.ndim > 1 else values
        shares = [(1 - level) / 2, (1 + level) / 2]
        find = np.quantile if defined.all() else np.nanquantile
        low[enough], high[enough] = find(chosen, shares, axis=0)
    return low, high


def pivotal(exact: float, values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """(low, high) from the percentiles of values (R,) mirrored at the exact value.

    For scores that resampling moves to one side. Source: Wasserman 2004, All of Statistics, 8.3.
    """
    low, high = (float(bound) for bound in bounds(values, level))
    return 2 * exact - high, 2 * exact - low


def weighted_sums(weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums over documents: weights (R, N), counts (N, K) → float64 (R, K)."""
    exact = float(np.abs(counts).sum()) * 4 < 2**24 and np.all(counts == np.round(counts))
    kind = np.float32 if exact else np.float64  # float32 counts exactly up to 2^24
    sums: np.ndarray = (weights.astype(kind, copy=False) @ counts.astype(kind)).astype(np.float64)
    return sums


def divided(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole; 0 where `whole` is 0, the rule for zero division of all scores here.

    Arrays of shapes that broadcast.
    """
    shape = np.broadcast_shapes(part.shape, whole.shape)
    quotient: np.ndarray = np.divide(part, whole, out=np.zeros(shape), where=whole != 0)
    return quotient


def mean_of(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Mean over the last axis of the values that are `counted`; 0 without any.

    values float (…, L); counted bool (…, L). Returns float (…,).
    """
    return divided(np.where(counted, values, 0.0).sum(-1), counted.sum(-1).astype(np.float64))
