"""Fine-tuning a pretrained model to a task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.runs import rerun, run_folders, train
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.contract import model_name
from workbench.operations.runs.kinds.train.info import INFO
from workbench.operations.runs.run_results import trained
from workbench.training.general import RUN_ON
from workbench.training.methods import spec as methods

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.training.spec import TrainSpec


class FineTuningKind(Kind):
    info = INFO

    def model(self, project: Project, run: Run) -> Path:
        return run_folders.existing_model(project, run)

    def command(self, project: Project, run: Run) -> str:
        return train.command(project, run)

    def prepare(
        self,
        project: Project,
        spec: TrainSpec,
        *,
        queue: Queue | None = None,
        watch: Watch = QUIET,
    ) -> train.PreparedTraining:
        return train.prepare(project, spec, queue=queue, watch=watch)

    def settings(self, run: Run) -> TrainSpec:
        return replace(train.spec_of(run), layer=run.layer)

    def identity(self, spec: TrainSpec) -> str:
        options = sorted((name, spec.option(name)) for name in spec.all_options if name != RUN_ON)
        return str((spec.task, spec.layer, spec.model_name, spec.seed, options))

    def prepare_again(
        self, project: Project, run: Run, *, longer: bool = False
    ) -> train.PreparedTraining:
        spec = train.again_spec(project, run.id)
        if longer:
            spec = replace(spec, options={**spec.options, "epochs": rerun.more_epochs(run)})
        return train.prepare(project, spec)

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: train.PreparedTraining,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return train.start_prepared(project, queue, prepared, parent_id=parent_id)

    def made_from(self, run: Run) -> str:
        return with_settings(run)


def with_settings(run: Run) -> str:
    """The model of a run with the settings that tell similar runs apart."""
    options = {**run.spec.get("options", {}), **trained(run).options}
    parts = [model_name(run)]
    if adapted := options.get("adapt_epochs"):
        message = ngettext(
            "adapted for {n} epoch", "adapted for {n} epochs", int(adapted), n=adapted
        )
        parts.append(message)
    if (method := options.get("method", methods.DEFAULT)) != methods.DEFAULT:
        known = {method.id: _(method.title) for method in methods.all_methods()}
        parts.append(known.get(method, method))
    if epochs := options.get("epochs"):
        parts.append(ngettext("{n} epoch", "{n} epochs", int(epochs), n=epochs))
    return ", ".join(parts)
