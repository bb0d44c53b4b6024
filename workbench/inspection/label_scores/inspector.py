"""The probability of every label, with its threshold: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.label_scores.info import INFO, LabelProbabilities, LabelProbability
from workbench.inspection.predicting import Predicting
from workbench.text.document import Document
from workbench.text.fields import LabelScores


class LabelScoresInspector:
    """For tasks that predict any number of labels."""

    info = INFO

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> LabelProbabilities:
        (document,) = documents
        prediction = subject.prediction(document)
        scores = prediction.required(LabelScores)
        rows = zip(scores.labels, scores.scores, scores.thresholds, strict=True)
        return LabelProbabilities(tuple(LabelProbability(*row) for row in rows), prediction.cut)
