"""The layers of a frozen model combined to one by learned weights, at each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from workbench.models.families.bilstm.info.config import ATTENTION, MIX


class Mix(nn.Module):
    """γ Σ softmax(w)_l h_l over layers that are concatenated, Peters et al. 2018, equation 1."""

    def __init__(self, count: int, width: int):
        super().__init__()
        self.weights, self.scale = nn.Parameter(torch.zeros(count)), nn.Parameter(torch.ones(1))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, T, count * W) → (B, T, W)."""
        shares = self.weights.softmax(0)
        layers = states.unflatten(-1, (len(self.weights), -1))  # (B, T, count, W)
        mixed: Tensor = self.scale * (layers * shares.unsqueeze(-1)).sum(-2)
        return mixed

    def learned(self) -> dict[str, Any]:
        """The weight of each layer, sum 1, and γ."""
        shares = self.weights.detach().softmax(0)
        return {"weights": tuple(shares.tolist()), "gamma": float(self.scale.detach())}

    def squared(self) -> Tensor:
        """The scalar that an L2 penalty is on: Σ w² before the softmax, without γ."""
        return self.weights.square().sum()


class LayerMixAttention(nn.Module):
    """Each word's own mix: the softmax over layers of q · h_l / √W, with one learned query q.

    It starts as the uniform mean. mask (B, T): the words that `learned` averages over.
    """

    def __init__(self, count: int, width: int):
        super().__init__()
        self.query, self.count = nn.Parameter(torch.zeros(width)), count
        self._sum, self._words = torch.zeros(count), 0
        self._mean = torch.full((count,), 1 / count)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, T, count * W) → (B, T, W)."""
        layers = states.unflatten(-1, (self.count, -1))  # (B, T, count, W)
        scores = (layers @ self.query.to(layers.dtype)) * len(self.query) ** -0.5
        shares = scores.float().softmax(-1)  # (B, T, count)
        if not torch.compiler.is_exporting():
            self._sum = self._sum + shares.detach()[mask].sum(0).cpu()
            self._words += int(mask.sum())
        mixed: Tensor = (layers * shares.to(layers.dtype).unsqueeze(-1)).sum(-2)
        return mixed

    def learned(self) -> dict[str, Any]:
        """The mean weight of each layer over the words since the last call, else that of then."""
        if self._words:
            self._mean = self._sum / self._words
            self._sum, self._words = torch.zeros_like(self._sum), 0
        return {"weights": tuple(self._mean.tolist())}

    def squared(self) -> Tensor | None:
        """None instead of a scalar: it has no weights of layers to keep small."""
        return None


MIXES: Mapping[str, type[Mix] | type[LayerMixAttention]] = {MIX: Mix, ATTENTION: LayerMixAttention}
