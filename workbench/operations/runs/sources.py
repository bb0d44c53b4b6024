"""Models that a training can start from, runs of the project included.

A training that starts from a run keeps its encoder and gets a new head: the task of that run was an
intermediate one (Phang et al. 2018).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.operations.models import installed
from workbench.operations.runs import run_folders
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.runs import runs

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.training.spec import TrainSpec


def find(project: Project, name: str) -> ModelInfo:
    """The card of an installed model, a folder, or a run, by name.

    Raises WorkbenchError if there is none, or it cannot be used.
    """
    run = runs.by_name(project.db, name)
    if run is None or Path(name).exists() or any(card.name == name for card in installed.list()):
        return installed.find(name)
    return of_run(project, run)


def of_run(project: Project, run: Run) -> ModelInfo:
    """The card of the fine-tuned model of a run. Raises WorkbenchError if there is none."""
    kind = kinds.of(run)
    if not kind.info.fine_tunes:
        raise kind.no_model(run)
    return replace(installed.find(str(kind.model(project, run))), name=run.name, origin="run")


def present(project: Project, model: str, name: str) -> str:
    """The present folder of a model, which may have moved with the project.

    Raises WorkbenchError if the model is missing.
    """
    if not Path(model).is_absolute() or Path(model).exists():
        return model
    return find(project, name or Path(model).name).path


def argument(project: Project, spec: TrainSpec) -> str:
    """What a command takes for the model of these settings: a name, or a path."""
    run = runs.by_name(project.db, spec.model_name) if spec.model_name else None
    if run is not None and Path(spec.model) == run_folders.model(project, run.id):
        return run.name
    return installed.argument(spec.model, spec.model_name)
