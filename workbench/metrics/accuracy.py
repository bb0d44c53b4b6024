"""Accuracy as a function of the weights of documents, for tasks whose labels have no scores.

Other means over documents can be measured with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.metrics.resampling import Arrays


@dataclass(frozen=True)
class Accuracy:
    """right float (N,): 1 for documents that were predicted correctly. A `Statistic`.

    means: name of a further score → float (N,), its value for each document.
    """

    right: np.ndarray
    labels: tuple[str, ...] = ()
    means: Mapping[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, right: Sequence[bool], **means: Sequence[float]) -> Accuracy:
        further = {name: np.asarray(values, np.float64) for name, values in means.items()}
        return cls(np.asarray(right, np.float64), means=further)

    def taken(self, rows: np.ndarray) -> Accuracy:
        """The documents at the positions `rows` int (K,)."""
        means = {name: values[rows] for name, values in self.means.items()}
        return Accuracy(self.right[rows], means=means)

    def __call__(self, weights: np.ndarray) -> Arrays:
        """NaN without documents."""
        totals = weights.sum(axis=1, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            accuracy = {"accuracy": weights @ self.right / totals}
            return accuracy | {name: weights @ each / totals for name, each in self.means.items()}
