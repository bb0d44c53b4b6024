"""The ONNX folder: one model file, tokenizer.json and labels.json, for inference without torch and
transformers.
"""

from __future__ import annotations

import gc
import json
import re
import shutil
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.exporters.model.base import Export, ModelExporter, Writing
from workbench.exporters.model.onnx import decomposition, session
from workbench.exporters.model.onnx.info import INFO, TOKENIZER
from workbench.models.base import Encoder
from workbench.runtime.inputs import stack
from workbench.runtime.onnx_predictor import LABELS, OnnxPredictor
from workbench.tasks.base import Model
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document
from workbench.text.segmenters import base as segmenters

FILE = "model.onnx"
OPSET = 18
# bytes; larger weights are stored in a separate file, as the format requires
ONE_FILE = 1_900_000_000
NO_STACK_TRACES = "do_not_emit_stack_traces"
STACK_TRACE = "pkg.torch.onnx.stack_trace"  # in the metadata of a node
# Not failures of the conversion.
GOES_ON = (OSError, MemoryError, torch.OutOfMemoryError)
COLOUR = re.compile("\x1b\\[[0-9;]*m")
MAX_AXIS_ITEMS = 1 << 24  # size of an axis that is not that of the units


class OnnxExporter(ModelExporter):
    info = INFO
    writing = N_("Converting the model to ONNX (about a minute)")
    checking = N_("Comparing predictions (texts: {n})")

    def write(self, export: Export, folder: Path) -> Writing | None:
        if export.graph_folder is not None:
            shutil.copytree(export.graph_folder, folder)
            return None
        write(export.predictor, export.saved(), folder)
        export.graph_folder = folder
        return None

    def load(self, export: Export, folder: Path) -> OnnxPredictor:
        return OnnxPredictor.load(folder)

    def session(
        self, predictor: Predictor, model: Path, documents: Sequence[Document], scratch: Path
    ) -> Generator[dict[str, Any], str | None, Any]:
        """Make the session with which a run predicts, see `onnx.session.made`."""
        return session.made(write, predictor, model, documents, scratch)


class Logits(nn.Module):
    """The model with its inputs in a fixed order, giving its logits in a fixed order."""

    def __init__(self, model: Model, names: Sequence[str], outputs: Sequence[str]):
        super().__init__()
        self.model, self.names, self.outputs = model, names, outputs

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Inputs (B, T, …) in the order of `names`; logits (B, …) in that of `outputs`."""
        logits = self.model(dict(zip(self.names, inputs, strict=True)))
        return tuple(logits[name] for name in self.outputs)


def write(predictor: Predictor, tokenizer_folder: Path, folder: Path) -> None:
    """Write the ONNX folder; `tokenizer_folder` has the tokenizer's files.

    Raises ExportFailed where the model cannot be converted to a graph.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graph(predictor, folder / FILE)
    predictor.encoder.preparer.save(folder)
    for name in ("tokenizer_config.json", "config.json"):
        if (tokenizer_folder / name).is_file():
            shutil.copyfile(tokenizer_folder / name, folder / name)
    if (tokenizer_folder / TOKENIZER).is_file():
        _write_tokenizer(tokenizer_folder / TOKENIZER, folder / TOKENIZER, predictor.max_length)
    (folder / LABELS).write_text(
        json.dumps(description(predictor), indent=1, ensure_ascii=False), encoding="utf-8"
    )


def description(predictor: Predictor) -> dict[str, Any]:
    """labels.json: what an `OnnxPredictor` needs besides the model and its preparer."""
    info, labels = predictor.task.info, predictor.labels
    outputs = _outputs(predictor)
    return {
        "task": info.id,
        "family": predictor.encoder.info.family,
        "labels": list(labels),
        "id2label": list(info.trained_outputs(labels, predictor.decoder)),
        "max_length": predictor.max_length,
        segmenters.OPTION: predictor.segmenter,
        "inputs": list(predictor.encoder.input_names),
        "output": outputs[0],
        "outputs": list(outputs),
        "decoder": dict(predictor.decoder),
        "opset": OPSET,
    }


def _outputs(predictor: Predictor) -> tuple[str, ...]:
    options = predictor.description.get("options") or {}
    return tuple(predictor.task.info.logits_of(options))


