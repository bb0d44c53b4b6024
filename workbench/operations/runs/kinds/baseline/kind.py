"""A baseline: a classical method that is trained in seconds, without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.operations.runs import baselines, run_folders
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.baseline.info import INFO
from workbench.operations.runs.kinds.contract import model_name

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


class BaselineKind(Kind):
    info = INFO
    predictor = "workbench.baselines.job:predict"

    def model(self, project: Project, run: Run) -> Path:
        return run_folders.existing_model(project, run)

    def command(self, project: Project, run: Run) -> str:
        return baselines.command(project, run)

    def prepare_again(
        self, project: Project, run: Run, *, longer: bool = False
    ) -> baselines.PreparedBaseline:
        return baselines.prepare_again(project, run)

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: baselines.PreparedBaseline,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return baselines.start(project, queue, prepared, parent_id=parent_id)

    def made_from(self, run: Run) -> str:
        name = model_name(run)
        return _(name)
