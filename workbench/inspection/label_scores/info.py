"""The probability of every label, with its threshold: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class LabelProbability:
    """A label is predicted if its probability reaches its threshold."""

    label: str
    score: float
    threshold: float

    @property
    def predicted(self) -> bool:
        return self.score >= self.threshold


@dataclass(frozen=True)
class LabelProbabilities:
    """Probabilities in the order of the run's labels."""

    labels: tuple[LabelProbability, ...]
    cut: bool = False


INFO = InspectorInfo(
    "label_scores",
    N_("Label probabilities"),
    LabelProbabilities,
    shows=N_(
        "Shows the probability of every label and its decision threshold, fitted on dev unless you "
        "have set it. Does not show why a label was chosen. Lipton et al. 2014 (thresholds for F1)."
    ),
)
