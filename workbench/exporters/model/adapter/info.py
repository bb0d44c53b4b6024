"""A LoRA adapter alone, in the format of peft."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.exporters.model.spec import ExporterInfo
from workbench.tasks.spec import TaskInfo

FOLDER = "adapter"  # of a run's model folder
CONFIG, BASE = "adapter_config.json", "base_model_name_or_path"
OWN_HEAD = "head.safetensors"  # a head of ours, which peft would not load


class AdapterInfo(ExporterInfo):
    id = "adapter"
    library = "peft"
    title = N_("LoRA adapter")
    short = N_("LoRA")
    purpose = N_(
        "For Python with peft: the trained matrices alone, to be loaded into the model that the "
        "run started from."
    )

    def suits(self, model: Path) -> bool:
        return (model / FOLDER).exists()

    def unfit(self, model: Path) -> str:
        if not self.suits(model):
            return _("This run has no LoRA adapter: it was trained with another method.")
        if (model / OWN_HEAD).exists():
            return _(
                "This run has no LoRA adapter that other programs can load: its head is not one "
                "of the transformers library."
            )
        base = _base(model / FOLDER / CONFIG)
        if base and (Path(base) / CONFIG).is_file():
            return _("The base model of this run has a LoRA adapter of its own, which was merged.")
        return ""

    def size(self, model: Path) -> int:
        return super().size(model / FOLDER)

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        return _CODE.format(folder=folder, library=_LIBRARY[task.hub_task or task.pipeline])


def _base(config: Path) -> str:
    """The folder of the base model; "" if it is not known."""
    try:
        return str(json.loads(config.read_text(encoding="utf-8")).get(BASE) or "")
    except (OSError, ValueError, AttributeError):
        return ""


_LIBRARY = {
    "text-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "multiple-choice": "AutoModelForMultipleChoice",
    "text-generation": "AutoModelForCausalLM",
    "text2text-generation": "AutoModelForSeq2SeqLM",
}
_CODE = """import os

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before the import
from peft import PeftModel
from transformers import AutoConfig, {library}

folder = {folder!r}
config = AutoConfig.from_pretrained(folder)
base = {library}.from_pretrained("path/of/the/base/model", config=config)
model = PeftModel.from_pretrained(base, folder)
"""

INFO = AdapterInfo()