def _write_tokenizer(source: Path, target: Path, max_length: int) -> None:
    """The vocabulary, with truncation at the training length, without padding to a fixed length."""
    raw = json.loads(source.read_text(encoding="utf-8"))
    raw["padding"] = None
    raw["truncation"] = {
        "direction": "Right",
        "max_length": max_length,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    target.write_text(json.dumps(raw, ensure_ascii=False), encoding="utf-8")


def graph(predictor: Predictor, path: Path) -> None:
    """Convert the model through torch.export, with free batch size and length.

    The older tracing exporter gives wrong logits in padded batches.

    Raises ExportFailed if the model cannot be converted.
    """
    model, encoder = predictor.model.eval().cpu(), predictor.encoder
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    # without no_grad, a graph of gradients would be traced too
    with (
        warnings.catch_warnings(),
        torch.no_grad(),
        _no_garbage_collection(),
        _no_stack_traces(),
    ):
        warnings.simplefilter("ignore")  # deprecations inside torch and onnxscript
        try:
            program = _converted(predictor)
            _drop_stack_traces(program)
            program.save(str(path), external_data=size > ONE_FILE)
        except GOES_ON:
            raise
        except Exception as error:  # torch.export and onnxscript raise many kinds
            family = registry().info("family", encoder.info.family)
            raise ExportFailed(
                _(
                    "A model of the family {family} could not be converted to ONNX: {reason}",
                    family=encoder.info.architecture,
                    reason=_reason(error),
                ),
                hint=_("Export only “{format}”.", format=_(family.saved_as)),
            ) from error


def _converted(predictor: Predictor) -> torch.onnx.ONNXProgram:
    """The model as a graph. Where the fast decomposition fails, that of torch is tried."""
    encoder, outputs = predictor.encoder, _outputs(predictor)
    args, shapes = _example(predictor), _free_shapes(encoder)

    def convert() -> torch.onnx.ONNXProgram:
        for operator in (torch.ops.aten.lstm.input, torch.ops.aten.gru.input):
            # torch 2.13 replaces their kernels while it exports, but keeps the cached ones of an
            # earlier export, which fix the length. Drop when test_lstm_exported_twice passes
            # without.
            operator._dispatch_cache.clear()
        program = torch.onnx.export(
            Logits(predictor.model, encoder.input_names, outputs),
            args,
            dynamo=True,
            input_names=list(encoder.input_names),
            output_names=list(outputs),
            dynamic_shapes=(shapes,),
            opset_version=OPSET,
            verbose=False,
        )
        assert program is not None  # as dynamo is True
        return program

    with decomposition.without_tracing() as rewritten:
        try:
            return convert()
        except GOES_ON:
            raise
        except Exception:
            if not rewritten:
                raise
    return convert()


def _reason(error: BaseException) -> str:
    """The first line of what torch wrapped, without the colours of its messages."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return COLOUR.sub("", lines[0])[:200]


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A graph has millions of small objects that stay; searching them takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _no_stack_traces() -> Iterator[None]:
    """torch stores the lines of source code of every operation in the file, with their folders.

    They are of no use to who runs the model. See also `_drop_stack_traces`.
    """
    config = torch.fx.config
    if not hasattr(config, NO_STACK_TRACES):
        yield
        return
    before = getattr(config, NO_STACK_TRACES)
    setattr(config, NO_STACK_TRACES, True)
    try:
        yield
    finally:
        setattr(config, NO_STACK_TRACES, before)


def _drop_stack_traces(program: Any) -> None:
    """torch before 2.13 has no setting for them."""
    for node in program.model.graph.all_nodes():
        node.metadata_props.pop(STACK_TRACE, None)


def _free_shapes(encoder: Encoder) -> tuple[dict[int, Any], ...]:
    """The axes of each input that may have any size: the batch, and the units or another axis."""
    batch = torch.export.Dim("batch", min=1, max=4096)
    length = torch.export.Dim("length", min=2, max=encoder.max_length)
    axes = {
        axis: torch.export.Dim(axis, min=2, max=MAX_AXIS_ITEMS)
        for axis in encoder.input_axes.values()
    }
    return tuple(
        {0: batch, 1: axes[axis] if (axis := encoder.input_axes.get(name)) else length}
        for name in encoder.input_names
    )


def _example(predictor: Predictor) -> tuple[Tensor, ...]:
    """Two texts of different length, so that padding is part of the graph."""
    texts = ("A few words to trace with, and more.", "Two words")
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(texts)]
    encoder = predictor.encoder
    inputs = encoder.preparer.whole(documents, min(32, encoder.max_length)).inputs
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    return tuple(torch.from_numpy(arrays[name]) for name in encoder.input_names)
