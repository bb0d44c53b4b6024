"""A message when a run ends while another page than its own is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.jobs.events import Finished

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.ui.application import Application


def tell(app: Application, job: Job, event: object) -> None:
    """Say how a run of the open project ended, with a button that shows its results.

    Call it after the ending was recorded. Says nothing of a cancelled run, as it was discarded.
    """
    about = job.spec.params.get("run") or {}
    project = app.project
    if project is None or about.get("project") != project.uid:
        return
    from workbench.operations.runs.kinds import contract as kinds

    page = kinds.of_job(job).page
    folder = paths.run_folder(project.path, about["id"]).absolute()
    if not page or Path(job.spec.folder).absolute() != folder:
        return  # that of another copy of the project
    if isinstance(event, Finished) and event.status != "cancelled" and app.page != page:
        from workbench.operations.runs import results

        try:
            run = results.run(project, about["id"])
        except KeyError:  # stopped before its first result, so it was discarded
            return
        message = (
            _("“{run}” has finished.")
            if run.status in ("done", "stopped")
            else _("“{run}” has no result: {status}.")
        )
        app.note(
            message.format(run=run.name, status=term(run.status)),
            lambda: app.go("results", run=run.id),
            action=_("Show results"),
        )
