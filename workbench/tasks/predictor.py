"""A folder of a trained model and documents → predictions."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models.base import Encoder, LoadOptions
from workbench.runtime.inputs import Prepared, batches_by_length, unpadded
from workbench.runtime.preparers.words import segmenter_of
from workbench.tasks import model as models
from workbench.tasks.answers import read_documents, write_answers
from workbench.tasks.base import CHUNK, Features, Loss, Model, Task, collate
from workbench.text.document import CHOICES, TEXT, TEXT_B, Document, with_choices, with_questions
from workbench.text.fields import Prediction
from workbench.text.segmenters import base as segmenters

CPU_TOKENS, GPU_TOKENS = 4096, 16384  # subwords per batch, including padding


Logits = list[Mapping[str, np.ndarray]]


class LossSum:
    """Sums of named losses over batches."""

    def __init__(self) -> None:
        self.totals: dict[str, float] = {}
        self.counts: dict[str, float] = {}

    def add(self, losses: Mapping[str, Loss]) -> None:
        for name, loss in losses.items():
            self.totals[name] = self.totals.get(name, 0.0) + float(loss.total)
            self.counts[name] = self.counts.get(name, 0.0) + float(loss.count)

    def means(self) -> dict[str, float]:
        """Weighted mean over all targets; losses without a target are left out."""
        return {
            name: total / self.counts[name]
            for name, total in self.totals.items()
            if self.counts[name]
        }


def infer(
    task: Task,
    model: Model,
    features: Features,
    *,
    losses: LossSum | None = None,
    tokens: int | None = None,
) -> Generator[int, None, Logits]:
    """Run the model in eval mode over all inputs, in batches of similar length.

    Yields the number of inputs done after each batch. Returns the logits of every input by name,
    without padding. Losses are added to `losses` where the features have targets.
    """
    encoder, device = model.encoder, model.encoder.device
    tokens = tokens or (CPU_TOKENS if device.type == "cpu" else GPU_TOKENS)
    lengths = features.prepared.lengths
    logits: list[Mapping[str, np.ndarray]] = [{}] * len(lengths)
    done = 0
    for chosen in batches_by_length(features.lengths, tokens):
        batch = collate(features, chosen, encoder=encoder, device=device)
        with torch.inference_mode():
            outputs = task.forward(model, batch)
        arrays = {name: value.cpu().numpy() for name, value in outputs.logits.items()}
        positions = features.positions(chosen)
        for row, position in enumerate(positions):
            logits[position] = unpadded(arrays, row, int(lengths[position]), task.info.logits)
        if losses is not None:
            losses.add(outputs.losses)
        done += len(positions)
        yield done
    return logits


class Predictor:
    """A loaded model with its task and labels. Created by `load`."""

    def __init__(
        self,
        task: Task,
        model: Model,
        labels: Sequence[str],
        max_length: int,
        description: Mapping[str, Any],
    ):
        self.task, self.model = task, model
        self.labels, self.max_length = tuple(labels), max_length
        self.description = description
        options = description.get("options") or {}
        self.segmenter = segmenters.chosen(options)
        if self.segmenter == segmenters.DEFAULT:
            self.segmenter = segmenter_of(self.encoder.preparer)
        segmenters.load(self.segmenter)  # a missing one is reported before the first text

    @classmethod
    def load(
        cls,
        folder: Path | str,
        device: str = "auto",
        *,
        attention: str = "sdpa",
        allow_pickle: bool = False,
        base: Path | str | None = None,
    ) -> Predictor:
        """A run, or a published model that is trained for a task.

        base: the model into which the bottleneck adapters in `folder` are inserted.
        Raises ModelError if there is none, SpecError for a wrong device.
        """
        folder = folders.located(folder)
        description = folders.description(folder)
        task = models.task_of(description["task"])
        labels = tuple(description["labels"])
        where = devices.pick(device)
        setting = models.Setting.trained(task, description)
        options = LoadOptions(attention=attention, allow_pickle=allow_pickle)
        if base is None:
            model = models.load(folder, setting, options)
        else:
            model = models.load_adapted(base, folder, setting, options)
        model.to(where).eval()
        return cls(task, model, labels, int(description["max_length"]), description)

    @property
    def encoder(self) -> Encoder:
        return self.model.encoder

    @property
    def decoder(self) -> Mapping[str, Any]:
        """Decoding parameters of the trained network, and those that were fitted on dev."""
        own = self.task.decoder(self.model, self.description.get("options") or {})
        return {**own, **(self.description.get("decoder") or {})}

    def prepare(self, documents: Sequence[Document]) -> Prepared:
        segmented = segmenters.segmented(documents, self.segmenter)
        return self.task.info.prepare(self.encoder.preparer, segmented, self.max_length)

    def decode(self, logits: Logits, prepared: Prepared) -> list[Prediction]:
        return self.task.info.decode(logits, prepared, self.labels, self.decoder)

    def predict(
        self, documents: Sequence[Document], batch_tokens: int | None = None
    ) -> list[Prediction]:
        """One prediction for each document, in order."""
        return [
            prediction
            for _, predictions in self.stream(documents, batch_tokens)
            for prediction in predictions
        ]

    def predict_texts(self, texts: Sequence[str | tuple[str, ...]]) -> list[Prediction]:
        """One prediction for each text, pair of texts, or text with choices or questions."""
        rows = [(item,) if isinstance(item, str) else item for item in texts]
        if self.task.info.asks:
            return self.predict([with_questions("", text, questions) for text, *questions in rows])
        if self.task.info.texts == CHOICES:
            return self.predict([with_choices("", first, rest) for first, *rest in rows])
        return self.predict(
            [
                Document(str(n), tuple(zip((TEXT, TEXT_B), pair, strict=False)))
                for n, pair in enumerate(rows, 1)
            ]
        )

    def stream(
        self, documents: Sequence[Document], batch_tokens: int | None = None
    ) -> Iterator[tuple[float, list[Prediction]]]:
        """(documents done so far, new predictions) after each batch.

        The list is often empty, as most batches complete no document. Incomplete documents count by
        the fraction of their windows: a text of several megabytes has thousands.
        """
        for start in range(0, len(documents), CHUNK):
            prepared = self.prepare(documents[start : start + CHUNK])
            work = infer(self.task, self.model, Features(prepared, {}), tokens=batch_tokens)
            while True:
                try:
                    share = next(work) / len(prepared.inputs)
                except StopIteration as end:
                    answers = self.decode(end.value, prepared)
                    yield start + len(prepared.documents), answers
                    break
                yield start + share * len(prepared.documents), []


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target.

    params: model (folder), input (JSON lines), output (JSON lines, in the order of the input),
    device, allow_pickle.

    Yields {"kind": "progress", "done"}; incomplete documents count by their fraction. "stop" ends
    after the current documents. Returns {"documents", "cut", "cpu_seconds" (without loading the
    model), "output", "device", "stopped"}.
    """
    devices.use_threads()
    predictor = Predictor.load(
        params["model"],
        params.get("device", "auto"),
        allow_pickle=bool(params.get("allow_pickle")),
    )
    output, done, cut, stopped = Path(params["output"]), 0, 0, False
    began = time.process_time()
    yield {"kind": "progress", "done": 0}
    with open(output, "w", encoding="utf-8", newline="\n") as file:
        documents = iter(read_documents(Path(params["input"])))
        for chunk in iter(lambda: list(islice(documents, CHUNK)), []):
            before = done
            for share, predictions in predictor.stream(chunk):
                command = yield {"kind": "progress", "done": before + share}
                stopped = stopped or command == "stop"
                if predictions:
                    write_answers(file, chunk, predictions)
                    done += len(predictions)
                    cut += sum(prediction.cut for prediction in predictions)
            if stopped:
                break
    yield {"kind": "progress", "done": done}
    return {
        "documents": done,
        "cut": cut,
        "cpu_seconds": time.process_time() - began,
        "output": str(output),
        "device": str(predictor.encoder.device),
        "stopped": stopped,
    }
