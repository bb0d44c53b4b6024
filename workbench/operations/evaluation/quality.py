"""How good the predictions of a run are in detail: every score with its interval.

Everything is computed from stored predictions against the current gold labels; no model is used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.importers.tables.gap import GENDER, NEITHER
from workbench.operations.documents import queries
from workbench.operations.runs import predict, results
from workbench.storage.queries import queue
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text import result_view
from workbench.text.document import SPLITS, Document, choice_names
from workbench.text.rows import row_id

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.calibration import BinnedIntervals, Reliability
    from workbench.metrics.curves import Curve
    from workbench.metrics.evaluation import Evaluation, Intervals, Measured
    from workbench.metrics.resampling import Statistic
    from workbench.operations.evaluation.gap import PronounCounts
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction


@dataclass(frozen=True)
class Evidence:
    """The predictions of a run for documents of one split, with current gold, in order.

    files: those that the documents were imported from, "" for none; () if they are not known.
    filters: name of each saved filter → the documents that match it.
    """

    info: TaskInfo
    split: str
    labels: tuple[str, ...]
    documents: tuple[Document, ...]
    golds: tuple[Any, ...] = field(hash=False)
    predictions: tuple[Prediction, ...] = field(hash=False)
    files: tuple[str, ...] = ()
    filters: Mapping[str, frozenset[int]] = field(default_factory=dict, hash=False)

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def of_task(self) -> Statistic | None:
        """The scores of the task alone."""
        return self.info.statistic(self.golds, self.predictions, self.labels)

    @cached_property
    def statistic(self) -> Statistic | None:
        """The scores of the task, and those of pronouns where the documents ask for them."""
        statistic, pronouns = self.of_task, pronoun_counts(self)
        if statistic is None or pronouns is None:
            return statistic
        from workbench.operations.evaluation.gap import WithPronouns

        return WithPronouns(statistic, pronouns)


def evidence(project: Project, run: Run, split: str, info: TaskInfo | None = None) -> Evidence:
    """Evidence from stored predictions; documents without one are left out.

    info: whose gold and scores, by default those of the run's task.
    """
    documents = results.scored(project, run, split, info)
    answers = predict.stored(project, run, [scored.document for scored in documents])
    return evidence_of(project, run, split, documents, answers, info)


def evidence_of(
    project: Project,
    run: Run,
    split: str,
    documents: Sequence[GoldDocument],
    answers: Mapping[int, Prediction],
    info: TaskInfo | None = None,
) -> Evidence:
    """As `evidence`, for given documents and predictions by document id."""
    have = [scored for scored in documents if scored.document.id in answers]
    files = queue.files_of(project.db, (row_id(scored.document) for scored in have))
    return Evidence(
        info or tasks.info(results.task_of(run)),
        split,
        results.layer_of(project, run).names,
        tuple(scored.document for scored in have),
        tuple(scored.gold for scored in have),
        tuple(answers[scored.document.id or 0] for scored in have),
        tuple(files.get(scored.document.id or 0, "") for scored in have),
        queries.slices_of(project, [row_id(scored.document) for scored in have]),
    )


def with_queries(project: Project, evidence: Evidence, texts: Sequence[str]) -> Evidence:
    """The evidence with further slices by queries, named by their text. Raises QueryError."""
    ids = [row_id(document) for document in evidence.documents]
    more = {text: frozenset(queries.matching(project, text, ids)) for text in texts}
    return replace(evidence, filters={**evidence.filters, **more})


def matching(project: Project, evidence: Evidence, where: str) -> Evidence:
    """The documents that match a query alone; all for "". Raises QueryError."""
    if not where.strip():
        return evidence
    ids = frozenset(queries.matching(project, where, [row_id(item) for item in evidence.documents]))
    return of_documents(evidence, ids)


def of_documents(evidence: Evidence, ids: Collection[int | None]) -> Evidence:
    """The evidence of some documents alone."""
    positions = [at for at, item in enumerate(evidence.documents) if item.id in ids]
    return replace(
        evidence,
        documents=tuple(evidence.documents[at] for at in positions),
        golds=tuple(evidence.golds[at] for at in positions),
        predictions=tuple(evidence.predictions[at] for at in positions),
        files=tuple(evidence.files[at] for at in positions) if evidence.files else (),
    )


def pronoun_counts(evidence: Evidence) -> PronounCounts | None:
    """Counts of names of documents that ask which name a pronoun means, as the importer of GAP
    makes them; None if there are none with a gender.
    """
    asks = [document.choices[-1:] == (NEITHER,) for document in evidence.documents]
    genders = [str(document.meta.get(GENDER, "")) for document in evidence.documents]
    if not any(is_asked and gender for is_asked, gender in zip(asks, genders, strict=True)):
        return None
    from workbench.operations.evaluation.gap import PronounCounts

    names = [choice_names(len(document.choices) - 1) for document in evidence.documents]
    gold = [
        frozenset({gold.label} & {*known}) if is_asked else None
        for is_asked, gold, known in zip(asks, evidence.golds, names, strict=True)
    ]
    predicted = [
        frozenset({*result_view.of(answer).labels(answer)} & {*known})
        for answer, known in zip(evidence.predictions, names, strict=True)
    ]
    return PronounCounts.of(genders, gold, predicted)


def other_splits(project: Project, run: Run, split: str) -> tuple[Evidence, ...]:
    """The splits besides `split` that a run has predicted completely.

    Test only after its score was asked for.
    """
    splits = []
    for other in SPLITS:
        if other == split or (other == "test" and not run.seen_test):
            continue
        documents = results.scored(project, run, other)
        answers = predict.stored(project, run, [scored.document for scored in documents])
        if documents and len(answers) == len(documents):
            splits.append(evidence_of(project, run, other, documents, answers))
    return tuple(splits)


def interval_method(intervals: Intervals | None = None) -> str:
    """How the intervals of all scores are computed, in a sentence."""
    from workbench.metrics.report import SEED
    from workbench.metrics.resampling import ROUNDS

    rounds, seed = ROUNDS, SEED
    if intervals is not None:
        rounds, seed = intervals.rounds, intervals.seed
    if not rounds:
        return _("95% intervals: computed by the task.")
    return ngettext(
        "95% intervals: bootstrap over documents, {rounds:,} resample, seed {seed}.",
        "95% intervals: bootstrap over documents, {rounds:,} resamples, seed {seed}.",
        rounds,
        rounds=rounds,
        seed=seed,
    )


def evaluate(evidence: Evidence, watch: Watch = QUIET) -> Evaluation:
    """The predictions scored against gold, with intervals."""
    documents, golds, predictions = evidence.documents, evidence.golds, evidence.predictions
    evaluation = tasks.evaluate(evidence.info, evidence.split, documents, golds, predictions)
    return with_intervals(evaluation, evidence, watch)


def measure_intervals(
    project: Project, run: Run, evaluation: Evaluation, *, watch: Watch = QUIET
) -> Evaluation:
    """The scores of a run on a split, with intervals from its stored predictions.

    A second for thousands of documents.
    """
    return with_intervals(evaluation, evidence(project, run, evaluation.split), watch)


def with_intervals(evaluation: Evaluation, evidence: Evidence, watch: Watch = QUIET) -> Evaluation:
    """An evaluation of these predictions with the interval of every score, those per label for
    labels that occur.

    Without intervals if there are no documents, or the task has no more than its main scores. A
    task without a statistic may have one interval of its own.
    """
    from workbench.metrics import report as bootstrap

    if not len(evidence):
        return replace(evaluation, intervals=None)
    if evidence.statistic is None:
        own = own_interval(evidence, evaluation.scores)
        return replace(evaluation, intervals=own)
    used = {row.label for row in evidence.info.per_label(evidence.golds, evidence.predictions)}
    labels = [label for label in evidence.statistic.labels if label in used]
    measured = bootstrap.intervals(evidence.statistic, len(evidence), reported=labels, watch=watch)
    return evaluation.with_intervals(measured)


def own_interval(evidence: Evidence, scores: Mapping[str, float]) -> Intervals | None:
    """The interval that a task without a statistic computes itself, see `TaskInfo.interval`."""
    from workbench.metrics.evaluation import Intervals, Measured

    interval = evidence.info.interval(evidence.golds, evidence.predictions)
    if interval is None:
        return None
    name, low, high = interval
    measured = {name: Measured(scores.get(name), low, high)}
    return Intervals(len(evidence), 0, 0, measured, {}, {})


@dataclass(frozen=True)
class Calibrated:
    """Reliability before and after temperature scaling.

    temperature: of `after`; in_use: whether the run decodes with it. can_scale: whether the task
    and the run allow it. documents: for `before`, then for `after`, the ids per bin; intervals: of
    their errors and bins.
    """

    before: Reliability
    after: Reliability | None
    temperature: float
    in_use: bool
    can_scale: bool
    documents: tuple[tuple[tuple[int, ...], ...], ...]
    intervals: tuple[BinnedIntervals, ...]


def calibrated(
    evidence: Evidence, dev: Evidence, in_use: float, *, can_scale: bool
) -> Calibrated | None:
    """Reliability on a split; the temperature is that in use, else one fitted on dev.

    None for a task without probabilities, or without a prediction.
    """
    from workbench.metrics.calibration import BinnedDecisions, binned_intervals, reliability

    info, used = evidence.info, in_use != 1.0
    fitted = info.temperature(dev.golds, dev.predictions) if len(dev) else None
    raw = evidence.predictions
    if used:
        raw = tuple(info.rescaled(prediction, 1 / in_use) for prediction in raw)
    decisions = _decisions(info, evidence.golds, raw)
    if decisions is None or not len(decisions[0]):
        return None
    before = reliability(decisions[0], decisions[1])
    documents = [_by_bin(evidence, before, decisions[2])]
    binned = [BinnedDecisions.of(before, *decisions, len(evidence))]
    temperature = in_use if used else fitted
    after = None
    if temperature is not None:
        scaled = [info.rescaled(prediction, temperature) for prediction in raw]
        columns = _decisions(info, evidence.golds, scaled)
        if columns is not None:
            after = reliability(columns[0], columns[1])
            documents.append(_by_bin(evidence, after, columns[2]))
            binned.append(BinnedDecisions.of(after, *columns, len(evidence)))
    can = can_scale and temperature is not None
    intervals = tuple(map(binned_intervals, binned))
    return Calibrated(before, after, temperature or 1.0, used, can, tuple(documents), intervals)


def _decisions(
    info: TaskInfo, golds: Sequence[Any], predictions: Sequence[Prediction]
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """As `TaskInfo.confidences`; None also for predictions without probabilities."""
    if not all(prediction.has_probabilities for prediction in predictions):
        return None
    return info.confidences(golds, predictions)


def _by_bin(evidence: Evidence, bins: Reliability, rows: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Ids of the documents in each bin; rows int (M,): the document of each decision."""
    ids = [row_id(document) for document in evidence.documents]
    return tuple(
        tuple(dict.fromkeys(ids[at] for at in rows[bins.members == number]))
        for number in range(len(bins.count))
    )


