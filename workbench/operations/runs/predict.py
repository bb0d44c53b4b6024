"""Predictions of a run for documents of a project: stored ones, and missing ones from a job.

The prediction of a run for a text never changes, so it is computed once and stored in the project.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.costs import PredictionCost
from workbench.base.errors import JobFailed, ModelError
from workbench.base.i18n import _
from workbench.base.records import from_plain, to_plain
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.models.spec import DESCRIPTION, published
from workbench.operations.runs import clusters, devices
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_results import outcome
from workbench.storage.runs import runs
from workbench.tasks.proofs import INT8, usable
from workbench.text import dataset
from workbench.text.document import TEXT, Document
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction


PAGE = 1_000  # documents between two questions whether to stop


# ---------------------------------------------------------------- documents of a project


def stored(project: Project, run: Run, documents: Sequence[Document]) -> dict[int, Prediction]:
    """The stored predictions for these documents, by id; predictions for an earlier text are
    ignored.
    """
    rows = runs.predictions(project.db, run.id, map(row_id, documents))
    return {
        item.id: rows[item.id][1]
        for item in documents
        if item.id in rows and rows[item.id][0] == item.asked_hash
    }


def predictions(
    project: Project,
    queue: Queue,
    run: Run,
    documents: Sequence[Document],
    *,
    forget: bool = False,
    watch: Watch = QUIET,
) -> dict[int, Prediction]:
    """The predictions of a run by document id; a job computes those that are missing.

    New ones are stored unless the project is read-only. `forget` as in JobSpec. Raises Cancelled,
    JobFailed, or ModelError if the run has no model.
    """
    have = stored(project, run, documents)
    missing = [document for document in documents if document.id not in have]
    if not missing:
        return have
    computed, cost = kinds.of(run).predict(project, queue, run, missing, forget=forget, watch=watch)
    return {**have, **kept(project, run, missing, computed, cost=cost)}


def with_spans(
    project: Project, queue: Queue, run: Run, documents: Sequence[Document], *, watch: Watch = QUIET
) -> list[Document]:
    """The documents with the spans that a run predicts, as a model of relations reads them."""
    plain = [replace(document, input_spans=()) for document in documents]
    answers = predictions(project, queue, run, plain, watch=watch)
    return [replace(item, input_spans=answers[row_id(item)].spans) for item in plain]


def for_suggestions(
    project: Project, queue: Queue, run: Run, documents: Sequence[Document], *, watch: Watch = QUIET
) -> tuple[dict[int, Prediction], bool]:
    """As `predictions`; with weights of 8 bits where their cost was measured and hardly any label
    differs, which is the second value. What these predict is not stored, as scores are of the full
    weights.
    """
    weights = kinds.of(run).weights(project, run)
    if weights is None or usable(weights, INT8) is None:
        return predictions(project, queue, run, documents, watch=watch), False
    have = stored(project, run, documents)
    missing = [document for document in documents if document.id not in have]
    if missing:
        kind = kinds.of(run)
        computed, _cost = of_model(
            project,
            queue,
            run,
            kind.model(project, run),
            missing,
            target=kind.predictor,
            weights=INT8,
            watch=watch,
        )
        have |= {row_id(item): each for item, each in zip(missing, computed, strict=True)}
    return have, bool(missing)


def of_model(
    project: Project,
    queue: Queue,
    run: Run,
    model: Path,
    documents: Sequence[Document],
    *,
    target: str,
    weights: str = "",
    forget: bool = False,
    watch: Watch = QUIET,
) -> tuple[list[Prediction], PredictionCost | None]:
    """The predictions of the model of a run for documents, in order, and what they cost."""
    return answers(
        queue,
        model,
        documents,
        target=target,
        title=_("Predict with {name}", name=run.name),
        about={"project": project.uid, "id": run.id, "purpose": "predict"},
        device=device_of(run),
        project=project.path,
        allow_pickle=allows_pickle(run),
        weights=weights,
        forget=forget,
        watch=watch,
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


def _cost(raw: Mapping[str, Any]) -> PredictionCost | None:
    """What the predictions of a job cost; None if its worker did not measure it."""
    if (cost := raw.get("predicting")) is None and "cpu_seconds" in raw:
        cost = {name: raw.get(name, 0) for name in ("documents", "cpu_seconds")}
    return from_plain(PredictionCost, cost) if cost else None


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


class Inputs:
    """Documents in a private file that workers read, and what they answered, in files beside it:
    any number takes no memory. Use it in a `with` statement, which removes the files.
    """

    def __init__(self, documents: Iterable[Document], *, watch: Watch = QUIET) -> None:
        """Raises what reading the documents raises, Cancelled, and JobFailed on a full disk."""
        self.folder, self._count = scratch.make("predict"), 0
        self.path, self._answers = self.folder / "documents.jsonl", list[Path]()
        try:
            dataset.write(self.path, (), self._records(documents, watch), ids=True)
        except OSError as error:
            self.close()
            if error.filename is not None:  # of another file, that was read
                raise
            raise JobFailed(
                _("{path} cannot be written: {error}.", path=self.path, error=error.strerror),
                hint=_("Free up disk space, then try again."),
            ) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Document]:
        with open(self.path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            next(file)  # the layers
            for line in file:
                yield dataset.record_from_json(json.loads(line)).document

    def close(self) -> None:
        scratch.remove(self.folder)

    def _records(self, documents: Iterable[Document], watch: Watch) -> Iterator[dataset.Record]:
        for document in documents:
            if self._count % PAGE == 0:
                watch.at(0.0)
            yield dataset.Record(
                Document(  # files have no ids of their own
                    document.key,
                    document.texts,
                    tokens=document.tokens,
                    id=self._count,
                    questions=document.questions,
                    input_spans=document.input_spans,
                )
            )
            self._count += 1

    def answer_file(self) -> Path:
        """A new file for the predictions of a model."""
        self._answers.append(self.folder / f"answers-{len(self._answers)}.jsonl")
        return self._answers[-1]

    def predictions(self) -> Iterator[tuple[Prediction, ...]]:
        """For each document, in order, what each model predicted. Raises JobFailed if the file of a
        model is not whole.
        """
        with reading_answers():
            answers = zip(*map(read_answers, self._answers), strict=True)
            for number, predictions in zip(range(self._count), answers, strict=True):
                if any(id != number for id, _prediction in predictions):
                    raise ValueError(f"line {number + 1} is of another document")
                yield tuple(prediction for _id, prediction in predictions)


@contextmanager
def reading_answers() -> Iterator[None]:
    """Raises JobFailed if what a worker wrote cannot be read."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        raise JobFailed(
            _("The predictions of the worker cannot be read: {error!r}.", error=error)
        ) from error


