"""Multi-label classification with the library's sequence classification head and sigmoids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model, Targets
from workbench.tasks.heads.pooling import SequenceTask
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.multilabel.info import INFO, LabelsGold
from workbench.tasks.spec import TaskInfo


class Multilabel(SequenceTask):
    info: TaskInfo = INFO
    problem = "multi_label_classification"
    loss_targets = {"task": "labels"}
    independent = True

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
        return {"task": self.criterion.labels(logits["logits"], targets["labels"])}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Documents that have each label."""
        return TargetCounts(tuple(labels), np.asarray(targets["labels"]))

    def usual_counts(self, targets: Targets, batch_size: int) -> dict[str, float | None]:
        """targets: "labels" (L,) of each document, so that no count is needed."""
        return {"task": None}  # every document has equally many targets
