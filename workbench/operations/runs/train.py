"""Training: start, stop, cancel, repeat. The training data is determined in `training_data`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.base import learning_rates
from workbench.base.errors import ModelError, SpecError, WorkbenchError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.base.records import to_plain
from workbench.base.registry import registry
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.jobs import machine
from workbench.jobs.spec import JobSpec
from workbench.models.spec import card, chain
from workbench.operations.documents.splits import make_splits
from workbench.operations.models import installed, precision
from workbench.operations.runs import adaptation, clusters, new_runs, sources, teachers
from workbench.operations.runs.devices import gpus as gpus
from workbench.operations.runs.devices import queue_device as queue_device
from workbench.operations.runs.devices import wanted_device as wanted_device
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.train.info import INFO
from workbench.operations.runs.run_folders import JOB_OF
from workbench.operations.runs.training_data import (
    NO_CHECK,
    DataPlan,
    LabelTally,
    TextCheck,
    choose_layer,
    count_inputs,
)
from workbench.pretraining.spec import adaptation_rate
from workbench.project import snapshot
from workbench.project.snapshot import Snapshot
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.text.labels import Layer
from workbench.training import states
from workbench.training.general import ALL_GPUS, ALSO, RUN_ON, OtherLayer, other_layers_text
from workbench.training.methods import spec as methods
from workbench.training.methods.spec import Forecast
from workbench.training.plan import Plan as SettingsPlan
from workbench.training.plan import plan as resolve
from workbench.training.spec import Teaching, TrainSpec
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

    `method` None is the default method. All GPUs are a device where there are several.
    """
    several = gpus() > 1
    return tuple(
        replace(
            option,
            choices=(*option.choices, ALL_GPUS),
            choice_titles=(*map(term, option.choices), N_("All GPUs")),
        )
        if several and option.name == "device"
        else option
        for option in _options(task, method, family)
    )


def settings_plan(
    spec: TrainSpec,
    model: ModelInfo,
    data: DataPlan,
    items: int | None = None,
    *,
    check: TextCheck = NO_CHECK,
) -> SettingsPlan:
    """Every automatic setting resolved from the card of the model and the training data.

    items: inputs of the model (`training_data.count_inputs`). Without them, as before the choices
    are final, they are estimated from `check`.
    """
    if items is None:
        items = max(1, round(data.used["train"] * check.per_document))
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


def forecast(
    spec: TrainSpec, model: ModelInfo, settings: SettingsPlan, check: TextCheck = NO_CHECK
) -> Forecast:
    length = min(settings.max_length, check.longest or settings.max_length)
    return spec.forecast(model, settings.batch_size * check.windows, length)


def memory_warning(spec: TrainSpec, needed: Forecast) -> str:
    """A display text if a training on the CPU needs more memory than is free, else ""."""
    device = spec.option("device")
    has_gpu = device == "auto" and (sys.platform == "darwin" or which("nvidia-smi"))
    if has_gpu or device not in ("auto", "cpu"):
        return ""
    _total, free = machine.memory()
    return needed.warning(free >> 20)


# ---------------------------------------------------------------- start


@dataclass(frozen=True)
class PreparedTraining:
    """A prepared training with its frozen data.

    `settings`: what automatic settings became, None if the inputs could not be counted; the worker
    then says why. `splits`: document ids of train, dev (and test). `texts`: for an adaptation of
    the model, None without one. `also`: of the other layers that are trained together. `teacher`,
    `teaching`: for distillation.
    """

    kind: ClassVar[str] = INFO.id
    spec: TrainSpec
    layer: Layer
    plan: DataPlan
    settings: SettingsPlan | None
    data: Snapshot
    splits: Mapping[str, list[int]]
    texts: adaptation.TextFiles | None = None
    also: tuple[PreparedTraining, ...] = ()
    teacher: Run | None = None
    teaching: Teaching | None = None

    @property
    def fingerprint(self) -> str:
        return self.data.fingerprint

    @property
    def whole_settings(self) -> SettingsPlan | None:
        """The settings of the training on all layers."""
        others = [one.settings for one in self.also]
        known = [one for one in others if one is not None]
        if self.settings is None or len(known) < len(others):
            return None
        return self.settings.together(known, self.spec) if others else self.settings

    def values(self) -> dict[str, Any]:
        """The columns of the run."""
        return {
            "layer_id": self.layer.id,
            "spec": {
                **self.spec.to_json(),
                "plan": plan_json(self.plan),
                "resolved": to_plain(self.whole_settings),
                "licence": card(self.spec.model).licence,
                "chain": list(chain(self.spec.model, self.spec.model_name)),
                **_teacher_json(self.teacher),
            },
            "data_fingerprint": self.data.fingerprint,
        }

    def params(self) -> dict[str, Any]:
        """The parameters of the job that its data give."""
        return {
            "data": str(self.data.path),
            "splits": dict(self.splits),
            "plan": to_plain(self.settings),
        }


