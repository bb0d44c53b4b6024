"""Predictions of a run for documents of a project: stored ones, and missing ones from a job.

The prediction of a run for a text never changes, so it is computed once and stored in the project.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base import scratch
from workbench.base.costs import PredictionCost
from workbench.base.errors import Cancelled, JobFailed, ModelError
from workbench.base.i18n import _
from workbench.base.records import from_plain, to_plain
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.models.spec import DESCRIPTION, published
from workbench.operations.application.background import Background, here
from workbench.operations.runs import train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_results import outcome
from workbench.storage.runs import runs
from workbench.text import dataset
from workbench.text.document import TEXT, Document
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction

Then = Callable[[Any, "Exception | None"], None]
Begun = Callable[["Job"], None]


# ---------------------------------------------------------------- documents of a project


def stored(project: Project, run: Run, found: Sequence[Document]) -> dict[int, Prediction]:
    """The stored predictions for these documents, by id; predictions for an earlier text are
    ignored.
    """
    kept = runs.predictions(project.db, run.id, map(row_id, found))
    return {
        item.id: kept[item.id][1]
        for item in found
        if item.id in kept and kept[item.id][0] == item.asked_hash
    }


def ensure(
    project: Project,
    queue: Queue,
    run: Run,
    found: Sequence[Document],
    then: Then,
    *,
    background: Background = here,
    begun: Begun | None = None,
) -> Job | None:
    """Call `then(predictions by document id, None)` once all exist, or `then(None, error)`.

    Returns the job that computes missing predictions; None if none are missing, or not yet known
    (with a `background` on another thread): `begun(job)` is called with each job when it is added.
    New ones are stored unless the project is read-only.
    """
    kind = kinds.of(run)
    return kind.predict(project, queue, run, found, then, background=background, begun=begun)


def by_job(
    project: Project,
    queue: Queue,
    run: Run,
    found: Sequence[Document],
    request: Callable[[Project, Run, Sequence[Document]], PredictionRequest],
    then: Then,
    *,
    background: Background = here,
    begun: Begun | None = None,
) -> Job | None:
    """As `ensure`, for a run whose documents one job predicts, `request`."""
    started: list[Job] = []

    def prepared(result: Any, error: Exception | None) -> None:
        if error is not None:
            return then(None, error)
        have, missing, asked = result
        if not missing:
            return then(have, None)

        def finish(event: Finished) -> None:
            def keep() -> dict[int, Prediction]:
                cost = _cost(event)
                return {**have, **kept(project, run, missing, asked.answers(event), cost=cost)}

            return background(keep, then)

        started.append(asked.start(queue, finish))
        if begun is not None:
            begun(started[0])

    background(lambda: _missing(project, run, found, request), prepared)
    return started[0] if started else None


def _missing(
    project: Project,
    run: Run,
    found: Sequence[Document],
    request: Callable[[Project, Run, Sequence[Document]], PredictionRequest],
) -> tuple[dict[int, Prediction], list[Document], PredictionRequest | None]:
    """Stored predictions, documents without one, and the prepared job for these documents."""
    have = stored(project, run, found)
    missing = [item for item in found if item.id not in have]
    return have, missing, request(project, run, missing) if missing else None


def of_model(
    project: Project, run: Run, model: Path, documents: Sequence[Document], *, target: str
) -> Question:
    """The job that predicts documents with the model of a run."""
    return Question(
        model,
        documents,
        target=target,
        title=_("Predict with {name}").format(name=run.name),
        about={"project": project.uid, "id": run.id, "purpose": "predict"},
        device=device_of(run),
        project=project.path,
        allow_pickle=allows_pickle(run),
    )


def kept(
    project: Project,
    run: Run,
    missing: Sequence[Document],
    answers: Sequence[Prediction],
    *,
    cost: PredictionCost | None = None,
) -> dict[int, Prediction]:
    """New predictions by document id, stored unless the project is read-only.

    cost: of these predictions, kept with the run if it is of more documents than the last one.
    """
    if not project.read_only:
        rows = [
            (row_id(item), item.asked_hash, answer.to_json())
            for item, answer in zip(missing, answers, strict=True)
        ]
        with project.write(_("Store predictions")):
            runs.save_predictions(project.db, run.id, rows)
            _keep_cost(project, run.id, cost)
    return {row_id(item): answer for item, answer in zip(missing, answers, strict=True)}


def _cost(event: Finished) -> PredictionCost | None:
    """What the predictions of a job cost; None if its worker did not measure it."""
    raw = event.result or {}
    if (found := raw.get("predicting")) is None and "cpu_seconds" in raw:
        found = {name: raw.get(name, 0) for name in ("documents", "cpu_seconds")}
    return from_plain(PredictionCost, found) if found else None


def _keep_cost(project: Project, run_id: int, cost: PredictionCost | None) -> None:
    now = runs.get(project.db, run_id)
    before = outcome(now).predicting
    if cost is not None and cost.documents > (before.documents if before is not None else 0):
        runs.update(project.db, run_id, result={**now.result, "predicting": to_plain(cost)})


def allows_pickle(run: Run) -> bool:
    """Whether the user has confirmed the pickle of the published model that a run predicts with."""
    return not kinds.info(run.kind).own_weights and bool(run.spec.get("allow_pickle"))


def device_of(run: Run) -> str:
    return str(run.spec.get("options", {}).get("device") or "auto")


# ---------------------------------------------------------------- the job


class PredictionRequest(Protocol):
    """A job that predicts documents, of a trained model or of a prompt."""

    def start(self, queue: Queue, ended: Callable[[Finished], None]) -> Job: ...

    def answers(self, event: Finished) -> list[Prediction]: ...


class Question:
    """Documents written to a file for a worker.

    Created on any thread, `start`ed on the main thread, `answers` read on any.
    """

    def __init__(
        self,
        model: Path,
        asked: Sequence[Document],
        *,
        title: str,
        target: str = kinds.PREDICTOR,
        about: Mapping[str, Any] | None = None,
        device: str = "auto",
        project: Path | None = None,
        allow_pickle: bool = False,
    ):
        self.asked = asked
        self.folder = scratch.make("predict")
        self.output = self.folder / "answers.jsonl"
        given = self.folder / "asked.jsonl"
        dataset.write(
            given,
            (),
            (dataset.Record(numbered(item, number)) for number, item in enumerate(asked)),
            ids=True,
        )
        device = train.wanted_device(device)
        params = {
            "model": str(model),
            "input": str(given),
            "output": str(self.output),
            "device": device,
            "allow_pickle": allow_pickle,
            "run": dict(about or {}),
        }
        self.spec = JobSpec(
            target,
            {**params, "total": len(asked)},
            str(self.folder),
            device=train.queue_device(device),
            title=title,
            project=str(project or ""),
            short=True,
        )

    def start(self, queue: Queue, ended: Callable[[Finished], None]) -> Job:
        """Calls `ended(event)` on the main thread when the worker has ended."""
        return follow(queue, self.spec, ended)

    def answers(self, event: Finished) -> list[Prediction]:
        """Predictions in input order; deletes the files. Raises Cancelled or JobFailed."""
        try:
            check_ending(event)
            found = dict(read_answers(self.output))
            return [found[number] for number in range(len(self.asked))]
        except (OSError, ValueError, KeyError) as error:
            raise JobFailed(
                _("The predictions of the worker cannot be read: {error!r}.").format(error=error)
            ) from error
        finally:
            scratch.remove(self.folder)


def follow(queue: Queue, spec: JobSpec, ended: Callable[[Finished], None]) -> Job:
    """Queue a job and call `ended` with its last event."""
    job = queue.add(spec)

    def heard(event: object) -> None:
        if isinstance(event, Finished):
            drop()
            ended(event)

    drop = job.changed.connect(heard)
    return job


def check_ending(event: Finished) -> None:
    """Raises Cancelled or JobFailed unless the job is done."""
    if event.status == "cancelled":
        raise Cancelled()
    if event.status != "done":
        raise JobFailed(
            event.message
            or _("The prediction ended without a result ({status}).").format(status=event.status),
            hint=event.hint,
            details=event.details,
        )


def numbered(document: Document, number: int) -> Document:
    """The document with the line number as id, to match predictions: files have no ids of their
    own.
    """
    return Document(
        document.key,
        document.texts,
        tokens=document.tokens,
        id=number,
        questions=document.questions,
    )


def read_answers(path: Path) -> Iterator[tuple[int, Prediction]]:
    """(document id, prediction) of a file that a worker wrote."""
    from workbench.text.fields import Prediction

    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for line in file:
            raw = json.loads(line)
            yield raw["document_id"], Prediction.from_json(raw["prediction"])


# ---------------------------------------------------------------- model folders


ALIKE = (
    # Fraction of training tokens equal to our own word boundaries, above which no note is shown.
    0.99
)


def task_of(folder: Path) -> str:
    """The task of the run in a folder. Raises ModelError if its description is damaged."""
    path = folder / DESCRIPTION
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["task"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.").format(path=path, error=error)
        ) from error


def options_of(folder: Path) -> Mapping[str, Any]:
    """The settings that the run in a folder, or a published model, was trained with.

    {} if they cannot be read.
    """
    try:
        if (found := published(folder)) is None:
            found = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        return found.get("options") or {}
    except (OSError, ValueError, AttributeError):
        return {}  # loading the model reports the error


def token_note(model: Path, asked: Iterable[Document]) -> str:
    """A note before a tagger trained on imported tokens predicts raw texts; "" if the difference is
    negligible.
    """
    try:
        tokens = json.loads((model / DESCRIPTION).read_text(encoding="utf-8")).get("tokens") or {}
        alike = float(tokens.get("alike", 1.0))
    except (OSError, ValueError, TypeError, AttributeError):
        return ""  # loading the model reports the error
    if alike >= ALIKE or all(item.tokens.get(TEXT) for item in asked):
        return ""
    return _(
        "The model was trained on imported tokens. {share:.0%} of them differ from the "
        "tokens that Glossbench creates for raw texts, so the boundaries of predicted "
        "spans may differ from those in the training data."
    ).format(share=1 - alike)
