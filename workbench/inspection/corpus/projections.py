"""Maps: the rows of an index as points in a plane, and their clusters."""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.base import extras
from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext
from workbench.inspection.corpus.index import BLOCK_ROWS, CorpusIndex
from workbench.inspection.corpus.spec import MAX_POINTS, TSNE, UMAP, Projection

REDUCED = 50  # dimensions that t-SNE, UMAP and k-means read, as van der Maaten and Hinton 2008 do
MIN_POINTS = 5  # points of a map
SEED = 1


@dataclass(frozen=True)
class Components:
    """Principal components. mean (H,), axes (H, K), shares (K,) of the variance."""

    mean: np.ndarray
    axes: np.ndarray
    shares: np.ndarray

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """(N, H) → (N, K)."""
        components: np.ndarray = (np.asarray(vectors, np.float32) - self.mean) @ self.axes
        return components


def write_map(index: CorpusIndex, projection: Projection) -> Iterator[float]:
    """Compute a map and write it as .npz: rows (N,) of the index, points float32 (N, 2), clusters
    (N,), shares (2,), mean, axes.

    Yields the share that is done, where it is known. Raises ModelError for fewer than MIN_POINTS
    rows, SpecError for a layer that the index does not hold.
    """
    if index.count < MIN_POINTS:
        raise ModelError(
            ngettext(
                "A map needs at least {n} point; there are {count}.",
                "A map needs at least {n} points; there are {count}.",
                MIN_POINTS,
                count=index.count,
            ),
            hint=_("Import more documents, or choose another word."),
        )
    every = index.vectors(index.existing_layer(projection.layer))
    rows = _sample(len(every), MAX_POINTS[projection.method])
    components = principal(every, rows)
    reduced = np.concatenate([components(every[part]) for part in _parts(rows)])
    points = yield from _points(reduced, projection.method)
    file = index.files.map(projection)
    draft = file.with_name(f"{file.stem}.{uuid.uuid4().hex[:8]}.part.npz")
    np.savez(
        draft,
        rows=rows,
        points=points.astype(np.float32),
        clusters=_clusters(reduced, projection.clusters),
        shares=components.shares[:2],
        mean=components.mean,
        axes=components.axes[:, :2],
    )
    os.replace(draft, file)


def _sample(count: int, most: int) -> np.ndarray:
    """Numbers of rows, ascending: all, or a seeded sample."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(SEED).choice(count, most, replace=False))


def _parts(rows: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(rows), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]


def principal(every: np.ndarray, rows: np.ndarray) -> Components:
    """Principal components of the covariance matrix, which is computed in parts. Each axis points
    to its largest coefficient.

    every (N, W) may be memory-mapped; rows int (K,): the vectors of it that are counted.
    """
    total, products = np.zeros(every.shape[1]), np.zeros((every.shape[1],) * 2)
    for part in _parts(rows):
        values = every[part].astype(np.float32)
        total += values.sum(0)
        products += values.T @ values
    mean = total / len(rows)
    scales, axes = np.linalg.eigh(products / len(rows) - np.outer(mean, mean))
    order = np.argsort(scales)[::-1][:REDUCED]
    axes = axes[:, order]
    axes = axes * np.where(axes[np.abs(axes).argmax(0), range(axes.shape[1])] < 0, -1.0, 1.0)
    shares = np.maximum(scales[order], 0) / max(float(np.maximum(scales, 0).sum()), 1e-12)
    if axes.shape[1] == 1:  # a plane needs two
        axes, shares = np.pad(axes, ((0, 0), (0, 1))), np.pad(shares, (0, 1))
    return Components(mean.astype(np.float32), axes.astype(np.float32), shares)


def _points(reduced: np.ndarray, method: str) -> Generator[float, None, np.ndarray]:
    if method == TSNE:
        return (yield from tsne(reduced, SEED))
    return _umap(reduced) if method == UMAP else reduced[:, :2]


def _umap(reduced: np.ndarray) -> np.ndarray:
    try:
        import umap
    except ImportError as error:
        raise ModelError(_("UMAP is not installed."), hint=extras.advice("umap-learn")) from error
    near = min(15, len(reduced) - 1)
    points: Any = umap.UMAP(n_neighbors=near, random_state=SEED).fit_transform(reduced)
    return np.asarray(points)


def _clusters(reduced: np.ndarray, count: int) -> np.ndarray:
    """The cluster (N,) of each row by k-means, the largest is 0."""
    from sklearn.cluster import MiniBatchKMeans

    means = MiniBatchKMeans(min(count, len(reduced)), random_state=SEED, n_init=3)
    labels = means.fit_predict(reduced)
    order = np.argsort(-np.bincount(labels, minlength=count), kind="stable")
    ordered: np.ndarray = np.argsort(order)[labels].astype(np.int16)
    return ordered


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
