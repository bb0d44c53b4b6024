"""Confident learning: which labels are probably wrong (Northcutt, Jiang and Chuang 2021).

Confident Learning: Estimating Uncertainty in Dataset Labels, JAIR 70, sections 3 and 4.
Probabilities must be out-of-fold: from models that were not trained on the item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Confident:
    """thresholds (K,): mean probability of each label where it is given; inf without an item.

    joint (K, K) float: estimated share of all items with a given label (rows) and a true label
    (columns); it sums to 1.
    guess int (N,): the label that the item is confidently counted under, −1 for none.
    suspect bool (N,): items counted under another label than the given one.
    margin (N,): probability of the given label minus the highest of the others, −1 to 1; low
    values first is the order of a review.
    """

    thresholds: np.ndarray
    joint: np.ndarray
    guess: np.ndarray
    suspect: np.ndarray
    margin: np.ndarray

    @property
    def share(self) -> float:
        """Estimated share of items whose given label is wrong."""
        return float(1 - np.trace(self.joint)) if self.joint.size else 0.0


def confident(labels: np.ndarray, probabilities: np.ndarray, *, common: bool = False) -> Confident:
    """given int (N,): the labels; probabilities float (N, K), out-of-fold.

    common: all labels share one threshold, the mean probability of the given ones.
    """
    n, k = probabilities.shape
    rows = np.arange(n)
    own = probabilities[rows, labels]
    counts = np.bincount(labels, minlength=k)
    sums = np.bincount(labels, weights=own, minlength=k)
    thresholds = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
    if common:
        thresholds = np.full(k, own.mean() if n else np.inf)
    above = probabilities >= thresholds - 1e-12
    # where several labels reach their threshold, the most probable of them counts (section 3.1)
    guess = np.where(above, probabilities, -1.0).argmax(axis=1)
    guess = np.where(above.any(axis=1), guess, -1)
    others = probabilities.copy()
    others[rows, labels] = -np.inf
    margin = own - (others.max(axis=1) if k > 1 else 0.0)
    suspect = (guess >= 0) & (guess != labels)
    joint = joint_of(labels, guess, np.ones(n), k)
    return Confident(thresholds, joint, guess, suspect, margin)


def joint_of(labels: np.ndarray, guess: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """(K, K): the joint of weighted items, scaled to the sum of each given label (equation 3)."""
    counted = np.zeros((k, k))
    known = guess >= 0
    np.add.at(counted, (labels[known], guess[known]), weights[known])
    empty = counted.sum(axis=1) == 0
    counted[empty, empty] = 1  # a label without a confident item is taken as it is
    sums = np.bincount(labels, weights=weights, minlength=k)
    scaled: np.ndarray = counted / counted.sum(axis=1, keepdims=True) * sums[:, None]
    return scaled / max(float(sums.sum()), 1e-12)
