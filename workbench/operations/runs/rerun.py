"""Training again: a run or baseline with the settings of an earlier one on the current labels, and
what has changed: the scores of both on the same documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.operations.evaluation import scoring
from workbench.operations.runs import predict, results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_results import planned
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


def can_repeat(run: Run) -> bool:
    """Whether it is a training or a baseline that is neither queued nor running."""
    return kinds.info(run.kind).repeats and run.status not in ("waiting", "running")


def last_of(candidates: Iterable[Run]) -> Run | None:
    """The run to train again of runs in order, newest first: the newest training, as baselines are
    often added to compare with it; the newest baseline if there is no training.
    """
    fitting = [run for run in candidates if can_repeat(run)]
    return next(
        (run for run in fitting if kinds.info(run.kind).fine_tunes), next(iter(fitting), None)
    )


def prepare(project: Project, run: Run, *, longer: bool = False) -> kinds.Prepared:
    """Freeze the current labels for a run with the settings of `run`. Not for the main thread.

    longer: a training of `more_epochs`.

    Raises WorkbenchError saying why it cannot be trained.
    """
    prepared: kinds.Prepared = kinds.of(run).prepare_again(project, run, longer=longer)
    return prepared


def more_epochs(run: Run) -> int:
    """Twice the epochs of a training, at most as many as can be set."""
    plan = planned(run)
    epochs: int = plan.epochs if plan is not None else train.spec_of(run).option("epochs") or 1
    most = next(item.high for item in train.options(run.spec["task"]) if item.name == "epochs")
    return min(2 * epochs, int(most or 2 * epochs))


def start(project: Project, queue: Queue, prepared: kinds.Prepared, run: Run) -> Run:
    """Start the run that repeats `run`. Raises WorkbenchError if its folder cannot be written."""
    return kinds.start(project, queue, prepared, parent_id=run.id)


@dataclass(frozen=True)
class ScoreDifference:
    """The main score on one split, of both runs against the same current gold.

    n: documents that both predicted.
    """

    before_name: str
    split: str
    score: str
    before: float
    after: float
    n: int


def differences(project: Project, run: Run) -> tuple[ScoreDifference, ...]:
    """Differences from the repeated run on dev, and on test if both test scores were viewed; () if
    the run repeats no other.
    """
    try:
        before = runs.get(project.db, run.parent_id or 0)
    except KeyError:
        return ()
    if (results.task_of(before), before.layer_id) != (results.task_of(run), run.layer_id):
        return ()
    splits = ("dev", "test") if before.seen_test and run.seen_test else ("dev",)
    by_split = (_difference(project, before, run, split) for split in splits)
    return tuple(difference for difference in by_split if difference is not None)


def _difference(project: Project, before: Run, after: Run, split: str) -> ScoreDifference | None:
    task, main = results.task_of(after), tasks.info(results.task_of(after)).main
    gold = results.scored(project, after, split)
    answers = [
        predict.stored(project, run, [scored.document for scored in gold])
        for run in (before, after)
    ]
    both = [
        scored
        for scored in gold
        if all(scored.document.id in predictions for predictions in answers)
    ]
    if not both:
        return None
    first, second = (
        scoring.evaluate(
            task, split, both, [predictions[scored.document.id or 0] for scored in both]
        )
        for predictions in answers
    )
    values = first.scores[main], second.scores[main]
    return ScoreDifference(before.name, split, main, *values, len(both))
