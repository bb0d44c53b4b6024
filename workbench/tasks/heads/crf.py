"""A linear-chain conditional random field over the words of a text."""

from __future__ import annotations

import numpy as np
from torch import Tensor, nn

from workbench.models.base import States
from workbench.models.crf import Crf


class CrfHead(Crf):
    """Emissions of a linear layer over the last hidden states, and their transition scores."""

    def __init__(
        self,
        width: int,
        outputs: int,
        *,
        constraints: tuple[np.ndarray, np.ndarray] | None = None,
        dropout: float = 0.1,
    ):
        super().__init__(outputs, constraints=constraints)
        self.dropout, self.linear = nn.Dropout(dropout), nn.Linear(width, outputs)

    def forward(self, states: States) -> dict[str, Tensor]:
        """Logits (B, T, outputs)."""
        return {"logits": self.linear(self.dropout(states.layers[-1]))}
