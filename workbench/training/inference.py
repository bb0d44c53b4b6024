"""Predictions of the model during its training, on dev and test."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from workbench.base.costs import PredictionCost
from workbench.tasks import contract
from workbench.tasks.base import Features, Model, Task
from workbench.tasks.predictor import Logits, LossSum, infer
from workbench.tasks.spec import Gold
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.training.events import Tick
from workbench.training.learning import Events, TrainingState

# predictions, the mean loss, the decoding parameters fitted to them (see TaskInfo.fit)
DevPredictions = tuple[list[Prediction], float, dict[str, Any]]

# Documents that the cost of predictions is measured on at the end of a training, in batches of the
# size below, until this CPU time is used.
MEASURED, MEASURED_AT_ONCE, LIMIT = 64, 16, 0.5


class Inference:
    """Inference in float32 and eval mode, with a Tick after each batch."""

    def __init__(
        self,
        task: Task,
        model: Model,
        labels: Sequence[str],
        options: Mapping[str, Any],
        state: TrainingState,
    ):
        self.task, self.model, self.labels = task, model, labels
        self.options, self.state = options, state

    def cost(self, documents: Sequence[Document], max_length: int) -> PredictionCost | None:
        """Predict some documents from their texts, as a prediction does; None without one."""
        before, done = time.process_time(), 0
        while done < min(len(documents), MEASURED) and time.process_time() - before < LIMIT:
            chunk = documents[done : done + MEASURED_AT_ONCE]
            prepared = self.task.info.prepare(self.model.encoder.preparer, chunk, max_length)
            features = [Features(prepared, {})]
            work = infer(self.task, self.model.eval(), features[0])
            self.decode(features, [last(work)], {})
            done += len(chunk)
        seconds = round(time.process_time() - before, 6)
        return PredictionCost(done, seconds) if done else None

    def predict_and_fit(
        self, chunks: Sequence[Features], golds: Sequence[Gold]
    ) -> Events[DevPredictions]:
        losses = LossSum()
        logits = yield from self.logits(chunks, losses)
        predictions = self.decode(chunks, logits, {})
        fitted = self.task.info.fit(golds, predictions, self.labels)
        if fitted:
            predictions = self.decode(chunks, logits, fitted)
        return predictions, sum(losses.means().values()), fitted

    def decode(
        self, chunks: Sequence[Features], logits: Sequence[Logits], fitted: Mapping[str, Any]
    ) -> list[Prediction]:
        decoder = {**self.task.decoder(self.model, self.options), **fitted}
        info = self.task.info
        return [
            prediction
            for features, values in zip(chunks, logits, strict=True)
            for prediction in contract.decoded(
                info,
                info.decode(values, features.prepared, self.labels, decoder),
                len(features.prepared.documents),
            )
        ]

    def logits(self, chunks: Sequence[Features], losses: LossSum) -> Events[list[Logits]]:
        """Logits of every chunk; adds the losses to `losses`."""
        self.model.eval()
        logits: list[Logits] = []
        for features in chunks:
            work = infer(self.task, self.model, features, losses=losses)
            while True:
                try:
                    next(work)
                except StopIteration as end:
                    logits.append(end.value)
                    break
                yield Tick(self.state.step)
        return logits


def last(work: Generator[int, None, Logits]) -> Logits:
    """What a generator returns, its progress left out."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            value: Logits = end.value
            return value
