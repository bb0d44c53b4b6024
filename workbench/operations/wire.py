"""The one listener that turns job events into run rows: waiting → running → an ending, with scores and answers.

A child never opens the project file; what it leaves in its folder is written here, in the project's process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.jobs.events import Finished, Output, Started
from workbench.storage import runs

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs import Run


class Wiring:
    """Listens to one queue for one project until `close`."""

    def __init__(self, project: Project, queue: Queue):
        self.project = project
        self._drop = queue.changed.connect(self._heard)

    def close(self) -> None:
        self._drop()

    def _heard(self, job: Job, event) -> None:
        about = job.spec.params.get("run") or {}
        if about.get("project") != self.project.uid or about.get("purpose") not in (
            "train",
            "prompt",
        ):
            return
        if isinstance(event, Started):
            _update(self.project, about["id"], status="running")
        elif isinstance(event, Finished) and about["purpose"] == "prompt":
            from workbench.operations import prompt

            prompt.ended(self.project, about["id"], event)
        elif isinstance(event, Finished):
            ended(self.project, about["id"], event)
        elif (
            isinstance(event, Output)
            and event.payload.get("kind") == "evaluated"
            and event.payload.get("split", "dev") == "dev"
        ):
            _update(
                self.project, about["id"], scores={"dev": dict(event.payload.get("scores", {}))}
            )


def wire(project: Project, queue: Queue) -> Wiring:
    """Subscribe once; call `close` on what it returns before the project is closed."""
    return Wiring(project, queue)


def _update(project: Project, run_id: int, **values) -> None:
    with project.write():
        runs.update(project.db, run_id, **values)


# ---------------------------------------------------------------- endings


def ended(project: Project, run_id: int, event: Finished) -> None:
    """Write what the last event of a training says. A cancelled run goes, its folder too."""
    if event.status == "cancelled":
        discard(project, run_id)
    elif event.status in ("done", "stopped") and event.result:
        keep(project, run_id, event.status, event.result)
    else:
        _failed(project, run_id, event)


def discard(project: Project, run_id: int) -> None:
    from workbench.operations.results import remove_folder

    with project.write():
        runs.delete(project.db, run_id)
    remove_folder(project, run_id)


def keep(project: Project, run_id: int, status: str, result: Mapping) -> None:
    """A finished training: scores, versions, fingerprints, times and the answers on dev (and test) become rows."""
    run = runs.get(project.db, run_id)
    folder = paths.run_folder(project.path, run_id)
    scores = {split: dict(found) for split, found in result.get("scores", {}).items()}
    with project.write():
        runs.save_predictions(project.db, run_id, _answers(folder / "predictions.jsonl"))
        runs.update(
            project.db,
            run_id,
            status=status,
            result={
                name: value for name, value in result.items() if name not in ("scores", "versions")
            },
            scores=scores,
            versions=dict(result.get("versions", {})),
            base_fingerprint=str(result.get("base_sha256") or ""),
            test_fingerprint=_test_fingerprint(project, run, scores),
            seen_test=run.seen_test + ("test" in scores),
        )


def _answers(path: Path) -> list[tuple[int, str, dict]]:
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        rows = [json.loads(line) for line in file]
    return [(row["document_id"], row["text_hash"], row["prediction"]) for row in rows]


def _test_fingerprint(project: Project, run: Run, scores: Mapping) -> str:
    """Of the test documents and their gold, so later looks can say whether the set is still the same."""
    if "test" not in scores:
        return run.test_fingerprint
    from workbench.operations import results, scoring

    try:
        return scoring.fingerprint(results.scored(project, run, "test"))
    except WorkbenchError:  # the layer was deleted while the run went on
        return run.test_fingerprint


def _failed(project: Project, run_id: int, event: Finished) -> None:
    message = event.message or _("The training ended without a result ({status}).").format(
        status=term(event.status)
    )
    result = {
        "message": message,
        "hint": event.hint or _hint(event.status),
        "details": event.details,
    }
    status = "failed" if event.status in ("done", "stopped") else event.status
    _update(project, run_id, status=status, result=result, scores={})


def _hint(status: str) -> str:
    if status == "out_of_memory":
        return _(
            "Take a smaller batch_size (with accumulation to make up for it) or a shorter max_length."
        )
    if status == "crashed":
        return _(
            "The worker process died; its log is in the run's folder. Train again with the same settings."
        )
    return ""


# ---------------------------------------------------------------- runs that nobody finished


def checkpoint_found(project: Project, run_id: int) -> bool:
    """Whether a run that was interrupted, crashed or ran out of memory left a whole model behind, so it can be kept."""
    unfinished = runs.get(project.db, run_id).status in (
        "interrupted",
        "crashed",
        "out_of_memory",
        "failed",
    )
    return unfinished and _found_result(project, run_id) is not None


def keep_checkpoint(project: Project, run_id: int) -> None:
    """Turn an unfinished run whose worker had saved a version into a stopped one. Does nothing where there is none."""
    result = _found_result(project, run_id)
    if result is not None:
        keep(project, run_id, "stopped", result)


def _found_result(project: Project, run_id: int) -> Mapping | None:
    """What is known of the model in a run's folder: the worker's own result, else what it said up to its last save."""
    folder = paths.run_folder(project.path, run_id)
    if not (folder / "model" / "config.json").is_file():
        return None
    try:
        last = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        if last.get("status") in ("done", "stopped") and last.get("result"):
            return last["result"]
    except (OSError, ValueError):
        pass  # no last word: the record of events is read instead
    return _from_events(folder / "events.jsonl")


def _from_events(path: Path) -> Mapping | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            told = [json.loads(line).get("payload") or {} for line in file if line.endswith("\n")]
    except (OSError, ValueError):
        return None
    saved = [one["step"] for one in told if one.get("kind") == "saved"]
    if not saved:
        return None
    scores = [
        one["scores"]
        for one in told
        if one.get("kind") == "evaluated" and one.get("split") == "dev" and one["step"] == saved[-1]
    ]
    steps = [one["step"] for one in told if one.get("kind") == "step"]
    return {
        "scores": {"dev": scores[-1]} if scores else {},
        "best_step": saved[-1],
        "steps": max(steps, default=saved[-1]),
        "recovered": True,
    }
