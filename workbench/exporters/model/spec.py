"""Model export formats and the parameters of an export. Does not import torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.tasks import spec as tasks

TARGET = "workbench.exporters.model.run:export"
OPSET = 18
MOST_TEXTS = 500  # maximum number of texts used for verification


@dataclass(frozen=True)
class Format:
    """A format that a run can be exported as.

    has, lacks: a file or folder that the model folder of the run must have, or must not have.
    """

    id: str
    title: str
    purpose: str
    has: str = ""
    lacks: str = ""

    def fits(self, model: Path | str) -> bool:
        """Whether a run with this model folder can be exported so."""
        found = not self.has or (Path(model) / self.has).exists()
        return found and not (self.lacks and (Path(model) / self.lacks).exists())


ADAPTER = Format(
    "adapter",
    N_("LoRA adapter"),
    N_(
        "For Python with peft: the trained matrices alone, to be loaded into the model that the "
        "run started from."
    ),
    has="adapter",
    lacks="head.safetensors",  # a head of ours, which peft would not load
)

FORMATS: tuple[Format, ...] = (
    Format(
        "hf",
        N_("Hugging Face folder"),
        N_(
            "For Python with transformers, for further training, or for upload: "
            "safetensors, tokenizer, model card."
        ),
    ),
    Format(
        "onnx",
        N_("ONNX, 32 bit"),
        N_(
            "For programs without Python or torch: one file for onnxruntime, with "
            "tokenizer and labels."
        ),
    ),
    ADAPTER,
)


def parse_formats(given: str | Sequence[str]) -> tuple[str, ...]:
    """ "hf,onnx" → ("hf", "onnx"). Raises SpecError naming unknown formats."""
    names = [
        one.strip()
        for one in (given.split(",") if isinstance(given, str) else given)
        if one.strip()
    ]
    known = tuple(one.id for one in FORMATS)
    if unknown := [one for one in names if one not in known]:
        raise SpecError(
            _("There is no export format {unknown!r}.").format(unknown=unknown[0]),
            hint=_("Known: {names}.").format(names=", ".join(known)),
        )
    if not names:
        raise SpecError(
            _("No export format was chosen."),
            hint=_("Choose from: {names}.").format(names=", ".join(known)),
        )
    return tuple(one for one in known if one in names)


@dataclass(frozen=True)
class ExportSpec:
    """`model` is the folder of a run's model, `texts` a file of records (native format) for
    verification, `out` the folder to create.

    `facts` go into the model card, each if known: run, project, layer, base_model, base_licence,
    seed, options, counts {train, dev, test}, left_out [{reason, count}], cut, scores {split: {name:
    value}}, definition, versions, at.
    """

    model: str
    texts: str
    out: str
    formats: tuple[str, ...] = ("hf", "onnx")
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "formats", parse_formats(self.formats))

    def to_json(self) -> dict[str, object]:
        return {
            "model": self.model,
            "texts": self.texts,
            "out": self.out,
            "formats": list(self.formats),
            "facts": dict(self.facts),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ExportSpec:
        return cls(
            raw["model"],
            raw.get("texts") or "",
            raw["out"],
            tuple(raw.get("formats") or ("hf", "onnx")),
            raw.get("facts") or {},
        )


def offered(model: Path | str) -> tuple[Format, ...]:
    """The formats that a run with this model folder can be exported as."""
    return tuple(one for one in FORMATS if one.fits(model))


def forecast(model: Path | str, formats: Sequence[str]) -> dict[str, int]:
    """Estimated size in bytes of each format, from the size of the weights."""
    found = {}
    for format in FORMATS:
        if format.id in parse_formats(formats):
            files = Path(model, format.has).glob("*.safetensors")
            found[format.id] = sum(one.stat().st_size for one in files) + 2_000_000
    return found


def draft_of(out: Path, pid: int) -> Path:
    """The temporary folder of a worker with this process id; beside the target, so that it can be
    moved in one step.
    """
    return out.with_name(f".{out.name}.partial-{pid}")


def loading_code(format: str, folder: Path | str, task: str, *, own_head: bool = False) -> str:
    """Python code that loads the exported folder, with the telemetry of the libraries turned off.

    own_head: the folder has a head of ours, which transformers cannot load.
    """
    info = tasks.info(task)
    if format == "onnx":
        return _ONNX_CODE.format(
            folder=str(folder),
            second=', "…"' if info.texts == 2 else "",
            outputs=list(info.logits),
        )
    if format == ADAPTER.id:
        return _ADAPTER_CODE.format(folder=str(folder), library=_LIBRARY[info.pipeline])
    if own_head or not info.pipeline:
        text = '"…"' if info.texts == 1 else '("…", "…")'
        return _OWN_CODE.format(folder=str(folder), text=text)
    options = ', aggregation_strategy="simple"' if info.windows else ""
    text = '{"text": "…", "text_pair": "…"}' if info.texts == 2 else '"…"'
    return _HF_CODE.format(folder=str(folder), pipeline=info.pipeline, options=options, text=text)


_HF_CODE = """import os

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before the import
from transformers import pipeline

ask = pipeline("{pipeline}", model={folder!r}{options})
print(ask({text}))
"""
_ONNX_CODE = """import os

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


_OWN_CODE = """import workbench

model = workbench.load_model({folder!r})
print(model.predict_texts([{text}])[0].to_json())
"""


_LIBRARY = {
    "text-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
}
_ADAPTER_CODE = """import os

os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # before the import
from peft import PeftModel
from transformers import AutoConfig, {library}

folder = {folder!r}
config = AutoConfig.from_pretrained(folder)
base = {library}.from_pretrained("path/of/the/base/model", config=config)
model = PeftModel.from_pretrained(base, folder)
"""
