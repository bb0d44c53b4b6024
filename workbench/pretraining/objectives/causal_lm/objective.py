"""Causal language modelling (Radford et al. 2018, equation 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional

from workbench.models.base import Encoder
from workbench.pretraining import blocks
from workbench.pretraining.objectives.base import Objective, TextBatch
from workbench.pretraining.objectives.causal_lm.info import INFO
from workbench.pretraining.objectives.recurrent import RecurrentLm, is_recurrent
from workbench.pretraining.results import ShownRow, ShownToken
from workbench.pretraining.texts import Texts
from workbench.runtime.inputs import MASK
from workbench.tasks.base import IGNORED, Loss


class CausalLm(Objective):
    """Over streams for recurrent models, over separate blocks for all others."""

    info = INFO

    def __init__(self, encoder: Encoder, options: Mapping[str, Any], rng: np.random.Generator):
        super().__init__(encoder, options, rng)
        kind = StreamLm if is_recurrent(encoder) else BlockLm
        self.over: Objective = kind(encoder, options, rng)

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        return self.over.batches(texts)

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        return self.over.shown(batch)

    def carried(self) -> Any:
        return self.over.carried()

    def carry(self, carried: Any) -> None:
        self.over.carry(carried)

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """The losses for this kind of model; inputs and targets (B, T, …)."""
        return self.over.losses(inputs, targets)


class StreamLm(RecurrentLm):
    """One direction: that of the loaded head."""

    info = INFO

    @property
    def directions(self) -> tuple[str, ...]:
        return (self.encoder.head or super().directions[0],)


class BlockLm(Objective):
    info = INFO

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        preparer = self.encoder.preparer
        frame = blocks.Frame.of(preparer)
        length = min(self.options["length"], self.encoder.max_length)
        sequences = blocks.blocks(texts, preparer, frame, length)
        fill = preparer.fill.get("input_ids", 0)
        for batch, done in blocks.batched(texts, sequences, self.options["batch_size"], self.rng):
            rows = [tokens.ids for tokens in batch]
            inputs = blocks.arrays(rows, self.encoder.input_names, fill)
            labels = np.full((len(rows), max(map(len, rows))), IGNORED, np.int64)
            for number, row in enumerate(rows):
                labels[number, : len(row) - 1] = row[1:]
            words = sum(map(blocks.word_count, batch))
            yield TextBatch(inputs, {"labels": labels}, words, done)

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        rows = []
        arrays = (batch.inputs["input_ids"], batch.inputs[MASK], batch.targets["labels"])
        for ids, mask, labels in zip(*arrays, strict=True):
            count = int(mask.sum())
            inputs = [self.encoder.vocable(int(id)) for id in ids[:count]]
            tokens = tuple(
                ShownToken(text, None if label == IGNORED else self.encoder.vocable(int(label)))
                for text, label in zip(inputs, labels[:count], strict=True)
            )
            rows.append(ShownRow(tokens, tuple(inputs)))
        return rows

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """inputs (B, T), "labels" (B, T), IGNORED where nothing is predicted."""
        labels = targets["labels"]
        logits = self.encoder.logits(inputs).float()  # (B, T, V)
        total = functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        return {"lm": Loss(total, (labels != IGNORED).sum())}