@dataclass(frozen=True)
class LabelCurves:
    """Curves of one label; threshold: in use, None where classes are not decided by one.

    average_precision, roc_auc: the areas with their intervals. pooled: the curves are those of the
    decisions of all labels together (micro average).
    """

    label: str
    precision_recall: Curve
    roc: Curve | None
    average_precision: Measured
    roc_auc: Measured
    threshold: float | None = None
    pooled: bool = False


def label_curves(evidence: Evidence) -> tuple[LabelCurves, ...]:
    """Curves of every label that has a document; of spans one curve, over their scores."""
    import numpy as np

    from workbench.metrics import curves
    from workbench.metrics.evaluation import UNKNOWN
    from workbench.metrics.label_counts import LabelCounts
    from workbench.metrics.ranking import DecisionRanking
    from workbench.metrics.report import measured_columns
    from workbench.metrics.resampling import LABEL

    statistic = evidence.of_task
    if isinstance(statistic, LabelCounts):
        if statistic.scores is None:
            return ()
        limits = thresholds(evidence.predictions)
        names = f"{LABEL}average_precision", f"{LABEL}roc_auc"
        areas = measured_columns(statistic.ranked, len(evidence), names) if len(evidence) else {}
        columns = zip(
            statistic.labels,
            statistic.scores.T,
            statistic.gold.T > 0,
            *(areas.get(name, [UNKNOWN] * len(statistic.labels)) for name in names),
            strict=True,
        )
        return tuple(
            LabelCurves(
                label,
                curves.precision_recall(scores, gold),
                curves.roc(scores, gold),
                precision,
                area,
                limits.get(label),
            )
            for label, scores, gold, precision, area in columns
            if gold.any()
        )
    decisions = _decisions(evidence.info, evidence.golds, evidence.predictions)
    if decisions is None or not len(decisions[0]):
        return ()
    counts = np.array([len([*gold.labels()]) for gold in evidence.golds], np.float64)
    curve = curves.precision_recall(decisions[0], decisions[1], gold=int(counts.sum()))
    ranked = DecisionRanking.of(*decisions, counts)
    (area,) = measured_columns(ranked, len(evidence), ["average_precision"])["average_precision"]
    return (LabelCurves(_("all labels"), curve, None, area, UNKNOWN),)


