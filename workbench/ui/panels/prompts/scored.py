"""Scores of a prompt run as the page shows them: three of them, those by label, and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.operations.evaluation import quality
from workbench.operations.prompts import prompt
from workbench.operations.runs import results, run_results
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation, Intervals
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

FIGURES = 3  # scores of a run above its table


@dataclass(frozen=True)
class Scored:
    """The run is scored on its split with current gold. prior: of each label.

    report: every score with its interval; None before it is computed.
    """

    evaluation: Evaluation
    prior: Mapping[str, float] | None
    figures: tuple[tuple[str, float], ...]
    report: Intervals | None = None

    def interval(self, name: str, label: str = "") -> tuple[float, float] | None:
        """The 95% interval of a score, or of that of a label; None if it is unknown."""
        if self.report is None:
            return None
        found = self.report.of_label(label, name) if label else self.report.scores.get(name)
        if found is None or found.low is None or found.high is None:
            return None
        return found.low, found.high


def scored(project: Project, run: Run) -> Scored:
    """Without intervals, which take a second for thousands of documents."""
    found = prompt.evaluation(project, run)
    return Scored(
        found, run_results.prompted(run).prior, _figures(found.scores, results.task_of(run))
    )


def report(project: Project, run: Run) -> Intervals | None:
    return quality.report(quality.evidence(project, run, run.spec["split"]))


def _figures(scores: Mapping[str, float], task: str) -> tuple[tuple[str, float], ...]:
    """The first scores of a task."""
    return tuple((name, scores[name]) for name in tasks.score_names(scores, task)[:FIGURES])
