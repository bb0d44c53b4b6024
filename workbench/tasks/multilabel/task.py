"""Multi-label classification with the library's sequence classification head and sigmoids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model
from workbench.tasks.heads.pooling import SequenceTask
from workbench.tasks.multilabel.info import INFO, LabelsGold
from workbench.tasks.spec import TaskInfo


class Multilabel(SequenceTask):
    info: TaskInfo = INFO
    problem = "multi_label_classification"
    loss_targets = {"task": "labels"}

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[LabelsGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """labels: float32 (L,) per document, 1 at its labels.

        Raises KeyError for a label that is not in `labels`.
        """
        number = {label: position for position, label in enumerate(labels)}
        rows = np.zeros((len(golds), len(labels)), np.float32)
        for row, gold in zip(rows, golds, strict=True):
            row[[number[label] for label in gold.chosen]] = 1.0
        return {"labels": list(rows)}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Binary cross-entropy, averaged over documents and labels as in transformers.

        "logits" and "labels" (B, L).
        """
        labels = targets["labels"]  # (B, L)
        total = F.binary_cross_entropy_with_logits(logits["logits"], labels, reduction="sum")
        return {"task": Loss(total, torch.tensor(labels.numel(), device=total.device))}

    def usual_counts(
        self, targets: Mapping[str, Sequence[np.ndarray]], batch_size: int
    ) -> dict[str, float | None]:
        """targets: "labels" (L,) of each document, so that no count is needed."""
        return {"task": None}  # every document has equally many targets
