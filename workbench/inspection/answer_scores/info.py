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


@dataclass(frozen=True, slots=True)
class BoundaryToken:
    """A token of the text, code points [start, end), and its probabilities to be the first and
    the last token of the answer.
    """

    shown: str
    start: int
    end: int
    first: float
    last: float


@dataclass(frozen=True)
class Boundaries:
    """The distributions over first and last tokens of the answer to one question.

    null_first, null_last: of "no answer", 0 for a run that answers every question. The others add
    up to 1 - these.
    """

    question: str
    tokens: tuple[BoundaryToken, ...]
    null_first: float
    null_last: float


@dataclass(frozen=True)
class AnswerAlternatives:
    """For every question, in order: the best answers and "no answer", most probable first; and the
    distributions they are combined from.
    """

    answers: tuple[ConsideredAnswer, ...]
    boundaries: tuple[Boundaries, ...] = ()


INFO = InspectorInfo(
    "answer_scores",
    N_("Answers"),
    AnswerAlternatives,
    shows=N_(
        "Shows the ranges of the text that the model considers as answers to each question, with "
        "their probabilities, and the probability of each token to be the start and the end. Does "
        "not show whether the text answers the question. Devlin et al. 2019, section 4.2."
    ),
)
