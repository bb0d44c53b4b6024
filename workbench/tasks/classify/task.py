"""Document classification with the library's sequence classification head or pooled states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model, Targets
from workbench.tasks.classify.info import INFO, ClassGold
from workbench.tasks.heads.pooling import SequenceTask
from workbench.tasks.spec import TaskInfo


class Classify(SequenceTask):
    info: TaskInfo = INFO
    problem = "single_label_classification"
    loss_targets = {"task": "classes"}

    def natives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """An encoder–decoder writes the label instead."""
        return (*super().natives(options), "text") if self.uses_native(options) else ()

    def resolve(
        self, golds: Sequence[ClassGold], labels: Sequence[str], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """weights_by_label: of every label, in order; none if all classes have equal weight."""
        if options.get("class_weights", "none") != "balanced":
            return {}
        number = {label: position for position, label in enumerate(labels)}
        classes = np.array([number[gold.label] for gold in golds], np.int64)
        return {"weights_by_label": balanced(np.bincount(classes, minlength=len(labels)))}

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[ClassGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """classes: int64 () per document; weights: float32 () if classes have weights.

        Raises KeyError for a label that is not in `labels`.
        """
        number = {label: position for position, label in enumerate(labels)}
        classes = [np.asarray(number[gold.label], np.int64) for gold in golds]
        targets = {"classes": classes}
        if (weights := options.get("weights_by_label")) is not None:
            targets["weights"] = [np.asarray(weights[class_], np.float32) for class_ in classes]
        return targets

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Cross-entropy of the classes, or of the subwords of label texts (teacher forcing).

        "logits" (B, L), "classes" and "weights" (B,).
        """
        classes, weights = targets["classes"], targets.get("weights")  # (B,), (B,)
        loss = F.nll_loss if model.head is None and model.encoder.label_texts else F.cross_entropy
        if weights is None:
            total = loss(logits["logits"], classes, reduction="sum")
            return {"task": Loss(total, torch.tensor(len(classes), device=total.device))}
        each = loss(logits["logits"], classes, reduction="none")
        return {"task": Loss((each * weights).sum(), weights.sum())}

    def usual_counts(self, targets: Targets, batch_size: int) -> dict[str, float | None]:
        """Dividing by the weights of the batch would make a document's weight depend on it."""
        weights = targets.get("weights")
        return {"task": batch_size * float(np.mean(weights)) if weights else None}

    def sampling_weights(self, targets: Targets, options: Mapping[str, Any]) -> np.ndarray | None:
        """(N,), one for each document; None unless the sampling is balanced."""
        if options.get("sampling", "plain") != "balanced":
            return None
        classes = np.asarray(targets["classes"])
        weights: np.ndarray = balanced(np.bincount(classes))[classes]
        return weights


def balanced(counts: np.ndarray) -> np.ndarray:
    """Weights (L,) of classes with these counts (L,): N / (K * count), 1 for absent classes.

    K is the number of classes that occur; over all documents the mean weight is 1.
    Source: King and Zeng 2001, as scikit-learn's compute_class_weight("balanced").
    """
    present = counts > 0
    weights = np.ones(len(counts))
    weights[present] = counts.sum() / (present.sum() * counts[present])
    return weights
