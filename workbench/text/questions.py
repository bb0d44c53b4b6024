"""Questions about a document, their answers (ranges of its text), and what a model answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

ID = "id"  # entry of `attrs`: the identifier of the question in the data set that it comes from
NO_ANSWER = "–"  # shown for a question whose answer is not in the text


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold answers, [start, end) in code points of the first text.

    There may be several answers, any of which is right. `is_null`: the text holds no answer.
    Without answers and not `is_null`, the question is open. `attrs`: further entries of the data
    set, as JSON values.
    """

    text: str
    answers: tuple[tuple[int, int], ...] = ()
    is_null: bool = False
    attrs: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_open(self) -> bool:
        return not self.answers and not self.is_null

    @property
    def id(self) -> str:
        """The identifier in the data set that it comes from, "" without one."""
        return str(self.attrs.get(ID, ""))


def state_of(questions: Iterable[Question]) -> str:
    """The state of a document whose questions were imported: submitted if none is open."""
    is_open = [question.is_open for question in questions]
    if not is_open or all(is_open):
        return "pending"
    return "draft" if any(is_open) else "submitted"


def texts_of(questions: Mapping[str, Iterable[Question]]) -> tuple[str, ...]:
    """The different questions of all layers, in order."""
    return tuple(
        dict.fromkeys(
            question.text for layer_questions in questions.values() for question in layer_questions
        )
    )


def to_json(question: Question) -> dict[str, Any]:
    """An entry of the application's own format; empty parts are left out."""
    raw: dict[str, Any] = {"question": question.text}
    if question.answers:
        raw["answers"] = [list(offsets) for offsets in question.answers]
    if question.is_null:
        raw["is_null"] = True
    if question.attrs:
        raw["attrs"] = dict(question.attrs)
    return raw


def from_json(raw: Mapping[str, Any]) -> Question:
    """Raises KeyError, TypeError or ValueError for an invalid entry; does not check offsets."""
    answers = tuple((int(start), int(end)) for start, end in raw.get("answers", ()))
    return Question(
        str(raw["question"]), answers, bool(raw.get("is_null")), dict(raw.get("attrs") or {})
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer, code points [start, end) of the text, with its probability."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class PredictedAnswer:
    """The answer to one question.

    candidates: the best ranges of the text, best first; () for a text without any unit. text: of
    the best. null_gap: score of "no answer" minus that of the best candidate, as sums of logits.
    null_score: probability of "no answer"; probabilities of it and of all candidates that were
    considered sum to 1. is_null: there is no answer in the text.
    """

    question: str
    candidates: tuple[Candidate, ...]
    text: str
    null_gap: float
    null_score: float
    is_null: bool

    @property
    def best(self) -> Candidate | None:
        """The range that answers the question; None if the text does not."""
        return None if self.is_null or not self.candidates else self.candidates[0]

    @property
    def answer(self) -> str:
        """The text of the answer, "" for none."""
        return "" if self.best is None else self.text

    @property
    def score(self) -> float:
        """The probability of what is predicted."""
        return self.null_score if self.best is None else self.best.score

    def to_json(self) -> dict[str, Any]:
        best = self.best
        return {
            "question": self.question,
            "answer": None if best is None else self.text,
            "start": None if best is None else best.start,
            "end": None if best is None else best.end,
            "score": self.score,
            "null_score": self.null_score,
            "null_gap": self.null_gap,
            "text": self.text,
            "candidates": [
                [candidate.start, candidate.end, candidate.score] for candidate in self.candidates
            ],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        candidates = tuple(Candidate(*item) for item in raw["candidates"])
        numbers = float(raw["null_gap"]), float(raw["null_score"])
        is_null = raw["answer"] is None
        return cls(str(raw["question"]), candidates, str(raw["text"]), *numbers, is_null)
