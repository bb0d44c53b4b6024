"""A head that scores spans of words by their boundaries."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from workbench.models.base import States
from workbench.runtime.candidates import SpanScorer

HIDDEN = 150  # units, as in Zhong and Chen 2021 and Lee et al. 2017
PRIOR = 0.01  # probability of a label at the start: most candidates have none (Lin et al. 2017)
FASTER = 5.0  # the head is new, the encoder pretrained


class SpanHead(nn.Module):
    """The network of `runtime.candidates`, which computes the last layer of predictions.

    forward gives `starts` and `ends` (B, T, D) of every token; `scores` those of candidates.
    labels: L of them. none: no label is one more output, see `SpanScorer`. longest: W words of the
    longest span. deep: starts and ends have a hidden layer of their own (Yu et al. 2020, Named
    Entity Recognition as Dependency Parsing).
    """

    def __init__(
        self,
        width: int,
        labels: int,
        *,
        none: bool,
        longest: int,
        deep: bool = False,
        hidden: int = HIDDEN,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.none, self.dropout = none, nn.Dropout(dropout)
        self.starts, self.ends = (_boundary(width, hidden, deep) for _ in range(2))
        self.widths = nn.Parameter(torch.zeros(longest, hidden))
        self.output = nn.Linear(hidden, labels + none)
        prior = math.log(PRIOR / (1 - PRIOR))  # of all labels together, or of each
        with torch.no_grad():
            self.output.bias.zero_()
            self.output.bias[none:] = prior - math.log(labels) if none else prior
        self.rate_factors = {name: FASTER for name, _ in self.named_parameters()}

    def forward(self, states: States) -> dict[str, Tensor]:
        """ "starts" and "ends", each (B, T, hidden)."""
        hidden = self.dropout(states.layers[-1])
        return {"starts": self.starts(hidden), "ends": self.ends(hidden)}

    def scores(self, starts: Tensor, ends: Tensor) -> Tensor:
        """starts, ends (B, P, D) of words → logits (B, P, W, C).

        [b, i, w] is the span of the words i … i + w; beyond the last word it is meaningless.
        """
        words = starts.shape[1]
        last = torch.arange(words, device=starts.device)[:, None] + torch.arange(
            len(self.widths), device=starts.device
        )
        ends = ends[:, last.clamp(max=words - 1)]  # (B, P, W, D)
        hidden = torch.relu(starts[:, :, None] + ends + self.widths)
        logits: Tensor = self.output(self.dropout(hidden))
        return logits

    def scorer(self) -> SpanScorer:
        """The last layer, for decoding."""
        arrays = (self.widths, self.output.weight, self.output.bias)
        widths, weight, bias = (array.detach().float().cpu().numpy() for array in arrays)
        return SpanScorer(widths, weight, bias, self.none)


def _boundary(width: int, hidden: int, deep: bool) -> nn.Module:
    if not deep:
        return nn.Linear(width, hidden)
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, hidden))
