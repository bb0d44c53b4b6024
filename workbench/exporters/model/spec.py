"""What a model can be exported as, and what an export is told. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _

TARGET = "workbench.exporters.model.run:export"
OPSET = 18
MOST_TEXTS = 500  # texts that the check reads
PIPELINES = {
    "classify": "text-classification",
    "pairs": "text-classification",
    "tag": "token-classification",
}


@dataclass(frozen=True)
class Format:
    id: str
    title: str
    purpose: str


FORMATS: tuple[Format, ...] = (
    Format(
        "hf",
        N_("Hugging Face folder"),
        N_(
            "For Python with transformers, to train further, or to upload: safetensors, tokenizer, model card."
        ),
    ),
    Format(
        "onnx",
        N_("ONNX, 32 bit"),
        N_(
            "For programs without Python or torch: one file for onnxruntime, with tokenizer and labels beside it."
        ),
    ),
)


def parse_formats(given: str | Sequence[str]) -> tuple[str, ...]:
    """ "hf,onnx" → ("hf", "onnx"). Raises SpecError naming what is unknown."""
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
            _("No export format is chosen."),
            hint=_("Choose of {names}.").format(names=", ".join(known)),
        )
    return tuple(one for one in known if one in names)


@dataclass(frozen=True)
class ExportSpec:
    """`model` is the folder of a run's model, `texts` a file of records (own format) for the check, `out` the folder to be made.

    `facts` go into the model card, each as far as known: run, project, layer, base_model, base_licence, seed, options, counts
    {train, dev, test}, left_out [{reason, count}], cut, scores {split: {name: value}}, definition, versions, at.
    """

    model: str
    texts: str
    out: str
    formats: tuple[str, ...] = ("hf", "onnx")
    facts: Mapping = field(default_factory=dict, hash=False)

    def __post_init__(self):
        object.__setattr__(self, "formats", parse_formats(self.formats))

    def to_json(self) -> dict:
        return {
            "model": self.model,
            "texts": self.texts,
            "out": self.out,
            "formats": list(self.formats),
            "facts": dict(self.facts),
        }

    @classmethod
    def from_json(cls, raw: Mapping) -> ExportSpec:
        return cls(
            raw["model"],
            raw.get("texts") or "",
            raw["out"],
            tuple(raw.get("formats") or ("hf", "onnx")),
            raw.get("facts") or {},
        )


def forecast(model: Path | str, formats: Sequence[str]) -> dict[str, int]:
    """About how many bytes each format will take, from the size of the weights."""
    weights = sum(one.stat().st_size for one in Path(model).glob("*.safetensors"))
    return {one: weights + 2_000_000 for one in parse_formats(formats)}


def draft_of(out: Path, pid: int) -> Path:
    """Where a worker with this process id writes until all is right; beside the target, so that it is put there in one step."""
    return out.with_name(f".{out.name}.partial-{pid}")


def loading_code(format: str, folder: Path | str, task: str) -> str:
    """Python that loads the exported folder, to be copied."""
    if format == "hf":
        call = 'classify("…")' if task != "pairs" else 'classify({"text": "…", "text_pair": "…"})'
        extra = ', aggregation_strategy="simple"' if task == "tag" else ""
        name = "tag" if task == "tag" else "classify"
        call = 'tag("…")' if task == "tag" else call
        return f'from transformers import pipeline\n\n{name} = pipeline("{PIPELINES[task]}", model={str(folder)!r}{extra})\nprint({call})\n'
    second = ', "…"' if task == "pairs" else ""
    return (
        "import numpy, onnxruntime\nfrom tokenizers import Tokenizer\n\n"
        f"folder = {str(folder)!r}\n"
        'tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")\n'
        'session = onnxruntime.InferenceSession(folder + "/model.onnx")\n'
        f'found = tokenizer.encode("…"{second})\n'
        'values = {"input_ids": found.ids, "attention_mask": found.attention_mask, "token_type_ids": found.type_ids}\n'
        "inputs = {one.name: numpy.array([values[one.name]], dtype=numpy.int64) for one in session.get_inputs()}\n"
        'print(session.run(["logits"], inputs)[0])  # in the order of labels.json\n'
    )


def sentence(check: Mapping) -> str:
    """The result of a check in words: "60 of 60 labels equal, largest difference 2.4e-06"."""
    if not check or not check.get("labels"):
        return _("No text of dev or test to check with.")
    equal = round(check["equal_labels"] * check["labels"])
    told = _("{equal} of {labels} labels equal, largest difference {difference:.1e}")
    return told.format(equal=equal, labels=check["labels"], difference=check["largest_difference"])
