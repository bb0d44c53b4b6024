"""Bottleneck adapters alone: they are inserted into the base model when they are loaded."""

from __future__ import annotations

from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.exporters.model.spec import ExporterInfo
from workbench.models.spec import ADAPTED, ADAPTERS
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES

HEAD = "head.safetensors"  # a head of ours
WEIGHTS = (ADAPTERS, ADAPTED, HEAD)


class BottleneckExporterInfo(ExporterInfo):
    id = "bottleneck_adapters"
    title = N_("Bottleneck adapters")
    short = N_("Adapters")
    purpose = N_(
        "For Python with Glossbench: adapters, layer norms and head alone, to be inserted into the "
        "model that the run started from."
    )

    def suits(self, model: Path) -> bool:
        return (model / ADAPTED).is_file()

    def unfit(self, model: Path) -> str:
        if not self.suits(model):
            return _("This run has no bottleneck adapters: it was trained with another method.")
        return ""

    def size(self, model: Path) -> int:
        """Description and model card are small."""
        return 100_000 + sum(
            (model / name).stat().st_size for name in WEIGHTS if (model / name).is_file()
        )

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        several = {1: '"…"', CHOICES: '("…", "choice 1", "choice 2")'}
        text = several.get(task.texts, '("…", "…")')
        text = '("…", "question 1", "question 2")' if task.asks else text
        return _CODE.format(folder=folder, text=text)


_CODE = """import workbench

model = workbench.load_model({folder!r}, base="path/of/the/base/model")
print(model.predict_texts([{text}])[0].to_json())
"""

INFO = BottleneckExporterInfo()