def prepare(
    project: Project, spec: TrainSpec, *, queue: Queue | None = None, watch: Watch = QUIET
) -> PreparedTraining:
    """Assign splits to submitted documents without one, and freeze the data. Run it in a thread:
    reads every submitted document. queue: for the predictions of a teacher without a model here.

    Raises WorkbenchError saying why training cannot start, or Cancelled; only the splits are kept
    then.
    """
    folder = card(spec.model, allow_pickle=spec.allow_pickle)
    installed.check_task(replace(folder, name=spec.model_name or folder.name), spec.task)
    check_settings(project, spec, folder)
    layer, _remark = choose_layer(project, spec.task, spec.layer or None)
    spec = with_tasks(project, replace(spec, layer=layer.name))
    watch.at(0.1)
    also = tuple(_prepared(project, spec.of_other(n), folder) for n in range(len(spec.others)))
    prepared = _prepared(project, spec, folder, queue=queue, watch=watch)
    adapts = adaptation.check(spec, folder) is not None
    texts = adaptation.write_texts(project) if adapts else None
    return replace(prepared, texts=texts, also=also)


def with_tasks(project: Project, spec: TrainSpec) -> TrainSpec:
    """The settings with the task of each further layer. Raises SpecError if one cannot be used."""
    if not spec.others:
        return spec
    fitting = {layer.name: tasks.fitting(layer) for layer in labels.layers(project.db)}
    chosen: list[OtherLayer] = []
    for other in spec.others:
        if other.layer == spec.layer or other.layer in [before.layer for before in chosen]:
            raise SpecError(
                _("Layer {layer!r} is trained twice.", layer=other.layer),
                hint=_("Name every layer once in the setting also."),
            )
        first = next((info.id for info in fitting.get(other.layer, ())), spec.task)
        task = other.task or first
        choose_layer(project, task, other.layer)
        alone = [one for one in (spec.task, task) if tasks.info(one).alone]
        if alone:
            raise SpecError(
                _("The task {task} cannot be trained with other layers.", task=alone[0]),
                hint=_("It needs the head of a language model, beside which no other could be."),
            )
        chosen.append(replace(other, task=task))
    return replace(spec, options={**spec.options, ALSO.name: other_layers_text(chosen)})


def _prepared(
    project: Project,
    spec: TrainSpec,
    folder: ModelInfo,
    *,
    queue: Queue | None = None,
    watch: Watch = QUIET,
) -> PreparedTraining:
    """One layer of a training. Raises WorkbenchError saying why it cannot be learned."""
    installed.check_task(replace(folder, name=spec.model_name or folder.name), spec.task)
    layer, _remark = choose_layer(project, spec.task, spec.layer)
    spec.info.check_labels(spec.all_options, layer.names)
    teacher = teachers.find(project, spec, layer)
    plan, data, splits = freeze(project, spec.task, layer, spec)
    if not spec.with_test:
        del splits["test"]
    train, unlabelled = splits["train"], teachers.unlabelled_ids(project, spec, layer)
    teaching = None
    if teacher is not None:
        part, ids = watch.part(0.3, 0.6), (train, unlabelled)
        teaching = teachers.teaching(project, queue, teacher, layer, *ids, watch=part)
    watch.at(0.6)
    settings = _resolved(project, spec, folder, plan, [*train, *unlabelled])
    return PreparedTraining(
        spec, layer, plan, settings, data, splits, teacher=teacher, teaching=teaching
    )


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
    clusters.check_consent(project, spec.option(RUN_ON))


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
    project: Project, task: str, layer: Layer, spec: TrainSpec | None = None
) -> tuple[DataPlan, Snapshot, dict[str, list[int]]]:
    """Assign splits where needed and write the data: (plan, snapshot, ids by split), with the
    sample of train that a run uses.

    Raises WorkbenchError saying why training cannot start.
    """
    fold = spec.option("fold") if spec else ""
    limit, seed = (spec.option("train_limit"), spec.seed) if spec else (None, 1)
    tally = _with_splits(project, task, layer, fold, seed)
    every_class = spec is not None and spec.every_class
    plan = tally.plan(limit, seed, every_class=every_class)
    if plan.problem:
        raise WorkbenchError(plan.problem)
    whole = {split: list(tally.ids[split]) for split in ("train", "dev", "test")}
    data = snapshot.write(project, layer.name, whole)
    return plan, data, {**whole, "train": tally.sample(limit, seed, every_class=every_class)}


