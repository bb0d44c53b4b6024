"""The probability of every class: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.class_scores.info import INFO, ClassProbabilities
from workbench.inspection.subject import Subject
from workbench.text.document import Document
from workbench.text.fields import ClassScores

LONGEST = 60  # characters of a choice beside its number


class ClassScoresInspector:
    """For tasks that predict one class; choices are named by their number and text."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> ClassProbabilities:
        (document,) = documents
        prediction = subject.predicted(document).prediction
        scores = prediction.required(ClassScores)
        names = scores.labels
        if document.choices:
            named = zip(names, document.choices, strict=True)
            names = tuple(f"{name} · {shortened(choice)}" for name, choice in named)
        return ClassProbabilities(tuple(zip(names, scores.scores, strict=True)), prediction.cut)


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
