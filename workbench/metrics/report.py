"""Every score of a set of predictions with its bootstrap interval, overall and per label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.base.watch import QUIET, Watch
from workbench.metrics.evaluation import Intervals, Measured
from workbench.metrics.resampling import LABEL, ROUNDS, Arrays, Statistic, bounds, resampled

SEED = 1


def intervals(
    statistic: Statistic,
    n: int,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
    reported: Sequence[str] | None = None,
    watch: Watch = QUIET,
) -> Intervals:
    """Score n documents and resample them. reported: labels to report, by default all of them.

    rounds: 0 for scores without intervals.
    """
    exact = statistic(np.ones((1, n), np.float32))
    drawn = resampled(statistic, n, rounds, seed=seed, watch=watch) if n and rounds else {}
    spread = {name: bounds(values) for name, values in drawn.items()}
    overall: dict[str, Measured] = {}
    labels: dict[str, dict[str, Measured]] = {
        label: {} for label in (statistic.labels if reported is None else reported)
    }
    for name, values in exact.items():
        low, high = spread.get(name, (None, None))
        if not name.startswith(LABEL):
            overall[name] = measured(values[0], low, high)
            continue
        for at, label in enumerate(statistic.labels):
            if label in labels:
                pair = (None, None) if low is None or high is None else (low[at], high[at])
                labels[label][name.removeprefix(LABEL)] = measured(values[0, at], *pair)
    totals: Mapping[str, Mapping[str, int]] = getattr(statistic, "totals", dict)()
    return Intervals(n, rounds, seed, overall, labels, totals)


def measured_columns(
    statistic: Callable[[np.ndarray], Arrays], n: int, names: Sequence[str]
) -> dict[str, list[Measured]]:
    """Scores (R, L) of a statistic of n documents by name: L values with their intervals.

    Those of (R,) are one value.
    """
    exact = statistic(np.ones((1, n), np.float32))
    drawn = resampled(statistic, n, seed=SEED)
    columns_by_name = {}
    for name in names:
        values = exact[name][0], *bounds(drawn[name])
        columns = zip(*map(np.atleast_1d, values), strict=True)
        columns_by_name[name] = [measured(*column) for column in columns]
    return columns_by_name


def measured(value: object, low: object, high: object) -> Measured:
    """A score of finite values; NaN becomes None."""
    return Measured(_finite(value), _finite(low), _finite(high))


def _finite(value: Any) -> float | None:
    number = float("nan") if value is None else float(value)
    return number if np.isfinite(number) else None
