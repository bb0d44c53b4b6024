"""How good the predictions of a run are in detail: every score with its interval.

Everything is computed from stored predictions against the current gold labels; no model is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.operations import predict, results
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document

if TYPE_CHECKING:
    from workbench.metrics.report import Report
    from workbench.metrics.resampling import Statistic
    from workbench.operations.scoring import Scored
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.fields import Prediction


@dataclass(frozen=True)
class Evidence:
    """The predictions of a run for documents of one split, with current gold, in order."""

    info: TaskInfo
    split: str
    labels: tuple[str, ...]
    documents: tuple[Document, ...]
    golds: tuple[Any, ...] = field(hash=False)
    predictions: tuple[Prediction, ...] = field(hash=False)

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def statistic(self) -> Statistic | None:
        return self.info.statistic(self.golds, self.predictions, self.labels)


def evidence(project: Project, run: Run, split: str) -> Evidence:
    """From stored predictions; documents without one are left out."""
    found = results.scored(project, run, split)
    answers = predict.stored(project, run, [one.document for one in found])
    return evidence_of(project, run, split, found, answers)


def evidence_of(
    project: Project,
    run: Run,
    split: str,
    found: Sequence[Scored],
    answers: Mapping[int, Prediction],
) -> Evidence:
    """The same for known documents and predictions by document id."""
    have = [one for one in found if one.document.id in answers]
    return Evidence(
        tasks.info(results.task_of(run)),
        split,
        results.layer_of(project, run).names,
        tuple(one.document for one in have),
        tuple(one.gold for one in have),
        tuple(answers[one.document.id or 0] for one in have),
    )


def report(given: Evidence) -> Report | None:
    """Every score with its interval, those per label for labels that occur.

    None without documents, or for a task that has no more than its main scores.
    """
    if given.statistic is None or not len(given):
        return None
    from workbench.metrics import report as reports

    used = {row.label for row in given.info.per_label(given.golds, given.predictions)}
    shown = [label for label in given.statistic.labels if label in used]
    return reports.report(given.statistic, len(given), shown=shown)
