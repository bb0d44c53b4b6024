"""Heads for whole texts: the states of the last layer pooled to one vector, then linear layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder, States
from workbench.tasks.base import Task
from workbench.tasks.heads.layers import head_width
from workbench.tasks.heads.linear import SequenceHead, mean

HIDDEN = 50  # width between the two linear layers
DROPOUTS = (0.2, 0.1)  # before each: those of the paper (0.4, 0.1), the first halved as in fastai


def maximum(states: States) -> Tensor:
    """Maximum over the tokens of the last layer, (B, H)."""
    hidden = states.layers[-1]
    return hidden.masked_fill(~states.mask.unsqueeze(-1), float("-inf")).amax(1)


class Pooling(nn.Module):
    """States → (B, H), or (B, 3H) for "concat", which is [last, max, mean].

    kind: mean, max, last or concat. directions: in which the encoder reads. "last" is the token
    that it reads last: the first token of the text for "previous"; for both directions each half of
    the states has its own.
    Source of concat: Howard and Ruder 2018, section 3.3.
    """

    def __init__(self, kind: str, directions: tuple[str, ...] = ()):
        super().__init__()
        kinds: dict[str, Callable[[States], Tensor]] = {
            "mean": mean,
            "max": maximum,
            "last": self.last,
            "concat": self.concat,
        }
        self.directions, self.pool = directions, kinds[kind]

    def forward(self, states: States) -> Tensor:
        """(B, H), or (B, 3 · H) for concat."""
        return self.pool(states)

    def last(self, states: States) -> Tensor:
        """(B, H): the state of the token that the encoder reads last."""
        hidden = states.layers[-1]
        first = hidden[:, 0]
        if self.directions == ("previous",):
            return first
        ends = states.mask.long().sum(1) - 1  # (B,)
        index = ends.clamp(min=0).view(-1, 1, 1).expand(-1, 1, hidden.shape[-1])
        final = hidden.gather(1, index).squeeze(1)
        if len(self.directions) < 2:
            return final
        half = hidden.shape[-1] // 2
        return torch.cat([final[:, :half], first[:, half:]], 1)

    def concat(self, states: States) -> Tensor:
        """(B, 3 * H): last, maximum and mean."""
        return torch.cat([self.last(states), maximum(states), mean(states)], 1)


class ConcatHead(nn.Module):
    """The classifier of ULMFiT over concat pooling. Returns logits (B, outputs).

    Two blocks of batch normalization, dropout and a linear layer without bias, as in fastai 2.8,
    with a ReLU between them.
    Source: Howard and Ruder 2018, section 3.3.
    """

    def __init__(self, pooling: Pooling, width: int, outputs: int):
        super().__init__()
        self.pooling = pooling
        self.norms = nn.ModuleList([BatchNorm(3 * width), BatchNorm(HIDDEN)])
        self.dropouts = nn.ModuleList([nn.Dropout(p) for p in DROPOUTS])
        self.linear1 = nn.Linear(3 * width, HIDDEN, bias=False)
        self.linear2 = nn.Linear(HIDDEN, outputs, bias=False)

    def forward(self, states: States) -> dict[str, Tensor]:
        """`logits` (B, outputs), float32."""
        pooled = self.pooling(states).float()  # normalization of few documents needs float32
        hidden = F.relu(self.linear1(self.dropouts[0](self.norms[0](pooled))))
        return {"logits": self.linear2(self.dropouts[1](self.norms[1](hidden)))}


class BatchNorm(nn.BatchNorm1d):
    """Normalizes a batch of one document, which has no variance, by the running statistics."""

    def forward(self, values: Tensor) -> Tensor:
        """values (B, H). Returns (B, H)."""
        if not self.training or len(values) > 1:
            return super().forward(values)
        running = (self.running_mean, self.running_var)
        return F.batch_norm(values, *running, self.weight, self.bias, False, 0.0, self.eps)


def sequence_head(encoder: Encoder, outputs: int, options: Mapping[str, Any]) -> nn.Module:
    """The head for `outputs` classes; the setting `pooling` None is the encoder's default."""
    kind = options.get("pooling") or encoder.pooling
    pooling, width = Pooling(kind, encoder.directions), head_width(encoder, options)
    if kind == "concat":
        return ConcatHead(pooling, width, outputs)
    return SequenceHead(width, outputs, pooling=pooling)


class SequenceTask(Task):
    """A task with one output for a whole text: the library's head, or pooled states."""

    native = "sequence"

    def uses_native(self, options: Mapping[str, Any]) -> bool:
        """The library's head has a pooling of its own."""
        return options.get("pooling") is None

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return sequence_head(encoder, len(labels), options)
