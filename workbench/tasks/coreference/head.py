"""A head that scores candidate mentions, and the antecedents of the most probable ones."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.runtime.chains import ANTECEDENTS, DISTANCES, ChainScorer, LinkScorer
from workbench.tasks.heads.spans.head import FASTER, HIDDEN, SpanHead

SMALL = 0.1  # of new weights: links start near 0, the score of having no antecedent


class ChainHead(SpanHead):
    """The network of `runtime.chains`: spans with a summary whose `scores` are those of mentions,
    and `antecedents`. per_word: candidates that are ranked, per word of the text.
    """

    def __init__(
        self, width: int, labels: int, *, longest: int, per_word: float, hidden: int = HIDDEN
    ):
        super().__init__(width, labels, none=False, longest=longest, summary=True, hidden=hidden)
        self.per_word = per_word
        self.coarse, self.first, self.second, self.product = (
            nn.Linear(hidden, hidden, bias=False) for _ in range(4)
        )
        self.distances = nn.Embedding(len(DISTANCES), hidden)
        self.same = nn.Parameter(torch.zeros(hidden))
        self.link = nn.Linear(hidden, 1, bias=False)
        with torch.no_grad():
            self.coarse.weight.mul_(SMALL)
            self.distances.weight.mul_(SMALL)
        self.register_buffer("least", torch.tensor(DISTANCES), persistent=False)
        self.rate_factors = {name: FASTER for name, _ in self.named_parameters()}

    def antecedents(
        self, mentions: Tensor, scores: Tensor, starts: Tensor, numbers: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Positions (K, M) of the best antecedents of K mentions in text order, and their scores
        (K, M); those that do not come before the mention have -inf.

        mentions (K, D): representations; scores (K,): log odds of being a mention; starts (K,):
        their first words; numbers (K,): of `runtime.chains.forms`.
        """
        mentions, chances = self.dropout(mentions), F.logsigmoid(scores)
        order = torch.arange(len(mentions), device=mentions.device)
        coarse = mentions @ self.coarse.weight @ mentions.T  # (K, K)
        coarse = coarse + chances[:, None] + chances
        coarse = coarse.masked_fill(order[:, None] <= order, -math.inf)
        best = coarse.topk(min(ANTECEDENTS, len(mentions)), dim=1).indices  # (K, M)
        distances = (starts[:, None] - starts[best]).clamp(min=0)
        near = torch.bucketize(distances, self.get_buffer("least"), right=True) - 1
        hidden = (
            self.first(mentions)[:, None]
            + self.second(mentions)[best]
            + self.product(mentions[:, None] * mentions[best])
            + self.distances(near)
            + (numbers[:, None] == numbers[best])[..., None] * self.same
        )  # (K, M, D)
        fine = self.link(self.dropout(torch.relu(hidden)))[..., 0]
        return best, coarse.gather(1, best) + fine

    def chain_scorer(self) -> ChainScorer:
        """The last layers, for decoding."""
        arrays = (
            self.coarse.weight,
            self.first.weight.T,
            self.second.weight.T,
            self.product.weight.T,
            self.distances.weight,
            self.same,
            self.link.weight[0],
        )
        links = LinkScorer(*(array.detach().float().cpu().numpy() for array in arrays))
        return ChainScorer(self.scorer(), links, self.per_word)
