"""The predicted number: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.number.info import INFO, PredictedNumber
from workbench.inspection.predicting import Predicting
from workbench.text.document import Document
from workbench.text.fields import Number


class NumberInspector:
    """For tasks that predict a number."""

    info = INFO

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> PredictedNumber:
        (document,) = documents
        prediction = subject.prediction(document)
        return PredictedNumber(prediction.required(Number).value, prediction.cut)
