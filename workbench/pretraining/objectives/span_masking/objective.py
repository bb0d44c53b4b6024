"""Span masking and the span boundary objective (Joshi et al. 2020, SpanBERT, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.pretraining import blocks
from workbench.pretraining.objectives.base import TextBatch
from workbench.pretraining.objectives.masked_lm.objective import MaskedLm, token_loss
from workbench.pretraining.objectives.span_masking import spans
from workbench.pretraining.objectives.span_masking.info import INFO
from workbench.pretraining.results import ShownRow
from workbench.tasks.base import IGNORED, Loss

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


class SpanMasking(MaskedLm):
    info = INFO

    def __init__(self, encoder: Encoder, options: Mapping[str, Any], rng: np.random.Generator):
        super().__init__(encoder, options, rng)
        if not options["boundary"]:
            return
        table = encoder.word_embeddings
        if table.shape[1] != encoder.width:
            raise SpecError(
                _(
                    "The embeddings of {model} have width {own}, its states {width}: the span "
                    "boundary objective needs equal widths.",
                    model=encoder.info.name,
                    own=table.shape[1],
                    width=encoder.width,
                ),
                hint=_("Set boundary to no."),
            )
        if not len(self.frame.before) or not len(self.frame.after):
            raise SpecError(
                _("{model} has no special tokens around a text, so that spans at its ends have no "
                  "boundary.", model=encoder.info.name),
                hint=_("Set boundary to no."),
            )  # fmt: skip
        self.module = SpanBoundary(encoder.width, len(table))
        if options.get("init") != "random" and (published := encoder.published_boundary()):
            self.module.load_state_dict(published)

    def masked(self, batch: Sequence[blocks.Tokens], done: float) -> TextBatch:
        """As for masked language modelling, with left, right and places (B, K), see SpanBoundary.

        boundary_labels (B, K): the tokens to predict from boundaries.
        """
        self.found: list[list[tuple[int, int]]] = []
        masked = super().masked(batch, done)
        names = ("left", "right", "places")
        more = {name: np.zeros_like(masked.targets["positions"]) for name in names}
        for number, chosen in enumerate(self.found):
            for name, values in zip(names, spans.boundaries(chosen), strict=True):
                more[name][number, : len(values)] = values
        labels = masked.targets["labels"].copy()
        labels[more["places"] >= POSITIONS] = IGNORED
        more["places"] = more["places"].clip(max=POSITIONS - 1)
        masked.targets.update(more, boundary_labels=labels)
        return masked

    def hidden(self, tokens: blocks.Tokens) -> tuple[np.ndarray, np.ndarray]:
        """The input ids (T,), and the positions (K,) of the tokens to predict."""
        allowed = tokens.groups != blocks.SEPARATOR
        lengths = spans.LengthSampler(self.options["span_p"], self.options["span_longest"])
        chosen = spans.choose(allowed, tokens.groups, self.rates.chosen, lengths, self.rng)
        self.found.append(chosen)
        ids = spans.replaced(
            tokens.ids, chosen, self.rates, mask=self.mask, ordinary=self.ordinary, rng=self.rng
        )
        every = [np.arange(start, end) for start, end in chosen]
        return ids, np.concatenate(every) if every else np.zeros(0, np.int64)

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        rows = []
        for number, row in enumerate(super().shown(batch)):
            inside = batch.targets["labels"][number] != IGNORED
            around = (batch.targets[name][number][inside] for name in ("left", "right"))
            spans = {(int(left) + 1, int(right)) for left, right in zip(*around, strict=True)}
            rows.append(replace(row, spans=tuple(sorted(spans))))
        return rows

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """As for masked language modelling, with the boundary targets (B, K) of `masked`."""
        states, logits = self.encoder.states_and_logits_at(inputs, targets["positions"])
        losses = {"mlm": token_loss(logits, targets["labels"])}
        if self.module is not None:
            around = [targets[name] for name in ("left", "right", "places")]
            scores = self.module(states, *around, self.encoder.word_embeddings)
            losses["sbo"] = token_loss(scores, targets["boundary_labels"])
        return losses
