"""A published model: a classifier or tagger that predicts as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.operations.runs import published
from workbench.operations.runs.kinds.contract import RunKind
from workbench.operations.runs.kinds.prompt.kind import elsewhere
from workbench.operations.runs.kinds.published.info import INFO
from workbench.operations.runs.kinds.train.kind import with_settings

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


class PublishedModel(RunKind):
    info = INFO

    def model(self, project: Project, run: Run) -> Path:
        return published.model_of(run)

    def weights(self, project: Project, run: Run) -> Path | None:
        return elsewhere(run)

    def made_from(self, run: Run) -> str:
        return with_settings(run)
