"""Accuracy as a function of the weights of documents, for tasks whose labels have no scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics.resampling import Arrays


@dataclass(frozen=True)
class Accuracy:
    """right float (N,): 1 for documents that were predicted correctly. A `Statistic`."""

    right: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, right: Sequence[bool]) -> Accuracy:
        return cls(np.asarray(right, np.float64))

    def taken(self, rows: np.ndarray) -> Accuracy:
        """The documents at the positions `rows` int (K,)."""
        return Accuracy(self.right[rows])

    def __call__(self, weights: np.ndarray) -> Arrays:
        """NaN without documents."""
        totals = weights.sum(axis=1, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            return {"accuracy": weights @ self.right / totals}
