"""What a model answers to a question about a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


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
