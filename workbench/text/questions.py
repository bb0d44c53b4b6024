"""Questions about a document with their answers, which are ranges of its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
