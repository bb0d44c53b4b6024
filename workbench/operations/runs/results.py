"""Results of a run: original and current scores, per-label scores, confusion matrix, errors,
deletion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.metrics import evaluation
from workbench.metrics.evaluation import ConfusionMatrix, Evaluation
from workbench.operations.evaluation import scoring
from workbench.operations.evaluation.scoring import GoldDocument
from workbench.operations.runs import missing, predict, run_folders, run_results, trained_on
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.labels import Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction


@dataclass(frozen=True)
class ErrorRow:
    """A document whose prediction differs from gold.

    `score` is the confidence of the model, 0 to 1.
    """

    document_id: int
    key: str
    text: str
    gold: str
    predicted: str
    score: float


@dataclass(frozen=True)
class Results:
    """Scores of a run on dev.

    original: when the run ended. current: the stored predictions against the current gold labels,
    with their confusion matrix; None without predictions.
    """

    run: Run
    original: Evaluation | None
    current: Evaluation | None
    errors: tuple[ErrorRow, ...]
    mistakes: int  # wrong decisions, of which a document may have several
    without_answer: int
    bytes_on_disk: int


def run_named(project: Project, name: str) -> Run:
    """A run by its name. Raises WorkbenchError naming the existing runs."""
    run = runs.by_name(project.db, name)
    if run is None:
        known = ", ".join(item.name for item in runs.all(project.db)) or _("none yet")
        raise WorkbenchError(
            _("There is no run {name!r} in {file}.", name=name, file=project.path.name),
            hint=_("Runs: {known}.", known=known),
        )
    return run


def run(project: Project, run_id: int) -> Run:
    """The current state of the run. Raises KeyError if it was deleted."""
    return runs.get(project.db, run_id)


def all_runs(project: Project) -> tuple[Run, ...]:
    """Newest first."""
    return tuple(sorted(runs.all(project.db), key=lambda item: -item.id))


def layer_of(project: Project, run: Run) -> Layer:
    """The layer a run was trained on. Raises WorkbenchError if it was deleted or there is none."""
    for layer in labels.layers(project.db):
        if layer.id == run.layer_id or (run.layer_id is None and layer.name == run.layer):
            return layer
    task_of(run)  # a run without a task has no layer
    raise WorkbenchError(
        _(
            "Layer {layer!r} of run {name!r} is no longer in the project.",
            layer=run.layer or run.spec.get("layer", ""),
            name=run.name,
        )
    )


def has_task(run: Run) -> bool:
    """Whether a run predicts a task that can be used, so that it can be scored."""
    return bool(run.spec.get("task")) and not missing.of_run(run)


def task_of(run: Run) -> str:
    """Raises WorkbenchError for a run that predicts no task, as a pretraining."""
    if not (task := run.spec.get("task")):
        raise WorkbenchError(
            _(
                "Run {name!r} predicts no labels (kind: {kind}), so it has no scores.",
                name=run.name,
                kind=term(run.kind),
            ),
            hint=_("Choose another run; `glossbench runs list` lists them."),
        )
    return str(task)


# ---------------------------------------------------------------- scores


def evaluate_stored(project: Project, run: Run, split: str) -> Evaluation:
    """Score the stored predictions of a split against the current gold; documents without a
    prediction are not counted.
    """
    documents = scored(project, run, split)
    answers = predict.stored(project, run, [item.document for item in documents])
    predicted = [item for item in documents if item.document.id in answers]
    return scoring.evaluate(task_of(run), split, predicted, _of(answers, predicted))


def scored(
    project: Project, run: Run, split: str, info: TaskInfo | None = None
) -> tuple[GoldDocument, ...]:
    """The documents that a run is scored on. info: whose gold, by default that of its task.

    The dev documents of a run on folds are those of its fold, the others are its training data.
    """
    info, layer = info or tasks.info(task_of(run)), layer_of(project, run)
    if split == "test" or (fold := trained_on.own_dev(project, run)) is None:
        return scoring.scored_documents(project, info, layer, split)
    documents = scoring.scored_documents(project, info, layer, "train", "dev")
    return tuple(item for item in documents if (item.document.id in fold) == (split == "dev"))


def answered(project: Project, run: Run, split: str) -> bool:
    """Whether an evaluation on the split needs no model: every document has a stored prediction."""
    documents = [item.document for item in scored(project, run, split)]
    return len(predict.stored(project, run, documents)) == len(documents)


def _of(answers: Mapping[int, Prediction], gold: Sequence[GoldDocument]) -> list[Prediction]:
    """The answers for these documents, in their order."""
    return [answers[row_id(item.document)] for item in gold]


def evaluate(
    project: Project, queue: Queue, run: Run, split: str, *, watch: Watch = QUIET
) -> Evaluation:
    """Score a run on the current gold of a split; a job computes missing predictions first.

    An evaluation on test counts as a view of the test score and requires a project open for
    writing.
    """
    gold = something_to_score(project, run, split)
    documents = [item.document for item in gold]
    answers = predict.predictions(project, queue, run, documents, watch=watch)
    evaluation = scoring.evaluate(task_of(run), split, gold, _of(answers, gold))
    if split == "test":
        record_test_view(project, run.id, evaluation)
    return evaluation


def something_to_score(project: Project, run: Run, split: str) -> tuple[GoldDocument, ...]:
    """As `scored`. Raises WorkbenchError if there is no document."""
    gold = scored(project, run, split)
    if not gold:
        layer = layer_of(project, run).name
        raise WorkbenchError(
            _(
                "No submitted document of layer {layer!r} is in the {split} split.",
                layer=layer,
                split=split,
            )
        )
    return gold


def original(run: Run, split: str) -> Evaluation | None:
    """The evaluation stored with the run, against the gold labels of that time.

    On dev from the end of the run; on test from there too, or from the first view of the test
    score. None if no such evaluation is stored. A run of an earlier version has only its scores.
    """
    return run_results.evaluations(run).get(split)


def record_test_view(project: Project, run_id: int, scored: Evaluation | None = None) -> None:
    """Count a view of the test score; the first one is stored with the run. Without `scored` only
    the view is counted, as for a score with other inputs.
    """
    with project.write():
        run = runs.get(project.db, run_id)
        values: dict[str, Any] = {"seen_test": run.seen_test + 1}
        before = original(run, "test")
        if scored is not None and (before is None or not before.is_complete):
            first = {"test": replace(scored, at=now())}
            evaluations = {**run_results.outcome(run).evaluations, **first}
            values["result"] = {**run.result, "evaluations": evaluation.to_json(evaluations)}
            values["test_fingerprint"] = scored.fingerprint
        runs.update(project.db, run_id, **values)


def results(project: Project, run_id: int) -> Results:
    """All data that the Results page shows for a run, from stored predictions on dev; the model is
    not used. Only the stored scores if the task of the run is missing.
    """
    run = runs.get(project.db, run_id)
    if not has_task(run):
        size = disk_space(project, run_id)
        return Results(run, original(run, "dev"), None, (), 0, 0, size)
    gold = scored(project, run, "dev")
    answers = predict.stored(project, run, [item.document for item in gold])
    have = [item for item in gold if item.document.id in answers]
    predictions = _of(answers, have)
    task = task_of(run)
    current = None
    if have:
        matrix = confusion(task, layer_of(project, run).names, have, predictions)
        current = replace(scoring.evaluate(task, "dev", have, predictions), confusion=matrix)
    return Results(
        run,
        original(run, "dev"),
        current,
        errors(task, have, predictions),
        _mistakes(task, have, predictions),
        len(gold) - len(have),
        disk_space(project, run_id),
    )


# ---------------------------------------------------------------- matrix


def confusion(
    task: str,
    names: Sequence[str],
    documents: Sequence[GoldDocument],
    answers: Sequence[Prediction],
) -> ConfusionMatrix | None:
    """The confusion matrix of predictions; labels without occurrences are omitted.

    None for a task without one.
    """
    from workbench.metrics.confusion import NO_SPAN

    matrix = tasks.info(task).confusion([item.gold for item in documents], answers, names)
    if matrix is None:
        return None
    ids = [row_id(item.document) for item in documents]
    used = [
        at
        for at in range(len(matrix.labels))
        if matrix.counts[at].any() or matrix.counts[:, at].any()
    ]
    names_at = {at: matrix.labels[at] or tasks.NONE for at in used}
    cells = tuple(tuple(int(matrix.counts[gold, predicted]) for predicted in used) for gold in used)
    where = {
        (names_at[gold], names_at[predicted]): tuple(ids[at] for at in positions)
        for (gold, predicted), positions in matrix.where.items()
    }
    unmatched = tasks.NONE if NO_SPAN in matrix.labels else ""
    return ConfusionMatrix(tuple(names_at.values()), cells, where, unmatched)


# ---------------------------------------------------------------- errors


def errors(
    task: str, documents: Sequence[GoldDocument], answers: Sequence[Prediction]
) -> tuple[ErrorRow, ...]:
    """The documents whose prediction differs from gold, most confident first."""
    info = tasks.info(task)
    rows = [
        error_row(info, item, answer)
        for item, answer in zip(documents, answers, strict=True)
        if not info.agrees(item.gold, answer)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.score, row.document_id)))


def _mistakes(task: str, gold: Sequence[GoldDocument], answers: Sequence[Prediction]) -> int:
    info, pairs = tasks.info(task), zip(gold, answers, strict=True)
    return sum(len(info.mistakes(pair.document, pair.gold, answer)) for pair, answer in pairs)


def error_row(info: TaskInfo, item: GoldDocument, answer: Prediction) -> ErrorRow:
    document, error = item.document, info.error(item.document, item.gold, answer)
    return ErrorRow(
        row_id(document),
        document.key,
        document.text[:160],
        error.gold,
        error.predicted,
        error.confidence,
    )


# ---------------------------------------------------------------- weights on disk


def disk_space(project: Project, *run_ids: int) -> int:
    """Size of the folders of these runs in bytes; 0 for a run without one. States share files with
    the checkpoints that they link to, which count once.
    """
    folders = [paths.run_folder(project.path, id) for id in run_ids]
    files = (path for folder in folders if folder.is_dir() for path in folder.rglob("*"))
    sizes = (file.stat() for file in files if file.is_file())
    return sum({(file.st_dev, file.st_ino): file.st_size for file in sizes}.values())


def delete(project: Project, *run_ids: int, watch: Watch = QUIET) -> int:
    """Delete runs with their predictions, suggestions and weights, all or none. Cannot be undone.

    Accepted labels stay. Returns the number of bytes freed on the disk.

    Raises WorkbenchError if one of them is still running.
    """
    for id in run_ids:
        run = runs.get(project.db, id)
        if run.status in ("waiting", "running"):
            raise WorkbenchError(
                _("Run {name!r} is still running.", name=run.name),
                hint=_("Cancel the run first."),
            )
    with project.write():
        for place, id in enumerate(run_ids):
            part = watch.part(place / len(run_ids), (place + 1) / len(run_ids))
            project.delete_run(id, watch=part)
    freed = disk_space(project, *run_ids)
    for id in run_ids:
        run_folders.remove(project, id)
    return freed


def command(project: Project, run: Run) -> str:
    """The command line that repeats a run. Raises WorkbenchError if there is none."""
    return kinds.of(run).command(project, run)
