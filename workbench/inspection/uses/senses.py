"""How well vectors separate senses: nearest centroid, nearest uses, pairs. numpy only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEIGHBOURS = 10
PAIRS = 2_000
SEED = 1


def centroid_predictions(vectors: np.ndarray, senses: np.ndarray) -> np.ndarray:
    """The sense (N,) whose centroid has the highest cosine, each use left out of its own one.

    vectors float (N, H), rows of length 1; senses int (N,), from 0. A sense without another use has
    no centroid. Source: Peters et al. 2018, section 5.3, with centroids of the labelled uses.
    """
    count = int(senses.max()) + 1
    member = np.eye(count, dtype=np.float64)[senses]  # (N, C)
    x = np.asarray(vectors, np.float64)
    sums = member.T @ x  # (C, H)
    dots, lengths = x @ sums.T, (sums**2).sum(1)  # (N, C), (C,)
    own = (x**2).sum(1)[:, None]
    # without the use itself: x·(S - x) and |S - x|², where the sense is its own
    without = lengths[None] - member * (2 * dots - own)
    scores = (dots - member * own) / np.sqrt(np.maximum(without, 1e-12))
    scores[(member.sum(0)[None] - member) < 1] = -np.inf
    nearest: np.ndarray = scores.argmax(1)
    return nearest


def macro_f1(gold: np.ndarray, predicted: np.ndarray, count: int) -> float:
    """Mean F1 over the senses 0 … count - 1; 0 where a sense is never right.

    gold, predicted int (N,).
    """
    scores = []
    for sense in range(count):
        right = int(((gold == sense) & (predicted == sense)).sum())
        both = int((gold == sense).sum() + (predicted == sense).sum())
        scores.append(2 * right / both if both else 0.0)
    return float(np.mean(scores))


def same_among_nearest(vectors: np.ndarray, senses: np.ndarray) -> float:
    """Mean share of the own sense among the NEIGHBOURS other uses by cosine.

    vectors (N, W) of length 1; senses int (N,). N is at least 2.
    """
    x = np.asarray(vectors, np.float32)
    most = min(NEIGHBOURS, len(x) - 1)
    similar = x @ x.T
    np.fill_diagonal(similar, -np.inf)
    nearest = np.argpartition(-similar, most - 1, axis=1)[:, :most]
    return float((senses[nearest] == senses[:, None]).mean())


def same_at_random(senses: np.ndarray) -> float:
    """The expected share of the same sense if all uses are equally near. senses int (N,), N at
    least 2.
    """
    counts = np.bincount(senses)
    return float((counts * (counts - 1)).sum() / (len(senses) * (len(senses) - 1)))


def pair_accuracy(vectors: np.ndarray, senses: np.ndarray) -> float:
    """Accuracy of "same sense" for pairs of uses, half of them the same, by a cosine threshold.

    vectors (N, W) of length 1; senses int (N,). The threshold is the best one on half of the pairs
    and scored on the other half, both ways.
    Source: Pilehvar and Camacho-Collados 2019, section 4 (threshold baseline of WiC).
    """
    first, second, same = _pairs(senses)
    x = np.asarray(vectors, np.float32)
    cosines = (x[first] * x[second]).sum(1)
    halves = np.arange(len(same)) % 4 < 2  # pairs alternate between same and different
    if not halves.any() or halves.all():
        return 0.0
    right = [
        ((cosines[~half] >= _threshold(cosines[half], same[half])) == same[~half]).sum()
        for half in (halves, ~halves)
    ]
    return float(sum(right) / len(same))


def _threshold(cosines: np.ndarray, same: np.ndarray) -> float:
    """The lowest cosine that counts as the same sense, with the highest accuracy."""
    order = np.argsort(-cosines, kind="stable")
    gains = np.cumsum(np.where(same[order], 1, -1))
    best = int(gains.argmax())
    return float(cosines[order[best]]) if gains[best] > 0 else np.inf


def _pairs(senses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random pairs, alternately of the same and of different senses."""
    left, right = np.triu_indices(len(senses), 1)
    same = senses[left] == senses[right]
    random = np.random.default_rng(SEED)
    each = min(PAIRS // 2, int(same.sum()), int((~same).sum()))
    chosen = [random.choice(np.flatnonzero(kind), each, replace=False) for kind in (same, ~same)]
    numbers = np.stack(chosen, 1).reshape(-1)
    return left[numbers], right[numbers], same[numbers]


def numbered(labels: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Senses of labels (N,), and their names, the most frequent first; "" is -1."""
    names, counts = np.unique([label for label in labels if label], return_counts=True)
    order = [str(names[at]) for at in np.argsort(-counts, kind="stable")]
    number = {name: at for at, name in enumerate(order)}
    return np.array([number.get(label, -1) for label in labels], np.int64), tuple(order)
