"""What training again has changed: scores of a run and of the one before on the same documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.operations import predict, results, scoring
from workbench.storage import runs
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs import Run


@dataclass(frozen=True)
class Difference:
    """The main score on one split, of both runs against the same current gold.

    n: documents that both predicted.
    """

    before_name: str
    split: str
    score: str
    before: float
    after: float
    n: int


def differences(project: Project, run: Run) -> tuple[Difference, ...]:
    """Differences from the repeated run on dev, and on test if both test scores were viewed; () if
    the run repeats no other.
    """
    try:
        before = runs.get(project.db, run.parent_id or 0)
    except KeyError:
        return ()
    if (results.task_of(before), before.layer_id) != (results.task_of(run), run.layer_id):
        return ()
    shown = ("dev", "test") if before.seen_test and run.seen_test else ("dev",)
    found = (_difference(project, before, run, split) for split in shown)
    return tuple(difference for difference in found if difference is not None)


def _difference(project: Project, before: Run, after: Run, split: str) -> Difference | None:
    task, main = results.task_of(after), tasks.info(results.task_of(after)).main
    found = results.scored(project, after, split)
    answers = [
        predict.stored(project, run, [scored.document for scored in found])
        for run in (before, after)
    ]
    both = [scored for scored in found if all(scored.document.id in given for given in answers)]
    if not both:
        return None
    first, second = (
        scoring.evaluate(task, split, both, [given[scored.document.id or 0] for scored in both])
        for given in answers
    )
    values = first.scores[main], second.scores[main]
    return Difference(before.name, split, main, *values, len(both))
