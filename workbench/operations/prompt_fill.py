"""Filling prompts: settings, layer, model, drawn examples → exactly what the model gets. No run yet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.spec import ModelInfo, read_folder
from workbench.operations import scoring, train
from workbench.storage import documents
from workbench.tasks import spec as tasks
from workbench.text.document import TEXT_B, Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.prompting.budget import Budget, Fitted
    from workbench.prompting.shots import Shots

TASKS = ("classify", "pairs")
MOST_SHOTS = 64
LANGUAGE_USES = ("mask", "next")


@dataclass(frozen=True)
class PromptSpec:
    """`template` is the source, `model` a folder. `order` random or balanced: how `shots` examples are drawn from the training split."""

    template: str
    model: str
    model_name: str = ""
    layer: str = ""
    shots: int = 6
    order: str = "balanced"
    seed: int = 1
    name: str = ""
    device: str = "auto"
    allow_pickle: bool = False

    def __post_init__(self):
        if not 0 <= self.shots <= MOST_SHOTS:
            raise SpecError(
                _("{n} examples are asked for.").format(n=self.shots),
                hint=_("From 0 to {most}.").format(most=MOST_SHOTS),
            )
        if self.order not in ("random", "balanced"):
            raise SpecError(
                _("Examples are drawn {order!r}.").format(order=self.order),
                hint=_("random or balanced."),
            )

    def to_json(self) -> dict:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_json(cls, raw: Mapping) -> PromptSpec:
        return cls(**{one.name: raw[one.name] for one in fields(cls) if one.name in raw})


@dataclass(frozen=True)
class Preview:
    """Exactly what the model gets for one document and one candidate. `limit`: the most tokens it takes.

    `dropped` examples did not fit, `cut`: the text itself was shortened. `prompts` are those of all candidates.
    """

    text: str
    tokens: int
    limit: int
    examples: int
    dropped: int
    cut: bool
    label: str
    document_id: int | None
    prompts: Mapping[str, tuple[str, str, str]]


def language_models(cards: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """Those that predict words."""
    return tuple(
        one for one in cards if one.usable and any(use in one.uses for use in LANGUAGE_USES)
    )


def fitting_layers(project: Project) -> tuple[tuple[Layer, int], ...]:
    """Layers with classes, each with its number of submitted documents, most first."""
    found = [pair for pairs in train.fitting_by_task(project, TASKS).values() for pair in pairs]
    return tuple(sorted(found, key=lambda pair: -pair[1]))


def choose_layer(project: Project, name: str | None = None) -> tuple[Layer, str]:
    """The layer a prompt answers for, and a remark where it was picked among several. Raises SpecError where none fits."""
    fitting = fitting_layers(project)
    if name:
        for layer, _count in fitting:
            if layer.name == name:
                return layer, ""
        known = ", ".join(one.name for one, _count in fitting) or _("none")
        raise SpecError(
            _("No layer {name!r} has classes to ask for.").format(name=name),
            hint=_("Layers that fit: {known}.").format(known=known),
        )
    if not fitting:
        raise SpecError(
            _("A prompt needs a layer with classes; the project has none."),
            hint=_("Add one on the Labels page, or import labelled data."),
        )
    layer = fitting[0][0]
    if len(fitting) == 1:
        return layer, ""
    others = ", ".join(one.name for one, _count in fitting[1:])
    return layer, _(
        "Layer {layer}: of those with classes it has most submitted documents (others: {others})."
    ).format(layer=layer.name, others=others)


# ---------------------------------------------------------------- filling


class Filler:
    """A checked template with its model's tokenizer and its drawn examples: fills prompts within the model's length.

    Raises SpecError or ModelError where template, layer or model will not do. Reads the training split once; may live in a thread.
    """

    def __init__(self, project: Project, spec: PromptSpec):
        from workbench.prompting.budget import Budget
        from workbench.prompting.shots import Shots
        from workbench.prompting.template import Template
        from workbench.runtime.tokenizer import Tokenizer

        self.spec = spec
        self.layer, _remark = choose_layer(project, spec.layer or None)
        self.task = tasks.task_of(self.layer) or TASKS[0]
        if len(self.layer.names) < 2:
            raise SpecError(
                _("Layer {layer!r} has fewer than two labels to choose from.").format(
                    layer=self.layer.name
                )
            )
        info = language_model(spec)
        encode = Tokenizer.load(spec.model).backend.encode
        self.limit = info.max_length or 512
        self.budget: Budget = Budget(
            Template(spec.template),
            self.layer.names,
            count=lambda text: len(encode(_valid(text)).ids),
            limit=self.limit,
        )
        self.shots: Shots = Shots(
            tuple(_pool(project, self.task, self.layer)) if spec.shots else (),
            order=spec.order,
            seed=spec.seed,
        )

    def fit(self, document: Document) -> Fitted:
        """The prompts of one document; its own text is never among the examples."""
        examples = self.shots.take(
            self.spec.shots, document_id=document.id, text_hash=document.text_hash
        )
        return self.budget.fit(document.text, examples, dict(document.texts).get(TEXT_B, ""))

    def line(self, document: Document, fitted: Fitted) -> str:
        """A line of the worker's input; equal parts of the candidates' prompts are written once."""
        parts: dict[str, int] = {}
        table = {
            label: [
                parts.setdefault(part, len(parts)) for part in (one.before, one.answer, one.after)
            ]
            for label, one in zip(self.layer.names, fitted.prompts, strict=True)
        }
        about = {
            "document_id": document.id,
            "text_hash": document.text_hash,
            "split": document.split,
            "cut": fitted.cut,
        }
        return json.dumps({**about, "parts": list(parts), "prompts": table})


def language_model(spec: PromptSpec) -> ModelInfo:
    """Raises ModelError for a broken folder, SpecError for a model that predicts no words."""
    info = read_folder(spec.model, allow_pickle=spec.allow_pickle, name=spec.model_name)
    if not any(use in info.uses for use in LANGUAGE_USES):
        raise SpecError(
            _("{model} predicts no words, so it cannot be asked with a prompt.").format(
                model=info.name
            ),
            hint=_("Choose a masked or causal language model, such as starter-bert."),
        )
    return info


def _valid(text: str) -> str:
    """Lone surrogates are no Unicode and no tokenizer takes them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _pool(project: Project, task: str, layer: Layer) -> Iterator:
    from workbench.prompting.shots import Shot
    from workbench.prompting.template import Example

    for record in scoring.usable_records(project, task, layer, splits=("train",)):
        document, gold = record.document, tasks.gold(task, record, layer.name)
        yield Shot(
            document.id,
            document.text_hash,
            Example(document.text, gold.label, dict(document.texts).get(TEXT_B, "")),
        )


