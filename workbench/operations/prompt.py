"""Prompts: preview one exactly, run one over a split. A prompt is a run like any other: scores, answers, suggestions."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import JobFailed, SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.models.spec import ModelInfo, read_folder
from workbench.operations import predict, results, scoring, train
from workbench.storage import documents, labels, prompts, runs
from workbench.tasks import spec as tasks
from workbench.text.document import TEXT_B, Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.prompting.budget import Budget, Fitted
    from workbench.prompting.shots import Shots
    from workbench.storage.runs import Run
    from workbench.text.fields import Prediction

TARGET = "workbench.models.generate:score_prompts"
SCORER = "workbench.models.generate:open_scorer"
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
            raise SpecError(_("{n} examples are asked for.").format(n=self.shots), hint=_("From 0 to {most}.").format(most=MOST_SHOTS))
        if self.order not in ("random", "balanced"):
            raise SpecError(_("Examples are drawn {order!r}.").format(order=self.order), hint=_("random or balanced."))

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


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs, worked out off the main thread. `lines` are those of the worker's input."""

    spec: PromptSpec
    layer: Layer
    task: str
    split: str
    lines: tuple[str, ...]
    fingerprint: str
    dropped: int
    cut: int


# ---------------------------------------------------------------- what can be chosen


def templates() -> tuple:
    """The templates that ship with the application: id, title, source."""
    from workbench.prompting.template import built_in

    return built_in()


def default_template(layer: Layer | None) -> str:
    """The source that the page opens with: one that works for the layer."""
    known = {one.id: one.source for one in templates()}
    return known["40-pair" if layer is not None and layer.texts == 2 else "10-few-shot"]


def language_models(cards: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """Those that predict words."""
    return tuple(one for one in cards if one.usable and any(use in one.uses for use in LANGUAGE_USES))


def fitting_layers(project: Project) -> tuple[tuple[Layer, int], ...]:
    """Layers with classes, each with its number of submitted documents, most first."""
    found = [pair for task in TASKS for pair in train.fitting_layers(project, task)]
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
            _("No layer {name!r} has classes to ask for.").format(name=name), hint=_("Layers that fit: {known}.").format(known=known)
        )
    if not fitting:
        raise SpecError(
            _("A prompt needs a layer with classes; the project has none."), hint=_("Add one on the Labels page, or import labelled data.")
        )
    layer = fitting[0][0]
    if len(fitting) == 1:
        return layer, ""
    others = ", ".join(one.name for one, _count in fitting[1:])
    return layer, _("Layer {layer}: of those with classes it has most submitted documents (others: {others}).").format(
        layer=layer.name, others=others
    )


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
            raise SpecError(_("Layer {layer!r} has fewer than two labels to choose from.").format(layer=self.layer.name))
        info = language_model(spec)
        encode = Tokenizer.load(spec.model).backend.encode
        self.limit = info.max_length or 512
        self.budget: Budget = Budget(
            Template(spec.template), self.layer.names, count=lambda text: len(encode(_valid(text)).ids), limit=self.limit
        )
        self.shots: Shots = Shots(tuple(_pool(project, self.task, self.layer)) if spec.shots else (), order=spec.order, seed=spec.seed)

    def fit(self, document: Document) -> Fitted:
        """The prompts of one document; its own text is never among the examples."""
        examples = self.shots.take(self.spec.shots, document_id=document.id, text_hash=document.text_hash)
        return self.budget.fit(document.text, examples, dict(document.texts).get(TEXT_B, ""))

    def line(self, document: Document, fitted: Fitted) -> str:
        """A line of the worker's input; equal parts of the candidates' prompts are written once."""
        parts: dict[str, int] = {}
        table = {
            label: [parts.setdefault(part, len(parts)) for part in (one.before, one.answer, one.after)]
            for label, one in zip(self.layer.names, fitted.prompts, strict=True)
        }
        about = {"document_id": document.id, "text_hash": document.text_hash, "split": document.split, "cut": fitted.cut}
        return json.dumps({**about, "parts": list(parts), "prompts": table})


