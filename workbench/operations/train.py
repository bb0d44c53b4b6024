"""Training: which layer, which documents, what is left out and why; start, stop, cancel, begin again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.jobs.spec import JobSpec
from workbench.models.spec import card
from workbench.operations import corpus, scoring
from workbench.project import snapshot
from workbench.storage import documents, labels, runs
from workbench.tasks import spec as tasks
from workbench.text.labels import Layer
from workbench.training.spec import Option, TrainSpec, limited
from workbench.training.spec import options as _options

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.dataset import Record

TARGET = "workbench.training.loop:run"


@dataclass(frozen=True)
class LeftOut:
    """`count` documents (or spans, where the reason says so) that training does not use."""

    reason: str
    count: int


@dataclass(frozen=True)
class Plan:
    """What a training would use. `problem` says why it cannot begin, "" when it can; `unsplit` documents get a split at the start."""

    task: str
    layer: Layer | None
    used: Mapping[str, int]
    unsplit: int
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    problem: str = ""


def options(task: str) -> tuple[Option, ...]:
    """The settings of a task with their defaults."""
    return _options(task)


# ---------------------------------------------------------------- which layer


def fitting_layers(project: Project, task: str) -> tuple[tuple[Layer, int], ...]:
    """The layers that a task can learn, each with its number of submitted documents, most first."""
    found = [(layer, _submitted(project, layer)) for layer in labels.layers(project.db) if tasks.fits(task, layer)]
    return tuple(sorted(found, key=lambda one: -one[1]))


def _submitted(project: Project, layer: Layer) -> int:
    return len(documents.ids(project.db, documents.Filter(layer_id=layer.id, state="submitted")))


def choose_layer(project: Project, task: str, name: str | None = None) -> tuple[Layer, str]:
    """The layer to train on, and a remark where it was picked among several.

    Without a name: the only layer that fits; of several, the one with most submitted documents.
    Raises SpecError where the name is unknown or does not fit the task, or nothing fits.
    """
    fitting = fitting_layers(project, task)
    if name is not None:
        return _named_layer(project, task, name, fitting), ""
    if not fitting:
        kinds = _(" or ").join(tasks.info(task).kinds)
        texts = tasks.info(task).texts
        raise SpecError(
            _("The project has no layer for task {task}: it needs one of kind {kinds} with {n} text(s).").format(
                task=task, kinds=kinds, n=texts
            ),
            hint=_("Import labelled data or add a layer on the Labels page."),
        )
    layer = fitting[0][0]
    if len(fitting) == 1:
        return layer, ""
    others = ", ".join(one.name for one, _count in fitting[1:])
    return layer, _("Layer {layer}: of those that fit it has most submitted documents (others: {others}).").format(
        layer=layer.name, others=others
    )


def _named_layer(project: Project, task: str, name: str, fitting) -> Layer:
    for layer, _count in fitting:
        if layer.name == name:
            return layer
    all_layers = labels.layers(project.db)
    if any(one.name == name for one in all_layers):
        fit = ", ".join(one.name for one, _count in fitting) or _("none")
        raise SpecError(
            _("Layer {name!r} does not fit task {task}.").format(name=name, task=task), hint=_("Layers that fit: {fit}.").format(fit=fit)
        )
    known = ", ".join(one.name for one in all_layers) or _("none")
    raise SpecError(_("The project has no layer {name!r}.").format(name=name), hint=_("Its layers: {known}.").format(known=known))


# ---------------------------------------------------------------- what is used


def plan(project: Project, task: str, layer: str | None = None, *, train_limit: int | None = None) -> Plan:
    """What training on the layer would use and leave out, with reasons. Reads all submitted documents of the layer."""
    try:
        chosen, remark = choose_layer(project, task, layer)
    except SpecError as error:
        return Plan(task, None, {"train": 0, "dev": 0, "test": 0}, 0, (), (), str(error))
    return _Tally(project, task, chosen).plan(train_limit, (remark,) if remark else ())


class _Tally:
    """One pass over the submitted documents of a layer."""

    def __init__(self, project: Project, task: str, layer: Layer):
        self.project, self.task, self.layer = project, task, layer
        self.ids: dict[str | None, list[int]] = {"train": [], "dev": [], "test": [], None: []}
        self.reasons: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self.overlapping = 0
        submitted = 0
        for record in documents.records(project.db, layers=(layer.name,), submitted_in=layer.name):
            submitted += 1
            self._count(record)
        waiting = len(documents.ids(project.db, documents.Filter(texts=layer.texts))) - submitted
        if waiting > 0:
            self.reasons[_("not submitted")] = waiting

    def _count(self, record: Record) -> None:
        if why := scoring.why_left_out(self.task, record, self.layer.name):
            self.reasons[why] += 1
            return
        gold = tasks.gold(self.task, record, self.layer.name)
        self.overlapping += gold.left_out
        if record.document.split in ("train", None):
            self.labels.update([gold.label] if gold.label is not None else [one.label for one in gold.spans])
        self.ids[record.document.split].append(record.document.id)

    def plan(self, train_limit: int | None, warnings: tuple[str, ...] = ()) -> Plan:
        used = {split: len(self.ids[split]) for split in ("train", "dev", "test")}
        left_out = [LeftOut(reason, count) for reason, count in self.reasons.items()]
        if train_limit and used["train"] > train_limit:
            left_out.append(LeftOut(_("over train_limit"), used["train"] - train_limit))
            used["train"] = train_limit
        if self.overlapping:
            left_out.append(LeftOut(_("spans that overlap a longer one"), self.overlapping))
        if unsplit := len(self.ids[None]):
            warnings += (_("{n} submitted documents have no split yet; they get one at the start.").format(n=unsplit),)
        return Plan(self.task, self.layer, used, len(self.ids[None]), tuple(left_out), warnings + self._warnings(), self._problem())

    def _problem(self) -> str:
        found = sum(map(len, self.ids.values()))
        if not found:
            return _(
                "No document is submitted for layer {layer!r}, so there is nothing to learn from. Label documents and submit them, or import labelled ones."
            ).format(layer=self.layer.name)
        if self.task == "tag" and not self.labels:
            return _("No training document of layer {layer!r} has a span.").format(layer=self.layer.name)
        if self.task != "tag" and len(self.labels) < 2:
            return _("All training documents of layer {layer!r} have one class; at least two are needed.").format(layer=self.layer.name)
        if found < 3:
            return _(
                "Only {n} document(s) are submitted for layer {layer!r}; training needs at least 3: some to learn from, some to compare."
            ).format(n=found, layer=self.layer.name)
        return ""

    def _warnings(self) -> tuple[str, ...]:
        rare = [name for name in self.layer.names if 0 < self.labels[name] < 3]
        never = [name for name in self.layer.names if not self.labels[name]]
        found = []
        if never:
            found.append(_("No training document has {labels}; the model cannot learn what it never sees.").format(labels=", ".join(never)))
        if rare:
            found.append(_("Fewer than three examples of {labels}.").format(labels=", ".join(rare)))
        return tuple(found)


# ---------------------------------------------------------------- start


def start(project: Project, queue: Queue, spec: TrainSpec, *, parent_id: int | None = None) -> Run:
    """Freeze the data, make the run's row and its job. Splits are made first where submitted documents have none.

    Raises WorkbenchError saying why training cannot begin; nothing is left behind then.
    """
    layer, _remark = choose_layer(project, spec.task, spec.layer or None)
    _refuse_taken_name(project, spec.name)
    tally = _with_splits(project, spec.task, layer)
    made = tally.plan(spec.option("train_limit"))
    if made.problem:
        raise WorkbenchError(made.problem)
    splits = {split: list(tally.ids[split]) for split in ("train", "dev", "test")}
    splits["train"] = limited(splits["train"], spec.option("train_limit"), spec.seed)
    if not spec.with_test:
        del splits["test"]
    spec = replace(spec, layer=layer.name, name=spec.name or free_run_name(project, spec.task))
    data = snapshot.write(project, layer.name, {split: tally.ids[split] for split in ("train", "dev", "test")})
    run = _add_run(project, spec, layer, made, data.fingerprint, parent_id)
    params = {
        "spec": spec.to_json(),
        "data": str(data.path),
        "splits": splits,
        "run": {"project": project.uid, "id": run.id, "purpose": "train"},
    }
    folder = paths.run_folder(project.path, run.id)
    job = JobSpec(TARGET, params, str(folder), device=queue_device(spec.option("device")), title=_("Train {name}").format(name=spec.name))
    try:
        queue.add(job)
    except WorkbenchError:
        with project.write():
            runs.delete(project.db, run.id)
        raise
    return run


def _with_splits(project: Project, task: str, layer: Layer) -> _Tally:
    tally = _Tally(project, task, layer)
    if tally._problem():
        raise WorkbenchError(tally._problem())
    if tally.ids[None] or not tally.ids["dev"] or not tally.ids["train"]:
        corpus.make_splits(project, layer.name)
        tally = _Tally(project, task, layer)
    for split in ("train", "dev"):
        if not tally.ids[split]:
            raise WorkbenchError(
                _("No submitted document of layer {layer!r} is in the {split} split.").format(layer=layer.name, split=split),
                hint=_("Submit more documents, or change their split on the Data page."),
            )
    return tally


def _add_run(project: Project, spec: TrainSpec, layer: Layer, made: Plan, fingerprint: str, parent_id: int | None) -> Run:
    kept = {"plan": {"used": dict(made.used), "left_out": [{"reason": one.reason, "count": one.count} for one in made.left_out]}}
    kept["licence"] = card(spec.model).licence
    with project.write(_("New run")):
        return runs.add(
            project.db,
            spec.name,
            "train",
            layer_id=layer.id,
            spec={**spec.to_json(), **kept},
            data_fingerprint=fingerprint,
            parent_id=parent_id,
        )


def _refuse_taken_name(project: Project, name: str) -> None:
    if name and any(one.name == name for one in runs.all(project.db)):
        raise SpecError(
            _("There is a run named {name!r} already.").format(name=name), hint=_("Choose another name, or delete that run first.")
        )


def free_run_name(project: Project, task: str) -> str:
    """task-1, task-2, …: the first that no run has."""
    taken = {one.name for one in runs.all(project.db)}
    number = 1
    while f"{task}-{number}" in taken:
        number += 1
    return f"{task}-{number}"


def queue_device(device: str) -> str:
    """The queue that a run waits in: its device; "auto" is what a worker last reported as best, else cpu."""
    if device != "auto":
        return device
    from workbench.base import settings

    return str(settings.load().devices.get("best") or "cpu")


def command(project: Project, run: Run) -> str:
    """The command line that repeats the run."""
    spec = spec_of(run)
    parts = ["glossbench", "train", str(project.path), "--task", spec.task, "--model", spec.model_name or spec.model, "--layer", spec.layer]
    for name, value in spec.options.items():
        parts += ["--set", f"{name}={'auto' if value is None else value}"]
    parts += ["--seed", str(spec.seed)] + (["--with-test"] if spec.with_test else [])
    return shlex.join(parts)


def spec_of(run: Run) -> TrainSpec:
    """The settings of a trained run. Raises SpecError if it was not trained here (a prompt)."""
    if run.kind != "train":
        raise SpecError(_("Run {name!r} has no model of its own: it is a {kind}.").format(name=run.name, kind=run.kind))
    return TrainSpec.from_json(run.spec)


def again(project: Project, queue: Queue, run_id: int, *, name: str = "") -> Run:
    """Train with the settings of an earlier run on today's labels."""
    old = runs.get(project.db, run_id)
    return start(project, queue, replace(spec_of(old), name=name), parent_id=old.id)


