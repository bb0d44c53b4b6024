"""The one listener that turns job events into run rows: waiting → running → an ending, with scores and answers.

A child never opens the project file; what it leaves in its folder is written here, in the project's process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.i18n import _
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
        if about.get("project") != self.project.uid or about.get("purpose") != "train":
            return
        if isinstance(event, Started):
            _update(self.project, about["id"], status="running")
        elif isinstance(event, Finished):
            ended(self.project, about["id"], event)
        elif isinstance(event, Output) and event.payload.get("kind") == "evaluated" and event.payload.get("split", "dev") == "dev":
            _update(self.project, about["id"], scores={"dev": dict(event.payload.get("scores", {}))})


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
            result={name: value for name, value in result.items() if name not in ("scores", "versions")},
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

    return scoring.fingerprint(results.scored(project, run, "test"))


def _failed(project: Project, run_id: int, event: Finished) -> None:
    message = event.message or _("The training ended without a result ({status}).").format(status=event.status)
    result = {"message": message, "hint": event.hint or _hint(event.status), "details": event.details}
    status = "failed" if event.status in ("done", "stopped") else event.status
    _update(project, run_id, status=status, result=result, scores={})


def _hint(status: str) -> str:
    if status == "out_of_memory":
        return _("Take a smaller batch_size (with accumulation to make up for it) or a shorter max_length.")
    if status == "crashed":
        return _("The worker process died; its log is in the run's folder. Train again with the same settings.")
    return ""


# ---------------------------------------------------------------- runs that nobody finished


def checkpoint_found(project: Project, run_id: int) -> bool:
    """Whether the worker of an interrupted run saved a model before it ended, so it can be kept."""
    return runs.get(project.db, run_id).status in ("interrupted", "crashed") and _last_result(project, run_id) is not None


def keep_checkpoint(project: Project, run_id: int) -> None:
    """Turn an interrupted run whose worker saved its best version into a stopped one. Does nothing where there is none."""
    result = _last_result(project, run_id)
    if result is not None:
        keep(project, run_id, "stopped", result)


def _last_result(project: Project, run_id: int) -> Mapping | None:
    """The result in the last line of events.jsonl, if the worker came to its end and the weights are whole."""
    folder = paths.run_folder(project.path, run_id)
    if not (folder / "model" / "config.json").is_file():
        return None
    try:
        lines = (folder / "events.jsonl").read_text(encoding="utf-8", errors="replace").strip().split("\n")
        last = json.loads(lines[-1])
    except (OSError, ValueError):
        return None
    return last.get("result") if last.get("type") == "finished" and last.get("status") in ("done", "stopped") else None
