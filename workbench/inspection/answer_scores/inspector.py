"""Answers to the questions about a text: the heavy part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.inspection.answer_scores.info import INFO, AnswersFound, ConsideredAnswer
from workbench.inspection.subject import Subject
from workbench.text.document import Document
from workbench.text.fields import Answers
from workbench.text.predicted_answers import PredictedAnswer


class AnswersInspector:
    """For tasks that answer questions."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> AnswersFound:
        (document,) = documents
        found = subject.predicted(document).prediction.required(Answers)
        return AnswersFound(
            tuple(row for one in found.answers for row in _rows(document.text, one))
        )


def _rows(text: str, answer: PredictedAnswer) -> Iterator[ConsideredAnswer]:
    best = answer.best
    rows = [
        ConsideredAnswer(
            answer.question, text[one.start : one.end], one.start, one.end, one.score, one == best
        )
        for one in answer.candidates
    ]
    if answer.null_score:
        none = ConsideredAnswer(answer.question, "", 0, 0, answer.null_score, best is None)
        rows.append(none)
    yield from sorted(rows, key=lambda row: -row.probability)
