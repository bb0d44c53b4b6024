"""A published model: a classifier or tagger that predicts as it is."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from workbench.operations.models import installed
from workbench.operations.runs import published
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.contract import model_name
from workbench.operations.runs.kinds.prompt.kind import elsewhere
from workbench.operations.runs.kinds.published.info import INFO
from workbench.operations.runs.kinds.train.kind import with_settings

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


class PublishedModel(Kind):
    info = INFO

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: published.PreparedModel,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return published.start(project, queue, prepared, parent_id=parent_id)

    def model(self, project: Project, run: Run) -> Path:
        return published.model_of(run)

    def weights(self, project: Project, run: Run) -> Path | None:
        return elsewhere(run)

    def command(self, project: Project, run: Run) -> str:
        model = installed.argument(str(run.spec["model"]), model_name(run))
        words = ("glossbench", "runs", "add", str(project.path), model)
        return shlex.join((*words, "--layer", run.layer or run.spec["layer"]))

    def made_from(self, run: Run) -> str:
        return with_settings(run)
