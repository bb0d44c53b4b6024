"""A folder with a program: the ONNX model, and what predicts with it in our own source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.i18n import N_, _
from workbench.base.registry import needed_plugin, registry
from workbench.exporters.model.spec import ExporterInfo
from workbench.models.spec import DESCRIPTION, published
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES

PROGRAM = "predict.py"


class PlainInfo(ExporterInfo):
    id = "plain"
    title = N_("Program")
    library = "onnx"
    purpose = N_(
        "For any Python with onnxruntime, tokenizers and numpy: a folder with predict.py, which "
        "reads texts and writes JSON lines."
    )

    def unfit(self, model: Path) -> str:
        description = trained(model)
        return plugin_reason(description) or graph_reason(description)

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        return _CODE.format(program=str(Path(folder) / PROGRAM), row=_row(task))


def trained(model: Path) -> Mapping[str, Any]:
    """The description of the model of a run, or of a published one; {} if it cannot be read."""
    try:
        raw = published(model) or json.loads((model / DESCRIPTION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, Mapping) else {}


def plugin_reason(description: Mapping[str, Any]) -> str:
    """Why a model with this task, family and segmenter needs more than our own source; "" if it
    does not.
    """
    for key in ("task", "family", "segmenter"):
        if plugin := needed_plugin(str(description.get(key) or "")):
            return _(
                "This run needs the plugin {plugin}, whose code cannot be put into the folder.",
                plugin=plugin,
            )
    return ""


def graph_reason(description: Mapping[str, Any]) -> str:
    """Why no ONNX graph can predict what a model with this task does; "" if one can."""
    task = description.get("task")
    if task in registry().ids("task") and not tasks.info(str(task)).has_graph:
        return _("ONNX has no graph for what this run predicts.")
    return ""


def _row(task: TaskInfo) -> str:
    """An object for the program's input, as Python code."""
    row: dict[str, Any] = {"text": "…"}
    if task.asks:
        row["questions"] = ["…"]
    elif task.texts == CHOICES:
        row["choices"] = ["…", "…"]
    elif task.texts == 2:
        row["text_b"] = "…"
    elif task.connects:
        row["spans"] = [{"start": 0, "end": 1, "label": "…"}]
    return json.dumps(row, ensure_ascii=False)


_CODE = """import json, subprocess, sys

# in a terminal: python predict.py < texts.txt > answers.jsonl
program, row = [sys.executable, {program!r}], {row}
done = subprocess.run(program, input=json.dumps(row).encode(), capture_output=True)
print(json.loads(done.stdout))
"""

INFO = PlainInfo()
