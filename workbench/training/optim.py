"""Parameter groups, schedules, freezing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Parts
from workbench.training.spec import frozen_layers


def slanted_triangular(
    step: int, total: int, *, peak: float, cut: float = 0.1, ratio: float = 32
) -> float:
    """Learning rate at `step` (0-based) of `total`: short linear rise, long linear fall to `peak / ratio`.

    `cut` is the fraction of steps spent rising, in [0, 1). `peak` is the highest rate.
    Raises SpecError if total < 1.
    Source: Howard and Ruder 2018, section 3.2, equation 3.
    """
    if total < 1:
        raise SpecError(_("A schedule of {total} steps is none.").format(total=total))
    top = int(total * cut)
    if step < top:
        part = step / top
    else:  # the paper's 1 - (t - top) / (top (1/cut - 1)); top (1/cut - 1) is total - top
        part = max(0.0, 1 - (step - top) / max(1, total - top))
    return peak * (1 + part * (ratio - 1)) / ratio


def linear(step: int, total: int, *, peak: float, cut: float = 0.1) -> float:
    """Linear rise over `cut` of the steps, then a linear fall that reaches 0 after the last step."""
    top = int(total * cut)
    if step < top:
        return peak * (step + 1) / (top + 1)
    return peak * max(0.0, (total - step) / max(1, total - top))


def constant(step: int, total: int, *, peak: float, cut: float = 0.1) -> float:
    top = int(total * cut)
    return peak * (step + 1) / (top + 1) if step < top else peak


SCHEDULES: dict[str, Callable[..., float]] = {
    "linear": linear,
    "constant": constant,
    "slanted": slanted_triangular,
}


def layer_rates(count: int, decay: float) -> tuple[float, ...]:
    """Factors of the rate for embeddings, layers 1 … count, and the top: each is `decay` times smaller than the one above.

    Source: Howard and Ruder 2018, section 3.2 (2.6; lower layers learn slower).
    """
    return tuple(decay ** -(count + 1 - level) for level in range(count + 2))


def levels(parts: Parts) -> list[list[nn.Parameter]]:
    """Embeddings, each layer, and the top (what stands on the last layer, and the head): bottom first."""
    return [
        list(parts.embeddings),
        *(list(one) for one in parts.layers),
        [*parts.summit, *parts.head],
    ]


def groups(parts: Parts, *, rate: float, decay: float, weight_decay: float) -> list[dict]:
    """AdamW's groups, lowest level first, each with its own `peak`; biases and norms without weight decay. Frozen parameters are left out."""
    found = []
    for members, factor in zip(levels(parts), layer_rates(len(parts.layers), decay), strict=True):
        for matrix, pull in ((True, weight_decay), (False, 0.0)):
            chosen = [one for one in members if one.requires_grad and (one.ndim > 1) == matrix]
            if chosen:
                found.append(
                    {
                        "params": chosen,
                        "lr": rate * factor,
                        "peak": rate * factor,
                        "weight_decay": pull,
                    }
                )
    return found


def optimiser(found: Sequence[dict], device: torch.device) -> torch.optim.Optimizer:
    """Raises SpecError where everything is frozen."""
    if not found:
        raise SpecError(
            _("Nothing is left to learn: every part of the model is frozen."),
            hint=_("Set freeze to encoder at most."),
        )
    return torch.optim.AdamW(found, fused=device.type in ("cpu", "cuda"))


class Freezing:
    """Which levels learn. `apply` is called at the beginning of each epoch (0-based) and says whether anything changed.

    Frozen levels get no gradients and no dropout. Gradual unfreezing adds one level from the top per epoch
    (Howard and Ruder 2018, section 3.3), never one that `freeze` keeps.
    """

    def __init__(self, parts: Parts, *, freeze: str, gradual: bool):
        self.parts = parts
        self.gradual = gradual
        kept = frozen_layers(freeze)
        count = len(parts.layers)
        if isinstance(kept, int) and kept > count:
            raise SpecError(
                _("freeze is {kept}, but the model has only {count} layers.").format(
                    kept=kept, count=count
                ),
                hint=_("Choose a smaller number, or encoder."),
            )
        self.kept = (
            {"none": 0, "embeddings": 1, "encoder": count + 1}.get(kept, 0)
            if isinstance(kept, str)
            else kept + 1
        )
        self.encoder = kept == "encoder"

    def learning(self, epoch: int) -> list[bool]:
        """For each level whether it learns in this epoch."""
        top = len(self.parts.layers) + 1
        lowest = max(self.kept, top - epoch) if self.gradual else self.kept
        return [level >= lowest for level in range(top + 1)]

    def apply(self, epoch: int) -> None:
        for members, learns in zip(levels(self.parts), self.learning(epoch), strict=True):
            for one in members:
                one.requires_grad_(learns)
        if self.encoder:  # features are extracted: the pretrained pooler stays as well
            for one in self.parts.summit:
                one.requires_grad_(False)

    def quiet(self, epoch: int) -> None:
        """Set the modules of frozen levels to eval; call after model.train()."""
        learns = self.learning(epoch)
        embeddings = len(self.parts.modules) - len(self.parts.layers)
        for number, module in enumerate(self.parts.modules):
            level = 0 if number < embeddings else number - embeddings + 1
            if not learns[level]:
                module.eval()
