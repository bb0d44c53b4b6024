"""The learned part of a linear-chain conditional random field, for heads of any layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

# Transition scores start at 0, while the other weights are pretrained. The factor was chosen among
# 1, 30 and 100 by one run of each on the sample (seed 1, dev).
FASTER = 100.0


class Crf(nn.Module):
    """Transition scores of adjacent outputs.

    start, end (L,) and step (L, L) from → to are learned, initialized with 0. If `constraints`
    (start (L,), step (L, L); 0 or -inf) forbid a transition, its score is not used.
    """

    rate_factors: Mapping[str, float] = {"start": FASTER, "step": FASTER, "end": FASTER}

    def __init__(self, outputs: int, *, constraints: tuple[np.ndarray, np.ndarray] | None = None):
        super().__init__()
        self.start, self.end = (nn.Parameter(torch.zeros(outputs)) for _ in range(2))
        self.step = nn.Parameter(torch.zeros(outputs, outputs))
        start, step = constraints or (np.zeros(outputs), np.zeros((outputs, outputs)))
        self.first_allowed: Tensor
        self.step_allowed: Tensor
        self.register_buffer("first_allowed", torch.from_numpy(start).float(), persistent=False)
        self.register_buffer("step_allowed", torch.from_numpy(step).float(), persistent=False)

    def transitions(self) -> dict[str, Any]:
        """The learned scores as lists, for `runtime.crf.Transitions.from_json`."""
        return {name: getattr(self, name).detach().tolist() for name in ("start", "step", "end")}

    def loss(self, emissions: Tensor, tags: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
        """Summed negative log-likelihood of tag sequences, and the number of tags.

        emissions (B, T, L); tags int (B, T), negative at tokens that are skipped; edges (B, 2):
        whether the row contains the first and the last word of the document. Only there the start
        and end scores apply: other rows are parts of a long text.
        """
        emissions, tags, lengths = _adjacent(emissions.float(), tags)
        first, last = edges.bool().unsqueeze(-1).unbind(1)  # (B, 1) each
        start = torch.where(first, self.start + self.first_allowed, 0.0)  # (B, L)
        end = torch.where(last, self.end, 0.0)
        step = self.step + self.step_allowed
        every = log_partition(emissions, lengths, start, step, end)
        gold = path_score(emissions, tags, lengths, start, step, end)
        return torch.where(lengths > 0, every - gold, 0.0).sum(), lengths.sum()


def _adjacent(emissions: Tensor, tags: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The tagged tokens moved to the front: (B, N, L), tags (B, N) 0 at padding, lengths (B,).

    N is the largest number of tagged tokens in a row, at least 1.
    """
    has_tag = tags >= 0
    lengths = has_tag.sum(1)
    most = max(1, int(lengths.max()))
    order = torch.sort((~has_tag).to(torch.int8), dim=1, stable=True).indices[:, :most]  # (B, N)
    wide = order.unsqueeze(-1).expand(-1, -1, emissions.shape[-1])
    return emissions.gather(1, wide), tags.gather(1, order).clamp(min=0), lengths


def log_partition(
    emissions: Tensor, lengths: Tensor, start: Tensor, step: Tensor, end: Tensor
) -> Tensor:
    """Log of the sum of the exponentiated scores of all sequences, (B,).

    emissions (B, N, L), lengths (B,), start and end (B, L), step (L, L) from → to.
    """
    sums = emissions[:, 0] + start  # (B, L)
    for position in range(1, emissions.shape[1]):
        after = torch.logsumexp(sums.unsqueeze(2) + step, dim=1) + emissions[:, position]
        sums = torch.where((position < lengths).unsqueeze(1), after, sums)
    return torch.logsumexp(sums + end, dim=1)


def path_score(
    emissions: Tensor, tags: Tensor, lengths: Tensor, start: Tensor, step: Tensor, end: Tensor
) -> Tensor:
    """The score of one sequence per row, (B,). tags (B, N); the rest as for `log_partition`."""
    places = torch.arange(tags.shape[1], device=tags.device)
    inside = places < lengths.unsqueeze(1)  # (B, N)
    emitted = emissions.gather(2, tags.unsqueeze(2)).squeeze(2)
    moved = step[tags[:, :-1], tags[:, 1:]]  # (B, N - 1)
    final = tags.gather(1, (lengths - 1).clamp(min=0).unsqueeze(1))
    return (
        torch.where(inside, emitted, 0.0).sum(1)
        + torch.where(inside[:, 1:], moved, 0.0).sum(1)
        + start.gather(1, tags[:, :1]).squeeze(1)
        + end.gather(1, final).squeeze(1)
    )
