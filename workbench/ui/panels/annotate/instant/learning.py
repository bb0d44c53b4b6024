"""Learning curves that Annotate shows: of the instant model, and over rounds of training again."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import _
from workbench.operations.annotation import instant, instant_curve
from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.operations.runs import rounds
from workbench.operations.runs.rounds import Rounds
from workbench.ui.panels.annotate.instant.instant_model import Instant


@dataclass(frozen=True)
class LearningCurve:
    """advice: whether to continue labelling, in a sentence. message: what was measured."""

    title: str
    points: tuple[CurvePoint, ...]
    advice: str
    message: str


def of_instant(model: Instant) -> LearningCurve:
    """Its curve with what it learns from now: others are not comparable."""
    source = _("Learned from words; a new curve begins with the vectors of a model.")
    if model.vectors != instant.WORDS:
        source = (
            _("Learned from vectors of {model}.")
            if model.layer.traits.in_text
            else _("Learned from words and vectors of {model}.")
        ).format(model=model.model_name)
    measured = _(
        "Measured on dev, else on each fifth of the labels in turn; agreement with the predictions "
        "10 labels before, on documents without a label."
    )
    advice = instant_curve.advice(model.points)
    return LearningCurve(_("Instant model"), model.points, advice, f"{source} {measured}")


def of_rounds(of_run: Rounds) -> LearningCurve:
    title = _("Rounds of retraining up to {run}", run=of_run.runs[-1])
    return LearningCurve(title, of_run.points, rounds.advice(of_run), rounds.describe(of_run))
