"""The probability of every class: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.class_scores.info import INFO, ClassProbabilities
from workbench.inspection.subject import Subject
from workbench.text.document import Document
from workbench.text.fields import ClassScores


class ClassScoresInspector:
    """For tasks that predict one class."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> ClassProbabilities:
        (document,) = documents
        prediction = subject.predicted(document).prediction
        scores = prediction.required(ClassScores)
        pairs = zip(scores.labels, scores.scores, strict=True)
        return ClassProbabilities(tuple(pairs), prediction.cut)
