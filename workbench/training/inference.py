"""Predictions of the model during its training, on dev and test.

Before the training is done, the saved model is loaded again, as later predictions load it, and must
predict a batch alike.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch

from workbench.base.costs import PredictionCost
from workbench.runtime.inputs import Logits
from workbench.runtime.predictor import last
from workbench.tasks import agreement
from workbench.tasks.base import Features, Model, Task
from workbench.tasks.predictor import LossSum, Predictor, infer
from workbench.tasks.spec import Gold
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.training.events import Tick
from workbench.training.learning import Events, TrainingState

DOCUMENTS, CHARACTERS = 8, 20_000  # at most, of the batch read back; it has at least one document


def read_back_sample(documents: Sequence[Document]) -> list[Document]:
    """The first documents, as many as make a batch."""
    first = documents[:DOCUMENTS]
    ends = accumulate(len(document.text) for document in first)
    return list(first[: max(1, sum(end <= CHARACTERS for end in ends))])


def logits_of(task: Task, model: Model, documents: Sequence[Document], max_length: int) -> Logits:
    """Of all inputs of the documents, from their texts and in eval mode."""
    prepared = task.info.prepare(model.encoder.preparer, documents, max_length)
    return last(infer(task, model.eval(), Features(prepared, {})))


def check_read_back(
    folder: Path, documents: Sequence[Document], expected: Logits, device: torch.device
) -> None:
    """Raises ModelError unless the model in the folder gives these logits, within float tolerance.

    The caller frees the trained model first: two may not fit into the memory of the device.
    """
    predictor = Predictor.load(folder, str(device), allow_pickle=True)
    again = predictor.logits(predictor.prepare(documents))
    agreement.ensure_equal(folder, expected, again)


# predictions, the mean loss, the decoding parameters fitted to them (see TaskInfo.fit)
DevPredictions = tuple[list[Prediction], float, dict[str, Any]]

# Documents that the cost of predictions is measured on at the end of a training, in batches of the
# size below, until this CPU time is used.
MEASURED, MEASURED_AT_ONCE, LIMIT = 64, 16, 0.5


class Inference:
    """Inference in eval mode, with a Tick after each batch; in float32 but for evaluations of a
    training in bf16, which choose the checkpoint.
    """

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
            self.predict(chunk, max_length)
            done += len(chunk)
        seconds = round(time.process_time() - before, 6)
        return PredictionCost(done, seconds) if done else None

    def predict(self, documents: Sequence[Document], max_length: int) -> list[Prediction]:
        """The predictions of documents from their texts, without fitted decoding parameters."""
        prepared = self.task.info.prepare(self.model.encoder.preparer, documents, max_length)
        features = Features(prepared, {})
        logits = last(infer(self.task, self.model.eval(), features))
        return self.decode([features], [logits], {})

    def predict_and_fit(
        self, chunks: Sequence[Features], golds: Sequence[Gold]
    ) -> Events[DevPredictions]:
        losses = LossSum()
        logits = yield from self.logits(chunks, losses, bf16=self.state.bf16)
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
            for prediction in info.decode(values, features.prepared, self.labels, decoder)
        ]

    def logits(
        self, chunks: Sequence[Features], losses: LossSum, *, bf16: bool = False
    ) -> Events[list[Logits]]:
        """Logits of every chunk; adds the losses to `losses`."""
        self.model.eval()
        logits: list[Logits] = []
        for features in chunks:
            work = infer(self.task, self.model, features, losses=losses)
            while True:
                try:
                    with torch.autocast(self.state.device.type, torch.bfloat16, enabled=bf16):
                        next(work)
                except StopIteration as end:
                    logits.append(end.value)
                    break
                yield Tick(self.state.step)
        return logits
