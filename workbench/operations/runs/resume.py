"""Continue a training from its state: after a stop or a crash, or with more epochs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.jobs import events
from workbench.jobs.process import is_worker
from workbench.jobs.spec import JobSpec
from workbench.operations.runs import new_runs, sources
from workbench.storage.runs import runs
from workbench.training import states
from workbench.training.general import EPOCHS

if TYPE_CHECKING:
    from workbench.jobs.events import Finished
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.training.states import StateHeader

EVENTS = "events.jsonl"
MOST_EPOCHS = int(EPOCHS.high or 0)


@dataclass(frozen=True)
class ResumedTraining:
    """What `start` needs to continue a run. epochs: None for as many as were planned."""

    run: Run
    job: JobSpec
    epochs: int | None = None

    @property
    def kind(self) -> str:
        return self.run.kind

    @property
    def fingerprint(self) -> str:
        """Of the documents and labels of the run."""
        return self.run.data_fingerprint


def state(project: Project, run: Run) -> StateHeader | None:
    """The state that a run can be continued from, None without one and while it runs."""
    if run.status in ("waiting", "running"):
        return None
    return states.header(paths.run_folder(project.path, run.id))


def can_resume(project: Project, run: Run) -> bool:
    return not project.read_only and state(project, run) is not None


def size(project: Project, run: Run) -> int:
    """Bytes of the state of a run on the disk, 0 without one."""
    return states.size(paths.run_folder(project.path, run.id))


def needs_epochs(run: Run) -> bool:
    """Whether the run has ended as planned, so that only more epochs are left to train."""
    return run.status == "done"


def prepare(project: Project, run: Run, *, epochs: int | None = None) -> ResumedTraining:
    """What `start` needs. epochs: of the whole training, those that are done included.

    Raises WorkbenchError saying why the run cannot be continued.
    """
    new_runs.refuse_read_only(project)
    folder = paths.run_folder(project.path, run.id)
    header = state(project, run)
    if header is None:
        raise WorkbenchError(
            _("Run {name!r} has no state to continue from.", name=run.name),
            hint=_(
                "A state is kept for the last training of a project, until its run is deleted. "
                "Train again."
            ),
        )
    if is_alive(folder):
        raise WorkbenchError(
            _("The process of run {name!r} has not ended yet.", name=run.name),
            hint=_("It saves its state. Try again in a moment."),
        )
    _check_epochs(run, header, epochs)
    try:
        job = JobSpec.read(folder / "job.json")
    except (OSError, ValueError, TypeError) as error:
        raise WorkbenchError(
            _("{path} cannot be read: {error}.", path=folder / "job.json", error=error)
        ) from error
    params = {**_here(project, run, job.params), "resume": True, "before": run.status}
    if epochs is not None:
        params = _longer(params, epochs)
    params, copies = _with_texts(project, params)
    job = replace(job, params=params, folder=str(folder), project=str(project.path), scratch=copies)
    return ResumedTraining(run, job, epochs)


def _check_epochs(run: Run, header: StateHeader, epochs: int | None) -> None:
    if epochs is None and not needs_epochs(run):
        return
    least = header.epochs + (1 if needs_epochs(run) else 0)
    if epochs is None or not least <= epochs <= MOST_EPOCHS:
        raise SpecError(
            ngettext(
                "Run {name!r} has trained {done} of {n} epoch.",
                "Run {name!r} has trained {done} of {n} epochs.",
                header.epochs,
                name=run.name,
                done=header.epochs * header.step // max(1, header.total),
            ),
            hint=_(
                "Give the number of epochs of the whole training: {least} to {most}.",
                least=least,
                most=MOST_EPOCHS,
            ),
        )


def _here(project: Project, run: Run, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a job with the present paths of the snapshot and of the model."""
    params = dict(stored)
    if "data" in params:
        params["data"] = str(project.runs_folder / "data" / Path(params["data"]).name)
        if not Path(params["data"]).is_file():
            raise WorkbenchError(
                _("The training data of run {name!r} is missing.", name=run.name),
                hint=_("Restore {path}, or train again.", path=params["data"]),
            )
    if teaching := params.get("teaching"):
        files = {name: teaching[name] for name in ("predictions", "unlabelled") if teaching[name]}
        here = {n: str(project.runs_folder / "data" / Path(path).name) for n, path in files.items()}
        params["teaching"] = {**teaching, **here}
    if model := str(params["spec"].get("model", "")):
        name = str(run.spec.get("model_name", ""))
        params["spec"] = {**params["spec"], "model": sources.present(project, model, name)}
    return params


