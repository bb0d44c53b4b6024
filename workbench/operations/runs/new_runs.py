"""New runs: the row, the folder, and the job that computes it or the predictions it begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.runs import run_folders, run_results
from workbench.storage.runs import runs
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.jobs.spec import JobSpec
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction
    from workbench.training.results import TrainResult

About = dict[str, Any]  # what a job knows of its run, its parameter "run"


def queued(
    project: Project,
    queue: Queue,
    kind: str,
    name: str,
    job: Callable[[Path, About], JobSpec],
    also: Sequence[tuple[str, Mapping[str, Any]]] = (),
    **values: Any,
) -> Run:
    """A run that a job computes. job: makes it for the folder of the run.

    also: names and values of further runs that the same job computes, see `run_folders.share`.
    values: as for `storage.runs.runs.add`. Raises WorkbenchError, without a run, if the project is
    open read-only or the folder cannot be written.
    """
    refuse_read_only(project)
    with project.write(_("New run")):
        run = run_folders.add_run(project, name, kind, **values)
        others = [
            run_folders.add_run(project, other, kind, **_own_values(more, run.id))
            for other, more in also
        ]
    folder = paths.run_folder(project.path, run.id)
    about = {"project": project.uid, "id": run.id, "purpose": kind}
    about |= {"also": [other.id for other in others]} if others else {}
    try:
        queue.add(job(folder, about))
    except OSError as error:
        discard(project, run.id, *(other.id for other in others))
        raise WorkbenchError(
            _("{folder} cannot be written: {why}.", folder=folder, why=error.strerror)
        ) from error
    except WorkbenchError:
        discard(project, run.id, *(other.id for other in others))
        raise
    return run


def finished(
    project: Project,
    title: str,
    kind: str,
    name: str,
    result: TrainResult,
    predictions: Iterable[tuple[Document, Prediction]],
    **values: Any,
) -> Run:
    """A run whose predictions are known.

    title: of the step of the project. values: as for `storage.runs.runs.add`. Raises WorkbenchError
    if the project is open read-only.
    """
    refuse_read_only(project)
    rows = [
        (row_id(document), document.asked_hash, prediction.to_json())
        for document, prediction in predictions
    ]
    with project.write(title):
        run = run_folders.add_run(
            project, name, kind, status="done", **run_results.columns(result), **values
        )
        runs.save_predictions(project.db, run.id, rows)
    return run


def discard(project: Project, *run_ids: int) -> None:
    """Delete runs with their folders."""
    for id in run_ids:
        project.delete_run(id)
        run_folders.remove(project, id)


def refuse_read_only(project: Project) -> None:
    """Raises WorkbenchError if the project cannot be changed."""
    if project.read_only:
        raise WorkbenchError(_("The project is open read-only."), hint=project.read_only_reason)


def _own_values(values: Mapping[str, Any], first: int) -> dict[str, Any]:
    """The columns of a run that the job of another one computes; first: the id of that one."""
    return {**values, "spec": {**values["spec"], run_folders.JOB_OF: first}}
