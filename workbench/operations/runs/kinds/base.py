"""The defaults of kinds of runs: a run that a job computes and whose model is in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.watch import QUIET, Watch
from workbench.operations.runs import predict, run_folders, run_recorder
from workbench.operations.runs.kinds.contract import RunKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workbench.base.costs import PredictionCost
    from workbench.jobs.events import Finished
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction


class Kind(RunKind):
    def finished(self, project: Project, run_id: int, event: Finished) -> None:
        run_recorder.ended(project, run_id, event)

    def weights(self, project: Project, run: Run) -> Path | None:
        return run_folders.model(project, run.id)

    def predict(
        self,
        project: Project,
        queue: Queue,
        run: Run,
        documents: Sequence[Document],
        *,
        forget: bool = False,
        watch: Watch = QUIET,
    ) -> tuple[list[Prediction], PredictionCost | None]:
        return predict.of_model(
            project,
            queue,
            run,
            self.model(project, run),
            documents,
            target=self.predictor,
            forget=forget,
            watch=watch,
        )
