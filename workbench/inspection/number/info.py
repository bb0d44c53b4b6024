"""The predicted number: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class PredictedNumber:
    """The number as the network gives it, which may lie outside of the scale of the layer."""

    value: float
    cut: bool = False


INFO = InspectorInfo(
    "number",
    N_("Predicted number"),
    PredictedNumber,
    shows=N_(
        "Shows the number that the run predicts for the text, beside gold. Does not show how "
        "certain the prediction is: the network gives one number without an interval. Devlin et "
        "al. 2019, section 4.1 (STS-B)."
    ),
)
