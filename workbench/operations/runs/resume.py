"""Continue a training from its state: after a stop or a crash, or with more epochs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.base.terms import term
from workbench.jobs import events
from workbench.jobs.process import is_worker
from workbench.jobs.spec import JobSpec
from workbench.operations.models import installed
from workbench.operations.runs import new_runs, sources
from workbench.storage.runs import runs
from workbench.training import states
from workbench.training.general import EPOCHS

if TYPE_CHECKING:
    from workbench.jobs.events import Event, Finished
    from workbench.jobs.queue import Queue
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.training.states import StateHeader

EVENTS, RESULT = "events.jsonl", "result.json"
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
        raise _no_state(run)
    if is_alive(folder):
        raise WorkbenchError(
            _("The process of run {name!r} has not ended yet.", name=run.name),
            hint=_("It saves its state. Try again in a moment."),
        )
    header.check_readable(folder)
    _check_epochs(run, header, epochs)
    try:
        job = JobSpec.read(folder / "job.json")
    except (OSError, ValueError, TypeError) as error:
        raise WorkbenchError(
            _("{path} cannot be read: {error}.", path=folder / "job.json", error=error)
        ) from error
    params = {**_here(project, run, header, job.params), "resume": True}
    params = _with_epochs(params, _spec(run, epochs), header)
    params, copies = _with_texts(project, params)
    job = replace(job, params=params, folder=str(folder), project=str(project.path), scratch=copies)
    return ResumedTraining(run, job, epochs)


def _no_state(run: Run) -> WorkbenchError:
    return WorkbenchError(
        _("Run {name!r} has no state to continue from.", name=run.name),
        hint=_(
            "A state is kept for the last training of a project, until its run is deleted. "
            "Train again."
        ),
    )


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


def _here(
    project: Project, run: Run, header: StateHeader, stored: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters of a job with the present paths of its files and of the model."""

    def present(path: str) -> str:
        file = project.runs_folder / "data" / Path(path).name
        if not file.is_file():
            raise WorkbenchError(
                _("The training data of run {name!r} is missing.", name=run.name),
                hint=_("Restore {path}, or train again.", path=file),
            )
        return str(file)

    params = dict(stored)
    if "data" in params:
        params["data"] = present(params["data"])
    if also := params.get("also"):
        params["also"] = [{**other, "data": present(other["data"])} for other in also]
    if (texts := params.get("texts")) and "task" not in header.settings:  # it is being adapted
        params["texts"] = {**texts, **{name: present(texts[name]) for name in ("path", "held_out")}}
    if teaching := params.get("teaching"):
        names = [name for name in ("predictions", "unlabelled") if teaching[name]]
        params["teaching"] = {**teaching, **{name: present(teaching[name]) for name in names}}
    if model := str(params["spec"].get("model", "")):
        name = str(run.spec.get("model_name", ""))
        options = _present_models(project, params)
        model = sources.present(project, model, name)
        params["spec"] = {**params["spec"], "model": model, "options": options}
    return params


