"""Sessions of runs, with which they predict faster, made in the background."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import JobFailed
from workbench.base.i18n import _
from workbench.jobs.spec import JobSpec
from workbench.operations.runs import train
from workbench.operations.runs.kinds import contract as kinds

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Job, Queue

AHEAD = "workbench.tasks.session:load_ahead"
TARGET = "workbench.exporters.model.onnx.session:build"
ON_CPU = "cpu"


def ended(queue: Queue, job: Job, settings: Settings) -> None:
    """Make the session of a run that a job has trained, or has predicted with although it had none.
    One that a job has used is loaded by the next spare worker.

    Called by the application for every job that has ended. Where a GPU predicts, none is made.
    """
    if not settings.sessions or job.status not in ("done", "stopped"):
        return
    if job.result.get("with_session") and queue.spare is not None:
        queue.spare.load_ahead(AHEAD, job.spec.params["model"])
    model = _model_of(job)
    if model is None or train.queue_device(train.wanted_device("auto")) != ON_CPU:
        return
    active = (other.spec for other in queue.jobs if not other.over)
    if any((spec.target, spec.params.get("model")) == (TARGET, str(model)) for spec in active):
        return
    title = _("Prepare faster predictions with {name}", name=job.spec.name or job.spec.title)
    params = {"model": str(model), "allow_pickle": bool(job.spec.params.get("allow_pickle"))}
    with suppress(JobFailed):  # the application is closing, or the disk is full
        queue.add(JobSpec(TARGET, params, title=title, background=True, forget=True))


def _model_of(job: Job) -> Path | None:
    """The model folder that lacks a session."""
    if kinds.of_job(job).fine_tunes:
        return job.folder / "model"
    return Path(job.spec.params["model"]) if job.result.get("session_missing") else None
