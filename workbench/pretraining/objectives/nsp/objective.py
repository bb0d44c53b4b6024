"""Next sentence prediction with masked language modelling (Devlin et al. 2018, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from workbench.pretraining import blocks
from workbench.pretraining.objectives.base import TextBatch
from workbench.pretraining.objectives.masked_lm.objective import MaskedLm, token_loss
from workbench.pretraining.objectives.nsp.info import INFO
from workbench.pretraining.pairs import PairFrame, TextPair, pairs
from workbench.pretraining.results import ShownRow
from workbench.pretraining.texts import Texts
from workbench.tasks.base import Loss

TYPES = "token_type_ids"


class NextSentence(MaskedLm):
    """The loss is the sum of both means, as in the paper."""

    info = INFO

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        preparer = self.encoder.preparer
        frame = PairFrame.of(preparer)
        length = min(self.options["length"], self.encoder.max_length)
        sequences = pairs(
            texts,
            preparer,
            length - frame.length,
            self.rng,
            random_share=self.options["next_random"],
            short_share=self.options["short_share"],
        )
        for batch, done in blocks.batched(texts, sequences, self.options["batch_size"], self.rng):
            yield self.paired(batch, frame, done)

    def paired(self, batch: Sequence[TextPair], frame: PairFrame, done: float) -> TextBatch:
        """As `masked`, with "next" (B,): 0 the text that follows, 1 a random segment."""
        rows = [frame.around(pair) for pair in batch]
        masked = self.masked([tokens for tokens, _types in rows], done)
        for number, (_tokens, types) in enumerate(rows):
            if TYPES in masked.inputs:
                masked.inputs[TYPES][number, : len(types)] = types
        masked.targets["next"] = np.array([not pair.is_next for pair in batch], np.int64)
        return masked

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        names = ("next", "random")
        return [
            replace(row, notes={"next_sentence": names[int(target)]})
            for row, target in zip(super().shown(batch), batch.targets["next"], strict=True)
        ]

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """inputs (B, T), "positions" and "labels" (B, K), "next" (B,)."""
        tokens, follows = self.encoder.pair_logits_at(inputs, targets["positions"])
        return {
            "mlm": token_loss(tokens, targets["labels"]),
            "nsp": token_loss(follows, targets["next"]),
        }