def _with_texts(project: Project, params: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The parameters of a pretraining with the documents that it reads, which were copied for its
    job only, and the folders of the copies.
    """
    if "source" not in params:
        return params, ()
    from workbench.operations.models import new_models

    written = new_models.written_again(project, params)
    spec = {**params["spec"], "texts": [*written.texts], "held_out": [*written.held_out]}
    return {**params, "spec": spec}, (str(written.folder),) if written.folder is not None else ()


def _longer(params: dict[str, Any], epochs: int) -> dict[str, Any]:
    spec, plan = params["spec"], params.get("plan")
    params["spec"] = {**spec, "options": {**spec["options"], EPOCHS.name: epochs}}
    if plan:
        params["plan"] = {**plan, EPOCHS.name: epochs}
    return params


def start(project: Project, queue: Queue, prepared: ResumedTraining) -> Run:
    """Continue the run in its row. Raises WorkbenchError if its folder cannot be written."""
    run, epochs = prepared.run, prepared.epochs
    folder = paths.run_folder(project.path, run.id)
    earlier = [item for item in events.recorded(folder / EVENTS) if isinstance(item, events.Output)]
    also = prepared.job.params.get("run", {}).get("also", ())
    with project.write(_("Continue run")):
        for other in runs.all(project.db):
            if other.id in (run.id, *also):
                runs.update(project.db, other.id, spec=_spec(other, epochs))
                runs.organise(project.db, other.id, other.listing)
        runs.update(project.db, run.id, status="waiting")
    try:
        queue.add(prepared.job, earlier)
    except WorkbenchError:
        with project.write():
            runs.update(project.db, run.id, status=run.status)
        raise
    return runs.get(project.db, run.id)


def _spec(run: Run, epochs: int | None) -> dict[str, Any]:
    """The settings of a run that continues."""
    spec = dict(run.spec)
    if epochs is not None:
        spec["options"] = {**spec.get("options", {}), EPOCHS.name: epochs}
        if resolved := spec.get("resolved"):
            spec["resolved"] = {**resolved, EPOCHS.name: epochs}
    return spec


def ending(job: Job, event: Finished) -> Finished:
    """The end of a run: one that was continued is not deleted when it is cancelled."""
    if event.status != "cancelled" or job.spec.params.get("resume") is not True:
        return event
    message = _("Cancelled. The run can be continued again, or its best checkpoint kept.")
    return events.Finished("interrupted", message=message)


def has_begun(project: Project, run_id: int, job: Job) -> bool:
    """Whether the job of a continued run has begun; otherwise the run becomes what it was."""
    if any(isinstance(event, events.Started) for event in job.events):
        return True
    with project.write():
        runs.update(project.db, run_id, status=job.spec.params["before"])
    return False


def drop_others(project: Project, queue: Queue, run_id: int) -> None:
    """Delete the states of the other runs of a project, but of those that are queued or running."""
    active = {
        (job.spec.params.get("run") or {}).get("id")
        for job in queue.jobs
        if not job.over and (job.spec.params.get("run") or {}).get("project") == project.uid
    }
    for run in runs.all(project.db):
        if run.id != run_id and run.id not in active:
            states.remove(paths.run_folder(project.path, run.id))


def is_alive(folder: Path) -> bool:
    """Whether the last worker of a run still saves its results: its window was ended before it."""
    started = None
    for event in events.recorded(folder / EVENTS):
        if isinstance(event, events.Started):
            started = event.pid
        elif isinstance(event, events.Finished):
            started = None
    return started is not None and started != os.getpid() and is_worker(started)
