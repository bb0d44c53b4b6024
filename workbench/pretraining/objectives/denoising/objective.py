"""Denoising with encoder–decoders (Lewis et al. 2020, BART; Raffel et al. 2020, T5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.pretraining import blocks
from workbench.pretraining.objectives.base import Objective, TextBatch
from workbench.pretraining.objectives.denoising import noise
from workbench.pretraining.objectives.denoising.info import INFILL, INFO, SENTINELS
from workbench.pretraining.objectives.masked_lm.objective import token_loss
from workbench.pretraining.results import ShownRow, ShownToken
from workbench.pretraining.texts import Texts
from workbench.runtime.inputs import MASK, pad
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.base import IGNORED, Loss

STOPS = (".", "!", "?", "。", "！", "？")
MOST_SENTINELS = 100


class Denoising(Objective):
    info = INFO

    def __init__(self, encoder: Encoder, options: Mapping[str, Any], rng: np.random.Generator):
        super().__init__(encoder, options, rng)
        tokenizer = _tokenizer(encoder)
        self.sentinels, self.piece = _sentinels(tokenizer), tokenizer.piece
        self.kind = options["noise"] or (SENTINELS if self.sentinels else INFILL)
        self.share = options["noise_share"]
        if self.share is None:
            self.share = 0.15 if self.kind == SENTINELS else 0.3
        self.mask = self._needed(tokenizer)
        self.frame = blocks.Frame.of(encoder.preparer)
        special = {*tokenizer.special, *self.sentinels}
        self.ordinary = np.setdiff1d(np.arange(tokenizer.size), sorted(special))
        pieces = (tokenizer.piece(number) for number in range(tokenizer.size))
        self.stops = np.array([piece.endswith(STOPS) for piece in pieces])

    def _needed(self, tokenizer: Tokenizer) -> int:
        """The mask's id, 0 if the noise needs none. Raises SpecError if the tokenizer lacks it."""
        name = self.encoder.info.name
        if self.kind == SENTINELS and not self.sentinels:
            raise SpecError(
                _("The tokenizer of {model} has no sentinels (<extra_id_0> …).", model=name),
                hint=_("Set noise to infill."),
            )
        if self.kind in (INFILL, "mask") and tokenizer.mask is None:
            raise SpecError(
                _("The tokenizer of {model} has no mask token.", model=name),
                hint=_("Set noise to sentinels or delete."),
            )
        return tokenizer.mask or 0

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        length = min(self.options["length"], self.encoder.max_length)
        sequences = blocks.blocks(texts, self.encoder.preparer, self.frame, length)
        for batch, done in blocks.batched(texts, sequences, self.options["batch_size"], self.rng):
            yield self.noised(batch, done)

    def noised(self, batch: Sequence[blocks.Tokens], done: float) -> TextBatch:
        """labels (B, S): the tokens to write, padded with IGNORED."""
        rows, targets = [], []
        for tokens in batch:
            inside = slice(len(self.frame.before), len(tokens) - len(self.frame.after))
            changed_ids, expected = self.changed(tokens.ids[inside])
            rows.append(np.concatenate([self.frame.before, changed_ids, self.frame.after]))
            whole = self.kind == SENTINELS
            before = self.frame.before[:0] if whole else self.frame.before
            targets.append(np.concatenate([before, expected, self.frame.after]))
        fill = self.encoder.preparer.fill.get("input_ids", 0)
        inputs = blocks.arrays(rows, self.encoder.input_names, fill)
        labels = pad([row.astype(np.int64) for row in targets], IGNORED)
        words = sum(map(blocks.word_count, batch))
        return TextBatch(inputs, {"labels": labels}, words, done)

    def changed(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(input, target) of a text without special tokens, int (T,); their lengths can differ."""
        changed = ids
        if self.options["permute_sentences"]:
            changed = noise.permuted(changed, self.stops[changed], self.rng)
        if self.options["rotate"]:
            changed = noise.rotated(changed, int(self.rng.integers(len(changed))))
        if self.kind != SENTINELS:
            return self._changes[self.kind](changed), ids
        mean = self.options["noise_length"]
        spans = noise.t5_spans(len(changed), self.share, mean, self.rng)[: len(self.sentinels) - 1]
        return noise.with_sentinels(changed, spans, self.sentinels)

    @property
    def _changes(self) -> Mapping[str, Callable[[np.ndarray], np.ndarray]]:
        return {
            INFILL: self._infilled,
            "mask": lambda ids: noise.replaced(ids, self._chosen(ids), self.mask),
            "replace": self._replaced,
            "delete": lambda ids: noise.deleted(ids, self._chosen(ids)),
            "insert": self._inserted,
            "none": lambda ids: ids,
        }

    def _chosen(self, ids: np.ndarray) -> np.ndarray:
        return noise.tokens(len(ids), self.share, self.rng)

    def _infilled(self, ids: np.ndarray) -> np.ndarray:
        spans = noise.poisson_spans(len(ids), self.share, self.options["noise_length"], self.rng)
        return noise.infilled(ids, spans, self.mask)

    def _replaced(self, ids: np.ndarray) -> np.ndarray:
        chosen = self._chosen(ids)
        return noise.replaced(ids, chosen, self._others(chosen))

    def _inserted(self, ids: np.ndarray) -> np.ndarray:
        chosen = self._chosen(ids)
        return noise.inserted(ids, chosen, self._others(chosen))

    def _others(self, chosen: np.ndarray) -> np.ndarray:
        drawn: np.ndarray = self.ordinary[self.rng.integers(len(self.ordinary), size=chosen.sum())]
        return drawn

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        rows = []
        arrays = (batch.inputs["input_ids"], batch.inputs[MASK], batch.targets["labels"])
        for ids, mask, labels in zip(*arrays, strict=True):
            inputs = [self.piece(int(id)) for id in ids[: int(mask.sum())]]
            written = tuple(self.piece(int(id)) for id in labels[labels != IGNORED])
            original = written if self.kind != SENTINELS else ()
            rows.append(ShownRow(tuple(map(ShownToken, inputs)), original, written))
        return rows

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """inputs (B, T), "labels" (B, S): the text that the decoder writes."""
        labels = targets["labels"]
        return {"denoising": token_loss(self.encoder.target_logits(inputs, labels), labels)}


def _tokenizer(encoder: Encoder) -> Tokenizer:
    preparer = encoder.preparer
    if not isinstance(preparer, Subwords):
        raise SpecError(_("{model} does not read subwords.", model=encoder.info.name))
    return preparer.tokenizer


def _sentinels(tokenizer: Tokenizer) -> tuple[int, ...]:
    """The ids of <extra_id_0>, <extra_id_1> … as far as the tokenizer has them."""
    names = (f"<extra_id_{number}>" for number in range(MOST_SENTINELS))
    ids = [tokenizer.backend.token_to_id(name) for name in names]
    return tuple(id for id in ids if id is not None)
