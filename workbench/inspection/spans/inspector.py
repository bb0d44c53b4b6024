"""The spans that a run predicts: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.predicting import Predicting
from workbench.inspection.spans.info import INFO, PredictedSpans
from workbench.text.document import Document


class SpansInspector:
    """For tasks that predict spans."""

    info = INFO

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> PredictedSpans:
        (document,) = documents
        prediction = subject.prediction(document)
        return PredictedSpans(tuple(prediction.spans), subject.labels, prediction.cut)
