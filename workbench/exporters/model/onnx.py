"""The ONNX folder: one model file, tokenizer.json and labels.json, to run without torch and transformers."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import torch
from torch import nn

from workbench.base.errors import ExportFailed
from workbench.base.i18n import _
from workbench.exporters.model.spec import OPSET
from workbench.models.base import Checkpoint
from workbench.runtime.onnx_predictor import LABELS
from workbench.tasks.predictor import Predictor

FILE = "model.onnx"
ONE_FILE = 1_900_000_000  # bytes; the format keeps larger weights in a file beside it


class Logits(nn.Module):
    """The model with named inputs in a fixed order, giving its logits alone."""

    def __init__(self, model: nn.Module, names: tuple[str, ...]):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs, strict=True))).logits


def write(predictor: Predictor, tokenizer_folder: Path, folder: Path) -> None:
    """`tokenizer_folder` has the tokenizer's files. Raises ExportFailed where the model cannot be turned into a graph."""
    folder.mkdir(parents=True, exist_ok=True)
    names = input_names(predictor.checkpoint)
    graph(predictor.checkpoint, names, folder / FILE)
    for name in ("tokenizer_config.json", "config.json"):
        shutil.copyfile(tokenizer_folder / name, folder / name)
    _write_tokenizer(
        tokenizer_folder / "tokenizer.json", folder / "tokenizer.json", predictor.max_length
    )
    labels = predictor.labels
    description = {
        "task": predictor.task.id,
        "labels": list(labels),
        "id2label": list(predictor.task.outputs_of(labels)),
        "max_length": predictor.max_length,
        "inputs": list(names),
        "output": "logits",
        "opset": OPSET,
    }
    (folder / LABELS).write_text(
        json.dumps(description, indent=1, ensure_ascii=False), encoding="utf-8"
    )


def _write_tokenizer(source: Path, target: Path, max_length: int) -> None:
    """The vocabulary with the cut that training made, and without the padding to a fixed length that some files ask for."""
    raw = json.loads(source.read_text(encoding="utf-8"))
    raw["padding"] = None
    raw["truncation"] = {
        "direction": "Right",
        "max_length": max_length,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    target.write_text(json.dumps(raw, ensure_ascii=False), encoding="utf-8")


def input_names(checkpoint: Checkpoint) -> tuple[str, ...]:
    return ("input_ids", "attention_mask", *(("token_type_ids",) if checkpoint.types else ()))


def graph(checkpoint: Checkpoint, names: tuple[str, ...], path: Path) -> None:
    """Trace the model with free batch and length, through torch.export: the older tracing exporter gives wrong logits in padded batches."""
    model = checkpoint.model.eval().cpu()
    args = _example(checkpoint, names)
    batch = torch.export.Dim("batch", min=1, max=4096)
    length = torch.export.Dim("length", min=2, max=checkpoint.max_length)
    size = sum(one.numel() * one.element_size() for one in model.parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations inside torch and onnxscript
        try:
            torch.onnx.export(
                Logits(model, names),
                args,
                str(path),
                dynamo=True,
                input_names=list(names),
                output_names=["logits"],
                dynamic_shapes=(tuple({0: batch, 1: length} for _ in args),),
                opset_version=OPSET,
                external_data=size > ONE_FILE,
                verbose=False,
            )
        except (OSError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # torch.export and onnxscript raise many kinds
            reason = (
                str(error).strip().splitlines()[0][:200]
                if str(error).strip()
                else type(error).__name__
            )
            raise ExportFailed(
                _("A model of the family {family} could not be turned into ONNX: {reason}").format(
                    family=checkpoint.info.family, reason=reason
                ),
                hint=_("Export the Hugging Face folder alone."),
            ) from error


def _example(checkpoint: Checkpoint, names: tuple[str, ...]) -> tuple[torch.Tensor, ...]:
    """Two texts of different length, so that padding is part of the trace."""
    rows = [
        piece.ids
        for piece, _ in checkpoint.tokenizer.whole(
            [("A few words to trace with, and more.",), ("Two words",)], 32
        )
    ]
    longest = max(map(len, rows))
    ids = torch.full((2, longest), checkpoint.tokenizer.pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.from_numpy(row.astype("int64"))
        mask[number, : len(row)] = 1
    found = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    return tuple(found[name] for name in names)
