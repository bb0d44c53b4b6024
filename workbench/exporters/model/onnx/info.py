"""ONNX: a graph with what `workbench.runtime` and other programs need to run it."""

from __future__ import annotations

from pathlib import Path

from workbench.base.i18n import N_
from workbench.exporters.model.spec import ExporterInfo
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES

TOKENIZER = "tokenizer.json"


class OnnxInfo(ExporterInfo):
    id = "onnx"
    title = N_("ONNX, 32 bit")
    short = N_("ONNX")
    purpose = N_(
        "For programs without Python or torch: one file for onnxruntime, with tokenizer and labels."
    )
    main_check = True

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        """Models of words or characters have a preparer of ours instead of a tokenizer."""
        if Path(folder).is_dir() and not (Path(folder) / TOKENIZER).is_file():
            pair = ', ("text_b", "…")' if task.texts == 2 else ""
            choices = ', ("choice_1", "…"), ("choice_2", "…")'
            second = choices if task.texts == CHOICES else pair
            questions = ', questions=("…",)' if task.asks else ""
            return _OWN_CODE.format(folder=folder, second=second, questions=questions)
        second = "" if task.texts == 1 and not task.asks else ', "…"'
        return _CODE.format(folder=folder, second=second, outputs=list(task.logits))


_CODE = """import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before the import
import numpy, onnxruntime
from tokenizers import Tokenizer

folder = {folder!r}
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
session = onnxruntime.InferenceSession(folder + "/model.onnx")
encoding = tokenizer.encode("…"{second})
values = {{
    "input_ids": encoding.ids,
    "attention_mask": encoding.attention_mask,
    "token_type_ids": encoding.type_ids,
}}
inputs = {{x.name: numpy.array([values[x.name]], dtype=numpy.int64) for x in session.get_inputs()}}
print(*session.run({outputs}, inputs))  # columns in the order of labels.json
"""

_OWN_CODE = """import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before the import
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.text.document import Document

model = OnnxPredictor.load({folder!r})  # needs neither torch nor transformers
document = Document("1", (("text", "…"){second},){questions})
print(model.predict([document])[0].to_json())
"""

INFO = OnnxInfo()
