"""Span masking and the span boundary objective (Joshi et al. 2020, SpanBERT, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.models.boundary import POSITIONS, SpanBoundary
from workbench.pretraining import blocks
from workbench.pretraining.objectives.base import TextBatch
from workbench.pretraining.objectives.masked_lm.objective import MaskedLm, token_loss
from workbench.pretraining.objectives.span_masking import spans
from workbench.pretraining.objectives.span_masking.info import INFO
from workbench.pretraining.results import ShownBoundary, ShownRow
from workbench.tasks.base import IGNORED, Loss

SHOWN_TOKENS = 5  # most probable ones, of a shown batch


@contextmanager
def evaluating(*modules: nn.Module) -> Iterator[None]:
    """Modules without dropout, then as they were."""
    before = [module.training for module in modules]
    try:
        for module in modules:
            module.eval()
        yield
    finally:
        for module, training in zip(modules, before, strict=True):
            module.train(training)


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
        """With the spans, and what the boundary objective predicts with its present weights."""
        is_new = self.module is not None and not cast(SpanBoundary, self.module).bias.any()
        notes = {"boundary_head": "new"} if is_new else {}
        rows = []
        for number, row in enumerate(super().shown(batch)):
            inside = batch.targets["labels"][number] != IGNORED
            around = (batch.targets[name][number][inside] for name in ("left", "right"))
            spans = {(int(left) + 1, int(right)) for left, right in zip(*around, strict=True)}
            predicted = tuple(self._predicted(batch, number))
            spans_of_row = tuple(sorted(spans))
            rows.append(replace(row, spans=spans_of_row, boundaries=predicted, notes=notes))
        return rows

    def _predicted(self, batch: TextBatch, number: int) -> Iterator[ShownBoundary]:
        """For each predicted token of an input of the batch."""
        if self.module is None:
            return
        parts = batch.inputs, batch.targets
        of_row = [{name: array[[number]] for name, array in part.items()} for part in parts]
        inputs, targets = (self.tensors(part, self.encoder.device) for part in of_row)
        with evaluating(self.encoder, self.module), torch.inference_mode():
            shares = self._boundary_scores(inputs, targets)[0].float().softmax(-1)  # (K, V)
        values, best = shares.topk(min(SHOWN_TOKENS, shares.shape[-1]))
        names = ("positions", "left", "right", "places", "boundary_labels")
        columns = zip(*(of_row[1][name][0].tolist() for name in names), strict=True)
        for at, (unit, left, right, place, label) in enumerate(columns):
            if label != IGNORED:
                pieces = map(self.tokenizer.piece, best[at].tolist())
                expected = tuple(zip(pieces, values[at].tolist(), strict=True))
                own = float(shares[at, label])
                yield ShownBoundary(unit, left, right, place + 1, own, expected)

    def _boundary_scores(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> Tensor:
        """Logits (B, K, V)."""
        states, _logits = self.encoder.states_and_logits_at(inputs, targets["positions"][:, :1])
        around = [targets[name] for name in ("left", "right", "places")]
        scores: Tensor = cast(nn.Module, self.module)(states, *around, self.encoder.word_embeddings)
        return scores

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
