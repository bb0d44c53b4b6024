"""A small head of our own, to test what does not use the library's."""

from __future__ import annotations

from torch import nn


class MeanHead(nn.Module):
    """The mean of the last layer over the units of a text, through a linear layer."""

    def __init__(self, width: int, count: int):
        super().__init__()
        self.out = nn.Linear(width, count)

    def forward(self, states):
        mask = states.mask.unsqueeze(-1)  # (B, T, 1)
        mean = (states.layers[-1] * mask).sum(1) / mask.sum(1)  # (B, T, H) → (B, H)
        return {"logits": self.out(mean)}


def mean_head(_task, encoder, labels, _options) -> MeanHead:
    """`Task.head` of a task with one class per document."""
    return MeanHead(encoder.width, len(labels))
