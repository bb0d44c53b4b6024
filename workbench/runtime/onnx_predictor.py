"""An exported ONNX folder → predictions, with `tokenizers` and `onnxruntime`.

Needs neither torch nor transformers.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base import untrusted
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.runtime.inputs import (
    EncodedInput,
    Logits,
    Prepared,
    Preparer,
    in_batches,
    stack,
    unpadded,
)
from workbench.runtime.predictor import DocumentPredictor
from workbench.runtime.threads import limit as thread_limit
from workbench.text.segmenters import base as segmenters

if TYPE_CHECKING:
    from workbench.tasks.spec import TaskInfo

LABELS = "labels.json"
SHARED = "weights.json"  # beside a graph whose weights are in the folder of the model
FIRST_FAMILY = "transformer"  # of exports without a family, written when it was the only one
MAX_HEADER = 100_000_000  # bytes of the header of a safetensors file, as in its library
BATCH_TOKENS = 1024  # subwords per call, padding included: the layers' arrays stay in the cache
# Of these, at most so many are padding: a call costs as much as about 16 subwords, so that a few
# texts of different lengths take half as much time in several calls.
PADDING = 16


def is_exported(folder: Path) -> bool:
    """Whether it is the ONNX folder of an exported run."""
    return (folder / LABELS).is_file() and any(folder.glob("*.onnx"))


class OnnxPredictor(DocumentPredictor):
    """Created by `load`. `labels` are those of the layer, `outputs` those of the network."""

    def __init__(self, session: Any, preparer: Preparer, description: Mapping[str, Any]):
        self._session, self.preparer, self.description = session, preparer, description
        self.task: TaskInfo = registry().info("task", str(description["task"]))
        self.info = self.task = self.task.reading(self.decoder)
        self.max_length = int(description["max_length"])
        self.labels, self.outputs = tuple(description["labels"]), tuple(description["id2label"])
        self.segmenter = str(description.get(segmenters.OPTION) or segmenters.DEFAULT)
        segmenters.load(self.segmenter)  # a missing one is reported before the first text
        self._arrays: Mapping[str, np.ndarray] = {}  # the session reads them
        self._inputs = [item.name for item in session.get_inputs()]
        self._outputs = [output.name for output in session.get_outputs()]

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        threads: int = 0,
        file: Path | None = None,
        weights: Path | None = None,
    ) -> OnnxPredictor:
        """Raises ModelError if the folder holds no such export.

        `file` is the model, by default the only .onnx file in the folder. weights: the folder that
        has the weights of a graph without them, see `shared_weights`.
        `threads` 0 means OMP_NUM_THREADS; if that is not set, onnxruntime chooses.
        """
        folder = Path(folder)
        files = [file] if file else sorted(folder.glob("*.onnx"))
        if len(files) != 1:
            raise ModelError(
                _(
                    "{folder} holds {count} .onnx files, expected one.",
                    folder=folder,
                    count=len(files),
                ),
                hint=_("Specify the onnx folder of an exported run."),
            )
        try:
            arrays = shared_weights(folder, weights) if weights is not None else {}
            session = session_of(str(files[0]), threads=threads, weights=arrays)
        except Exception as error:  # the library's errors have no common class
            raise ModelError(
                _("{file} cannot be loaded: {error}", file=files[0], error=str(error)[:200])
            ) from error
        description = _description(folder)
        family = registry().info("family", str(description.get("family", FIRST_FAMILY)))
        predictor = cls(session, family.preparer(folder), description)
        predictor._arrays = arrays
        return predictor

    def fit(self, decoder: Mapping[str, Any]) -> OnnxPredictor:
        """Decode with these parameters, which were fitted since; returns itself."""
        self.description = {**self.description, "decoder": {**self.decoder, **decoder}}
        return self

    @property
    def decoder(self) -> Mapping[str, Any]:
        return self.description.get("decoder") or {}

    def infer(
        self, prepared: Prepared, batch_tokens: int | None = None
    ) -> Generator[int, None, Logits]:
        def run(chosen: np.ndarray) -> zip[tuple[int, Mapping[str, np.ndarray]]]:
            return zip(chosen, self.run([inputs[number] for number in chosen]), strict=True)

        inputs = prepared.inputs
        tokens = batch_tokens or BATCH_TOKENS
        return in_batches(prepared.lengths, tokens, len(inputs), run, PADDING)

    def run(self, inputs: Sequence[EncodedInput]) -> Logits:
        """One call of the model: all inputs in one batch, padded at the end."""
        arrays = stack(inputs, self._inputs, self.preparer.fill)
        outputs = self._session.run(self._outputs, arrays)
        named = dict(zip(self._outputs, outputs, strict=True))
        return [
            unpadded(named, row, len(input_), self.info.logits) for row, input_ in enumerate(inputs)
        ]


def session_of(
    model: str | bytes, *, threads: int = 0, weights: Mapping[str, np.ndarray] | None = None
) -> Any:
    """A session on the CPU, of a file or a graph; threads as in `OnnxPredictor.load`.

    weights: those that the graph lacks, by name; the caller keeps them as long as the session.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or thread_limit()
    # They would wait busily for the next operation, which takes half as much processor time
    # again on a free machine, and several times as much on a busy one.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values_by_name = {
        name: onnxruntime.OrtValue.ortvalue_from_numpy(values)
        for name, values in (weights or {}).items()
    }
    options.add_external_initializers(list(values_by_name), list(values_by_name.values()))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


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


# ---------------------------------------------------------------- weights beside a graph


def shared_weights(folder: Path, weights: Path) -> dict[str, np.ndarray]:
    """The weights of a graph that are in the files of its model, by their names in the graph.

    `SHARED` in `folder` has for each the file in `weights`, the tensor, and whether it is
    transposed; {} without it. Raises OSError, ValueError or LookupError.
    """
    if not (folder / SHARED).is_file():
        return {}
    places: dict[str, tuple[str, str, bool]] = json.loads((folder / SHARED).read_text("utf-8"))
    files = {file: tensors(weights / Path(file).name) for file, _, _ in places.values()}
    return {
        name: np.ascontiguousarray(files[file][tensor].T) if swapped else files[file][tensor]
        for name, (file, tensor, swapped) in places.items()
    }


def tensors(path: Path) -> dict[str, np.ndarray]:
    """The float32 tensors of a safetensors file, mapped into memory.

    Raises OSError, ValueError or LookupError if it cannot be read.
    """
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(size, MAX_HEADER)))
    content = np.memmap(path, np.uint8, "r", offset=8 + size)
    return {
        name: content[slice(*about["data_offsets"])].view("<f4").reshape(about["shape"])
        for name, about in header.items()
        if about.get("dtype") == "F32"
    }
