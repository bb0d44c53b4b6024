"""An ensemble: the mean of the class probabilities of other runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.operations.runs import ensemble
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.ensemble.info import INFO
from workbench.operations.runs.kinds.train.kind import with_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction


class Ensemble(Kind):
    info = INFO

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: ensemble.PreparedEnsemble,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return ensemble.start(project, queue, prepared, parent_id=parent_id)

    def model(self, project: Project, run: Run) -> Path:
        ensemble.members_of(project, run)  # first of all, some may have been deleted
        raise self.no_model(run)

    def weights(self, project: Project, run: Run) -> Path | None:
        return None

    def parts(self, project: Project, run: Run) -> tuple[Run, ...]:
        return ensemble.members_of(project, run)

    def command(self, project: Project, run: Run) -> str:
        return ensemble.command(project, run)

    def no_model(self, run: Run) -> SpecError:
        return SpecError(
            _(
                "Run {name!r} has no weights of its own: it averages {members}.",
                name=run.name,
                members=", ".join(ensemble.names_of(run)),
            ),
            hint=_("Choose one of these runs."),
        )

    def predict(
        self,
        project: Project,
        queue: Queue,
        run: Run,
        documents: Sequence[Document],
        *,
        forget: bool = False,
        watch: Watch = QUIET,
    ) -> tuple[list[Prediction], None]:
        return ensemble.answers(project, queue, run, documents, watch=watch), None

    def made_from(self, run: Run) -> str:
        return with_settings(run)
