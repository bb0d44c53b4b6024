"""Linear heads, for encoders without a library head for a task."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from workbench.models.base import States


class TokenHead(nn.Module):
    """A linear layer over the last hidden state of every token.

    Returns logits (B, T, outputs).
    """

    def __init__(self, width: int, outputs: int, dropout: float = 0.1):
        super().__init__()
        self.dropout, self.linear = nn.Dropout(dropout), nn.Linear(width, outputs)

    def forward(self, states: States) -> dict[str, Tensor]:
        """`logits` (B, T, outputs)."""
        return {"logits": self.linear(self.dropout(states.layers[-1]))}


def mean(states: States) -> Tensor:
    """Mean over the tokens of the last layer, without padding. Returns (B, H)."""
    hidden, mask = states.layers[-1], states.mask.unsqueeze(-1)  # (B, T, H), (B, T, 1)
    return (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)


class SequenceHead(nn.Module):
    """A linear layer over pooled states, by default the mean of the last hidden states.

    pooling: States → (B, width). Returns logits (B, outputs).
    """

    def __init__(
        self,
        width: int,
        outputs: int,
        dropout: float = 0.1,
        pooling: Callable[[States], Tensor] = mean,
    ):
        super().__init__()
        self.pooling = pooling
        self.dropout, self.linear = nn.Dropout(dropout), nn.Linear(width, outputs)

    def forward(self, states: States) -> dict[str, Tensor]:
        """`logits` (B, outputs)."""
        return {"logits": self.linear(self.dropout(self.pooling(states)))}
