"""GloVe: vectors whose products are the logarithms of co-occurrence counts.

J = Σ f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)², f(x) = min(1, (x / x_max)^α), minimized with
AdaGrad. The result is w + w̃. Source: Pennington, Socher and Manning 2014, equations 8 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.training.vectors.corpus import Corpus

MB = 1_000_000
LEAST_MERGED = 1_000_000  # counts that are collected before they are merged
WORKING = 180  # bytes per merged count while counts are added: two lists, and sorting them
IN_BUCKET = 1 << 22  # counts that are shuffled in memory, about
COUNT = np.dtype([("key", np.int64), ("value", np.float64)])  # of a file
Table = tuple[np.ndarray, np.ndarray]  # keys int64 (N,), values float64 (N,)


@dataclass(frozen=True)
class Bucket:
    """A random part of the counts, in memory or in a file."""

    table: Table | Path

    def read(self) -> Table:
        return _read(self.table) if isinstance(self.table, Path) else self.table


class Cooccurrences:
    """Co-occurrences X, each pair of words once, as keys `row · size + column` and values.

    A word at distance d adds 1/d, up to `window` words away in the same line, on both sides.
    memory: bytes for the counts; more are kept in files of `folder`. `finish` fills `buckets` and
    `total`. Which count is in which bucket does not depend on the memory.
    """

    def __init__(self, size: int, window: int, folder: Path, memory: int):
        self.size, self.window = size, window
        self.folder, self.most = folder, max(1, memory // WORKING)
        self.buckets: list[Bucket] = []
        self.total = 0
        self._keys: np.ndarray = np.zeros(0, np.int64)  # in order
        self._values: np.ndarray = np.zeros(0)
        self._parts: list[Table] = []  # not yet added to them
        self._runs: list[Path] = []  # sorted, on disk

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
        pending = sum(len(part) for part, _values in self._parts)
        # Merging sorts everything, so it is done when the counts have doubled.
        if pending > min(max(LEAST_MERGED, len(self._keys)), self.most):
            self._merge()

    def _merge(self) -> None:
        if self._parts:
            keys, values = zip((self._keys, self._values), *self._parts, strict=True)
            self._keys, self._values = _summed(keys, values)
            self._parts = []
        if len(self._keys) > self.most:
            self._runs.append(self.folder / f"counts{len(self._runs)}.run")
            _append(self._runs[-1], self._keys, self._values)
            self._keys, self._values = np.zeros(0, np.int64), np.zeros(0)

    def finish(self) -> Iterator[None]:
        """Distribute the counts over `buckets` at random; yields between the parts of the work."""
        self._merge()
        if not self._runs:
            self.total = len(self._keys)
            self.buckets = [Bucket(part) for part in self._divided(self._keys, self._values)]
            self._keys, self._values = np.zeros(0, np.int64), np.zeros(0)
            return
        whole = self.folder / "counts.merged"
        for keys, values in self._merged():
            _append(whole, keys, values)
            self.total += len(keys)
            yield
        paths = [self.folder / f"counts{n}.bucket" for n in range(self._count)]
        for start in range(0, self.total, self.most):
            buckets = self._divided(*_read(whole, start, self.most))
            for path, part in zip(paths, buckets, strict=True):
                _append(path, *part)
            yield
        whole.unlink()
        self.buckets = [Bucket(path) for path in paths if path.is_file()]

    @property
    def _count(self) -> int:
        return max(1, -(-self.total // IN_BUCKET))

    def _divided(self, keys: np.ndarray, values: np.ndarray) -> list[Table]:
        """The counts of each bucket, in order."""
        if self._count == 1:
            return [(keys, values)]
        number = _scattered(keys) % np.uint64(self._count)
        return [(keys[number == n], values[number == n]) for n in range(self._count)]

    def _merged(self) -> Iterator[Table]:
        """The counts of all runs in order of their keys, each key once. Removes the runs."""
        if len(self._keys):
            self._runs.append(self.folder / f"counts{len(self._runs)}.run")
            _append(self._runs[-1], self._keys, self._values)
            self._keys, self._values = np.zeros(0, np.int64), np.zeros(0)
        sizes = [path.stat().st_size // COUNT.itemsize for path in self._runs]
        read, at_once = [0] * len(self._runs), max(1, self.most // len(self._runs))
        while any(start < size for start, size in zip(read, sizes, strict=True)):
            blocks = [
                _read(path, start, at_once) for path, start in zip(self._runs, read, strict=True)
            ]
            # All counts up to the smallest last key of the blocks are in them.
            open_ends = [
                keys[-1]
                for (keys, _values), start, size in zip(blocks, read, sizes, strict=True)
                if start + len(keys) < size
            ]
            ends = [
                int(np.searchsorted(keys, min(open_ends), "right")) if open_ends else len(keys)
                for keys, _values in blocks
            ]
            pairs = list(zip(blocks, ends, strict=True))
            yield _summed(
                [keys[:end] for (keys, _values), end in pairs],
                [values[:end] for (_keys, values), end in pairs],
            )
            read = [start + end for start, end in zip(read, ends, strict=True)]
        for path in self._runs:
            path.unlink()
        self._runs = []


def _summed(keys: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> Table:
    """Distinct keys in order, and the sum of the values of each."""
    distinct, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    return distinct, np.bincount(inverse, np.concatenate(values), len(distinct))


def _scattered(keys: np.ndarray) -> np.ndarray:
    """uint64 (N,): numbers that look random, the same for equal keys.

    Source: Steele et al. 2014, the finalizer of SplitMix64.
    """
    mixed = keys.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashed: np.ndarray = mixed ^ (mixed >> np.uint64(31))
    return hashed


def _append(path: Path, keys: np.ndarray, values: np.ndarray) -> None:
    rows = np.empty(len(keys), COUNT)
    rows["key"], rows["value"] = keys, values
    with open(path, "ab") as file:
        rows.tofile(file)


def _read(path: Path, start: int = 0, most: int = -1) -> Table:
    rows = np.fromfile(path, COUNT, most, offset=start * COUNT.itemsize)
    return rows["key"].copy(), rows["value"].copy()


BATCH = 8192  # counts per step
STEPS = 20  # steps between two reports


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
        self.counts = Cooccurrences(
            size, options["window"], corpus.path.parent, options["memory"] * MB
        )
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
        for _part in self.counts.finish():
            yield done

    def epoch(self) -> Iterator[float]:
        """One pass over all counts in random order; yields the share of all epochs done.

        Raises SpecError if no two words occur together.
        """
        if not self.counts.buckets:
            for _words in self.count():
                yield 0.0
        if not self.counts.total:
            raise SpecError(
                _("No two words occur together in a line of the text."),
                hint=_("Use more text, or a smaller min_count."),
            )
        buckets, loss = self.counts.buckets, 0.0
        order = torch.randperm(len(buckets), generator=self.draw) if len(buckets) > 1 else [0]
        for number in order:
            for part in self._pass(buckets[int(number)]):
                loss += part
                yield self.done / (self.options["epochs"] * self.counts.total)
        self.last = loss / self.counts.total

    def _pass(self, bucket: Bucket) -> Iterator[float]:
        """Steps on a bucket of counts in random order; yields the losses of STEPS steps."""
        keys, values = (torch.from_numpy(part) for part in bucket.read())
        rows, columns = keys // self.counts.size, keys % self.counts.size + self.counts.size
        values = values.float()
        factor = weights(values, self.options["x_max"], self.options["alpha"])
        order, loss = torch.randperm(len(values), generator=self.draw), 0.0
        for number, start in enumerate(range(0, len(order), BATCH), 1):
            part = order[start : start + BATCH]
            loss += self.step(rows[part], columns[part], values[part].log(), factor[part])
            self.done += len(part)
            if number % STEPS == 0 or start + BATCH >= len(order):
                yield loss
                loss = 0.0

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
        vectors = (self.table[:size, :-1] + self.table[size:, :-1]).numpy()
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for word, vector in zip(self.vocabulary, vectors, strict=True):
                # Five digits, as in the published files.
                file.write(f"{word} {' '.join(f'{value:.5g}' for value in vector)}\n")
