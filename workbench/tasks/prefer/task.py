"""Direct preference optimization of a causal language model.

Source: Rafailov et al. 2023, equation 7; with label smoothing: Mitchell 2023, A note on DPO with
noisy preferences, equation 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.runtime.preparers.replies import REPLIED
from workbench.tasks.base import Batch, Loss, Model, Outputs, Targets, Task
from workbench.tasks.choice.task import choice_targets
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.losses.balance import Balance
from workbench.tasks.model import NEXT
from workbench.tasks.prefer.info import BETA, INFO, REFERENCE, SMOOTHING
from workbench.tasks.spec import TaskInfo


class Prefer(Task):
    """The model with its own language model head; its logits are log-probabilities of answers."""

    info: TaskInfo = INFO
    native = NEXT
    loss_targets = {"task": "right"}
    reference = REFERENCE
    beta, smoothing = 0.1, 0.0  # those of the settings while it is trained

    def balance(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> Balance:
        self.beta = float(options[BETA.name])
        self.smoothing = float(options[SMOOTHING.name])
        return Balance.of(None, {}, independent=False)

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[ClassGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """As for multiple choice: the preferred answer is the right one."""
        return choice_targets(prepared, golds)

    def forward(self, model: Model, batch: Batch) -> Outputs:
        inputs = dict(batch.inputs)
        replied, reference = inputs.pop(REPLIED).bool(), inputs.pop(REFERENCE, None)
        scores = log_probabilities(model.encoder, inputs, replied)  # (B,)
        logits = {"logits": scores.unsqueeze(-1)}
        if not batch.targets:
            return Outputs({}, logits)
        if reference is None:  # the model is its own before the training
            reference = scores.detach().unsqueeze(-1)
        targets = {**batch.targets, REFERENCE: reference.squeeze(-1)}
        return Outputs({**self.losses(model, logits, targets), **model.penalties()}, logits)

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Of each pair of the preferred answer and another one of its document, all of which are in
        the batch. "logits" (B, 1), log-probabilities; "right", "document", "reference" (B,).
        """
        gains = logits["logits"].squeeze(-1) - targets[REFERENCE]
        margins = self.beta * preferred(gains, targets["right"], targets["document"])
        losses = -(1 - self.smoothing) * F.logsigmoid(margins)
        losses = losses - self.smoothing * F.logsigmoid(-margins)
        return {"task": Loss(losses.sum(), torch.as_tensor(float(len(margins))))}

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"beta": float(options.get(BETA.name, BETA.default))}


def preferred(gains: Tensor, right: Tensor, document: Tensor) -> Tensor:
    """How far the gain of the preferred answer is above each other one of its document: (P,).

    gains, right, document (N,): the answers of a document are adjacent, and one of them is right.
    """
    _numbers, row = document.unique_consecutive(return_inverse=True)
    is_right = right > 0
    best = gains[is_right]  # (D,), in order
    return (best[row] - gains)[~is_right]


def log_probabilities(encoder: Encoder, inputs: Mapping[str, Tensor], replied: Tensor) -> Tensor:
    """The log-probability of each reply, float32 (B,), summed over its tokens.

    inputs (B, T); replied bool (B, T): its tokens, of which none is the first of an input. Logits
    are computed there only: the vocabulary is large.
    """
    ids, targets = inputs["input_ids"], replied[:, 1:]
    counts = targets.sum(1)
    most = max(1, int(counts.max()))
    order = torch.argsort(targets.int(), dim=1, descending=True, stable=True)[:, :most]  # (B, K)
    logits = encoder.logits_at(inputs, order).float()  # (B, K, V)
    tokens = ids[:, 1:].gather(1, order)
    logs = logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    is_target = torch.arange(most, device=ids.device) < counts.unsqueeze(1)
    return torch.where(is_target, logs, 0.0).sum(1)
