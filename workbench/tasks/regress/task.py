"""Regression on documents with the library's sequence head of one output, or pooled states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model
from workbench.tasks.heads.pooling import SequenceTask, sequence_head
from workbench.tasks.regress.info import INFO, NumberGold
from workbench.tasks.spec import TaskInfo


class Regress(SequenceTask):
    info: TaskInfo = INFO
    problem = "regression"
    loss_targets = {"task": "numbers"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return sequence_head(encoder, 1, options)

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[NumberGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """numbers: float32 () per document."""
        return {"numbers": [np.asarray(gold.value, np.float32) for gold in golds]}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Squared error, as the regression loss of transformers."""
        numbers = targets["numbers"]  # (B,)
        total = F.mse_loss(logits["logits"].squeeze(-1), numbers, reduction="sum")
        return {"task": Loss(total, torch.tensor(len(numbers), device=total.device))}
