"""ONNX: a graph with what `workbench.runtime` and other programs need to run it."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.exporters.model.plain.info import graph_reason, trained
from workbench.exporters.model.spec import ExporterInfo
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES

TOKENIZER = "tokenizer.json"
# `model_type` in config.json → what onnxruntime.transformers calls models of this structure
FUSED = {
    **dict.fromkeys(("albert", "bert", "camembert", "deberta", "distilbert", "electra"), "bert"),
    **dict.fromkeys(("ernie", "mpnet", "roberta", "xlm-roberta"), "bert"),
    "gpt2": "gpt2",
}


class OnnxInfo(ExporterInfo):
    id = "onnx"
    library = "onnx"
    title = N_("ONNX, 32 bit")
    short = N_("ONNX")
    group = "any"
    purpose = N_(
        "For programs without Python or torch: one file for onnxruntime, with tokenizer and labels."
    )
    main_check = True

    def unfit(self, model: Path) -> str:
        return graph_reason(trained(model))

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        """Models of words or characters have a preparer of ours instead of a tokenizer."""
        if Path(folder).is_dir() and not (Path(folder) / TOKENIZER).is_file():
            pair = ', ("text_b", "…")' if task.texts == 2 else ""
            choices = ', ("choice_1", "…"), ("choice_2", "…")'
            second = choices if task.texts == CHOICES else pair
            questions = ', questions=("…",)' if task.asks else ""
            return _OWN_CODE.format(folder=folder, second=second, questions=questions)
        second = "" if task.texts == 1 and not task.asks else ', "…"'
        return _CODE.format(folder=folder, second=second)


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
print(*session.run(None, inputs))  # columns in the order of labels.json
"""

_OWN_CODE = """import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before the import
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.text.document import Document

model = OnnxPredictor.load({folder!r})  # needs neither torch nor transformers
document = Document("1", (("text", "…"){second},){questions})
print(model.predict([document])[0].to_json())
"""


class HalfInfo(OnnxInfo):
    id = "onnx_fp16"
    title = N_("ONNX, 16 bit")
    short = N_("ONNX 16")
    purpose = N_("For GPUs: weights and products with 16 bits, half the size. Runs on CPUs too.")
    main_check = False
    lossy = True

    def size(self, model: Path) -> int:
        return super().size(model) // 2


class EightBitInfo(OnnxInfo):
    id = "onnx_int8"
    title = N_("ONNX, 8 bit")
    short = N_("ONNX 8")
    purpose = N_(
        "For CPUs: about a quarter of the size and twice as fast. Parts that would change labels "
        "of your texts stay in 32 bits."
    )
    main_check = False
    lossy = True

    def size(self, model: Path) -> int:
        return super().size(model) // 3


class OptimisedInfo(OnnxInfo):
    id = "onnx_optimised"
    title = N_("ONNX, optimised")
    short = N_("ONNX opt.")
    purpose = N_("For onnxruntime alone: operations of transformers are fused, with equal results.")
    main_check = False

    def unfit(self, model: Path) -> str:
        if fusion_of(model) is None:
            return _("Operations are fused in encoders like BERT and in GPT-2 only.")
        return super().unfit(model)


def fusion_of(folder: Path) -> tuple[str, int, int] | None:
    """How onnxruntime fuses the operations of a model: its model type, heads and width; None if it
    does not.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = FUSED[config["model_type"]]
        heads = config.get("num_attention_heads") or config.get("n_head") or config.get("n_heads")
        width = config.get("hidden_size") or config.get("n_embd") or config.get("dim")
        return kind, int(heads), int(width)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


INFO = OnnxInfo()
HALF_INFO, EIGHT_BIT_INFO, OPTIMISED_INFO = HalfInfo(), EightBitInfo(), OptimisedInfo()
