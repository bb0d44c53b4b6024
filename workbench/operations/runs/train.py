"""Training: start, stop, cancel, repeat. The training data is determined in `training_data`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.base import learning_rates
from workbench.base.errors import ModelError, SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.base.records import to_plain
from workbench.base.registry import registry
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.models.spec import card
from workbench.operations.documents.splits import make_splits
from workbench.operations.models import installed, precision
from workbench.operations.runs import adaptation, new_runs
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.train.info import INFO
from workbench.operations.runs.training_data import DataPlan, LabelTally, choose_layer, count_inputs
from workbench.pretraining.spec import adaptation_rate
from workbench.project import snapshot
from workbench.project.snapshot import Snapshot
from workbench.storage.runs import runs
from workbench.text.labels import Layer
from workbench.training.methods import spec as methods
from workbench.training.plan import Plan as SettingsPlan
from workbench.training.plan import plan as resolve
from workbench.training.spec import TrainSpec, limited
from workbench.training.spec import options as _options

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

TARGET = "workbench.training.loop:run"
SHOW = "workbench.training.view:show_batch"


def options(task: str, method: str | None = None, family: str = "") -> tuple[Option, ...]:
    """The settings of a task with their defaults, then those of a model's family.

    `method` None is the default method.
    """
    return _options(task, method, family)


def settings_plan(
    spec: TrainSpec, model: ModelInfo, data: DataPlan, items: int | None = None
) -> SettingsPlan:
    """Every automatic setting resolved from the card of the model and the training data.

    items: inputs of the model (`training_data.count_inputs`). Without them, as before the choices
    are final, each document counts as one: tags of long texts will need more steps.
    """
    family = registry().info("family", model.family) if model.family else None
    width = family.trained_width(model, spec.all_options) if family is not None else model.width
    return resolve(
        spec,
        documents=max(1, data.used["train"]),
        items=items,
        labels=len(data.layer.names) if data.layer else 2,
        rare=data.rare,
        width=width or learning_rates.USUAL_WIDTH,
        learning_rate=model.learning_rate,
        model_length=model.max_length,
    )


# ---------------------------------------------------------------- start


@dataclass(frozen=True)
class PreparedTraining:
    """A prepared training with its frozen data.

    `settings`: what automatic settings became, None if the inputs could not be counted; the worker
    then says why. `splits`: document ids of train, dev (and test). `texts`: for an adaptation of
    the model, None without one.
    """

    kind: ClassVar[str] = INFO.id
    spec: TrainSpec
    layer: Layer
    plan: DataPlan
    settings: SettingsPlan | None
    data: Snapshot
    splits: Mapping[str, list[int]]
    texts: adaptation.TextFiles | None = None

    @property
    def fingerprint(self) -> str:
        return self.data.fingerprint


def prepare(project: Project, spec: TrainSpec, *, watch: Watch = QUIET) -> PreparedTraining:
    """Assign splits to submitted documents without one, and freeze the data. Run it in a thread:
    reads every submitted document.

    Raises WorkbenchError saying why training cannot start, or Cancelled; only the splits are kept
    then.
    """
    folder = card(spec.model, allow_pickle=spec.allow_pickle)
    installed.check_task(replace(folder, name=spec.model_name or folder.name), spec.task)
    check_settings(project, spec, folder)
    layer, _remark = choose_layer(project, spec.task, spec.layer or None)
    limit = spec.option("train_limit")
    watch.at(0.1)
    plan, data, whole = freeze(project, spec.task, layer, train_limit=limit, seed=spec.seed)
    splits = {**whole, "train": limited(whole["train"], limit, spec.seed)}
    if not spec.with_test:
        del splits["test"]
    watch.at(0.6)
    adapts = adaptation.check(spec, folder) is not None
    texts = adaptation.write_texts(project) if adapts else None
    watch.at(0.8)
    spec = replace(spec, layer=layer.name)
    settings = _resolved(project, spec, folder, plan, splits["train"])
    return PreparedTraining(spec, layer, plan, settings, data, splits, texts)


def _resolved(
    project: Project, spec: TrainSpec, model: ModelInfo, data: DataPlan, ids: Sequence[int]
) -> SettingsPlan | None:
    try:
        items = count_inputs(project, with_models(spec), model, ids)
    except ModelError:  # no readable tokenizer, or no segmenter: the run itself reports it
        return None
    resolved = settings_plan(spec, model, data, items)
    if (objective := adaptation.check(spec, model)) is None:
        return resolved
    rate = adaptation_rate(objective, model, spec.option("adapt_learning_rate"))
    return replace(resolved, adapt_objective=objective.id, adapt_learning_rate=rate)


def check_settings(project: Project, spec: TrainSpec, model: ModelInfo) -> None:
    """Raises WorkbenchError if training would be refused, whatever the documents are."""
    check_method(spec, model)
    with_models(spec)
    adaptation.check(spec, model)
    refuse_taken_name(project, spec.name)


def check_method(spec: TrainSpec, model: ModelInfo) -> None:
    """Raises SpecError if the method cannot be used with the model."""
    if reason := method_problem(spec, model):
        raise SpecError(reason, hint=_("Choose another training method or model."))


def method_problem(spec: TrainSpec, model: ModelInfo) -> str:
    """Why the method cannot be used with the model, as a sentence; "" if it can."""
    method = methods.info(spec.method)
    if not (reason := method.problem(model)):
        return ""
    return _(
        "{method} cannot be used with {model}: {reason}.",
        method=_(method.title),
        model=spec.model_name or model.name,
        reason=reason,
    )


def freeze(
    project: Project, task: str, layer: Layer, *, train_limit: int | None = None, seed: int = 1
) -> tuple[DataPlan, Snapshot, dict[str, list[int]]]:
    """Assign splits where needed and write the data: (plan, snapshot, ids by split).

    Raises WorkbenchError saying why training cannot start.
    """
    tally = _with_splits(project, task, layer)
    plan = tally.plan(train_limit, seed)
    if plan.problem:
        raise WorkbenchError(plan.problem)
    whole = {split: list(tally.ids[split]) for split in ("train", "dev", "test")}
    return plan, snapshot.write(project, layer.name, whole), whole


def start_prepared(
    project: Project, queue: Queue, prepared: PreparedTraining, *, parent_id: int | None = None
) -> Run:
    """Create the run and its job, see `kinds.start`."""
    task = prepared.spec.task
    spec = replace(prepared.spec, name=prepared.spec.name or free_run_name(project, task))
    device = wanted_device(spec.option("device"))
    # the run itself keeps "auto" and names, so that it can be repeated on other computers
    here = with_models(replace(spec, options={**spec.options, "device": device}))
    params: dict[str, Any] = {
        "spec": here.to_json(),
        "data": str(prepared.data.path),
        "splits": dict(prepared.splits),
        "plan": to_plain(prepared.settings),
        "precision_trials": precision.known(),
    }
    if prepared.texts is not None:
        params["texts"] = prepared.texts.to_json()
    plan, resolved = plan_json(prepared.plan), to_plain(prepared.settings)
    licence = card(spec.model).licence
    return new_runs.queued(
        project,
        queue,
        INFO.id,
        spec.name,
        lambda folder, about: JobSpec(
            TARGET if prepared.texts is None else adaptation.TARGET,
            {**params, "run": about},
            str(folder),
            device=queue_device(device),
            title=_("Train {name}", name=spec.name),
            name=spec.name,
            project=str(project.path),
            stoppable=True,
        ),
        layer_id=prepared.layer.id,
        spec={**spec.to_json(), "plan": plan, "resolved": resolved, "licence": licence},
        data_fingerprint=prepared.data.fingerprint,
        parent_id=parent_id,
    )


def first_batches(
    project: Project, queue: Queue, spec: TrainSpec, *, batches: int = 1, watch: Watch = QUIET
) -> dict[str, Any]:
    """The first batch of a training: {"task", "rows"}. Assigns splits, as a start does.

    With several batches, the rows of each of the others are in "more". Raises WorkbenchError as
    `prepare` does, Cancelled or JobFailed.
    """
    prepared = prepare(project, spec, watch=watch.part(0, 0.2))
    params = {
        "spec": with_models(prepared.spec).to_json(),
        "batches": batches,
        "data": str(prepared.data.path),
        "splits": dict(prepared.splits),
        "plan": to_plain(prepared.settings),
    }
    title = _("First batch of task “{task}”", task=_(prepared.spec.info.title))
    return queue.run(JobSpec(SHOW, params, title=title, short=True), watch.part(0.2, 1))


def start(project: Project, queue: Queue, spec: TrainSpec, *, parent_id: int | None = None) -> Run:
    """Prepare and start in one call, for callers that may block."""
    return kinds.start(project, queue, prepare(project, spec), parent_id=parent_id)


def with_models(spec: TrainSpec) -> TrainSpec:
    """The settings with the paths of the models that they name.

    Raises ModelError if one is not usable; pickled ones must have been confirmed.
    """
    if not spec.family:
        return spec
    cards: list[ModelInfo] = []

    def find(name: str) -> ModelInfo:
        cards.append(installed.find(name))
        return cards[-1]

    options = registry().info("family", spec.family).resolved(spec.options, find)
    allowed = spec.allow_pickle or any(card.pickled for card in cards)
    return replace(spec, options=options, allow_pickle=allowed)


def _with_splits(project: Project, task: str, layer: Layer) -> LabelTally:
    tally = LabelTally(project, task, layer)
    if tally.problem():
        raise WorkbenchError(tally.problem())
    if tally.needs_splits:
        make_splits(project, layer.name)
        tally = LabelTally(project, task, layer)
    for split in ("train", "dev"):
        if not tally.ids[split]:
            raise WorkbenchError(
                _(
                    "No submitted document of layer {layer!r} is in the {split} split.",
                    layer=layer.name,
                    split=split,
                ),
                hint=_("Submit more documents, or change their split on the Data page."),
            )
    return tally


def plan_json(plan: DataPlan) -> dict[str, object]:
    """What a run stores of its data: numbers of documents, and why others were left out."""
    return {
        "used": dict(plan.used),
        "left_out": [{"reason": out.reason, "count": out.count} for out in plan.left_out],
    }


def refuse_taken_name(project: Project, name: str) -> None:
    """Raises SpecError if a run of the project has this name."""
    if name and any(item.name == name for item in runs.all(project.db)):
        raise SpecError(
            _("A run named {name!r} already exists.", name=name),
            hint=_("Choose another name, or delete that run first."),
        )


def free_run_name(project: Project, task: str) -> str:
    """task-1, task-2, …: the first unused name."""
    taken = {item.name for item in runs.all(project.db)}
    number = 1
    while f"{task}-{number}" in taken:
        number += 1
    return f"{task}-{number}"


def wanted_device(device: str) -> str:
    """The requested value; for "auto", the value of the user's settings."""
    from workbench.base import settings

    return settings.load().device if device == "auto" else device


