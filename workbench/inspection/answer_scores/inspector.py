"""Answers to the questions about a text: the heavy part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.inspection.answer_scores.info import (
    INFO,
    AnswerAlternatives,
    Boundaries,
    BoundaryToken,
    ConsideredAnswer,
)
from workbench.inspection.base import piece_text
from workbench.inspection.subject import Predicted, Subject
from workbench.runtime.answers import boundary_shares
from workbench.runtime.inputs import QUESTION_NUMBER, Preparer
from workbench.text.document import Document
from workbench.text.fields import Answers
from workbench.text.questions import PredictedAnswer

LOGITS = "logits"  # the output of tasks with starts and ends


class AnswersInspector:
    """For tasks that answer questions."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> AnswerAlternatives:
        (document,) = documents
        passed = subject.predicted(document)
        predicted_answers = passed.prediction.required(Answers).answers
        return AnswerAlternatives(
            tuple(row for answer in predicted_answers for row in _rows(document.text, answer)),
            tuple(
                _boundaries(document.text, number, answer, passed, subject.preparer)
                for number, answer in enumerate(predicted_answers)
            ),
        )


def _rows(text: str, answer: PredictedAnswer) -> Iterator[ConsideredAnswer]:
    best = answer.best
    rows = [
        ConsideredAnswer(
            answer.question,
            text[candidate.start : candidate.end],
            candidate.start,
            candidate.end,
            candidate.score,
            candidate == best,
        )
        for candidate in answer.candidates
    ]
    if answer.null_score:
        none = ConsideredAnswer(answer.question, "", 0, 0, answer.null_score, best is None)
        rows.append(none)
    yield from sorted(rows, key=lambda row: -row.probability)


def _boundaries(
    text: str, number: int, answer: PredictedAnswer, passed: Predicted, preparer: Preparer
) -> Boundaries:
    inputs = passed.prepared.inputs
    own = [at for at in range(len(inputs)) if int(inputs[at].arrays[QUESTION_NUMBER][0]) == number]
    windows = [inputs[at] for at in own]
    pieces = [preparer.pieces(window) for window in windows]
    logits = [passed.logits[at][LOGITS] for at in own]
    places, shares = boundary_shares(windows, logits, null=bool(answer.null_score))
    tokens = []
    for (window, position), (first, last) in zip(places, shares[:-1].tolist(), strict=True):
        start, end = windows[window].offsets[position].tolist()
        piece = piece_text(pieces[window][position], text[start:end])
        tokens.append(BoundaryToken(piece, start, end, first, last))
    return Boundaries(answer.question, tuple(tokens), *shares[-1].tolist())
