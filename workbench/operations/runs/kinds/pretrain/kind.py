"""A pretraining on texts: its run has curves and settings, and no scores of a task.

Its model is one of the list of models, not in the folder of the run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.operations.runs import run_folders, run_recorder, run_results
from workbench.operations.runs.kinds.contract import RunKind
from workbench.operations.runs.kinds.pretrain.info import INFO
from workbench.pretraining.results import PretrainResult
from workbench.pretraining.spec import PretrainSpec
from workbench.storage.runs import runs
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.jobs.events import Finished
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

OUT = "out"  # in the settings of a run: the folder of its model
HELD_OUT = "held-out"  # the split of its scores


class Pretraining(RunKind):
    info = INFO

    def finished(self, project: Project, run_id: int, event: Finished) -> None:
        if event.status not in ("done", "stopped") or not event.result:
            run_recorder.ended(project, run_id, event)
            return
        result = PretrainResult.from_json(event.result)
        trained = TrainResult(
            steps=result.steps,
            stopped=result.stopped,
            seconds=result.seconds,
            cpu_seconds=result.cpu_seconds,
            device=result.device,
            bf16=result.bf16,
            options=result.options,
            versions=result.versions,
        )
        with project.write():
            runs.update(
                project.db,
                run_id,
                status=event.status,
                **run_results.columns(trained)
                | {"scores": {HELD_OUT: _last(result.curve)} if result.curve else {}},
            )

    def model(self, project: Project, run: Run) -> Path:
        path = owned_folder.current(Path(run.spec[OUT]))
        if not path.exists():
            raise ModelError(
                _("The model of run {name!r} is missing: there is no {path}.").format(
                    name=run.name, path=run.spec[OUT]
                ),
                hint=_("Pretrain again, or restore its folder."),
            )
        return path

    def weights(self, project: Project, run: Run) -> Path | None:
        return Path(run.spec[OUT])


def add(project: Project, spec: PretrainSpec, out: Path, files: tuple[str, ...] = ()) -> Run:
    """A run for a pretraining that writes its model to a folder; its job is added by the caller.

    files: the texts, () for documents of the project. Raises WorkbenchError if the folder of the
    run cannot be created.
    """
    created = spec.created
    with project.write(_("New run")):
        return run_folders.add_run(
            project,
            runs.free_name(project.db, out.name),
            INFO.id,
            spec={
                "objective": spec.objective,
                "model": spec.model,
                "model_name": created.architecture if created else Path(spec.model).name,
                "seed": spec.seed,
                "options": dict(spec.options),
                **({"texts": list(files)} if files else {}),
                OUT: str(out),
            },
        )


def _last(curve: tuple[Mapping[str, Any], ...]) -> dict[str, float]:
    """The perplexities of the last evaluation, else its losses."""
    entry = curve[-1]
    scores = {name: value for name, value in entry.items() if name not in ("step", "losses")}
    return scores or dict(entry.get("losses", {}))