def language_model(spec: PromptSpec) -> ModelInfo:
    """Raises ModelError for a broken folder, SpecError for a model that predicts no words."""
    info = read_folder(spec.model, allow_pickle=spec.allow_pickle, name=spec.model_name)
    if not any(use in info.uses for use in LANGUAGE_USES):
        raise SpecError(
            _("{model} predicts no words, so it cannot be asked with a prompt.").format(model=info.name),
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
        yield Shot(document.id, document.text_hash, Example(document.text, gold.label, dict(document.texts).get(TEXT_B, "")))


def first_document(project: Project, layer: Layer) -> Document | None:
    """The document that the preview begins with: the first of dev, else any that fits the layer."""
    for wanted in (documents.Filter(layer_id=layer.id, split="dev", state="submitted"), documents.Filter(texts=layer.texts)):
        if found := list(documents.ids(project.db, wanted)[:1]):
            return documents.get(project.db, found[0])
    return None


def document(project: Project, document_id: int) -> Document:
    """Raises KeyError where it was deleted."""
    return documents.get(project.db, document_id)


def split_ids(project: Project, layer: Layer, split: str) -> list[int]:
    """The submitted documents of a layer in a split."""
    return list(documents.ids(project.db, documents.Filter(layer_id=layer.id, split=split, state="submitted")))


def ranked(logprobs: Mapping[str, Sequence[float]]) -> list[tuple[str, float, float, int]]:
    """(label, score, share, subwords) from the log-probabilities of each label's subwords, the most probable first."""
    from workbench.prompting.score import label_score, shares

    scores = [label_score(one) for one in logprobs.values()]
    rows = zip(logprobs, scores, map(float, shares(scores)), map(len, logprobs.values()), strict=True)
    return sorted(rows, key=lambda row: -row[2])


def preview(
    project: Project, spec: PromptSpec, document: Document | None = None, *, label: str = "", filler: Filler | None = None
) -> Preview:
    """The exact prompt of one document (the first of dev by default) with one candidate (the first label by default)."""
    filler = filler or Filler(project, spec)
    document = document or first_document(project, filler.layer)
    if document is None:
        raise SpecError(_("There is no document to fill the template with."), hint=_("Import data first."))
    fitted, names = filler.fit(document), filler.layer.names
    table = {name: (one.before, one.answer, one.after) for name, one in zip(names, fitted.prompts, strict=True)}
    shown = label if label in names else names[0]
    return Preview(
        "".join(table[shown]), fitted.tokens, filler.limit, len(fitted.examples), fitted.dropped, fitted.cut, shown, document.id, table
    )


# ---------------------------------------------------------------- running


def prepare(project: Project, spec: PromptSpec, *, split: str = "dev") -> Prepared:
    """Fill the prompts of a whole split. For a thread: takes some milliseconds for each document. Raises WorkbenchError."""
    filler = Filler(project, spec)
    found = scoring.scored_documents(project, filler.task, filler.layer, split)
    if not found:
        raise WorkbenchError(
            _("No submitted document of layer {layer!r} is in the {split} split.").format(layer=filler.layer.name, split=split),
            hint=_("Submit documents and make splits on the Data page."),
        )
    fitted = [filler.fit(one.document) for one in found]
    lines = tuple(filler.line(one.document, prompt) for one, prompt in zip(found, fitted, strict=True))
    spec = replace(spec, layer=filler.layer.name)
    dropped, cut = sum(one.dropped for one in fitted), sum(one.cut for one in fitted)
    return Prepared(spec, filler.layer, filler.task, split, lines, scoring.fingerprint(found), dropped, cut)


def start(project: Project, queue: Queue, prepared: Prepared) -> Run:
    """Make the run's row and its job; `wire` writes what comes back."""
    if project.read_only:
        raise WorkbenchError(_("The project is open for reading only."), hint=project.read_only_reason)
    spec = prepared.spec
    with project.write(_("New prompt run")):
        name = spec.name or train.free_run_name(project, "prompt")
        run = runs.add(project.db, name, "prompt", layer_id=prepared.layer.id, spec=_kept(replace(spec, name=name), prepared))
    folder = paths.run_folder(project.path, run.id)
    try:
        job = _job(
            folder, spec, prepared.lines, {"project": project.uid, "id": run.id, "purpose": "prompt"}, _("Prompt {name}").format(name=name)
        )
        queue.add(job)
    except (WorkbenchError, OSError) as error:
        with project.write():
            runs.delete(project.db, run.id)
        if isinstance(error, OSError):
            raise WorkbenchError(_("{folder} cannot be written: {why}.").format(folder=folder, why=error.strerror)) from error
        raise
    return run


def run(project: Project, queue: Queue, spec: PromptSpec, *, split: str = "dev") -> Run:
    """Prepare and start in one go, where nobody waits for a window."""
    return start(project, queue, prepare(project, spec, split=split))


def _kept(spec: PromptSpec, prepared: Prepared) -> dict:
    about = {"task": prepared.task, "split": prepared.split, "dropped": prepared.dropped, "cut": prepared.cut}
    return {**spec.to_json(), **about, "fingerprint": prepared.fingerprint, "options": {}}


def _job(folder: Path, spec: PromptSpec, lines: Sequence[str], about: Mapping, title: str) -> JobSpec:
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / "prompts.jsonl"
    asked.write_text("".join(line + "\n" for line in lines), encoding="ascii")
    params = {"model": spec.model, "prompts": str(asked), "device": spec.device, "allow_pickle": spec.allow_pickle, "run": dict(about)}
    return JobSpec(TARGET, params, str(folder), device=train.queue_device(spec.device), title=title)


def ended(project: Project, run_id: int, event: Finished) -> None:
    """The worker has answered: answers and scores become rows. A cancelled or failed run is treated as a training is."""
    from workbench.operations import wire

    if event.status not in ("done", "stopped") or not event.result:
        wire.ended(project, run_id, event)
        return
    this, folder = runs.get(project.db, run_id), paths.run_folder(project.path, run_id)
    answers = _answers(folder / "scores.jsonl")
    about = {name: this.spec[name] for name in ("dropped", "cut")}
    result = {**about, **{name: value for name, value in event.result.items() if name != "versions"}}
    with project.write():
        runs.save_predictions(project.db, run_id, [(id, text_hash, found.to_json()) for id, text_hash, found in answers])
        runs.update(project.db, run_id, status=event.status, result=result, versions=dict(event.result.get("versions", {})))
        scored = evaluation(project, runs.get(project.db, run_id))
        test = {"seen_test": this.seen_test + 1, "test_fingerprint": scored.fingerprint} if scored.split == "test" else {}
        runs.update(project.db, run_id, scores={scored.split: dict(scored.scores)}, **test)
    (folder / "prompts.jsonl").unlink(missing_ok=True)


def _answers(path: Path) -> list[tuple[int, str, Prediction]]:
    from workbench.prompting.score import prediction

    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        rows = [json.loads(line) for line in file]
    return [(row["document_id"], row["text_hash"], prediction(row["logprobs"], cut=bool(row["cut"]))) for row in rows]


def evaluation(project: Project, this: Run) -> scoring.Evaluation:
    """The score table of a finished prompt run on the split it was run over, against today's gold."""
    found = results.scored(project, this, this.spec["split"])
    kept = runs.predictions(project.db, this.id, [one.document.id for one in found])
    have = [one for one in found if one.document.id in kept and kept[one.document.id][0] == one.document.text_hash]
    return scoring.evaluate(results.task_of(this), this.spec["split"], have, [kept[one.document.id][1] for one in have])


def spec_of(this: Run) -> PromptSpec:
    """The settings of a prompt run. Raises SpecError for a trained one."""
    if this.kind != "prompt":
        raise SpecError(_("Run {name!r} is no prompt.").format(name=this.name))
    return PromptSpec.from_json(this.spec)


class Question:
    """The prompt of a run about more documents, as `predict.Question`: made and read on any thread, started on the main one."""

    def __init__(self, project: Project, this: Run, asked: Sequence[Document]):
        spec = spec_of(this)
        filler = Filler(project, spec)
        lines = [filler.line(one, filler.fit(one)) for one in asked]
        self.folder = Path(tempfile.mkdtemp(prefix="glossbench-prompt-"))
        about = {"project": project.uid, "id": this.id, "purpose": "predict"}
        self.spec = _job(self.folder, spec, lines, about, _("Ask with {name}").format(name=this.name))

    def start(self, queue: Queue, ended: Callable[[Finished], None]) -> Job:
        return predict.follow(queue, self.spec, ended)

    def answers(self, event: Finished) -> list[Prediction]:
        """In the order asked; the files go. Raises Cancelled or JobFailed."""
        try:
            predict.check_ending(event)
            return [found for _id, _hash, found in _answers(self.folder / "scores.jsonl")]
        except (OSError, ValueError, KeyError) as error:
            raise JobFailed(_("The answers of the worker cannot be read: {error!r}.").format(error=error)) from error
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


# ---------------------------------------------------------------- templates kept in the project


def saved(project: Project) -> tuple[prompts.Prompt, ...]:
    return prompts.all(project.db)


def save(project: Project, name: str, body: str, *, origin: object = None) -> None:
    """Keep a template under a name; an earlier text of that name stays as an older version. One undo step."""
    if not name.strip():
        raise SpecError(_("A template needs a name."))
    with project.edit(_("Save prompt {name}").format(name=name), origin=origin):
        this = prompts.by_name(project.db, name)
        if this is None:
            prompts.add(project.db, name, body)
        else:
            prompts.add_version(project.db, this.id, body)


def remove(project: Project, name: str, *, origin: object = None) -> None:
    with project.edit(_("Delete prompt {name}").format(name=name), origin=origin):
        if (this := prompts.by_name(project.db, name)) is not None:
            prompts.delete(project.db, this.id)


def class_names(project: Project, layer: str) -> tuple[str, ...]:
    found = labels.layer_by_name(project.db, layer)
    return found.names if found else ()