def run(project: Project, run_id: int) -> Run:
    """The run as it stands now. Raises KeyError if it was discarded."""
    return runs.get(project.db, run_id)


# ---------------------------------------------------------------- what the model makes of the texts


@dataclass(frozen=True)
class TextCheck:
    """Of a sample of the texts: `unknown` is the share of words outside the vocabulary, `cut` that of texts over `max_length` subwords."""

    texts: int
    unknown: float
    cut: float
    max_length: int


UNKNOWN_LIMIT = 0.1
SAMPLE = 300  # texts looked at; a tenth of a second


def check_texts(
    project: Project, task: str, layer: Layer, model: str | Path, *, max_length: int | None = None, model_length: int = 512
) -> TextCheck:
    """Tokenise a sample of the layer's submitted documents as the model would. For a thread: takes up to a second."""
    from workbench.runtime.tokenizer import Tokenizer

    length = min(max_length or 512, model_length or 512)
    found = _sample(project, layer)
    tokenizer = Tokenizer.load(model)
    cut = sum(was_cut for _piece, was_cut in tokenizer.whole(found, length)) if found else 0
    unknown = tokenizer.unknown_share(text for texts in found for text in texts)
    return TextCheck(len(found), unknown, cut / max(1, len(found)), length)


def _sample(project: Project, layer: Layer) -> list[tuple[str, ...]]:
    """Evenly spread texts of submitted documents, of all documents of the layer where none is submitted."""
    ids = documents.ids(project.db, documents.Filter(layer_id=layer.id, state="submitted")) or documents.ids(
        project.db, documents.Filter(texts=layer.texts)
    )
    step = max(1, len(ids) // SAMPLE)
    found = documents.records(project.db, layers=(), ids=ids[::step][:SAMPLE])
    return [tuple(text for _name, text in one.document.texts)[: layer.texts] for one in found]


def text_warnings(task: str, found: TextCheck, model_name: str) -> tuple[str, ...]:
    """What to say of a check before training starts."""
    warnings = []
    if found.unknown > UNKNOWN_LIMIT:
        warnings.append(
            _(
                "{model} does not know {share:.0%} of the words in these texts; it was made for another language or script, so expect poor results."
            ).format(model=model_name, share=found.unknown)
        )
    if found.cut and task != "tag":
        warnings.append(
            _("About {share:.0%} of the texts are longer than {n} subwords; only their beginning is read.").format(
                share=found.cut, n=found.max_length
            )
        )
    return tuple(warnings)


# ---------------------------------------------------------------- the job of a run


def job_of(queue: Queue, project: Project, run_id: int) -> Job | None:
    """The job that trains the run, None if there is none in this queue."""
    for job in queue.jobs:
        about = job.spec.params.get("run") or {}
        if about.get("project") == project.uid and about.get("id") == run_id and about.get("purpose") == "train":
            return job
    return None


def stop(project: Project, queue: Queue, run_id: int) -> None:
    """End the training and keep the best version so far."""
    if job := job_of(queue, project, run_id):
        job.stop()


def cancel(project: Project, queue: Queue, run_id: int) -> None:
    """End the training and discard it."""
    if job := job_of(queue, project, run_id):
        job.cancel()


def model_folder(project: Project, run: Run) -> Path:
    """Where the fine-tuned weights of a run lie. Raises WorkbenchError where they are not."""
    spec_of(run)
    folder = paths.run_folder(project.path, run.id) / "model"
    if not (folder / "config.json").is_file():
        raise WorkbenchError(
            _("The weights of run {name!r} are not here: {folder} is missing.").format(name=run.name, folder=folder),
            hint=_("Bring {runs} back beside the project file, or train again.").format(runs=project.runs_folder.name),
        )
    return folder
