"""Cross-entropy with weights, focal factor and label smoothing, for classes and for labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.tasks.losses.balance import Balance
from workbench.tasks.losses.info import FOCAL_GAMMA, LABEL_SMOOTHING

IGNORED = -100  # target of positions without a loss, the `ignore_index` of torch's cross_entropy
LEAST = 1e-6  # of 1 - p: the power of 0 has no finite gradient where γ < 1


class Loss(NamedTuple):
    """Sum of the losses of `count` targets: mean = total / count, over several batches too.

    If targets have weights, `total` is the weighted sum and `count` the sum of the weights.
    """

    total: Tensor
    count: Tensor  # type: ignore[assignment]  # hides tuple.count, which nothing calls here


@dataclass(frozen=True)
class Criterion:
    """How the targets of a run are weighed; the same for train and dev.

    weights: of the outputs, () for equal ones. gamma: of the focal loss, smoothing: of the labels;
    0 for none.
    """

    weights: tuple[float, ...] = ()
    gamma: float = 0.0
    smoothing: float = 0.0

    @classmethod
    def of(cls, balance: Balance, options: Mapping[str, Any]) -> Criterion:
        return cls(
            balance.of_outputs(),
            float(options.get(FOCAL_GAMMA.name) or 0.0),
            float(options.get(LABEL_SMOOTHING.name) or 0.0),
        )

    def classes(
        self,
        scores: Tensor,
        classes: Tensor,
        *,
        allowed: Tensor | None = None,
        normalized: bool = False,
    ) -> Loss:
        """scores (N, C) of each class; classes (N,), IGNORED for none.

        The mean is that of torch's CrossEntropyLoss(weight, label_smoothing), times the focal
        factor of each target, (1 - p)^γ with the probability p of its class.
        allowed: bool (N, C), the classes over which smoothing spreads, all by default.
        normalized: the scores are log probabilities, not necessarily of all texts there are; they
        cannot be smoothed.
        Raises SpecError if they should be.
        Source: Lin et al. 2017, equation 5; Szegedy et al. 2016, section 7.
        """
        has_target = classes != IGNORED
        if not (self.weights or self.gamma or self.smoothing):
            loss = F.nll_loss if normalized else F.cross_entropy
            total = loss(scores, classes, ignore_index=IGNORED, reduction="sum")
            return Loss(total, has_target.sum())
        if normalized and self.smoothing:
            raise SpecError(
                _("label_smoothing is not defined for a model that writes the label as text."),
                hint=_("Set label_smoothing to 0, or choose another model."),
            )
        scores = scores.float()
        logs = scores if normalized else F.log_softmax(scores, -1)
        weights = logs.new_tensor(self.weights) if self.weights else logs.new_ones(logs.shape[-1])
        gold = classes.where(has_target, 0)
        own, weight = logs.gather(-1, gold[:, None]).squeeze(-1), weights[gold]
        each = -own * weight
        if self.smoothing:
            spread = -logs * weights
            if allowed is None:
                uniform = spread.mean(-1)
            else:
                uniform = spread.where(allowed, 0.0).sum(-1) / allowed.sum(-1).clamp(min=1)
            each = torch.lerp(each, uniform, self.smoothing)
        if self.gamma:
            each = each * (-torch.expm1(own)).clamp(min=LEAST) ** self.gamma
        return Loss(
            each.where(has_target, 0.0).sum(),
            weight.where(has_target, 0.0).sum() if self.weights else has_target.sum(),
        )

    def labels(self, logits: Tensor, labels: Tensor) -> Loss:
        """logits and labels (…, L): each label is decided on its own, 1 where it is one.

        The mean over all decisions is that of torch's BCEWithLogitsLoss(pos_weight), times the
        focal factor of each; smoothed targets are 1 - ε / 2 and ε / 2.
        Source: as of `classes`; the focal loss is that of torchvision's `sigmoid_focal_loss`.
        """
        logits = logits.float()
        weights = logits.new_tensor(self.weights) if self.weights else None
        targets = labels * (1 - self.smoothing) + self.smoothing / 2 if self.smoothing else labels
        count = torch.tensor(labels.numel(), device=logits.device)
        if not self.gamma:
            total = F.binary_cross_entropy_with_logits(
                logits, targets, pos_weight=weights, reduction="sum"
            )
            return Loss(total, count)
        each = F.binary_cross_entropy_with_logits(
            logits, targets, pos_weight=weights, reduction="none"
        )
        wrong = torch.sigmoid(logits * (1 - 2 * labels)).clamp(min=LEAST)  # 1 - p of the gold side
        return Loss((each * wrong**self.gamma).sum(), count)
