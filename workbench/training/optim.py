"""Parameter groups and freezing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.tasks.base import Model
from workbench.training.methods.full.info import (
    ENCODER,
    LOWER,
    frozen_levels,
    layer_rates,
    trained_levels,
)
from workbench.training.rates import Schedule


@dataclass(frozen=True)
class Levels:
    """The parameters of a model in levels that are frozen or trained together.

    bottom up: embeddings, each layer, and the top: the pooler (modules above the last layer) and
    the head. modules: those of the embeddings, then one per layer. factors: id of a parameter →
    factor on its learning rate, 1 for all others.
    """

    embeddings: Sequence[nn.Parameter]
    layers: Sequence[Sequence[nn.Parameter]]
    pooler: Sequence[nn.Parameter]
    head: Sequence[nn.Parameter]
    modules: Sequence[nn.Module]
    factors: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Levels:
        parts = model.encoder.parts()
        return cls(
            parts.embeddings,
            parts.layers,
            parts.pooler,
            model.head_parameters(),
            parts.modules,
            model.rate_factors(),
        )

    @classmethod
    def of_language_model(cls, encoder: Encoder, module: nn.Module | None) -> Levels:
        """With everything that predicts at the top, an embedding matrix included that also scores
        the units of the vocabulary. module: further parameters of an objective.

        Source: fastai 2.8, `awd_lstm_lm_split`.
        """
        parts, size = encoder.parts(), encoder.info.vocabulary
        placed = {id(p) for level in (parts.embeddings, *parts.layers) for p in level}
        modules = [encoder, *([] if module is None else [module])]
        top = [p for module in modules for p in module.parameters() if id(p) not in placed]
        tables = [p for p in parts.embeddings if p.ndim > 1 and len(p) == size]
        if any(p.ndim > 1 and len(p) == size for p in top):
            tables = []  # the units are scored by a matrix of their own
        moved = {id(p) for p in tables}
        low = [p for p in parts.embeddings if id(p) not in moved]
        return cls(low, parts.layers, tables, top, parts.modules)

    def parameters(self) -> list[list[nn.Parameter]]:
        return [
            list(self.embeddings),
            *(list(layer) for layer in self.layers),
            [*self.pooler, *self.head],
        ]


def groups(
    levels: Levels, *, rate: float, decay: float, weight_decay: float, slower: str = LOWER
) -> list[dict[str, Any]]:
    """AdamW's parameter groups, lowest level first, each with its own `peak` learning rate.

    decay, slower: see `layer_rates`.
    `factor` is that of its parameters (`Levels.factors`). Biases and norms have no weight decay.
    Frozen parameters are left out.
    """
    groups_of: dict[tuple[int, float, bool], dict[str, Any]] = {}
    for level, members in enumerate(levels.parameters()):
        share = layer_rates(len(levels.layers), decay, slower)[level]
        for parameter in members:
            if not parameter.requires_grad:
                continue
            factor, is_matrix = levels.factors.get(id(parameter), 1.0), parameter.ndim > 1
            peak = rate * share * factor
            group = groups_of.setdefault(
                (level, factor, not is_matrix),
                {
                    "params": [],
                    "lr": peak,
                    "peak": peak,
                    "factor": factor,
                    "weight_decay": weight_decay if is_matrix else 0.0,
                },
            )
            group["params"].append(parameter)
    return [groups_of[key] for key in sorted(groups_of)]


def sizes(model: nn.Module) -> tuple[int, int]:
    """Number of all parameters, and of those that are not frozen."""
    parameters = list(model.parameters())
    return (
        sum(parameter.numel() for parameter in parameters),
        sum(parameter.numel() for parameter in parameters if parameter.requires_grad),
    )


def optimizer(groups: Sequence[dict[str, Any]], device: torch.device) -> torch.optim.Optimizer:
    """Raises SpecError if everything is frozen."""
    if not groups:
        raise SpecError(
            _("Nothing is left to train: every part of the model is frozen."),
            hint=_("Set freeze to encoder at most."),
        )
    return torch.optim.AdamW(groups, fused=device.type in ("cpu", "cuda"))


def apply_gradients(
    optimizer: torch.optim.Optimizer,
    *,
    clip: float | None,
    rate: Schedule,
    step: int,
    total: int,
    cut: float,
) -> float | None:
    """One update with the learning rate of `step` (0-based) of `total`, then no gradients.

    Returns the norm of all gradients before clipping, None if it is not finite.

    clip: largest norm of all gradients together, None or 0 for no limit. rate: of `schedule`;
    cut: fraction of warm-up steps.
    """
    trained = [
        parameter
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    ]
    norm = float(torch.nn.utils.clip_grad_norm_(trained, clip or math.inf))
    used = {id(parameter) for parameter in trained}
    for group in optimizer.param_groups:
        if not any(id(parameter) in used for parameter in group["params"]):
            group["lr"] = 0.0  # frozen now
            continue
        group["lr"] = rate(step, total, peak=group["peak"], cut=cut)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return norm if math.isfinite(norm) else None


class Freezing:
    """Selects which levels are trained. `apply` is called before each epoch (0-based).

    Frozen levels get no gradients and no dropout. Gradual unfreezing adds one level from the top
    per epoch (Howard and Ruder 2018, section 3.3), never one that `freeze` keeps frozen.
    """

    def __init__(self, levels: Levels, *, freeze: str, gradual: bool):
        self.levels, self.freeze, self.gradual = levels, freeze, gradual
        frozen_levels(freeze, len(levels.layers))  # raises SpecError

    def trained(self, epoch: int) -> list[bool]:
        """For each level, whether it is trained in this epoch."""
        count = len(self.levels.layers)
        return trained_levels(count, freeze=self.freeze, gradual=self.gradual, epoch=epoch)

    def apply(self, epoch: int) -> None:
        for members, trained in zip(self.levels.parameters(), self.trained(epoch), strict=True):
            for parameter in members:
                parameter.requires_grad_(trained)
        if self.freeze == ENCODER:  # feature extraction: the pretrained pooler is frozen as well
            for parameter in self.levels.pooler:
                parameter.requires_grad_(False)

    def quiet(self, epoch: int) -> None:
        """Set the modules of frozen levels to eval mode; call after model.train()."""
        trained = self.trained(epoch)
        embeddings = len(self.levels.modules) - len(self.levels.layers)
        for number, module in enumerate(self.levels.modules):
            level = 0 if number < embeddings else number - embeddings + 1
            if not trained[level]:
                module.eval()
