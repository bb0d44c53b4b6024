"""Document classification with the library's sequence classification head or pooled states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model, Targets
from workbench.tasks.classify.info import INFO, ClassGold
from workbench.tasks.heads.pooling import SequenceTask
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.spec import TaskInfo


class Classify(SequenceTask):
    info: TaskInfo = INFO
    problem = "single_label_classification"
    loss_targets = {"task": "classes"}

    def natives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """An encoder–decoder writes the label instead."""
        return (*super().natives(options), "text") if self.uses_native(options) else ()

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
        """Cross-entropy of the classes, or of the subwords of label texts (teacher forcing).

        "logits" (B, L), "classes" (B,).
        """
        is_text = model.head is None and bool(model.encoder.label_texts)
        loss = self.criterion.classes(logits["logits"], targets["classes"], normalized=is_text)
        return {"task": loss}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Documents of each class."""
        return TargetCounts.of_classes(labels, targets["classes"])