def pooled_curves(evidence: Evidence) -> tuple[LabelCurves, ...]:
    """The curves over the decisions of all labels, without intervals; () for a single label.

    As scikit-learn's micro averages of `average_precision_score` and `roc_auc_score`.
    """
    from workbench.metrics import curves
    from workbench.metrics.evaluation import UNKNOWN
    from workbench.metrics.label_counts import LabelCounts

    counts = evidence.of_task
    if not isinstance(counts, LabelCounts) or counts.scores is None or len(counts.labels) < 2:
        return ()
    scores, gold = counts.scores.ravel(), counts.gold.ravel() > 0
    if not gold.any():
        return ()
    drawn = curves.precision_recall(scores, gold), curves.roc(scores, gold)
    return (LabelCurves(_("all labels"), *drawn, UNKNOWN, UNKNOWN, pooled=True),)


def thresholds(predictions: Sequence[Prediction]) -> dict[str, float]:
    """The threshold of each label that the predictions decide independently; {} for others."""
    for prediction in predictions:
        if values := result_view.of(prediction).thresholds(prediction):
            return dict(values)
    return {}


def decided_labels(predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """The labels that the predictions decide independently, in the order of the model."""
    return tuple(thresholds(predictions))


def wrong_at(evidence: Evidence, label: str, threshold: float) -> list[int]:
    """Positions of the documents whose decisions for a label at a threshold differ from gold.

    label: "" for the decisions of all labels. Of spans, which have one curve for all labels, those
    with a spurious or a missed one.
    """
    from workbench.metrics.label_counts import LabelCounts

    if not isinstance(evidence.of_task, LabelCounts):
        return _wrong_spans(evidence, threshold)
    wrong = []
    for at, (gold, prediction) in enumerate(zip(evidence.golds, evidence.predictions, strict=True)):
        known = result_view.of(prediction).shares(prediction)
        right = set(gold.labels())
        labels = {label} if label else known.keys() | right
        if any((known.get(name, 0.0) >= threshold) != (name in right) for name in labels):
            wrong.append(at)
    return wrong


def _wrong_spans(evidence: Evidence, threshold: float) -> list[int]:
    import numpy as np

    columns = _decisions(evidence.info, evidence.golds, evidence.predictions)
    if columns is None:
        return []
    confidence, right, rows = columns
    above, n = confidence >= threshold, len(evidence)
    spurious = np.bincount(rows[above & ~right], minlength=n)
    hits = np.bincount(rows[above & right], minlength=n)
    gold = np.array([len([*gold.labels()]) for gold in evidence.golds], np.int64)
    return [int(at) for at in np.flatnonzero((spurious > 0) | (hits < gold))]