def queue_device(device: str) -> str:
    """The queue of a run: its device; for "auto" the best device that a worker last reported, else
    cpu.
    """
    if device != "auto":
        return device
    from workbench.base import settings

    return str(settings.load().devices.get("best") or "cpu")


def command(project: Project, run: Run) -> str:
    """The command line that repeats the run."""
    spec = spec_of(run)
    parts = [
        "glossbench",
        "train",
        str(project.path),
        "--task",
        spec.task,
        "--model",
        installed.argument(spec.model, spec.model_name),
        "--layer",
        spec.layer,
    ]
    for name, value in spec.options.items():
        parts += ["--set", f"{name}={'auto' if value is None else value}"]
    parts += ["--seed", str(spec.seed)] + (["--with-test"] if spec.with_test else [])
    return shlex.join(parts)


def spec_of(run: Run) -> TrainSpec:
    """The settings of a trained run. Raises SpecError if it was not trained here (a prompt)."""
    if not kinds.info(run.kind).fine_tunes:
        raise kinds.of(run).no_model(run)
    return TrainSpec.from_json(run.spec)


def again_spec(project: Project, run_id: int, *, name: str = "") -> TrainSpec:
    """The settings of an earlier run for a new one on the current labels.

    The name is by default that of the earlier run with the next free number.
    """
    run = runs.get(project.db, run_id)
    spec = spec_of(run)
    return replace(spec, name=name or next_name(project, run.name, spec.task))