def _present_models(project: Project, params: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a job with the present paths of the models that they name."""
    options: dict[str, Any] = dict(params["spec"].get("options") or {})
    if "task" not in params["spec"] or not (family := params["spec"].get("family")):
        return options

    def find(path: str) -> ModelInfo:
        return installed.find(sources.present(project, path, ""))

    resolved: dict[str, Any] = registry().info("family", family).resolved(options, find)
    return resolved


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


def _with_epochs(
    params: dict[str, Any], settings: Mapping[str, Any], header: StateHeader
) -> dict[str, Any]:
    """The parameters of a job with the epochs in the settings of its run: a job that was refused
    may have had others. Evaluations stay as often as before.
    """
    spec, plan, name = params["spec"], params.get("plan"), EPOCHS.name
    options = {key: value for key, value in spec["options"].items() if key != name}
    if (epochs := settings.get("options", {}).get(name)) is not None:
        options[name] = epochs
    if params.get("also") and (every := header.settings.get("evaluate_every")):
        options["evaluate_every"] = every  # the plans of the layers alone have others
    params = {**params, "spec": {**spec, "options": options}}
    if plan and name in (resolved := settings.get("resolved") or {}):
        params["plan"] = {**plan, name: resolved[name]}
    return params


def start(project: Project, queue: Queue, prepared: ResumedTraining) -> Run:
    """Continue the run in its row. Raises WorkbenchError if it was changed since it was prepared,
    or its folder cannot be written.
    """
    epochs, run = prepared.epochs, _unchanged(project, prepared.run)
    reported = [*events.recorded(paths.run_folder(project.path, run.id) / EVENTS)]
    earlier = [item for item in reported if isinstance(item, events.Output)]
    ids = (run.id, *prepared.job.params.get("run", {}).get("also", ()))
    present = [other for other in runs.all(project.db) if other.id in ids]
    before = {
        str(other.id): {"status": other.status, "spec": other.spec, "scores": other.scores}
        for other in present
    }
    result = paths.run_folder(project.path, run.id) / RESULT  # the queue deletes it
    params = {
        **prepared.job.params,
        "before": {
            "resumed": _resumed(earlier),
            "runs": before,
            "result": result.read_text(encoding="utf-8") if result.is_file() else "",
        },
    }
    with project.write(_("Continue run")):
        for other in present:
            runs.update(project.db, other.id, spec=_spec(other, epochs))
            runs.organise(project.db, other.id, other.listing)
        runs.update(project.db, run.id, status="waiting")
    try:
        queue.add(replace(prepared.job, params=params), earlier)
    except WorkbenchError:
        restore(project, params)
        raise
    return runs.get(project.db, run.id)


def _unchanged(project: Project, run: Run) -> Run:
    """The present row of a run. Raises WorkbenchError if the run cannot be continued any more."""
    try:
        present = runs.get(project.db, run.id)
    except KeyError as error:
        raise WorkbenchError(_("Run {name!r} was deleted.", name=run.name)) from error
    if present.status != run.status:
        raise WorkbenchError(
            _(
                "Run {name!r} is now {status}; it was not continued.",
                name=run.name,
                status=term(present.status),
            )
        )
    if state(project, present) is None:
        raise _no_state(present)
    return present


def _spec(run: Run, epochs: int | None) -> dict[str, Any]:
    """The settings of a run that continues."""
    spec = dict(run.spec)
    if epochs is not None:
        spec["options"] = {**spec.get("options", {}), EPOCHS.name: epochs}
        if resolved := spec.get("resolved"):
            spec["resolved"] = {**resolved, EPOCHS.name: epochs}
    return spec


def ending(params: Mapping[str, Any], event: Finished) -> Finished:
    """The end of a run: one that was continued is not deleted when it is cancelled. params: of its
    job.
    """
    if event.status != "cancelled" or params.get("resume") is not True:
        return event
    message = _("Cancelled. The run can be continued again, or its best checkpoint kept.")
    return events.Finished("interrupted", message=message)


def is_refused(params: Mapping[str, Any], reported: Iterable[Event]) -> bool:
    """Whether a job that continues a run has ended, or failed, before the first update: the run is
    then what it was. params: of the job. reported: by all jobs of the run.
    """
    before = params.get("before")
    if params.get("resume") is not True or not isinstance(before, Mapping):
        return False
    return _resumed(reported) <= int(before["resumed"])


def _resumed(reported: Iterable[Event]) -> int:
    """How often a run has continued from a state."""
    payloads = (event.payload for event in reported if isinstance(event, events.Output))
    return sum(payload.get("kind") == "resumed" for payload in payloads)


def restore(project: Project, params: Mapping[str, Any]) -> None:
    """Set a run, and those on other layers, to what they were before its job was queued, and write
    the result of its last job again.
    """
    before, result = params["before"]["runs"], params["before"].get("result")
    if result:
        with suppress(OSError):  # the row has what was recorded of it
            path = paths.run_folder(project.path, params["run"]["id"]) / RESULT
            path.write_text(result, encoding="utf-8")
    with project.write():
        for run in runs.all(project.db):
            if values := before.get(str(run.id)):
                runs.update(project.db, run.id, **values)
                runs.organise(project.db, run.id, run.listing)


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
