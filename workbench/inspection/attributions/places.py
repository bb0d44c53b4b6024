"""Where the scores of a run are in the outputs of its network, and how they become
probabilities.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from workbench.runtime.candidates import SpanScorer

LOGITS = "logits"  # of networks with one output per text or token
STARTS, ENDS, INSIDE = (
    "starts",
    "ends",
    "inside",
)  # of networks that score spans by their boundaries
# How logits become probabilities: softmax over the labels, or over the units of the window; each
# label on its own; not at all, as a number is its logit.
LABELS, UNITS, SINGLE, PLAIN = "labels", "units", "single", "plain"

_PROBABILITY: Mapping[str, Callable[[Tensor], Tensor]] = {
    LABELS: lambda logits: logits.softmax(-1),
    UNITS: lambda logits: logits.softmax(1),  # (B, T, 2), over T
    SINGLE: torch.sigmoid,
    PLAIN: lambda logits: logits,
}


class ScorePlace(ABC):
    """One score of a document. window: the input of the network that it is computed from."""

    window: int

    @abstractmethod
    def score(self, logits: Mapping[str, Tensor], *, probability: bool) -> Tensor:
        """(B,) from the outputs of the network for B inputs; its logit unless `probability`."""


@dataclass(frozen=True)
class MeanOfOutputs(ScorePlace):
    """The mean over outputs (position, index), position None for a text.

    over: how its probability is computed, LABELS, UNITS, SINGLE or PLAIN.
    """

    window: int
    outputs: tuple[tuple[int | None, int], ...]
    over: str = LABELS

    def score(self, logits: Mapping[str, Tensor], *, probability: bool) -> Tensor:
        """logits (B, T, outputs), or (B, outputs) if the positions are None. Returns (B,)."""
        values = logits[LOGITS].float()
        if probability:
            values = _PROBABILITY[self.over](values)
        scores = [
            values[:, index] if position is None else values[:, position, index]
            for position, index in self.outputs
        ]
        return torch.stack(scores).mean(0)


@dataclass(frozen=True)
class SpanPlace(ScorePlace):
    """A label of the span from the unit `first` to the unit `last`, of `width` + 1 words."""

    window: int
    first: int
    last: int
    width: int
    label: int
    scorer: SpanScorer

    def score(self, logits: Mapping[str, Tensor], *, probability: bool) -> Tensor:
        """starts, ends (B, T, D), inside (B, T, D + 1) of the units. Returns (B,)."""
        starts, ends = (logits[name].float() for name in (STARTS, ENDS))
        widths, weight, bias = (
            torch.from_numpy(item).to(starts.device)
            for item in (self.scorer.widths[self.width], self.scorer.weight, self.scorer.bias)
        )
        states = starts[:, self.first] + ends[:, self.last] + widths  # (B, D)
        if INSIDE in logits:
            inside = logits[INSIDE][:, self.first : self.last + 1].float()
            weights = inside[..., -1:].softmax(1)
            states = states + (weights * inside[..., :-1]).sum(1)
        values = torch.relu(states) @ weight.T + bias  # (B, C)
        if probability:
            values = _PROBABILITY[LABELS if self.scorer.none else SINGLE](values)
        return values[:, self.label + self.scorer.none]
