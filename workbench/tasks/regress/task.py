"""Regression on documents with the library's sequence head of one output, or pooled states.

An encoder–decoder writes the number as text, rounded (Raffel et al. 2020, section 2.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import Loss, Model, Targets
from workbench.tasks.heads.pooling import SequenceTask, sequence_head
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.regress.info import INFO, NUMBER_STEP, NumberGold
from workbench.tasks.spec import LABEL_TEXTS, TaskInfo
from workbench.text.scale import number_texts

MAX_NUMBER_TEXTS = 200  # numbers that a model may write


class Regress(SequenceTask):
    info: TaskInfo = INFO
    problem = "regression"
    loss_targets = {"task": "numbers"}

    def natives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """An encoder–decoder writes the number instead."""
        return (*super().natives(options), "text") if self.uses_native(options) else ()

    def label_texts(
        self, golds: Sequence[NumberGold], options: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """The rounded numbers. Raises SpecError if the step makes too many of them."""
        values = [gold.value for gold in golds]
        low, high, step = min(values), max(values), float(options.get(NUMBER_STEP.name) or 0.0)
        if step and (high - low) / step > MAX_NUMBER_TEXTS:
            raise SpecError(
                _(
                    "Numbers from {low:g} to {high:g} in steps of {step:g} are more than {most} "
                    "texts, each of which the model would score.",
                    low=low,
                    high=high,
                    step=step,
                    most=MAX_NUMBER_TEXTS,
                ),
                hint=_("Set number_step to auto or to a larger step."),
            )
        return number_texts(low, high, step)

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        is_text = model.head is None and model.encoder.label_texts
        return {LABEL_TEXTS: list(model.encoder.outputs)} if is_text else {}

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

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Documents in each tenth of the range of numbers."""
        return TargetCounts.of_numbers(targets["numbers"])

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Squared error, as the regression loss of transformers.

        "logits" (B, 1), "numbers" (B,). Of numbers as text, with "logits" (B, L), the
        cross-entropy of the subwords of the nearest one.
        """
        numbers = targets["numbers"]  # (B,)
        if model.head is None and model.encoder.label_texts:
            written = numbers.new_tensor([float(text) for text in model.encoder.outputs])  # (L,)
            nearest = (numbers[:, None] - written).abs().argmin(1)
            total = F.nll_loss(logits["logits"], nearest, reduction="sum")
        else:
            total = F.mse_loss(logits["logits"].squeeze(-1), numbers, reduction="sum")
        return {"task": Loss(total, torch.tensor(len(numbers), device=total.device))}
