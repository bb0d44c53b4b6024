"""A folder of a trained model and documents → predictions."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import is_out_of_memory
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models import spec
from workbench.models.base import Encoder, LoadOptions
from workbench.runtime.inputs import Logits, Prepared, in_batches, unpadded
from workbench.runtime.predictor import DocumentPredictor, last
from workbench.runtime.preparers.words import segmenter_of
from workbench.tasks import model as models
from workbench.tasks.base import Features, Loss, Model, Task, collate
from workbench.tasks.references import References
from workbench.text.fields import Prediction
from workbench.text.segmenters import base as segmenters

CPU_TOKENS, GPU_TOKENS = 2048, 16384  # subwords per batch, including padding


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
    """Run the model in eval mode over all inputs, in batches of similar length, which are halved
    where memory is short.

    Yields the number of inputs done after each batch. Returns the logits of every input by name,
    without padding. Losses are added to `losses` where the features have targets.
    """
    encoder, device = model.encoder, model.encoder.device
    tokens = tokens or (CPU_TOKENS if device.type == "cpu" else GPU_TOKENS)
    lengths = features.prepared.lengths

    def computed(chosen: np.ndarray) -> dict[str, np.ndarray] | None:
        """None if memory was short for more than one input."""
        batch = collate(features, chosen, encoder=encoder, device=device)
        try:
            with torch.inference_mode():
                outputs = task.forward(model, batch)
                arrays = {name: value.cpu().numpy() for name, value in outputs.logits.items()}
        except (RuntimeError, MemoryError) as error:
            if len(chosen) == 1 or not is_out_of_memory(error):
                raise
            return None
        if losses is not None:
            losses.add(outputs.losses)
        return arrays

    def run(chosen: np.ndarray) -> Iterator[tuple[int, Mapping[str, np.ndarray]]]:
        arrays = computed(chosen)
        if arrays is None:
            devices.release(device)
            for half in np.array_split(chosen, 2):
                yield from run(half)
            return
        for row, position in enumerate(features.positions(chosen)):
            yield position, unpadded(arrays, row, int(lengths[position]), task.info.logits)

    return in_batches(features.lengths, tokens, len(lengths), run)


def _array(values: Tensor) -> np.ndarray:
    """numpy has no bfloat16."""
    values = values.float() if values.dtype == torch.bfloat16 else values
    array: np.ndarray = values.cpu().numpy()
    return array


class Predictor(DocumentPredictor):
    """A loaded model with its task and labels. Created by `load`."""

    def __init__(
        self,
        task: Task,
        model: Model,
        labels: Sequence[str],
        max_length: int,
        description: Mapping[str, Any],
    ):
        options = description.get("options") or {}
        self.task, self.model = task, model
        self.info = task.info = task.info.reading(options)
        self.preparer, self.device = model.encoder.preparer, str(model.encoder.device)
        self.labels, self.max_length = tuple(labels), max_length
        self.description = description
        self.segmenter = segmenters.chosen(options)
        if self.segmenter == segmenters.DEFAULT:
            self.segmenter = segmenter_of(self.preparer)
        self.references: References | None = None
        self.start: Model | None = None  # of the references, once it was needed
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
        predictor = cls(task, model, labels, int(description["max_length"]), description)
        if task.reference:
            predictor.references = References.read(folder.parent)
        return predictor

    @property
    def encoder(self) -> Encoder:
        return self.model.encoder

    @property
    def decoder(self) -> Mapping[str, Any]:
        own = self.task.decoder(self.model, self.description.get("options") or {})
        return {**own, **(self.description.get("decoder") or {})}

    def infer(
        self, prepared: Prepared, batch_tokens: int | None = None
    ) -> Generator[int, None, Logits]:
        return infer(self.task, self.model, Features(prepared, {}), tokens=batch_tokens)

    def decode(self, logits: Logits, prepared: Prepared) -> list[Prediction]:
        """As DocumentPredictor.decode, compared with the initial weights if the task does that."""
        if self.references is not None:
            self._refer(self.references, prepared)
            prepared = self.references.attached(prepared, self.task.reference)
        return super().decode(logits, prepared)

    def _refer(self, references: References, prepared: Prepared) -> None:
        """Compute the references that are missing, if the model they are of is still there."""
        missing = references.missing(prepared.documents)
        if not missing or not (self.start is not None or references.is_there):
            return
        if self.start is None:
            setting = models.Setting.trained(self.task, self.description)
            info = spec.read_folder(references.start)
            self.start = models.build(info, setting, LoadOptions())
            self.start.to(self.encoder.device).eval()
        others = self.info.prepare(self.preparer, missing, self.max_length)
        references.add(others, last(infer(self.task, self.start, Features(others, {}))))
