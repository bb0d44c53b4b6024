"""The true classes of items, and the error rates of the annotators who do not know them.

Source: Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM
algorithm, Applied Statistics 28(1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDS = 200
TOLERANCE = 1e-6  # the largest change of a probability that ends the iteration


@dataclass(frozen=True, eq=False)
class Estimate:
    """posterior: (N, C), the probability of each class for each item. prior: (C,), of a class.
    confusion: (A, C, C), the probability that an annotator says the second class where the first
    is true; NaN for a class that is true of nothing that they labelled. accuracy: (A,), the
    expected share of the items of an annotator that they label as is true; NaN without items.
    """

    posterior: np.ndarray
    prior: np.ndarray
    confusion: np.ndarray
    accuracy: np.ndarray
    rounds: int


def dawid_skene(counts: np.ndarray, *, rounds: int = ROUNDS) -> Estimate:
    """Estimate by EM, which begins with the shares of the votes.

    counts: (N, A, C) float, how often an annotator gave a class to an item; each item was labelled
    at least once. Raises ValueError for an item without labels.
    """
    votes = counts.sum(1)  # (N, C)
    if not votes.sum(1).all():
        raise ValueError("an item without labels has no class")
    posterior = votes / votes.sum(1, keepdims=True)
    done, change = 0, 1.0
    while done < rounds and change >= TOLERANCE:
        done += 1
        prior, confusion = _maximized(counts, posterior)
        new = _expected(counts, prior, confusion)
        change = float(np.abs(new - posterior).max(initial=0))
        posterior = new
    prior, confusion = _maximized(counts, posterior)
    right = (counts * posterior[:, None, :]).sum((0, 2))  # (A,)
    total = counts.sum((0, 2))
    accuracy = np.divide(right, total, out=np.full_like(right, np.nan), where=total > 0)
    seen = counts.sum(2).T @ posterior > 0  # (A, N) × (N, C) → (A, C)
    return Estimate(posterior, prior, np.where(seen[:, :, None], confusion, np.nan), accuracy, done)


def _maximized(counts: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equations 2.3 and 2.4: priors (C,) and confusion (A, C, C)."""
    confusion = posterior.T @ counts.transpose(1, 0, 2)  # (C, N) × (A, N, C) → (A, C, C)
    sums = confusion.sum(2, keepdims=True)
    uniform = np.full_like(confusion, 1 / confusion.shape[2])
    return posterior.mean(0), np.divide(confusion, sums, out=uniform, where=sums > 0)


def _expected(counts: np.ndarray, prior: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """Equation 2.5: the probability of each class for each item (N, C)."""
    tiny = np.finfo(float).tiny  # log of zero, as a large number
    logs = np.log(np.maximum(confusion, tiny))
    each = counts.transpose(1, 0, 2) @ logs.transpose(0, 2, 1)  # (A, N, C) × (A, C, C)
    likelihood = each.sum(0) + np.log(np.maximum(prior, tiny))
    odds: np.ndarray = np.exp(likelihood - likelihood.max(1, keepdims=True))
    odds /= odds.sum(1, keepdims=True)
    return odds
