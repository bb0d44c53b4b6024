"""Run folders beside the project file: created for one run, deleted with it.

A folder with the run's number may already exist, left by an earlier project of the same name or by
a restored backup. It is not modified; the new run gets the next number.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder, paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.models.spec import DESCRIPTION
from workbench.storage.runs import runs
from workbench.training import states

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


JOB_OF = "job_of"  # in `spec`: the id of the run whose job computes this one too
PREDICTIONS = "predictions.jsonl"


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


def share(project: Project, run_id: int) -> tuple[int, ...]:
    """Give each run of a training on several layers its own model, predictions and events, after
    the worker has ended; the ids of the others beside `run_id`, whose job it is. Some may have been
    deleted.

    Files are linked, so that they take no more room, and stay if other runs are deleted.
    """
    folder = paths.run_folder(project.path, run_id)
    params = job_params(folder)
    present = {run.id for run in runs.all(project.db)}
    others = [int(id) for id in params.get("run", {}).get("also", ())]
    tasks = folder / states.TASKS
    owned_folder.recover(tasks)
    for number, id in enumerate([run_id, *others] if others else ()):
        source = states.task_folder(folder, number)
        if id not in present:
            continue
        if number:
            own = params["also"][number - 1]
            about = {"project": project.uid, "id": id}
            _write_own(folder, paths.run_folder(project.path, id), {**own, "run": about})
        if (source / "model").is_dir():
            _link_results(source, paths.run_folder(project.path, id))
    owned_folder.remove(tasks)
    return tuple(others)


def job_params(folder: Path) -> dict[str, Any]:
    """The parameters of the job in the folder of a run, {} without one."""
    try:
        params = json.loads((folder / "job.json").read_text(encoding="utf-8"))["params"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return params if isinstance(params, dict) else {}


def _link_results(source: Path, folder: Path) -> None:
    owned_folder.replace(folder / "model", lambda draft: states.link(source / "model", draft))
    if (source / PREDICTIONS).is_file():
        shutil.copy2(source / PREDICTIONS, folder / PREDICTIONS)


def _write_own(source: Path, folder: Path, params: Mapping[str, Any]) -> None:
    """Write the parameters and events of one layer, as if they were of a job of its own."""
    (folder / "job.json").write_text(json_text({"params": params}), encoding="utf-8")
    with (
        suppress(OSError),
        open(source / "events.jsonl", encoding="utf-8", errors="replace") as lines,
        open(folder / "events.jsonl", "w", encoding="utf-8", newline="\n") as own,
    ):
        for line in lines:
            with suppress(ValueError):
                if (event := _of_layer(json.loads(line), params["spec"]["layer"])) is not None:
                    own.write(json_text(event) + "\n")


def _of_layer(event: dict[str, Any], layer: str) -> dict[str, Any] | None:
    """An event of a training on several layers as that of one; None if it is about others."""
    payload = event.get("payload") or {}
    kind = payload.get("kind")
    if kind == "evaluated" or (kind == "evaluated_layer" and payload["layer"] != layer):
        return None
    if kind == "evaluated_layer":
        return {**event, "payload": {**payload, "kind": "evaluated"}}
    if kind != "step":
        return event
    losses = _own_losses(payload["losses"], layer)
    earlier = payload.get("earlier")
    if earlier:
        earlier = {"earlier": {**earlier, "losses": _own_losses(earlier["losses"], layer)}}
    return (
        {**event, "payload": {**payload, "losses": losses, **(earlier or {})}} if losses else None
    )


def _own_losses(losses: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """See `MultiTask.name`."""
    own = {"task": losses[layer]} if layer in losses else {}
    start = f"{layer}, "
    return own | {name[len(start) :]: v for name, v in losses.items() if name.startswith(start)}


def recover(project: Project, run_id: int) -> None:
    """Restore the complete version after the run's worker was killed while saving.

    Only for the process that has the project open for writing.
    """
    owned_folder.recover(paths.run_folder(project.path, run_id) / "model")


def remove_model(project: Project, run_id: int) -> None:
    """Delete the weights of a run, with its state; its scores and predictions stay."""
    owned_folder.remove(model(project, run_id))
    states.remove(paths.run_folder(project.path, run_id))


def remove(project: Project, run_id: int) -> None:
    """Delete the run's folder, unless it was not created for this run."""
    folder = paths.run_folder(project.path, run_id)
    if not owned_folder.is_owned(folder) and _names_run(folder, project.uid, run_id):
        (folder / owned_folder.MARKER).touch()
    owned_folder.remove(folder)


def _names_run(folder: Path, project_uid: str, run_id: int) -> bool:
    """Whether `job.json` names the run: earlier versions wrote no marker."""
    about = job_params(folder).get("run")
    if not isinstance(about, dict):
        return False
    return (about.get("project"), about.get("id")) == (project_uid, run_id)
