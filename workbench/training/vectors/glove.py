"""GloVe: vectors whose products are the logarithms of co-occurrence counts.

J = Σ f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)², f(x) = min(1, (x / x_max)^α), minimized with
AdaGrad. The result is w + w̃. Source: Pennington, Socher and Manning 2014, equations 8 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.training.vectors.corpus import Corpus

BATCH = 8192  # counts per step
STEPS = 20  # steps between two reports
LEAST_MERGED = 1_000_000  # counts that are collected before they are merged


class Counts:
    """Co-occurrences X: `rows`, `columns` int64 (N,), `values` float32 (N,), each pair once.

    A word at distance d adds 1/d, up to `window` words away in the same line, on both sides.
    """

    def __init__(self, size: int, window: int):
        self.size, self.window = size, window
        self._keys: np.ndarray = np.zeros(0, np.int64)  # row · size + column, in order
        self._values: np.ndarray = np.zeros(0)
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []  # not yet added to them

    def add(self, lines: Sequence[Sequence[int]]) -> None:
        """Add lines of words as numbers; -1 for words that are left out but keep their place."""
        gap = [-1] * self.window
        ids = np.array([number for line in lines for number in (*line, *gap)], dtype=np.int64)
        keys, values = [], []
        for distance in range(1, self.window + 1):
            left, right = ids[:-distance], ids[distance:]
            both = (left >= 0) & (right >= 0)
            left, right = left[both], right[both]
            keys += [left * self.size + right, right * self.size + left]
            values += [np.full(len(left), 1 / distance)] * 2
        self._parts.append(_summed(keys, values))
        # Merging sorts everything, so it is done when the counts have doubled.
        if sum(len(part) for part, _values in self._parts) > max(LEAST_MERGED, len(self._keys)):
            self._merge()

    def _merge(self) -> None:
        if self._parts:
            keys, values = zip((self._keys, self._values), *self._parts, strict=True)
            self._keys, self._values = _summed(keys, values)
            self._parts = []

    @property
    def keys(self) -> np.ndarray:
        self._merge()
        return self._keys

    @property
    def values(self) -> np.ndarray:
        self._merge()
        return self._values

    @property
    def rows(self) -> np.ndarray:
        return self.keys // self.size

    @property
    def columns(self) -> np.ndarray:
        return self.keys % self.size


def _summed(
    keys: Sequence[np.ndarray], values: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys in order, and the sum of the values of each."""
    distinct, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    return distinct, np.bincount(inverse, np.concatenate(values), len(distinct))


def weights(values: Tensor, x_max: float, alpha: float) -> Tensor:
    """f(x) of equation 9, (N,) in [0, 1]."""
    return (values / x_max).clamp(max=1.0) ** alpha


class Glove:
    """Vectors and biases with their AdaGrad sums, initialized as in the released code."""

    def __init__(self, corpus: Corpus, options: Mapping[str, Any], seed: int):
        self.options = options
        counted = corpus.frequent(options["min_count"], options["max_words"])
        self.vocabulary = {word: number for number, word in enumerate(counted)}
        self.corpus = corpus
        self.draw = torch.Generator().manual_seed(seed)
        size, width = len(counted), options["dimension"]
        shape = (2 * size, width + 1)  # words, then contexts; the last column is the bias
        self.table = (torch.rand(shape, generator=self.draw) - 0.5) / width
        self.sums = torch.ones(shape)
        self.counts = Counts(size, options["window"])
        self.done, self.last = 0, float("nan")

    @property
    def words(self) -> int:
        return len(self.vocabulary)

    def count(self) -> Iterator[int]:
        """Count co-occurrences; yields the number of words read."""
        done = 0
        for lines in self.corpus.chunks():
            self.counts.add([[self.vocabulary.get(word, -1) for word in line] for line in lines])
            done += sum(map(len, lines))
            yield done

    def epoch(self) -> Iterator[float]:
        """One pass over all counts in random order; yields the share of all epochs done."""
        if not len(self.counts.keys):
            for _words in self.count():
                yield 0.0
        rows, columns = torch.from_numpy(self.counts.rows), torch.from_numpy(self.counts.columns)
        values = torch.from_numpy(self.counts.values).float()
        factor = weights(values, self.options["x_max"], self.options["alpha"])
        order, loss = torch.randperm(len(values), generator=self.draw), 0.0
        total = self.options["epochs"] * len(values)
        for number, start in enumerate(range(0, len(order), BATCH)):
            part = order[start : start + BATCH]
            places = rows[part], columns[part] + self.counts.size
            loss += self.step(*places, values[part].log(), factor[part])
            self.done += len(part)
            if number % STEPS == 0:
                yield self.done / total
        self.last = loss / len(order)

    def step(self, rows: Tensor, columns: Tensor, logs: Tensor, factor: Tensor) -> float:
        """One AdaGrad step on a batch, all (B,). Returns the sum of the losses before it.

        The released code updates after each count. In a batch a frequent word has many gradients:
        their squares are added one by one, so that its step stays bounded.
        """
        left, right = self.table[rows], self.table[columns]  # (B, H + 1)
        difference = (left[:, :-1] * right[:, :-1]).sum(1) + left[:, -1] + right[:, -1] - logs
        slope = (factor * difference).unsqueeze(1)
        tensor = torch.ones_like(slope)
        for places, other in ((rows, right), (columns, left)):
            gradient = slope * torch.cat([other[:, :-1], tensor], 1)
            self.sums.index_add_(0, places, gradient**2)
            step = self.options["learning_rate"] * gradient / self.sums[places].sqrt()
            self.table.index_add_(0, places, -step)
        return float((0.5 * factor * difference**2).sum())

    def loss(self) -> float:
        """Mean of ½ f(X) (…)² over the last epoch."""
        return self.last

    def save(self, path: Path) -> None:
        """GloVe's text format: no first line."""
        size = self.counts.size
        found = (self.table[:size, :-1] + self.table[size:, :-1]).numpy()
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for word, vector in zip(self.vocabulary, found, strict=True):
                # Five digits, as in the published files.
                file.write(f"{word} {' '.join(f'{value:.5g}' for value in vector)}\n")
