"""The folder in the format of the model's family: for transformers, a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.exporters.model.spec import ExporterInfo
from workbench.models import spec as models
from workbench.models.spec import ADAPTERS
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES


class FolderInfo(ExporterInfo):
    id = "hf"
    library = "transformers"
    title = N_("Hugging Face folder")
    short = N_("HF")
    purpose = N_(
        "For Python with transformers, for further training, or for upload: "
        "safetensors, tokenizer, model card."
    )
    own_format = N_(
        "For further training and prediction with Glossbench, and for programs that read this "
        "format: weights, labels, model card."
    )

    def described(self, model: Path) -> tuple[str, str]:
        family = models.card(model).family
        title = registry().info("family", family).saved_as if family else self.title
        by_others = title == self.title and not (model / ADAPTERS).is_file()
        return _(title), _(self.purpose) if by_others else _(self.own_format)

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        if task.writes and not own_head:
            is_causal = task.hub_task == "text-generation"
            return (_ANSWERING_CODE if is_causal else _WRITING_CODE).format(folder=folder)
        if task.connects:
            return _CONNECTING_CODE.format(folder=folder)
        if own_head or not task.pipeline:
            several = {1: '"…"', CHOICES: '("…", "choice 1", "choice 2")'}
            text = several.get(task.texts, '("…", "…")')
            text = '("…", "question 1", "question 2")' if task.asks else text
            return _OWN_CODE.format(folder=folder, text=text)
        options = ', aggregation_strategy="simple"' if task.windows else ""
        text = '{"text": "…", "text_pair": "…"}' if task.texts == 2 else '"…"'
        return _CODE.format(folder=folder, pipeline=task.pipeline, options=options, text=text)


_CODE = """import os

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before the import
from transformers import pipeline

ask = pipeline("{pipeline}", model={folder!r}{options})
print(ask({text}))
"""
_WRITING_CODE = """import os

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before the import
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = {folder!r}
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSeq2SeqLM.from_pretrained(folder)
ids = model.generate(**tokenizer("…", return_tensors="pt"), max_new_tokens=64)
print(tokenizer.decode(ids[0], skip_special_tokens=True))
"""
_ANSWERING_CODE = """import os

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before the import
from transformers import pipeline

ask = pipeline("text-generation", model={folder!r})
messages = [{{"role": "user", "content": "…"}}]
print(ask(messages, max_new_tokens=64)[0]["generated_text"][-1]["content"])
"""
_CONNECTING_CODE = """import workbench
from workbench.text.document import Document
from workbench.text.spans import Span

model = workbench.load_model({folder!r})
spans = (Span(0, 3, "label"), Span(8, 11, "label"))  # of the text, to be connected
document = Document("", (("text", "Ada met Bob."),), input_spans=spans)
print(model.predict([document])[0].to_json())
"""
_OWN_CODE = """import workbench

model = workbench.load_model({folder!r})
print(model.predict_texts([{text}])[0].to_json())
"""

INFO = FolderInfo()
