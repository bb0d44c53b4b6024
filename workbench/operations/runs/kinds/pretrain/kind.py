"""A pretraining on texts: its run has curves and settings, and no scores of a task.

Its model is one of the list of models, not in the folder of the run.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.operations.models import installed, pretrain
from workbench.operations.models.pretrain import HELD_OUT, OUT, TEXTS
from workbench.operations.runs import run_recorder, run_results
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.pretrain.info import INFO
from workbench.pretraining.results import PretrainResult
from workbench.storage.runs import runs
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.jobs.events import Finished
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

SPLIT = "held-out"  # of its scores


class PretrainingKind(Kind):
    info = INFO

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: pretrain.PretrainingJob,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return prepared.start_run(project, queue, parent_id=parent_id)

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
                | {"scores": {SPLIT: _last(result.curve)} if result.curve else {}},
            )

    def model(self, project: Project, run: Run) -> Path:
        path = owned_folder.current(Path(run.spec[OUT]))
        if not path.exists():
            raise ModelError(
                _(
                    "The model of run {name!r} is missing: there is no {path}.",
                    name=run.name,
                    path=run.spec[OUT],
                ),
                hint=_("Pretrain again, or restore its folder."),
            )
        return path

    def command(self, project: Project, run: Run) -> str:
        spec = run.spec
        if not spec.get(TEXTS):  # documents that were chosen in the window
            return super().command(project, run)
        words = [*map(str, spec[TEXTS]), str(_free(Path(spec[OUT])))]
        words += ["--objective", spec["objective"]]
        words += ["--model", installed.argument(spec["model"], Path(spec["model"]).name)]
        for path in spec.get(HELD_OUT, ()):
            words += ["--held-out", str(path)]
        for name, value in spec["options"].items():
            words += ["--set", f"{name}={'auto' if value is None else value}"]
        return shlex.join(("glossbench", "pretrain", *words, "--seed", str(spec["seed"])))

    def weights(self, project: Project, run: Run) -> Path | None:
        return Path(run.spec[OUT])


def _free(out: Path) -> Path:
    """A folder beside the one of a model that does not exist."""
    number = 2
    while (folder := out.with_name(f"{out.name}-{number}")).exists():
        number += 1
    return folder


def _last(curve: tuple[Mapping[str, Any], ...]) -> dict[str, float]:
    """The perplexities of the last evaluation, else its losses."""
    entry = curve[-1]
    scores = {name: value for name, value in entry.items() if name not in ("step", "losses")}
    return scores or dict(entry.get("losses", {}))
