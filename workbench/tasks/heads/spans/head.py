"""A head that represents spans of words by their boundaries and words, and scores them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from workbench.models.base import States
from workbench.runtime.candidates import SpanScorer

HIDDEN = 150  # units, as in Zhong and Chen 2021 and Lee et al. 2017
PRIOR = 0.01  # probability of a label at the start: most candidates have none (Lin et al. 2017)
FASTER = 5.0  # the head is new, the encoder pretrained


class SpanHead(nn.Module):
    """The network of `runtime.candidates`, which computes the last layer of predictions.

    forward gives `starts` and `ends` (B, T, D) of every token, and `inside` (B, T, D + 1) with
    `summary`; `hidden` the representations of candidates, `scores` their logits.
    labels: L of them. none: no label is one more output, see `SpanScorer`. longest: W words of the
    longest span. deep: starts and ends have a hidden layer of their own (Yu et al. 2020, Named
    Entity Recognition as Dependency Parsing). summary: a mean over the tokens of the span, with
    learned weights, is added (Lee et al. 2017, equation for x̂; Joshi et al. 2020, SpanBERT).
    """

    def __init__(
        self,
        width: int,
        labels: int,
        *,
        none: bool,
        longest: int,
        deep: bool = False,
        summary: bool = False,
        hidden: int = HIDDEN,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.none, self.dropout = none, nn.Dropout(dropout)
        self.starts, self.ends = (_boundary(width, hidden, deep) for _ in range(2))
        self.inside = nn.Linear(width, hidden + 1) if summary else None
        self.widths = nn.Parameter(torch.zeros(longest, hidden))
        self.output = nn.Linear(hidden, labels + none)
        prior = math.log(PRIOR / (1 - PRIOR))  # of all labels together, or of each
        with torch.no_grad():
            self.output.bias.zero_()
            self.output.bias[none:] = prior - math.log(labels) if none else prior
        self.rate_factors = {name: FASTER for name, _ in self.named_parameters()}

    def forward(self, states: States) -> dict[str, Tensor]:
        """ "starts" and "ends", each (B, T, hidden); "inside" (B, T, hidden + 1) with a summary."""
        hidden = self.dropout(states.layers[-1])
        outputs = {"starts": self.starts(hidden), "ends": self.ends(hidden)}
        return outputs if self.inside is None else {**outputs, "inside": self.inside(hidden)}

    def hidden(self, outputs: Mapping[str, Tensor], firsts: Tensor, lasts: Tensor) -> Tensor:
        """Representations (B, P, W, D) of candidates from what `forward` gave.

        firsts, lasts int (B, P): the first and the last token of each word; below 0 is padding.
        [b, i, w] is the span of the words i … i + w; beyond the last word it is meaningless.
        """
        return self.spans(self.words(outputs, firsts, lasts))

    def words(
        self, outputs: Mapping[str, Tensor], firsts: Tensor, lasts: Tensor
    ) -> dict[str, Tensor]:
        """What `forward` gave, of words (B, P, …) in place of tokens; as for `hidden`."""
        firsts, lasts = firsts.clamp(min=0), lasts.clamp(min=0)
        words = {
            "starts": _taken(outputs["starts"], firsts),
            "ends": _taken(outputs["ends"], lasts),
        }
        if "inside" in outputs:
            words["inside"] = _summary(outputs["inside"], firsts, lasts)
        return words

    def spans(self, words: Mapping[str, Tensor]) -> Tensor:
        """Representations (B, P, W, D) of candidates from those of `words`."""
        starts, longest = words["starts"], len(self.widths)
        count, device = starts.shape[1], starts.device
        last = torch.arange(count, device=device)[:, None] + torch.arange(longest, device=device)
        last = last.clamp(max=count - 1)
        units = starts[:, :, None] + words["ends"][:, last] + self.widths  # (B, P, W, D)
        if "inside" in words:
            units = units + _summaries(words["inside"], last)
        return torch.relu(units)

    def scores(self, outputs: Mapping[str, Tensor], firsts: Tensor, lasts: Tensor) -> Tensor:
        """Logits (B, P, W, C) of candidates, see `hidden`."""
        logits: Tensor = self.output(self.dropout(self.hidden(outputs, firsts, lasts)))
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


def _taken(states: Tensor, places: Tensor) -> Tensor:
    """states (B, T, D) at places (B, P) → (B, P, D)."""
    return states.gather(1, places[..., None].expand(-1, -1, states.shape[2]))


def _summary(inside: Tensor, firsts: Tensor, lasts: Tensor) -> Tensor:
    """inside (B, T, D + 1) of tokens → (B, P, D + 1) of words: the mean of their tokens, weighted
    by a softmax of the last column, and the logarithm of the sum of the weights.
    """
    places = torch.arange(inside.shape[1], device=inside.device)
    within = (places >= firsts[..., None]) & (places <= lasts[..., None])  # (B, P, T)
    logits = inside[:, None, :, -1].masked_fill(~within, -torch.inf)
    means = logits.softmax(-1) @ inside[..., :-1]
    return torch.cat([means, logits.logsumexp(-1, keepdim=True)], -1)


def _summaries(words: Tensor, last: Tensor) -> Tensor:
    """words (B, P, D + 1), last int (P, W): the last word of each candidate → (B, P, W, D)."""
    mean, total = words[..., :-1], words[..., -1:]
    spans = [mean]
    for column in last.unbind(1)[1:]:  # one word longer each time
        word = words[:, column]
        both = torch.logaddexp(total, word[..., -1:])
        mean = (total - both).exp() * mean + (word[..., -1:] - both).exp() * word[..., :-1]
        total = both
        spans.append(mean)
    return torch.stack(spans, 2)