def start_prepared(
    project: Project, queue: Queue, prepared: PreparedTraining, *, parent_id: int | None = None
) -> Run:
    """Create the run and its job, see `kinds.start`."""
    task = prepared.spec.task
    spec = replace(prepared.spec, name=prepared.spec.name or free_run_name(project, task))
    clusters.check_consent(project, spec.option(RUN_ON))
    cluster = clusters.address(spec.option(RUN_ON))
    device = spec.option("device") if cluster else wanted_device(spec.option("device"))
    processes = spec.option("processes") or (max(1, gpus()) if device == ALL_GPUS else 1)
    # the run itself keeps "auto" and names, so that it can be repeated on other computers
    here = with_models(replace(spec, options={**spec.options, "device": device}))
    params: dict[str, Any] = {
        "spec": here.to_json(),
        **prepared.params(),
        "precision_trials": precision.known(),
    }
    if prepared.also:
        params["also"] = [{"spec": one.spec.to_json(), **one.params()} for one in prepared.also]
    also = [
        (runs.free_name(project.db, f"{spec.name} ({one.spec.layer})"), one.values())
        for one in prepared.also
    ]
    if prepared.texts is not None:
        params["texts"] = prepared.texts.to_json()
    if prepared.teaching is not None:
        params["teaching"] = to_plain(prepared.teaching)
    return new_runs.queued(
        project,
        queue,
        INFO.id,
        spec.name,
        lambda folder, about: JobSpec(
            TARGET if prepared.texts is None else adaptation.TARGET,
            {**params, "run": about},
            str(folder),
            device="" if cluster else queue_device(device),
            title=_("Train {name}", name=spec.name),
            name=spec.name,
            project=str(project.path),
            stoppable=True,
            processes=processes,
            run_on=cluster,
            state=states.FOLDER,
            files=clusters.sent(spec, params) if cluster else (),
        ),
        also,
        **replace(prepared, spec=spec).values(),
        parent_id=parent_id,
    )


def _teacher_json(teacher: Run | None) -> dict[str, Any]:
    if teacher is None:
        return {}
    return {"taught_by": {"id": teacher.id, "uid": teacher.uid, "name": teacher.name}}


def first_batches(
    project: Project, queue: Queue, spec: TrainSpec, *, batches: int = 1, watch: Watch = QUIET
) -> dict[str, Any]:
    """The first batch of a training: {"task", "rows", "balance"}. Assigns splits, as a start does.

    balance: rows of `balance_columns`, [] for a task without labels to balance. With several
    batches, the rows of each of the others are in "more". Raises WorkbenchError as
    `prepare` does, Cancelled or JobFailed.
    """
    others = {name: value for name, value in spec.options.items() if name != "teacher"}
    prepared = prepare(project, replace(spec, options=others), watch=watch.part(0, 0.2))
    params = {
        "spec": with_models(prepared.spec).to_json(),
        "batches": batches,
        **prepared.params(),
    }
    title = _("First batch of task “{task}”", task=_(prepared.spec.info.title))
    return queue.run(JobSpec(SHOW, params, title=title, short=True), watch.part(0.2, 1))


def balance_columns() -> tuple[Column, ...]:
    """The effect of class weights and sampling on an expected batch, one row for each label."""
    return (
        Column(_("Label"), itemgetter("label"), key="label"),
        Column(
            _("In train"),
            itemgetter("count"),
            kind=ValueKind.COUNT,
            key="count",
            hint=_("Documents, words or spans of the label, whichever the task decides about."),
        ),
        Column(
            _("Share of a batch"),
            itemgetter("plain"),
            kind=ValueKind.PERCENT,
            key="plain",
            hint=_("Expected share if each document is drawn once."),
        ),
        Column(
            _("With sampling"),
            itemgetter("sampled"),
            kind=ValueKind.PERCENT,
            key="sampled",
            hint=_("Expected share with the sampling of the run."),
        ),
        Column(
            _("Weight in the loss"),
            itemgetter("weight"),
            kind=ValueKind.NUMBER,
            key="weight",
            digits=2,
        ),
    )


def start(project: Project, queue: Queue, spec: TrainSpec, *, parent_id: int | None = None) -> Run:
    """Prepare and start in one call, for callers that may block."""
    return kinds.start(project, queue, prepare(project, spec, queue=queue), parent_id=parent_id)


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


def _with_splits(project: Project, task: str, layer: Layer, fold: str, seed: int) -> LabelTally:
    tally = LabelTally(project, task, layer)
    if tally.problem():
        raise WorkbenchError(tally.problem())
    if tally.needs_splits:
        make_splits(project, layer.name)
        tally = LabelTally(project, task, layer)
    tally.divide(fold, seed)
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
        sources.argument(project, spec),
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
    model = sources.present(project, spec.model, spec.model_name)
    return replace(spec, model=model, name=name or next_name(project, run.name, spec.task))


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
    """The job that trains the run, the last one if it was continued; None if there is none."""
    own = (job for job in queue.jobs[::-1] if trains(job, project=project, run_id=run_id))
    return next(own, None)


def trains(job: Job, *, project: Project, run_id: int) -> bool:
    """Whether a job trains this run."""
    about = job.spec.params.get("run") or {}
    same = about.get("project") == project.uid
    same = same and run_id in (about.get("id"), *about.get("also", ()))
    return same and kinds.of_job(job).queued


def trained_with(project: Project, run: Run) -> tuple[Run, ...]:
    """The other runs that were trained with the same encoder, oldest first."""
    first = run.spec.get(JOB_OF, run.id)
    if first == run.id and not run.spec.get("options", {}).get(ALSO.name):
        return ()
    every = runs.all(project.db)
    return tuple(r for r in every if first in (r.id, r.spec.get(JOB_OF)) and r.id != run.id)


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
