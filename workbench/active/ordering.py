"""From scores to an order of the queue, with random documents as a control. numpy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class RankedRows(NamedTuple):
    """Rows (N,) in order, and whether each is a random control document bool (N,)."""

    rows: np.ndarray
    control: np.ndarray


def ordered(scores: np.ndarray, *, share: float = 0.0, seed: int = 1) -> RankedRows:
    """The highest scores (N,) first, equal ones in the given order.

    share: of the places, in [0, 1), that go to control documents: drawn at random from all that
    are left when their place comes, and spread evenly.
    """
    by_score = np.argsort(-np.asarray(scores), kind="stable")
    count = len(by_score)
    if share <= 0 or count == 0:
        return RankedRows(by_score, np.zeros(count, bool))
    places = np.arange(1, count + 1)
    control = np.floor(places * share) > np.floor((places - 1) * share)
    lottery = np.random.default_rng(seed).permutation(count)
    return RankedRows(_merged(by_score, lottery, control), control)


def _merged(first: np.ndarray, other: np.ndarray, from_other: np.ndarray) -> np.ndarray:
    """Each row once, taken from `other` where `from_other` says so, else from `first`."""
    queues = iter(first.tolist()), iter(other.tolist())
    taken = np.zeros(len(first), bool)
    merged = np.empty(len(first), int)
    for place, turn in enumerate(from_other.tolist()):
        merged[place] = next(row for row in queues[turn] if not taken[row])
        taken[merged[place]] = True
    return merged
