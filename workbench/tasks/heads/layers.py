"""The layers of an encoder combined to one, which the head reads in place of the last layer.

Sources: Peters et al. 2018, Deep contextualized word representations, equation 1 (scalar mix);
AllenNLP 2.10, `ScalarMix`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from workbench.models.base import Encoder, States
from workbench.tasks.base import Layers, Loss
from workbench.tasks.heads.info import ATTENTION, CONCAT, LAST, LAYER_L2, MEAN, MIX

# Weights start at 0 (a uniform mix), while the other weights are pretrained; as for the CRF.
FASTER = 100.0


class Mean(Layers):
    def combine(self, layers: Tensor, mask: Tensor) -> Tensor:
        """layers (L, B, T, H), mask bool (B, T). Returns (B, T, H)."""
        return layers.mean(0)


class Concat(Layers):
    """Concatenates layers; for two directions [every forward half; every backward half]."""

    mixes = False

    @property
    def width(self) -> int:
        return sum(self.widths)

    def forward(self, states: States) -> States:
        layers = [self._scaled(layer) for layer in states.layers]
        if self.halves:
            pairs = [layer.chunk(2, -1) for layer in layers]
            layers = [pair[direction] for direction in (0, 1) for pair in pairs]
        return states._replace(layers=(*states.layers, torch.cat(layers, -1)))

    def combine(self, layers: Tensor, mask: Tensor) -> Tensor:
        """Not used: the layers may differ in width, so they are never one tensor (L, B, T, H)."""
        raise NotImplementedError("layers are concatenated without padding")


class ScalarMix(Layers):
    """γ · Σ s_k h_k with s = softmax(scalars); the penalty is l2 · Σ scalars²."""

    rate_factors = {"scalars": FASTER}

    def __init__(self, widths: Sequence[int], *, l2: float = 0.0, **named: bool):
        super().__init__(widths, **named)
        self.l2 = l2
        self.scalars = nn.Parameter(torch.zeros(len(self.widths)))
        self.gamma = nn.Parameter(torch.ones(1))

    def combine(self, layers: Tensor, mask: Tensor) -> Tensor:
        """layers (L, B, T, H), mask bool (B, T). Returns (B, T, H)."""
        shares = torch.softmax(self.scalars, 0).view(-1, 1, 1, 1)
        return self.gamma * (shares * layers).sum(0)

    def weights(self) -> dict[str, Any]:
        shares = torch.softmax(self.scalars.detach(), 0)
        return {"weights": tuple(shares.tolist()), "gamma": float(self.gamma.detach())}

    def penalties(self) -> dict[str, Loss]:
        if not self.l2:
            return {}
        total = self.l2 * self.scalars.square().sum()
        return {LAYER_L2.name: Loss(total, torch.ones((), device=total.device))}


class LayerAttention(Layers):
    """Each token's own mix: the softmax over layers of q · h_k / √H, with one learned query q.

    It starts as the uniform mean. `weights` is the mean over the tokens since its last call
    (if there were none, that of the last call).
    """

    rate_factors = {"query": FASTER}

    def __init__(self, widths: Sequence[int], **named: bool):
        super().__init__(widths, **named)
        self.query = nn.Parameter(torch.zeros(self.width))
        self._sum, self._count = torch.zeros(len(self.widths)), 0
        self._mean = torch.full_like(self._sum, 1 / len(self.widths))

    def combine(self, layers: Tensor, mask: Tensor) -> Tensor:
        """layers (L, B, T, H), mask bool (B, T). Returns (B, T, H)."""
        scores = (layers @ self.query.to(layers.dtype)) * self.width**-0.5  # (L, B, T)
        shares = torch.softmax(scores.float(), 0)
        if not torch.compiler.is_exporting():
            self._sum = self._sum + shares.detach()[:, mask].sum(1).cpu()
            self._count += int(mask.sum())
        return (shares.unsqueeze(-1).to(layers.dtype) * layers).sum(0)

    def weights(self) -> dict[str, Any]:
        if self._count:
            self._mean = self._sum / self._count
            self._sum, self._count = torch.zeros_like(self._sum), 0
        return {"weights": tuple(self._mean.tolist())}


def combined(encoder: Encoder, options: Mapping[str, Any]) -> Layers | None:
    """The module for the setting `layers`; None if the head reads the last layer."""
    kind = str(options.get("layers") or LAST)
    if kind == LAST:
        return None
    kinds: dict[str, type[Layers]] = {
        MEAN: Mean,
        CONCAT: Concat,
        MIX: ScalarMix,
        ATTENTION: LayerAttention,
    }
    more = {"l2": float(options.get("layer_l2") or 0.0)} if kind == MIX else {}
    return kinds[kind](
        encoder.widths,
        halves=len(encoder.directions) == 2,
        normalized=bool(options.get("layer_norm")),
        **more,
    )


def head_width(encoder: Encoder, options: Mapping[str, Any]) -> int:
    """Width of the states that a head reads with the setting `layers`."""
    combination = combined(encoder, options)
    return encoder.width if combination is None else combination.width
