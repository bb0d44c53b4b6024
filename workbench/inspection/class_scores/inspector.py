"""The probability of every class: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.class_scores.info import INFO, ClassProbabilities
from workbench.inspection.predicting import Predicting
from workbench.text import result_view
from workbench.text.document import Document

MAX_CHOICE_CHARS = 60  # characters of a choice that are shown


class ClassScoresInspector:
    """For tasks that predict one class."""

    info = INFO

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> ClassProbabilities:
        (document,) = documents
        prediction = subject.prediction(document)
        view = result_view.of(prediction)
        pairs = view.shares(prediction).items()
        choices = tuple(map(shortened, document.choices))
        predicted = next(iter(view.labels(prediction)), "")
        return ClassProbabilities(
            tuple(pairs), prediction.cut, choices, predicted, subject.is_ordered
        )


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHOICE_CHARS else f"{line[: MAX_CHOICE_CHARS - 1]}…"
