"""The quality of a run as plain values, for programs: calibration, curves, slices, training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import to_plain
from workbench.operations.evaluation import quality, slices
from workbench.operations.runs import calibration, results, run_folders
from workbench.operations.runs.training_curves import training_curves
from workbench.text.columns import record

if TYPE_CHECKING:
    from workbench.metrics.calibration import BinnedIntervals, Reliability
    from workbench.metrics.curves import Curve
    from workbench.metrics.evaluation import Measured
    from workbench.operations.evaluation.gap import GapScores
    from workbench.operations.evaluation.quality import Calibrated, Evidence, LabelCurves
    from workbench.operations.evaluation.slices import Slices
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


def quality_report(
    project: Project,
    run: Run,
    split: str,
    patterns: Sequence[str] = (),
    conditions: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything that the Quality part of Results shows, from stored predictions on a split.

    patterns, conditions: regular expressions and queries of further slices. Parts that do not exist
    are None or empty.
    """
    evidence = quality.with_queries(project, quality.evidence(project, run, split), conditions)
    dev = evidence if split == "dev" else quality.evidence(project, run, "dev")
    can = run_folders.has_model(project, run.id)
    in_use = calibration.temperature(project, run)
    training = training_curves(project, run.id)
    return {
        "confusion": _confusion(project, run, evidence),
        "calibration": _calibrated(quality.calibrated(evidence, dev, in_use, can_scale=can)),
        "curves": [_curves(label_curve) for label_curve in quality.label_curves(evidence)],
        "pronouns": to_plain(pronoun_scores(evidence)),
        "slices": _slices(
            slices.slices(evidence, patterns, quality.other_splits(project, run, split))
        ),
        "training": to_plain(training) if training is not None else None,
    }


def pronoun_scores(evidence: Evidence) -> GapScores | None:
    """Scores by gender of documents that ask which name a pronoun means; None for others."""
    from workbench.operations.evaluation.gap import gap_scores

    counts = quality.pronoun_counts(evidence)
    return None if counts is None else gap_scores(counts)


def fit_temperature(project: Project, run: Run) -> float | None:
    """Fit the temperature of a run on dev and use it from now on; None if it has none."""
    dev = quality.evidence(project, run, "dev")
    calibrated = quality.calibrated(dev, dev, 1.0, can_scale=True)
    if calibrated is None or not calibrated.can_scale:
        return None
    value = calibrated.temperature * calibration.temperature(project, run)
    calibration.set_temperature(project, run.id, value)
    return value


def change_thresholds(
    project: Project, run: Run, changes: Mapping[str, float] | None
) -> dict[str, float]:
    """Decide with other thresholds from now on; returns those of all labels.

    changes: by label; None for the highest F1 on dev. Raises WorkbenchError for a label that the
    run does not decide by a threshold, or a value that is no probability.
    """
    dev = quality.evidence(project, run, "dev")
    known = quality.thresholds(dev.predictions)
    if changes is None:
        fitted = dev.info.fit(dev.golds, dev.predictions, tuple(known)) if known else {}
        values = fitted.get(calibration.THRESHOLDS, tuple(known.values()))
        changes = dict(zip(known, values, strict=True))
    for label, value in changes.items():
        if label not in known:
            raise WorkbenchError(
                _("Run {name!r} has no threshold of {label!r}.", name=run.name, label=label),
                hint=_("Labels with a threshold: {labels}.", labels=", ".join(known) or _("none")),
            )
        if not 0 <= value <= 1:
            raise WorkbenchError(
                _(
                    "The threshold of {label!r} is {value}, not from 0 to 1.",
                    label=label,
                    value=value,
                )
            )
    known.update(changes)
    calibration.set_thresholds(project, run.id, tuple(known.values()))
    return known


def _confusion(project: Project, run: Run, evidence: Evidence) -> dict[str, Any] | None:
    from workbench.operations.evaluation.scoring import GoldDocument

    pairs = zip(evidence.documents, evidence.golds, strict=True)
    documents = [GoldDocument(document, gold) for document, gold in pairs]
    names = results.layer_of(project, run).names
    matrix = results.confusion(results.task_of(run), names, documents, evidence.predictions)
    return matrix.to_json() if matrix is not None else None


def _calibrated(calibrated: Calibrated | None) -> dict[str, Any] | None:
    if calibrated is None:
        return None
    return {
        "temperature": calibrated.temperature if calibrated.after is not None else None,
        "in_use": calibrated.in_use,
        "before": _bins(calibrated.before, calibrated.intervals[0]),
        "after": _bins(calibrated.after, calibrated.intervals[1])
        if calibrated.after is not None
        else None,
    }


def _bins(reliability: Reliability, intervals: BinnedIntervals) -> dict[str, Any]:
    columns = zip(
        reliability.count,
        reliability.confidence,
        reliability.correct,
        intervals.correct,
        strict=True,
    )
    return {
        "ece": reliability.error,
        "ece_interval": _interval(intervals.error),
        "bins": [
            {
                "count": int(count),
                "confidence": _number(mean),
                "correct": _number(share),
                "correct_interval": _interval(measured),
            }
            for count, mean, share, measured in columns
        ],
    }


def _curves(label_curves: LabelCurves) -> dict[str, Any]:
    pr, roc = label_curves.precision_recall, label_curves.roc
    return {
        "label": label_curves.label,
        "threshold": label_curves.threshold,
        "average_precision": pr.area,
        "average_precision_interval": _interval(label_curves.average_precision),
        "roc_auc": roc.area if roc is not None else None,
        "roc_auc_interval": _interval(label_curves.roc_auc),
        "precision_recall": _points(pr, "recall", "precision"),
        "roc": _points(roc, "false_positive_rate", "true_positive_rate") if roc else [],
    }


def _interval(score: Measured) -> list[float] | None:
    return list(score.interval) if score.interval is not None else None


def _points(curve: Curve, x: str, y: str) -> list[dict[str, float | None]]:
    rows = zip(curve.x, curve.y, curve.thresholds, strict=True)
    return [{x: float(a), y: float(b), "threshold": _number(at)} for a, b, at in rows]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _slices(table: Slices | None) -> dict[str, Any] | None:
    if table is None:
        return None
    described = slices.columns(table.score)
    return {
        "score": table.score,
        "value": table.whole,
        "n": table.n,
        "rows": [record(described, row) for row in table.rows],
        "left_out": [{"name": name, "n": n} for name, n in table.left_out.items()],
    }
