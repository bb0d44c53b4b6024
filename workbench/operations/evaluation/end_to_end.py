"""End-to-end scores of relations: between the spans that another run predicts.

A gold relation whose spans were not predicted is missed. Nothing of this is stored with the run
of relations, whose predictions are those for the spans of the layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.watch import QUIET, Watch
from workbench.operations.evaluation import quality
from workbench.operations.runs import predict, results, span_runs
from workbench.operations.runs.kinds import contract as kinds
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.metrics.evaluation import Evaluation
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


def evaluate(
    project: Project, queue: Queue, run: Run, spans: Run, split: str, *, watch: Watch = QUIET
) -> Evaluation:
    """Score a run of relations on a split, with intervals, where it reads the spans of `spans`.

    On test this counts as a view of the test score of `run`. Raises WorkbenchError as
    `span_runs.check`, or if the split has no document.
    """
    span_runs.check(project, run, spans)
    gold = results.something_to_score(project, run, split)
    plain = [item.document for item in gold]
    read = predict.with_spans(project, queue, spans, plain, watch=watch.part(0.0, 0.4))
    predicted, _cost = kinds.of(run).predict(project, queue, run, read, watch=watch.part(0.4, 0.9))
    answers = {row_id(item): each for item, each in zip(read, predicted, strict=True)}
    evidence = quality.evidence_of(project, run, split, gold, answers)
    evaluation = quality.evaluate(evidence, watch.part(0.9, 1.0))
    if split == "test":
        results.record_test_view(project, run.id)
    return evaluation
