"""Every score of a set of predictions with its bootstrap interval, overall and per label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.base.watch import QUIET, Watch
from workbench.metrics.resampling import LABEL, ROUNDS, Arrays, Statistic, bounds, resampled

SEED = 1


@dataclass(frozen=True)
class Measured:
    """A score: a fraction of 1 (MCC and kappa from -1), with a 95% interval.

    None: not defined, for example without a document of the label.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    def to_json(self) -> dict[str, float | None]:
        return {"value": self.value, "low": self.low, "high": self.high}


UNKNOWN = Measured(None)


@dataclass(frozen=True)
class Report:
    """Scores by name on n documents; `labels`: label → name → score.

    rounds, seed: of the bootstrap over documents. outcomes: mode → outcome → number of spans.
    """

    n: int
    scores: Mapping[str, Measured]
    labels: Mapping[str, Mapping[str, Measured]]
    outcomes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rounds: int = ROUNDS
    seed: int = SEED

    def of_label(self, label: str, name: str) -> Measured:
        return self.labels.get(label, {}).get(name, UNKNOWN)

    def to_json(self) -> dict[str, object]:
        return {
            "n": self.n,
            "rounds": self.rounds,
            "seed": self.seed,
            "scores": {name: score.to_json() for name, score in self.scores.items()},
            "labels": {
                label: {name: score.to_json() for name, score in row.items()}
                for label, row in self.labels.items()
            },
            "outcomes": {mode: dict(row) for mode, row in self.outcomes.items()},
        }


def report(
    statistic: Statistic,
    n: int,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
    shown: Sequence[str] | None = None,
    watch: Watch = QUIET,
) -> Report:
    """Score n documents and resample them. shown: labels to report, by default all of them.

    rounds: 0 for scores without intervals.
    """
    exact = statistic(np.ones((1, n), np.float32))
    drawn = resampled(statistic, n, rounds, seed=seed, watch=watch) if n and rounds else {}
    spread = {name: bounds(values) for name, values in drawn.items()}
    overall: dict[str, Measured] = {}
    labels: dict[str, dict[str, Measured]] = {
        label: {} for label in (statistic.labels if shown is None else shown)
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
    return Report(n, overall, labels, totals, rounds, seed)


def measured_columns(
    statistic: Callable[[np.ndarray], Arrays], n: int, names: Sequence[str]
) -> dict[str, list[Measured]]:
    """Scores (R, L) of a statistic of n documents by name: L values with their intervals.

    Those of (R,) are one value.
    """
    exact = statistic(np.ones((1, n), np.float32))
    drawn = resampled(statistic, n, seed=SEED)
    found = {}
    for name in names:
        values = exact[name][0], *bounds(drawn[name])
        columns = zip(*map(np.atleast_1d, values), strict=True)
        found[name] = [measured(*column) for column in columns]
    return found


def measured(value: object, low: object, high: object) -> Measured:
    """A score of finite values; NaN becomes None."""
    return Measured(_finite(value), _finite(low), _finite(high))


def _finite(value: Any) -> float | None:
    found = float("nan") if value is None else float(value)
    return found if np.isfinite(found) else None
