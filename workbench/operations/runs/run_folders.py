"""Run folders beside the project file: created for one run, deleted with it.

A folder with the run's number may already exist, left by an earlier project of the same name or by
a restored backup. It is not modified; the new run gets the next number.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder, paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.models.spec import DESCRIPTION
from workbench.storage.runs import runs

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


def add_run(project: Project, name: str, kind: str = "train", **values: Any) -> Run:
    """A new run with an empty folder, inside `project.write()`.

    values: as for `storage.runs.runs.add`.

    Raises WorkbenchError if the folder cannot be created.
    """
    run = runs.add(project.db, name, kind, **values)
    while os.path.lexists(paths.run_folder(project.path, run.id)):
        project.delete_run(run.id)  # the id is not used again
        run = runs.add(project.db, name, kind, **values)
    folder = paths.run_folder(project.path, run.id)
    try:
        owned_folder.create(folder)
    except OSError as error:
        raise WorkbenchError(
            _("{folder} cannot be created: {error}.", folder=folder, error=error.strerror or error),
            hint=_("Check the free disk space and whether the disk is read-only."),
        ) from error
    return run


def model(project: Project, run_id: int) -> Path:
    """The folder of the run's weights, whether or not it exists."""
    return owned_folder.current(paths.run_folder(project.path, run_id) / "model")


def has_model(project: Project, run_id: int) -> bool:
    """Whether the weights of the run exist: every family writes its own files beside this one."""
    return (model(project, run_id) / DESCRIPTION).is_file()


def existing_model(project: Project, run: Run) -> Path:
    """The folder of the run's weights. Raises WorkbenchError if it is missing."""
    folder = model(project, run.id)
    if not has_model(project, run.id):
        raise WorkbenchError(
            _(
                "The weights of run {name!r} are missing: there is no folder {folder}.",
                name=run.name,
                folder=folder,
            ),
            hint=_(
                "Restore {runs} beside the project file, or train again.",
                runs=project.runs_folder.name,
            ),
        )
    return folder


def recover(project: Project, run_id: int) -> None:
    """Restore the complete version after the run's worker was killed while saving.

    Only for the process that has the project open for writing.
    """
    owned_folder.recover(paths.run_folder(project.path, run_id) / "model")


def remove(project: Project, run_id: int) -> None:
    """Delete the run's folder, unless it was not created for this run."""
    folder = paths.run_folder(project.path, run_id)
    if not owned_folder.is_owned(folder) and _names_run(folder, project.uid, run_id):
        (folder / owned_folder.MARKER).touch()
    owned_folder.remove(folder)


def _names_run(folder: Path, project_uid: str, run_id: int) -> bool:
    """Whether `job.json` names the run: earlier versions wrote no marker."""
    try:
        raw = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        about = raw["params"]["run"]
        return (about["project"], about["id"]) == (project_uid, run_id)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
