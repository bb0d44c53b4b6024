"""An exported ONNX folder → predictions, with `tokenizers` and `onnxruntime`.

Needs neither torch nor transformers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base import untrusted
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.runtime.inputs import (
    EncodedInput,
    Prepared,
    Preparer,
    batches_by_length,
    stack,
    unpadded,
)
from workbench.runtime.threads import limit as thread_limit
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.text.segmenters import base as segmenters

if TYPE_CHECKING:
    from workbench.tasks.spec import TaskInfo

LABELS = "labels.json"
FIRST_FAMILY = "transformer"  # of exports without a family, written when it was the only one
BATCH_TOKENS = 4096  # subwords per call, padding included

Logits = list[Mapping[str, np.ndarray]]


class OnnxPredictor:
    """Created by `load`. `labels` are those of the layer, `outputs` those of the network."""

    def __init__(self, session: Any, preparer: Preparer, description: Mapping[str, Any]):
        self._session, self.preparer, self.description = session, preparer, description
        self.task: TaskInfo = registry().info("task", str(description["task"]))
        self.max_length = int(description["max_length"])
        self.labels, self.outputs = tuple(description["labels"]), tuple(description["id2label"])
        self.segmenter = str(description.get(segmenters.OPTION) or segmenters.DEFAULT)
        segmenters.load(self.segmenter)  # a missing one is reported before the first text
        self._inputs = [item.name for item in session.get_inputs()]
        self._outputs = [output.name for output in session.get_outputs()]

    @classmethod
    def load(cls, folder: Path | str, *, threads: int = 0) -> OnnxPredictor:
        """Raises ModelError if the folder holds no such export.

        `threads` 0 means OMP_NUM_THREADS; if that is not set, onnxruntime chooses. Its threads
        wait busily: more of them than free cores take several times the processor time.
        """
        import onnxruntime

        folder = Path(folder)
        files = sorted(folder.glob("*.onnx"))
        if len(files) != 1:
            raise ModelError(
                _(
                    "{folder} holds {count} .onnx files, expected one.",
                    folder=folder,
                    count=len(files),
                ),
                hint=_("Specify the onnx folder of an exported run."),
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or thread_limit()
        try:
            session = onnxruntime.InferenceSession(
                str(files[0]), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library's errors have no common class
            raise ModelError(
                _("{file} cannot be loaded: {error}", file=files[0], error=str(error)[:200])
            ) from error
        description = _description(folder)
        family = registry().info("family", str(description.get("family", FIRST_FAMILY)))
        return cls(session, family.preparer(folder), description)

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction per document, in order."""
        prepared = self.prepare(documents)
        return self.decode(self.logits(prepared.inputs), prepared)

    def prepare(self, documents: Sequence[Document]) -> Prepared:
        segmented = segmenters.segmented(documents, self.segmenter)
        return self.task.prepare(self.preparer, segmented, self.max_length)

    def logits(self, inputs: Sequence[EncodedInput]) -> Logits:
        """Logits of each input by name, without padding."""
        logits: Logits = [{}] * len(inputs)
        lengths = np.array([len(input_) for input_ in inputs])
        for chosen in batches_by_length(lengths, BATCH_TOKENS):
            answers = self.run([inputs[number] for number in chosen])
            for number, answer in zip(chosen, answers, strict=True):
                logits[number] = answer
        return logits

    def run(self, inputs: Sequence[EncodedInput]) -> Logits:
        """One call of the model: all inputs in one batch, padded at the end."""
        arrays = stack(inputs, self._inputs, self.preparer.fill)
        outputs = self._session.run(self._outputs, arrays)
        named = dict(zip(self._outputs, outputs, strict=True))
        return [
            unpadded(named, row, len(input_), self.task.logits) for row, input_ in enumerate(inputs)
        ]

    def decode(self, logits: Logits, prepared: Prepared) -> list[Prediction]:
        """One prediction per document from the logits of all its inputs."""
        decoder = self.description.get("decoder") or {}
        return self.task.decode(logits, prepared, self.labels, decoder)


def _description(folder: Path) -> dict[str, Any]:
    path = folder / LABELS
    untrusted.refuse_special_files(folder)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}", path=path, error=error),
            hint=_("The export writes it beside the .onnx file."),
        ) from error
    if not isinstance(raw, dict) or not {"task", "labels", "id2label", "max_length"} <= raw.keys():
        raise ModelError(
            _(
                "{path} does not describe a model: task, labels, id2label or max_length is "
                "missing.",
                path=path,
            )
        )
    return raw
