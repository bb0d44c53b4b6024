"""spaCy: a pipeline with one component."""

from __future__ import annotations

from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.exporters.model.plain.info import plugin_reason, trained
from workbench.exporters.model.spec import ExporterInfo
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo

# Fields of a prediction; the last one explains tags, which are in doc.ents or token.tag_.
SET = {"ClassScores", "LabelScores", "SpanScores", "WordTags", "TokenScores"}
COMPONENT = "glossbench_spacy"  # module that makes the component known to spaCy


class SpacyInfo(ExporterInfo):
    id = "spacy"
    title = N_("spaCy pipeline")
    short = N_("spaCy")
    library = "spacy"
    purpose = N_(
        "A folder for spacy.load: its component sets doc.cats, doc.ents or doc.spans, and predicts "
        "with onnxruntime."
    )

    def unfit(self, model: Path) -> str:
        if reason := plugin_reason(description := trained(model)):
            return reason
        task = tasks.info(str(description["task"])) if "task" in description else None
        if task is None:
            return ""  # loading the model reports the error
        if task.texts != 1 or task.asks:
            return _("spaCy reads single texts, not pairs, choices or questions.")
        if not {*task.outputs} <= SET:
            return _("spaCy has no place for what this run predicts.")
        return ""

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        return _CODE.format(folder=folder, component=COMPONENT)


_CODE = """import sys

import spacy

sys.path.append({folder!r})  # or, once: pip install {folder}
import {component}  # makes the component known

nlp = spacy.load({folder!r})
doc = nlp("…")
print(doc.cats, doc.ents, doc.spans, doc._.glossbench)
"""

INFO = SpacyInfo()
