"""Document classes: the heavy half, with the library's sequence classification head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model, Task
from workbench.tasks.classify.info import INFO, ClassGold
from workbench.tasks.heads.linear import SequenceHead
from workbench.tasks.spec import TaskInfo


class Classify(Task):
    info: TaskInfo = INFO
    native = "sequence"
    loss_targets = {"task": "classes"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return SequenceHead(encoder.width, len(labels))

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[ClassGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """classes: int64 () per document. Raises KeyError for a label that is not in `labels`."""
        number = {label: position for position, label in enumerate(labels)}
        return {"classes": [np.asarray(number[gold.label], np.int64) for gold in golds]}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        classes = targets["classes"]  # (B,)
        total = F.cross_entropy(logits["logits"], classes, reduction="sum")
        return {"task": Loss(total, torch.tensor(len(classes), device=total.device))}
