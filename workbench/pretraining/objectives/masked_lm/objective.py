"""Masked language modelling (Devlin et al. 2018, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.pretraining import blocks
from workbench.pretraining.masking import Rates, choose, replaced
from workbench.pretraining.objectives.base import Objective, TextBatch
from workbench.pretraining.objectives.masked_lm.info import INFO
from workbench.pretraining.results import ShownRow, ShownToken
from workbench.pretraining.texts import Texts
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.base import IGNORED, Loss


def _tokenizer(encoder: Encoder) -> tuple[Tokenizer, int]:
    """The tokenizer and the id of its mask token. Raises SpecError if there is none."""
    preparer = encoder.preparer
    if not isinstance(preparer, Subwords) or preparer.tokenizer.mask is None:
        raise SpecError(
            _("The tokenizer of {model} has no mask token.", model=encoder.info.name),
            hint=_("Choose a model that was pretrained as a masked language model."),
        )
    return preparer.tokenizer, preparer.tokenizer.mask


def token_loss(logits: Tensor, labels: Tensor) -> Loss:
    """Cross-entropy of logits (…, V) with labels int (…), those IGNORED left out."""
    flat = logits.float().flatten(0, -2)
    total = functional.cross_entropy(flat, labels.flatten(), ignore_index=IGNORED, reduction="sum")
    return Loss(total, (labels != IGNORED).sum())


class MaskedLm(Objective):
    info = INFO

    def __init__(self, encoder: Encoder, options: Mapping[str, Any], rng: np.random.Generator):
        super().__init__(encoder, options, rng)
        self.rates = Rates(options["mask_rate"], options["mask_share"], options["random_share"])
        if self.rates.masked + self.rates.random > 1:
            raise SpecError(
                _(
                    "mask_share {mask} and random_share {random} add up to more than 1.",
                    mask=self.rates.masked,
                    random=self.rates.random,
                ),
                hint=_("The remaining tokens are kept unchanged."),
            )
        self.tokenizer, self.mask = _tokenizer(encoder)
        self.frame = blocks.Frame.of(encoder.preparer)
        self.ordinary = np.setdiff1d(np.arange(self.tokenizer.size), sorted(self.tokenizer.special))

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        length = min(self.options["length"], self.encoder.max_length)
        sequences = blocks.blocks(texts, self.encoder.preparer, self.frame, length)
        for batch, done in blocks.batched(texts, sequences, self.options["batch_size"], self.rng):
            yield self.masked(batch, done)

    def hidden(self, tokens: blocks.Tokens) -> tuple[np.ndarray, np.ndarray]:
        """The input ids (T,), and the positions (K,) of the tokens to predict."""
        whole = self.options["mask_unit"] == "word"
        groups = tokens.groups if whole else np.arange(len(tokens))
        inside = tokens.groups != blocks.SEPARATOR
        chosen = choose(inside, groups, self.rates.chosen, self.rng)
        ids, _what = replaced(
            tokens.ids, chosen, self.rates, mask=self.mask, ordinary=self.ordinary, rng=self.rng
        )
        return ids, np.flatnonzero(chosen)

    def masked(self, batch: Sequence[blocks.Tokens], done: float) -> TextBatch:
        """positions, labels (B, K): the tokens to predict, padded with 0 and IGNORED."""
        masked = [self.hidden(tokens) for tokens in batch]
        rows, places = [ids for ids, _where in masked], [where for _ids, where in masked]
        words = sum(map(blocks.word_count, batch))
        most = max(1, *map(len, places))
        positions = np.zeros((len(rows), most), np.int64)
        labels = np.full((len(rows), most), IGNORED, np.int64)
        for number, (tokens, where) in enumerate(zip(batch, places, strict=True)):
            positions[number, : len(where)] = where
            labels[number, : len(where)] = tokens.ids[where]
        fill = self.encoder.preparer.fill.get("input_ids", 0)
        inputs = blocks.arrays(rows, self.encoder.input_names, fill)
        return TextBatch(inputs, {"positions": positions, "labels": labels}, words, done)

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        rows = []
        arrays = (batch.inputs["input_ids"], batch.inputs[MASK])
        targets = (batch.targets["positions"], batch.targets["labels"])
        for ids, mask, places, labels in zip(*arrays, *targets, strict=True):
            target_of = {
                int(place): int(label)
                for place, label in zip(places, labels, strict=True)
                if label != IGNORED
            }
            tokens = tuple(
                self._shown(int(id), target_of.get(place))
                for place, id in enumerate(ids[: int(mask.sum())])
            )
            original = tuple(
                token.input if token.target is None else token.target for token in tokens
            )
            rows.append(ShownRow(tokens, original))
        return rows

    def _shown(self, id: int, target: int | None) -> ShownToken:
        if target is None:
            return ShownToken(self.tokenizer.piece(id))
        what = "masked" if id == self.mask else "kept" if id == target else "random"
        return ShownToken(self.tokenizer.piece(id), self.tokenizer.piece(target), what)

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """inputs (B, T), "positions" and "labels" (B, K): only these logits are computed."""
        logits = self.encoder.logits_at(inputs, targets["positions"])  # (B, K, V)
        return {"mlm": token_loss(logits, targets["labels"])}
