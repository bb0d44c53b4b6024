"""Answers to the questions about a text: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class ConsideredAnswer:
    """A range of the text, code points [start, end), or "no answer" with text "".

    chosen: it is the answer that the model gives.
    """

    question: str
    text: str
    start: int
    end: int
    probability: float
    chosen: bool


@dataclass(frozen=True)
class AnswersFound:
    """Of every question, in order: the best answers and "no answer", most probable first."""

    answers: tuple[ConsideredAnswer, ...]


INFO = InspectorInfo(
    "answer_scores",
    N_("Answers"),
    AnswersFound,
    shows=N_(
        "Shows the ranges of the text that the model considers as answers to each question, with "
        "their probabilities. Does not show whether the text answers the question."
    ),
)
