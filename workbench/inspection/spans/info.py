"""The spans that a run predicts: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo
from workbench.text.spans import Span


@dataclass(frozen=True)
class PredictedSpans:
    """Predicted spans in text order; `labels` are those of the run."""

    spans: tuple[Span, ...]
    labels: tuple[str, ...]
    cut: bool = False


INFO = InspectorInfo(
    "spans",
    N_("Gold and predicted"),
    PredictedSpans,
    shows=N_(
        "Shows predicted spans beside gold and how they differ. Does not show spans that were "
        "almost predicted. Chinchor and Sundheim 1993 (missed, spurious)."
    ),
)