def first_document(project: Project, layer: Layer) -> Document | None:
    """The document that the preview begins with: the first of dev, else any that fits the layer."""
    for wanted in (
        documents.Filter(layer_id=layer.id, split="dev", state="submitted"),
        documents.Filter(texts=layer.texts),
    ):
        if found := list(documents.ids(project.db, wanted)[:1]):
            return documents.get(project.db, found[0])
    return None


def document(project: Project, document_id: int) -> Document:
    """Raises KeyError where it was deleted."""
    return documents.get(project.db, document_id)


def split_ids(project: Project, layer: Layer, split: str) -> list[int]:
    """The submitted documents of a layer in a split."""
    return list(
        documents.ids(
            project.db, documents.Filter(layer_id=layer.id, split=split, state="submitted")
        )
    )


def ranked(logprobs: Mapping[str, Sequence[float]]) -> list[tuple[str, float, float, int]]:
    """(label, score, share, subwords) from the log-probabilities of each label's subwords, the most probable first."""
    from workbench.prompting.score import label_score, shares

    scores = [label_score(one) for one in logprobs.values()]
    rows = zip(
        logprobs, scores, map(float, shares(scores)), map(len, logprobs.values()), strict=True
    )
    return sorted(rows, key=lambda row: -row[2])


def preview(
    project: Project,
    spec: PromptSpec,
    document: Document | None = None,
    *,
    label: str = "",
    filler: Filler | None = None,
) -> Preview:
    """The exact prompt of one document (the first of dev by default) with one candidate (the first label by default)."""
    filler = filler or Filler(project, spec)
    document = document or first_document(project, filler.layer)
    if document is None:
        raise SpecError(
            _("There is no document to fill the template with."), hint=_("Import data first.")
        )
    fitted, names = filler.fit(document), filler.layer.names
    table = {
        name: (one.before, one.answer, one.after)
        for name, one in zip(names, fitted.prompts, strict=True)
    }
    shown = label if label in names else names[0]
    return Preview(
        "".join(table[shown]),
        fitted.tokens,
        filler.limit,
        len(fitted.examples),
        fitted.dropped,
        fitted.cut,
        shown,
        document.id,
        table,
    )
