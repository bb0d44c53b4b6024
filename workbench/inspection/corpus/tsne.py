"""t-SNE with its iterations as progress.

Neighbours, affinities and gradient are those of scikit-learn, whose own loop reports nothing; a
test holds that the points are the same.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

EXPLORATION, ITERATIONS = 250, 1000  # with early exaggeration, and in all
EXAGGERATION = 12.0
PATIENCE = 300  # iterations without progress
CHECKED = 50  # iterations between two checks, and two reports
MIN_GRADIENT, MIN_GAIN = 1e-7, 0.01
PERPLEXITY = 30.0
MIN_SCALE = 1e-9  # standard deviation below which rows are equal
SCALE = 1e-4  # standard deviation of the first coordinate at the start


def tsne(rows: np.ndarray, seed: int) -> Generator[float, None, np.ndarray]:
    """Points (N, 2) of float32 rows (N, K). Yields the share of iterations that are done.

    Source: van der Maaten and Hinton 2008; van der Maaten 2014; settings of scikit-learn.
    """
    yield 0.0
    affinities, points = _affinities(rows), _initial(rows, seed)
    rate = np.float64(max(len(rows) / EXAGGERATION / 4, 50.0))  # steps are added up in float64
    affinities *= EXAGGERATION
    at = yield from _descend(affinities, points, (0, EXPLORATION), (0.5, rate), EXPLORATION)
    affinities /= EXAGGERATION
    yield from _descend(affinities, points, (at + 1, ITERATIONS), (0.8, rate), PATIENCE)
    return points.reshape(len(rows), 2)


def _affinities(rows: np.ndarray) -> Any:
    """A sparse matrix (N, N)."""
    from sklearn.manifold import _t_sne
    from sklearn.neighbors import NearestNeighbors

    perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
    count = min(len(rows) - 1, int(3.0 * perplexity + 1))
    graph = NearestNeighbors(n_neighbors=count).fit(rows).kneighbors_graph(mode="distance")
    graph.data **= 2
    return _t_sne._joint_probabilities_nn(graph, perplexity, 0)


def _initial(rows: np.ndarray, seed: int) -> np.ndarray:
    """(2 N,): the first two principal components; random for equal rows, which have none."""
    from sklearn.decomposition import PCA

    scale = float(np.std(rows, axis=0).max())
    if scale < MIN_SCALE:
        drawn = np.random.default_rng(seed).normal(size=2 * len(rows)) * SCALE
        return drawn.astype(np.float32)
    components = PCA(2, random_state=seed).fit_transform(rows).astype(np.float32, copy=False)
    scaled: np.ndarray = (components / np.std(components[:, 0]) * SCALE).ravel()
    return scaled


def _descend(
    affinities: Any,
    points: np.ndarray,
    span: tuple[int, int],
    speed: tuple[float, np.float64],
    patience: int,
) -> Generator[float, None, int]:
    """Move the points in place by iterations of `span`, with a momentum and a learning rate.

    Returns the number of the last iteration.
    """
    from sklearn.manifold import _t_sne
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    (first, end), (momentum, rate) = span, speed
    update, gains = np.zeros_like(points), np.ones_like(points)
    count, threads = len(points) // 2, _openmp_effective_n_threads()
    best, best_at, at = np.inf, first, first
    for at in range(first, end):
        checks = (at + 1) % CHECKED == 0
        error, gradient = _t_sne._kl_divergence_bh(
            points, affinities, 1, count, 2, compute_error=checks, num_threads=threads
        )
        turns = update * gradient < 0.0
        gains = np.maximum(np.where(turns, gains + 0.2, gains * 0.8), MIN_GAIN)
        gradient *= gains
        update = momentum * update - rate * gradient
        points += update
        if not checks:
            continue
        yield (at + 1) / ITERATIONS
        if error < best:
            best, best_at = error, at
        elif at - best_at > patience:
            break
        if np.linalg.norm(gradient) <= MIN_GRADIENT:
            break
    return at
