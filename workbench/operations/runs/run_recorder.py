"""Converts job events into run rows: waiting → running → ended, with scores and predictions.

A worker never opens the project file; its files are read and stored here, in the process of the
project. Events that happened while the project was closed are recorded when it is opened again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.jobs.events import Event, Finished, Output, Started, from_json, recorded
from workbench.metrics.evaluation import Evaluation
from workbench.operations.runs import new_runs, resume, run_folders, run_results
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Failure
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


class RunRecorder:
    """Writes the events of a queue's jobs to the run rows of one project until `close`.

    It is connected to the queue directly: a run may end while no page shows it, and pages must be
    notified only after its end has been recorded.
    """

    def __init__(self, project: Project, queue: Queue):
        self.project, self.queue = project, queue
        self._scores: dict[int, CheckpointScores] = {}  # by run
        self._with_state: set[int] = set()  # runs that have written a state
        if not project.read_only:
            self._catch_up(queue)
        self._drop = queue.changed.connect(self.on_event)

    def close(self) -> None:
        self._drop()

    def on_event(self, job: Job, event: Event) -> None:
        run_id = self._run_of(job)
        if run_id is None:
            return
        if isinstance(event, Started | Finished) and not _present(self.project, [run_id]):
            return  # the run was deleted
        if isinstance(event, Started):
            _update(self.project, run_id, status="running")
            for run in _present(self.project, _others(job)):
                _update(self.project, run.id, status="running")
        elif isinstance(event, Finished):
            self._scores.pop(run_id, None)
            self._with_state.discard(run_id)
            params = job.spec.params
            if "before" in params and resume.is_refused(params, job.events):
                resume.restore(self.project, params)
                return
            event = resume.ending(job.spec.params, event)
            if event.status != "cancelled":
                run_folders.share(self.project, run_id)
            if job.ending == "stop" and event.status not in ("done", "stopped", "cancelled"):
                event = _stopped_with_checkpoint(self.project, run_id) or event
            kinds.named(kinds.of_job(job).id).finished(self.project, run_id, event)
            _finish_others(self.project, _others(job), event)
        elif self._scores.setdefault(run_id, CheckpointScores()).follow(event):
            _update(self.project, run_id, scores={"dev": self._scores[run_id].scores})
        elif _kind(event) == "state" and run_id not in self._with_state:
            self._with_state.add(run_id)
            resume.drop_others(self.project, self.queue, run_id)

    def _run_of(self, job: Job) -> int | None:
        """The run of this project that the job computes, None for any other job."""
        about = job.spec.params.get("run") or {}
        if about.get("project") != self.project.uid or not kinds.of_job(job).queued:
            return None
        folder = paths.run_folder(self.project.path, about["id"])
        same = Path(job.spec.folder).absolute() == folder.absolute()  # not a copy of the project
        return about["id"] if same else None

    def _catch_up(self, queue: Queue) -> None:
        """Record what happened to runs while the project was closed.

        Opening it has marked every unfinished run as interrupted. A run whose job is still in the
        queue is set to waiting or running again; a run whose worker has ended gets that ending.
        """
        active = {self._run_of(job): job for job in queue.jobs if not job.over}
        for run in runs.all(self.project.db):
            if run.status != "interrupted":
                continue
            first = run.spec.get(run_folders.JOB_OF, run.id)
            if (job := active.get(first)) is not None and first != run.id:
                _update(self.project, run.id, status=job.status)
            elif job is not None:
                self._reattach(run.id, job)
            elif first == run.id:
                with suppress(OSError, ValueError, LookupError, WorkbenchError):
                    self._recover(run)

    def _recover(self, run: Run) -> None:
        """Record the end of a run, and of those that its job computes too."""
        others: Sequence[int] = ()
        folder = paths.run_folder(self.project.path, run.id)
        params = run_folders.job_params(folder)
        if not resume.is_alive(folder):
            if resume.is_refused(params, recorded(folder / resume.EVENTS)):
                resume.restore(self.project, params)
                return
            others = run_folders.share(self.project, run.id)
        if event := _recorded_ending(self.project, run.id):
            event = resume.ending(params, event)
            kinds.of(run).finished(self.project, run.id, event)
            _finish_others(self.project, others, event)
        else:
            kinds.of(run).recover(self.project, run)

    def _reattach(self, run_id: int, job: Job) -> None:
        progress = self._scores[run_id] = CheckpointScores()
        for event in job.events:
            progress.follow(event)
        scores = {"dev": progress.scores} if progress.scores else {}
        _update(self.project, run_id, status=job.status, scores=scores)


def _kind(event: Event) -> object:
    """Of an object that a job has reported, None for other events."""
    return event.payload.get("kind") if isinstance(event, Output) else None


class CheckpointScores:
    """Scores on dev of the best checkpoint, not of the last evaluation."""

    def __init__(self) -> None:
        self.scores: dict[str, float] = {}
        self._evaluated: tuple[object, dict[str, float]] = (None, {})  # step, scores

    def follow(self, event: Event) -> bool:
        """Process one event of the job.

        Returns True if `scores` are now those of a new checkpoint.
        """
        message = event.payload if isinstance(event, Output) else {}
        if message.get("kind") == "evaluated" and message.get("split", "dev") == "dev":
            self._evaluated = message.get("step"), dict(message.get("scores", {}))
        elif message.get("kind") == "saved" and message.get("step") == self._evaluated[0]:
            self.scores = self._evaluated[1]
            return True
        return False


def wire(project: Project, queue: Queue) -> RunRecorder:
    """Connect a project to the queue; call `close` on the result before the project is closed."""
    return RunRecorder(project, queue)


def _update(project: Project, run_id: int, **values: object) -> None:
    with project.write():
        runs.update(project.db, run_id, **values)


# ---------------------------------------------------------------- endings


def ended(project: Project, run_id: int, event: Finished) -> None:
    """Record the last event of a training. A cancelled run is deleted with its folder."""
    if event.status == "cancelled":
        new_runs.discard(project, run_id)
    elif event.status in ("done", "stopped") and event.result:
        keep(project, run_id, event.status, event.result)
    else:
        run_folders.recover(project, run_id)
        _failed(project, run_id, event)


def _others(job: Job) -> Sequence[int]:
    """Ids of the runs that a job computes beside its first one; some may have been deleted."""
    ids: Sequence[int] = (job.spec.params.get("run") or {}).get("also", ())
    return ids


def _present(project: Project, ids: Sequence[int]) -> list[Run]:
    return [run for run in runs.all(project.db) if run.id in ids] if ids else []


def _finish_others(project: Project, ids: Sequence[int], event: Finished) -> None:
    """Record the end of the runs on further layers. ids: in the order of their results."""
    results = dict(zip(ids, event.result.get("also") or (), strict=False))
    for run in _present(project, ids):
        own = results.get(run.id) or _found_result(project, run.id) or {}
        kinds.of(run).finished(project, run.id, replace(event, result=dict(own)))


def keep(project: Project, run_id: int, status: str, result: Mapping[str, Any]) -> None:
    """Store a finished training: scores, versions, fingerprints, times and the predictions on dev
    (and test). result: in the form in which the worker returned it.
    """
    result = {name: value for name, value in result.items() if name != "also"}  # other runs
    run, evaluations = runs.get(project.db, run_id), run_results.scored(result)
    folder = paths.run_folder(project.path, run_id)
    with project.write():
        runs.save_predictions(project.db, run_id, _answers(folder / "predictions.jsonl"))
        runs.update(
            project.db,
            run_id,
            status=status,
            **run_results.columns_of_form(result),
            base_fingerprint=result.get("base_sha256") or "",
            test_fingerprint=_test_fingerprint(project, run, evaluations),
            seen_test=run.seen_test + ("test" in evaluations),
        )


def _answers(path: Path) -> list[tuple[int, str, dict[str, Any]]]:
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        rows = [json.loads(line) for line in file]
    return [(row["document_id"], row["text_hash"], row["prediction"]) for row in rows]


def _test_fingerprint(
    project: Project, run: Run, evaluations: Mapping[str, Mapping[str, Any]]
) -> str:
    """Fingerprint of the test documents and their gold, to tell whether later scores use the same
    set.
    """
    if (test := evaluations.get("test")) is None:
        return run.test_fingerprint
    if fingerprint := test.get("fingerprint"):
        return str(fingerprint)
    from workbench.operations.evaluation import scoring
    from workbench.operations.runs import results

    try:
        return scoring.fingerprint(results.scored(project, run, "test"))
    except WorkbenchError:  # the layer was deleted during the run
        return run.test_fingerprint


def _failed(project: Project, run_id: int, event: Finished) -> None:
    message = event.message or _(
        "The training ended without a result ({status}).", status=term(event.status)
    )
    failure = Failure(message, event.hint or _hint(event.status), event.details)
    status = "failed" if event.status in ("done", "stopped") else event.status
    _update(project, run_id, status=status, result=asdict(failure), scores={})


def _hint(status: str) -> str:
    if status == "out_of_memory":
        return _(
            "Use a shorter max_length, a smaller model, or a method that trains fewer parameters, "
            "such as LoRA."
        )
    if status == "crashed":
        return _(
            "The worker process ended unexpectedly. Its log is in the folder of the run. "
            "Train again with the same settings."
        )
    return ""


# ---------------------------------------------------------------- unfinished runs


def checkpoint_found(project: Project, run_id: int) -> bool:
    """Whether a run that was interrupted, crashed or ran out of memory has a complete model that
    can be kept.
    """
    unfinished = runs.get(project.db, run_id).status in (
        "interrupted",
        "crashed",
        "out_of_memory",
        "failed",
    )
    return unfinished and _found_result(project, run_id) is not None


def keep_checkpoint(project: Project, run_id: int) -> None:
    """Mark an unfinished run with a saved model as stopped; does nothing without a model."""
    run_folders.recover(project, run_id)
    result = _found_result(project, run_id)
    if result is not None:
        keep(project, run_id, "stopped", result)


def _found_result(project: Project, run_id: int) -> Mapping[str, Any] | None:
    """Information on the model in a run's folder: the worker's own result, else its events up to
    the last save.
    """
    folder = paths.run_folder(project.path, run_id)
    if not run_folders.has_model(project, run_id):
        return None
    last = _result_file(project, run_id)
    if last is not None and last.status in ("done", "stopped", "interrupted") and last.result:
        return last.result
    result = _from_events(folder / "events.jsonl")
    return result.to_json() if result is not None else None


def _recorded_ending(project: Project, run_id: int) -> Finished | None:
    """How the worker of a run ended, from its folder;

    None if it did not end, or lost its parent.
    """
    last = _result_file(project, run_id)
    return last if last is not None and last.status != "interrupted" else None


def _stopped_with_checkpoint(project: Project, run_id: int) -> Finished | None:
    """The checkpoint that a worker had saved before it crashed, if it had been asked to stop."""
    run_folders.recover(project, run_id)
    result = _found_result(project, run_id)
    return Finished("stopped", result) if result is not None else None


def _result_file(project: Project, run_id: int) -> Finished | None:
    path = paths.run_folder(project.path, run_id) / resume.RESULT
    try:
        event = from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return event if isinstance(event, Finished) else None


def _from_events(path: Path) -> TrainResult | None:
    message: list[Mapping[str, Any]] = []
    for event in recorded(path):
        item = event.payload if isinstance(event, Output) else {}
        if item.get("kind") == "resumed" and not item.get("adapting"):
            message = [old for old in message if old.get("step", 0) <= item["step"]]
        message.append(item)
    saved = [item["step"] for item in message if item.get("kind") == "saved"]
    if not saved:
        return None
    scores = [
        item["scores"]
        for item in message
        if item.get("kind") == "evaluated"
        and item.get("split") == "dev"
        and item["step"] == saved[-1]
    ]
    steps = [item["step"] for item in message if item.get("kind") == "step"]
    return TrainResult(
        {"dev": Evaluation("dev", scores=scores[-1])} if scores else {},
        best_step=saved[-1],
        steps=max(steps, default=saved[-1]),
        recovered=True,
    )
