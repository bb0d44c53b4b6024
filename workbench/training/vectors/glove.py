"""GloVe: vectors whose products are the logarithms of co-occurrence counts.

J = Σ f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)², f(x) = min(1, (x / x_max)^α), minimized with
AdaGrad. The result is w + w̃. Source: Pennington, Socher and Manning 2014, equations 8 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.training.vectors.corpus import Corpus
from workbench.training.vectors.counts import MB, Bucket, Cooccurrences

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
