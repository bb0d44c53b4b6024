"""Whether two systems differ by more than chance on the same documents: paired resampling tests.

All tests are two-sided, of the hypothesis that both systems are equally good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workbench.base import deprecation
from workbench.base.watch import QUIET, Watch
from workbench.metrics import resampling
from workbench.metrics.resampling import LABEL, Arrays, Statistic, bounds, weights

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Difference="PairedDifference")

ROUNDS = 10_000
MIN_ROUNDS = 1000
CELLS = 20_000_000  # rounds × documents; fewer rounds for many documents, MIN_ROUNDS or more
SEED = 1
TOLERANCE = 1e-12  # differences that are equal but for rounding


@dataclass(frozen=True)
class PairedDifference:
    """A score of the first system minus that of the second.

    low, high: 95% interval of the paired bootstrap, p: its p-value. All None if a score is not
    defined.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def swapped(self) -> PairedDifference:
        """Second minus first."""
        value, low, high = (
            None if value is None else -value for value in (self.value, self.high, self.low)
        )
        return PairedDifference(value, low, high, self.p)


@dataclass(frozen=True)
class Bootstrapped:
    """Differences of all scores, by name, and of those per label: label → name → difference."""

    rounds: int
    scores: Mapping[str, PairedDifference]
    labels: Mapping[str, Mapping[str, PairedDifference]] = field(default_factory=dict)


def rounds_for(n: int, rounds: int = ROUNDS) -> int:
    """The number of resamples for n documents: `rounds`, fewer for many documents."""
    return min(rounds, max(MIN_ROUNDS, CELLS // max(1, n)))


def bootstrap(
    first: Statistic,
    second: Statistic,
    n: int,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
    watch: Watch = QUIET,
) -> Bootstrapped:
    """Resample the n documents of both systems together.

    p: how often the difference of a resample deviates from the observed one by at least the
    observed difference, (1 + count) / (1 + rounds). Labels are matched by name.

    Source: Efron and Tibshirani 1993, section 16.4; Berg-Kirkpatrick et al. 2012, section 2.
    """
    count = rounds_for(n, rounds)
    exact = _differences(first, second, np.ones((1, n), np.float32))
    differ = lambda chunk: _differences(first, second, chunk)  # noqa: E731
    parts = resampling.drawn(differ, weights(n, count, seed=seed), count, watch)
    drawn = {name: np.concatenate([part[name] for part in parts]) for name in exact}
    scores: dict[str, PairedDifference] = {}
    labels: dict[str, dict[str, PairedDifference]] = {}
    for name, values in exact.items():
        if name.startswith(LABEL):
            for at, label in enumerate(_shared(first, second)):
                difference = _difference(values[0, at], drawn[name][:, at])
                labels.setdefault(label, {})[name.removeprefix(LABEL)] = difference
        else:
            scores[name] = _difference(values[0], drawn[name])
    return Bootstrapped(count, scores, labels)


def randomisation(
    pooled: Statistic,
    scores: Collection[str],
    n: int,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
    watch: Watch = QUIET,
) -> dict[str, float | None]:
    """p-value of each of `scores` by approximate randomisation.

    pooled: the statistic of 2n documents, the n documents with the predictions of the first
    system, then the same with those of the second. Each round exchanges the predictions of each
    document with probability 1/2; p is how often the difference is then at least as large as the
    observed one, (1 + count) / (1 + rounds). None if the score is not defined.

    Source: Noreen 1989; Yeh 2000.
    """
    count = rounds_for(n, rounds)
    own = np.concatenate([np.ones((1, n), np.float32), np.zeros((1, n), np.float32)], axis=1)
    exact = _exchanged(pooled, own)
    exchange = lambda chunk: _exchanged(pooled, chunk)  # noqa: E731
    drawn = resampling.drawn(exchange, _exchanges(n, count, seed), count, watch)
    p_values: dict[str, float | None] = {}
    for name in scores:
        values = np.concatenate([part[name] for part in drawn])
        p_values[name] = _share(np.abs(values), abs(float(exact[name][0])))
    return p_values


def _exchanges(n: int, rounds: int, seed: int) -> Iterator[np.ndarray]:
    """Weights float32 (R, 2n) of the documents that the first system keeps or takes over."""
    draw = np.random.default_rng(seed)
    size = max(1, 2_000_000 // max(1, 2 * n))
    for start in range(0, rounds, size):
        keeps = draw.random((min(size, rounds - start), n)) < 0.5
        yield np.concatenate([keeps, ~keeps], axis=1).astype(np.float32)


def _exchanged(pooled: Statistic, chosen: np.ndarray) -> Arrays:
    left, right = pooled(chosen), pooled(1 - chosen)
    return {name: left[name] - right[name] for name in left if not name.startswith(LABEL)}


def _shared(first: Statistic, second: Statistic) -> tuple[str, ...]:
    return tuple(label for label in first.labels if label in second.labels)


def _differences(first: Statistic, second: Statistic, chunk: np.ndarray) -> dict[str, np.ndarray]:
    """first − second for every score that both have; those per label for shared labels."""
    left, right = first(chunk), second(chunk)
    shared = _shared(first, second)
    rows = [first.labels.index(label) for label in shared]
    others = [second.labels.index(label) for label in shared]
    return {
        name: left[name][:, rows] - right[name][:, others]
        if name.startswith(LABEL)
        else left[name] - right[name]
        for name in left
        if name in right
    }


def _difference(value: float, drawn: np.ndarray) -> PairedDifference:
    if not np.isfinite(value):
        return PairedDifference(None)
    low, high = (float(bound) for bound in bounds(drawn))
    p = _share(np.abs(drawn - value), abs(float(value)))
    if not np.isfinite(low):  # less than half of the resamples have the label
        return PairedDifference(float(value))
    return PairedDifference(float(value), low, high, p)


def _share(deviations: np.ndarray, observed: float) -> float | None:
    """(1 + how many are at least `observed`) / (1 + how many are defined)."""
    defined = deviations[np.isfinite(deviations)]
    if not len(defined) or not np.isfinite(observed):
        return None
    return float((1 + (defined >= observed - TOLERANCE).sum()) / (1 + len(defined)))
