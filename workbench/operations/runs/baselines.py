"""Baselines: started with one call, runs like any other (kind "baseline"), without torch."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.baselines import spec as baselines
from workbench.baselines.spec import KIND, PREFIX
from workbench.jobs.spec import JobSpec
from workbench.operations.runs import new_runs, train, training_data
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.project.snapshot import Snapshot
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer

TARGET = "workbench.baselines.job:fit"


@dataclass(frozen=True)
class BaselineChoice:
    """A baseline that can be trained on a layer; `title` is its display name."""

    baseline: str
    task: str
    layer: str
    title: str


@dataclass(frozen=True)
class PreparedBaseline:
    """A baseline with its frozen data."""

    kind: ClassVar[str] = KIND
    baseline: str
    task: str
    layer: Layer
    plan: Mapping[str, object]
    data: Snapshot
    splits: Mapping[str, list[int]]
    name: str
    seed: int
    with_test: bool = False


def offers(project: Project) -> tuple[BaselineChoice, ...]:
    """Every baseline of every layer, whether or not the layer has enough labels.

    The title names the task if the baseline fits several tasks of the layer.
    """
    choices: list[BaselineChoice] = []
    for layer in labels.layers(project.db):
        fitting = {task: baselines.fitting(task) for task in tasks.fitting(layer)}
        tasks_of = Counter(baseline.id for some in fitting.values() for baseline in some)
        for task, some in fitting.items():
            for baseline in some:
                title = _(baseline.title)
                if tasks_of[baseline.id] > 1:
                    title = _("{baseline} ({task})", baseline=title, task=_(task.short))
                choices.append(BaselineChoice(baseline.id, task.id, layer.name, title))
    return tuple(choices)


def named(model: str) -> str | None:
    """The id of the baseline in "baseline:ID"; None for the name of a model."""
    return model.removeprefix(PREFIX) if model.startswith(PREFIX) else None


def prepare(
    project: Project,
    baseline: str,
    task: str,
    layer: str | None = None,
    *,
    name: str = "",
    seed: int = 1,
    with_test: bool = False,
) -> PreparedBaseline:
    """Freeze the data of a layer. Run it in a thread: reads every submitted document.

    Raises WorkbenchError saying why the baseline cannot be trained.
    """
    info, its_task = baselines.info(baseline), tasks.info(task)
    if not info.fits(its_task):
        fitting = ", ".join(PREFIX + baseline.id for baseline in baselines.fitting(its_task))
        message = _("Baseline {baseline!r} does not fit task {task}.", baseline=baseline, task=task)
        raise SpecError(
            f"{message} {info.why_unfit(its_task)}".rstrip(),
            hint=_("Baselines that fit: {fit}.", fit=fitting)
            if fitting
            else _("No baseline fits this task."),
        )
    chosen, _remark = training_data.choose_layer(project, task, layer)
    train.refuse_taken_name(project, name)
    plan, data, splits = train.freeze(project, task, chosen)
    if not with_test:
        del splits["test"]
    name = name or runs.free_name(project.db, f"{chosen.name} {baseline}")
    plan_values = train.plan_json(plan)
    return PreparedBaseline(
        baseline, task, chosen, plan_values, data, splits, name, seed, with_test
    )


def prepare_again(project: Project, run: Run) -> PreparedBaseline:
    """As `prepare`, with the settings of an earlier run on the current labels."""
    spec = run.spec
    return prepare(
        project,
        spec[KIND],
        spec["task"],
        spec["layer"],
        name=train.next_name(project, run.name, spec["task"]),
        seed=spec["seed"],
        with_test=spec.get("with_test", False),
    )


def start(
    project: Project, queue: Queue, prepared: PreparedBaseline, *, parent_id: int | None = None
) -> Run:
    """Create the run and its job, see `kinds.start`."""
    info, layer = baselines.info(prepared.baseline), prepared.layer
    spec = {
        KIND: prepared.baseline,
        "task": prepared.task,
        "layer": layer.name,
        "model": PREFIX + prepared.baseline,
        "model_name": info.title,
        "seed": prepared.seed,
        "with_test": prepared.with_test,
        "options": {},
        "plan": dict(prepared.plan),
    }
    params = {
        "baseline": prepared.baseline,
        "task": prepared.task,
        "layer": layer.name,
        "seed": prepared.seed,
        "data": str(prepared.data.path),
        "splits": dict(prepared.splits),
    }
    return new_runs.queued(
        project,
        queue,
        KIND,
        prepared.name,
        lambda folder, about: JobSpec(
            TARGET,
            {**params, "run": about},
            str(folder),
            title=_("Train {name}", name=prepared.name),
            name=prepared.name,
            project=str(project.path),
        ),
        layer_id=layer.id,
        spec=spec,
        data_fingerprint=prepared.data.fingerprint,
        parent_id=parent_id,
    )


def command(project: Project, run: Run) -> str:
    """The command line that repeats the run."""
    spec = run.spec
    parts = ["glossbench", "train", str(project.path), "--task", spec["task"]]
    parts += ["--model", spec["model"], "--layer", spec["layer"], "--seed", str(spec["seed"])]
    parts += ["--with-test"] if spec.get("with_test") else []
    return shlex.join(parts)