def answers(
    queue: Queue, model: Path, documents: Iterable[Document], **job: Any
) -> tuple[list[Prediction], PredictionCost | None]:
    """The predictions of a model folder for documents, in order, and what they cost.

    job: as for `run_job`. Raises Cancelled or JobFailed.
    """
    with Inputs(documents) as inputs:
        cost = run_job(queue, model, inputs, **job)
        return [prediction for (prediction,) in inputs.predictions()], cost


def run_job(
    queue: Queue,
    model: Path,
    inputs: Inputs,
    *,
    title: str,
    target: str = kinds.PREDICTOR,
    about: Mapping[str, Any] | None = None,
    device: str = "auto",
    project: Path | None = None,
    allow_pickle: bool = False,
    weights: str = "",
    run_on: str = "",
    forget: bool = False,
    watch: Watch = QUIET,
) -> PredictionCost | None:
    """Have a worker predict the documents with a model folder; what it cost.

    weights: INT8 for those of 8 bits, where the run has them. run_on: the address of a cluster,
    each of whose nodes predicts a part of the documents. `inputs.predictions` reads what it
    answered. Raises Cancelled or JobFailed.
    """
    cluster = clusters.address(run_on)
    device = device if cluster else devices.wanted_device(device)
    params = {
        "model": str(model),
        "input": str(inputs.path),
        "output": str(inputs.answer_file()),
        "device": device,
        "allow_pickle": allow_pickle,
        "weights": weights,
        "run": dict(about or {}),
        "total": len(inputs),
    }
    spec = JobSpec(
        target,
        params,
        str(inputs.folder),
        device="" if cluster else devices.queue_device(device),
        title=title,
        project=str(project or ""),
        short=True,
        forget=forget,
        run_on=cluster,
        files=(str(model),) if cluster else (),
        divided=("input", "output"),
    )
    return _cost(queue.run(spec, watch))


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
    """The task of the run in a folder, also of an exported ONNX folder. Raises ModelError if its
    description is damaged.
    """
    from workbench.runtime.onnx_predictor import LABELS, is_exported

    path = folder / (LABELS if is_exported(folder) else DESCRIPTION)
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["task"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(_("{path} cannot be read: {error}.", path=path, error=error)) from error


def options_of(folder: Path) -> Mapping[str, Any]:
    """The settings that the run in a folder, or a published model, was trained with.

    {} if they cannot be read.
    """
    return _described(folder, "options")


def decoder_of(folder: Path) -> Mapping[str, Any]:
    """The decoding parameters of the run in a folder; {} if they cannot be read."""
    return _described(folder, "decoder")


def _described(folder: Path, part: str) -> Mapping[str, Any]:
    try:
        if (description := published(folder)) is None:
            description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        return description.get(part) or {}
    except (OSError, ValueError, AttributeError):
        return {}  # loading the model reports the error


def token_note(model: Path, documents: Iterable[Document]) -> str:
    """A note before a tagger trained on imported tokens predicts raw texts; "" if the difference is
    negligible.
    """
    try:
        tokens = json.loads((model / DESCRIPTION).read_text(encoding="utf-8")).get("tokens") or {}
        alike = float(tokens.get("alike", 1.0))
    except (OSError, ValueError, TypeError, AttributeError):
        return ""  # loading the model reports the error
    if alike >= ALIKE or all(item.tokens.get(TEXT) for item in documents):
        return ""
    return _(
        "The model was trained on imported tokens. {share:.0%} of them differ from the "
        "tokens that Glossbench creates for raw texts, so the boundaries of predicted "
        "spans may differ from those in the training data.",
        share=1 - alike,
    )
