"""Contrastive tuning of the encoder before the head is trained.

Source: Tunstall et al. 2022, Efficient Few-Shot Learning Without Prompts (SetFit), section 3; the
loss is CosineSimilarityLoss of sentence-transformers 5: the squared error of the cosine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from workbench.tasks.base import Loss
from workbench.training import optim
from workbench.training.methods.contrastive.info import INFO
from workbench.training.methods.full.info import ENCODER
from workbench.training.methods.full.method import Full
from workbench.training.methods.spec import FIRST


class Contrastive(Full):
    info = INFO

    @property
    def freeze(self) -> str:
        return ENCODER

    def groups(self, rate: float) -> list[dict[str, Any]]:
        """Those of the encoder with the rate of pairs, those of the head with `rate`."""
        self.unfreeze()
        levels, encoder = self.levels, self.model.encoder
        below = replace(levels, pooler=(), head=())
        above = replace(levels, embeddings=(), layers=[()] * len(levels.layers), pooler=())
        rates = (self.info.first_rate(self.options, encoder.width), rate)
        return [
            group
            for part, own in zip((below, above), rates, strict=True)
            for group in optim.groups(
                part, rate=own, decay=1.0, weight_decay=self.options["weight_decay"]
            )
        ]

    def unfreeze(self) -> None:
        for members in self.levels.parameters():
            for parameter in members:
                parameter.requires_grad_(True)

    def start_epoch(self, epoch: int) -> None:
        self.unfreeze() if epoch == FIRST else super().start_epoch(epoch)

    def train_mode(self, epoch: int) -> None:
        self.model.train() if epoch == FIRST else super().train_mode(epoch)

    def sizes(self) -> tuple[int, int]:
        self.unfreeze()
        return super().sizes()

    def first_batches(
        self, classes: np.ndarray, steps: int, size: int, seed: int
    ) -> Iterator[np.ndarray]:
        rng = np.random.default_rng((seed, len(classes)))
        yield from islice(_batches(classes, int(self.options["pairs"]), size, rng), steps)

    def first_losses(self, inputs: Mapping[str, Tensor], classes: Tensor) -> dict[str, Loss]:
        """The squared difference of the cosine similarity from 1 for equal classes, 0 for others.

        inputs (2P, T, …), classes (2P,): the first texts of all pairs, then the second ones.
        """
        left, right = self.model.pooled(inputs).float().chunk(2)
        first, second = classes.chunk(2)
        cosines = F.cosine_similarity(left, right)  # (P,)
        total = F.mse_loss(cosines, (first == second).float(), reduction="sum")
        return {"contrastive": Loss(total, classes.new_tensor(len(first)))}


def _batches(
    classes: np.ndarray, each: int, size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Batches int (P, 2) of pairs without an end."""
    while True:
        rows = pairs(classes, each, rng)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def pairs(classes: np.ndarray, each: int, rng: np.random.Generator) -> np.ndarray:
    """int (2 · each · N, 2), in random order: of each text `each` pairs with others of its class,
    and as many with texts of other classes.

    classes int (N,). A text that is alone in its class is paired with itself, whose states differ
    by the dropout.
    """
    everything, rows = np.arange(len(classes)), []
    for text, own in enumerate(classes):
        same = everything[(classes == own) & (everything != text)]
        for others in (same, everything[classes != own]):
            chosen = rng.choice(others, each) if len(others) else np.full(each, text)
            rows.append(np.column_stack([np.full(each, text), chosen]))
    return rng.permutation(np.concatenate(rows))
