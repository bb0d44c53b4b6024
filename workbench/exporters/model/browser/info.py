"""A folder for transformers.js, with a page that works without a server or a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.base.i18n import N_, _
from workbench.base.registry import needed_plugin, registry
from workbench.exporters.model.spec import ExporterInfo
from workbench.models.spec import DESCRIPTION, published
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.segmenters import base as segmenters

PAGE = "index.html"
TOKENS = "token-classification"
KINDS = {"ClassScores": "classes", "LabelScores": "labels", "Number": "number"}  # by output
# The types that transformers.js 4.3 has a class for: `models/registry.js`.
TYPES = (
    "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "eurobert",
    "mpnet", "modernbert", "roberta", "roformer", "xlm-roberta",
)  # fmt: skip
TEXT_TYPES = ("albert", "mobilebert", "squeezebert")  # for document classes only
ONE_FILE = 1_900_000_000  # bytes; a larger graph has its weights in a file of its own
LIBRARIES = 5_000_000  # bytes of the page besides the model


class BrowserInfo(ExporterInfo):
    id = "browser"
    title = N_("Browser")
    library = "transformers.js"
    group = "browser"
    language = "javascript"
    purpose = N_(
        "For web pages with transformers.js, and as one page that runs the model offline: "
        "index.html can be opened from its folder or sent by mail."
    )

    def unfit(self, model: Path) -> str:
        described = _json(model / DESCRIPTION) or published(model) or {}
        if described.get("task") not in registry().ids("task"):
            return _("This folder is not a model that is trained for a task.")
        task = tasks.info(described["task"])
        if not kind_of(task):
            return _("The page in the browser cannot read the answers of this task.")
        if not (model / "tokenizer.json").is_file():
            return _("transformers.js runs only models that have a tokenizer.json.")
        kind = _json(model / "config.json").get("model_type") or ""
        if kind not in TYPES and (kind not in TEXT_TYPES or task.pipeline == TOKENS):
            return _("transformers.js has no class for models of the type {kind}.", kind=kind)
        if "tags" in (described.get("decoder") or {}):
            return _("The page in the browser reads only BIO tags that were trained here.")
        if segmenters.chosen(described.get("options") or {}) != segmenters.DEFAULT:
            return _("The page in the browser cannot split texts with another word segmenter.")
        if super().size(model) > ONE_FILE:
            return _("The model is too large for a browser.")
        return ""

    def size(self, model: Path) -> int:
        """The weights in 32 and 8 bits, and one of them again in the page."""
        return int(super().size(model) * 2.6) + LIBRARIES

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        name = json.dumps(Path(folder).name)
        if not task.pipeline or task.texts > 1:
            second = ', { text_pair: "…" }' if task.texts > 1 else ""
            return _MODEL_CODE.format(name=name, second=second)
        return _CODE.format(name=name, task=task.pipeline)


def kind_of(task: TaskInfo) -> str:
    """What the page draws of a task: classes, labels (any number of classes), number, spans or tags
    (of words); "" if it cannot read its answers.
    """
    if needed_plugin(task.id) or task.texts not in (1, 2):
        return ""
    if task.pipeline == TOKENS:
        return "spans" if getattr(task, "tags", False) else "tags"
    return KINDS.get(task.outputs[0], "")


def _json(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}


_CODE = """import {{ env, pipeline }} from "@huggingface/transformers";

env.allowRemoteModels = false;
env.allowLocalModels = true;
env.localModelPath = "./"; // the folder above the exported one
// index.html reads long texts in windows and decodes tags; pipeline() does neither.
const ask = await pipeline("{task}", {name}, {{ dtype: "fp32" }}); // or "q8"
console.log(await ask("…"));
"""
_MODEL_CODE = """import {{
  AutoModelForSequenceClassification,
  AutoTokenizer,
  env,
}} from "@huggingface/transformers";

env.allowRemoteModels = false;
env.allowLocalModels = true;
env.localModelPath = "./"; // the folder above the exported one
const tokenizer = await AutoTokenizer.from_pretrained({name});
const options = {{ dtype: "fp32" }}; // or "q8"
const model = await AutoModelForSequenceClassification.from_pretrained({name}, options);
console.log((await model(tokenizer("…"{second}))).logits.tolist());
"""

INFO = BrowserInfo()
