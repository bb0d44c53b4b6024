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
from workbench.inspection.corpus.tsne import tsne

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