def next_name(project: Project, name: str, task: str) -> str:
    """ "best 2" after "best", "best 3" after "best 2"; "" for names that were not chosen."""
    if re.fullmatch(rf"{re.escape(task)}-\d+", name):
        return ""
    stem = re.sub(r" \d+$", "", name)
    known = runs.by_name(project.db, stem) is not None
    return runs.free_name(project.db, stem if known else name)


def run(project: Project, run_id: int) -> Run:
    """The current state of the run. Raises KeyError if it was discarded."""
    return runs.get(project.db, run_id)


# ---------------------------------------------------------------- jobs of runs


def job_of(queue: Queue, project: Project, run_id: int) -> Job | None:
    """The job that trains the run, None if this queue has none."""
    return next((job for job in queue.jobs if trains(job, project=project, run_id=run_id)), None)


def trains(job: Job, *, project: Project, run_id: int) -> bool:
    """Whether a job trains this run."""
    about = job.spec.params.get("run") or {}
    same = about.get("project") == project.uid and about.get("id") == run_id
    return same and kinds.of_job(job).queued


def stop(project: Project, queue: Queue, run_id: int) -> None:
    """End the training and keep the best checkpoint so far."""
    if job := job_of(queue, project, run_id):
        job.stop()


def cancel(project: Project, queue: Queue, run_id: int) -> None:
    """End the training and discard its results."""
    if job := job_of(queue, project, run_id):
        job.cancel()


def model_folder(project: Project, run: Run) -> Path:
    """The folder of the fine-tuned weights of a run, or of the published model that it predicts
    with. Raises WorkbenchError if it is missing.
    """
    kind = kinds.of(run)
    if kind.predictor != kinds.PREDICTOR:
        raise kind.no_model(run)
    return kind.model(project, run)
