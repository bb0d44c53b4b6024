"""The head of the span boundary objective.

Source: Joshi et al. 2020, SpanBERT, section 3.2 and equations 2 to 4.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

POSITIONS, POSITION_WIDTH = 20, 200  # as in the released code


class SpanBoundary(nn.Module):
    """Logits of the tokens of a span from the states beside it and the place in the span.

    h = LN(GELU(W₂ LN(GELU(W₁ [x_{s-1}; x_{e+1}; p_{i-s+1}])))); the logits are the products with
    the input embeddings, and a bias. Places from POSITIONS on have no logits.
    """

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.positions = nn.Embedding(POSITIONS, POSITION_WIDTH)
        self.linear1 = nn.Linear(2 * width + POSITION_WIDTH, width)
        self.linear2 = nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width, eps=1e-12) for _ in range(2)])
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        for module in (self.positions, self.linear1, self.linear2):
            nn.init.normal_(module.weight, std=0.02)
        for linear in (self.linear1, self.linear2):
            nn.init.zeros_(linear.bias)

    def forward(
        self, states: Tensor, left: Tensor, right: Tensor, places: Tensor, embeddings: Tensor
    ) -> Tensor:
        """states (B, T, H); left, right, places int (B, K): of each predicted token, the positions
        beside its span and its place in it. Returns (B, K, V).
        """
        around = [
            states.gather(1, where.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
            for where in (left, right)
        ]  # (B, T, H) → (B, K, H)
        features = torch.cat([*around, self.positions(places)], -1)
        hidden = self.norms[0](F.gelu(self.linear1(features)))
        hidden = self.norms[1](F.gelu(self.linear2(hidden)))
        return F.linear(hidden, embeddings, self.bias)
