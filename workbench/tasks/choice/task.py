"""Multiple choice: one score for each pair of context and choice, and a softmax over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model
from workbench.tasks.choice.info import INFO
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.heads.pooling import SequenceTask, sequence_head
from workbench.tasks.spec import TaskInfo

IMPOSSIBLE = -1e4  # the score of a choice that a document does not have


class Choice(SequenceTask):
    """The library's multiple choice head, or a linear layer over the pooled states."""

    info: TaskInfo = INFO
    native = "choice"
    loss_targets = {"task": "right"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return sequence_head(encoder, 1, options)

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[ClassGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        return choice_targets(prepared, golds)

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Cross-entropy over the choices of each document, all of which are in the batch.

        "logits" (B, 1); "right" and "document" (B,), one for each choice.
        """
        scores, right = by_document(
            logits["logits"].squeeze(-1), targets["right"], targets["document"]
        )
        allowed = scores > IMPOSSIBLE
        return {"task": self.criterion.classes(scores, right.argmax(-1), allowed=allowed)}


def by_document(scores: Tensor, right: Tensor, document: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and targets (N,) of choices → (D, K), filled with IMPOSSIBLE and 0.

    document (N,): the same number for the choices of a document, which are adjacent.
    """
    _numbers, row, sizes = document.unique_consecutive(return_inverse=True, return_counts=True)
    starts = sizes.cumsum(0) - sizes
    place = torch.arange(len(document), device=document.device) - starts[row]
    shape = (len(sizes), int(sizes.max()))
    rows = scores.new_full(shape, IMPOSSIBLE).index_put((row, place), scores)
    return rows, right.new_zeros(shape).index_put((row, place), right)


def choice_targets(prepared: Prepared, golds: Sequence[ClassGold]) -> dict[str, list[np.ndarray]]:
    """right: float32 () per choice, 1 for the right one; document: int64 (), its document."""
    targets: dict[str, list[np.ndarray]] = {"right": [], "document": []}
    for number, gold in enumerate(golds):
        for place, _item in enumerate(prepared.of(number), 1):
            targets["right"].append(np.asarray(str(place) == gold.label, np.float32))
            targets["document"].append(np.asarray(number, np.int64))
    return targets
