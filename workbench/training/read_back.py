"""A saved model is loaded again, as later predictions load it, before its training is done."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import torch

from workbench.tasks import agreement
from workbench.tasks.base import Features, Model, Task
from workbench.tasks.predictor import Logits, Predictor, infer
from workbench.text.document import Document
from workbench.training.inference import last

DOCUMENTS, CHARACTERS = 8, 20_000  # at most, of the batch; it has at least one document


def sample(documents: Sequence[Document]) -> list[Document]:
    """The first documents, as many as make a batch."""
    first = documents[:DOCUMENTS]
    ends = accumulate(len(document.text) for document in first)
    return list(first[: max(1, sum(end <= CHARACTERS for end in ends))])


def logits(task: Task, model: Model, documents: Sequence[Document], max_length: int) -> Logits:
    """Of all inputs of the documents, from their texts and in eval mode."""
    prepared = task.info.prepare(model.encoder.preparer, documents, max_length)
    return last(infer(task, model.eval(), Features(prepared, {})))


def check(
    folder: Path, documents: Sequence[Document], expected: Logits, device: torch.device
) -> None:
    """Raises ModelError unless the model in the folder gives these logits, within float tolerance.

    The caller frees the trained model first: two may not fit into the memory of the device.
    """
    predictor = Predictor.load(folder, str(device), allow_pickle=True)
    features = Features(predictor.prepare(documents), {})
    again = last(infer(predictor.task, predictor.model, features))
    agreement.ensure_equal(folder, expected, again)
