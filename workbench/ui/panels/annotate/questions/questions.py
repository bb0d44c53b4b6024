"""Questions about a document: the current one, its answers in the text, and actions. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import ngettext
from workbench.metrics.answers import scores
from workbench.operations.annotation import questions
from workbench.operations.annotation.questions import AskedQuestion
from workbench.text.questions import NO_ANSWER
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.session import GOLD, SUGGESTED
from workbench.ui.panels.annotate.tool import EditorTool

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.session import DocumentSession

PREDICTED = "predicted"


@dataclass(frozen=True)
class ShownQuestion:
    """A question in the list. answers: texts of the right ones; score: of `suggested`.

    suggested: text of a suggested or, in error review, of the predicted answer; "" for none.
    """

    id: int
    text: str
    answers: tuple[str, ...]
    is_null: bool
    current: bool
    suggested: str = ""
    score: float | None = None


@dataclass(frozen=True)
class ShownAnswer:
    """An answer of the current question in the text, [start, end) in code points."""

    start: int
    end: int
    kind: str
    id: int
    score: float | None = None


class QuestionTool(EditorTool):
    """`asked`: id of the current question, None for the first one."""

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.asked: int | None = None
        self.listen(session.opened, self._opened)

    def _opened(self, _before: int | None) -> None:
        """The first question that is not answered yet becomes the current one."""
        unanswered = (question.id for question in self.questions if question.question.is_open)
        self.update(asked=next(unanswered, None))

    @property
    def mistakes(self) -> str:
        if not (n := len(self.wrong_questions)):
            return ""
        return ngettext("{n} question has another answer.", "{n} questions have other answers.", n)

    @property
    def mistaken(self) -> bool:
        return self.question in self.wrong_questions

    @property
    def questions(self) -> tuple[AskedQuestion, ...]:
        """The questions about the document, () without such a layer."""
        layer = self.session.question_layer
        if layer is None or self.session.doc is None:
            return ()
        return tuple(
            question for question in self.session.doc.questions if question.layer_id == layer.id
        )

    @property
    def question(self) -> AskedQuestion | None:
        """The current question."""
        every = self.questions
        return next(
            (question for question in every if question.id == self.asked),
            every[0] if every else None,
        )

    @property
    def shown_questions(self) -> tuple[ShownQuestion, ...]:
        current = self.question
        questions = []
        for asked_question in self.questions:
            proposed = self._proposed(asked_question)
            questions.append(
                ShownQuestion(
                    asked_question.id,
                    asked_question.question.text,
                    tuple(self._words(*offsets) for offsets in asked_question.question.answers),
                    asked_question.question.is_null,
                    asked_question is current,
                    self._describe(proposed),
                    proposed.score if proposed is not None else None,
                )
            )
        return tuple(questions)

    @property
    def shown_answers(self) -> tuple[ShownAnswer, ...]:
        """The answers of the current question: gold, suggested and predicted ones."""
        asked_question = self.question
        if asked_question is None:
            return ()
        answers = [
            ShownAnswer(row.start, row.end, GOLD, row.id)
            for row in asked_question.rows
            if row.start is not None and row.end is not None
        ]
        proposed = self._proposed(asked_question)
        if proposed is not None and proposed.start < proposed.end:
            answers.append(proposed)
        return tuple(answers)

    def _proposed(self, asked_question: AskedQuestion) -> ShownAnswer | None:
        """The prediction under review, else the first open suggestion; empty for "no answer"."""
        if self.session.errors:
            answers = {answer.label: answer for answer in self.session.predicted_answers}
            answer = answers.get(asked_question.question.text)
            if answer is None or asked_question.layer_id != self.session.run_layer:
                return None
            place = answer.start or 0, answer.end or 0
            return ShownAnswer(*place, PREDICTED, asked_question.id, answer.score)
        row = next(
            (row for row in self.session.suggestions if row.question == asked_question.id), None
        )
        if row is None:
            return None
        return ShownAnswer(row.start or 0, row.end or 0, SUGGESTED, row.id, row.score)

    @property
    def wrong_questions(self) -> tuple[AskedQuestion, ...]:
        """In error review, the questions whose predicted answer is none of gold."""
        if not self.session.errors or self.session.predicted is None:
            return ()
        return tuple(
            asked_question
            for asked_question in self.questions
            if asked_question.layer_id == self.session.run_layer
            and not asked_question.question.is_open
            and not self._is_right(asked_question)
        )

    def _is_right(self, asked_question: AskedQuestion) -> bool:
        proposed = self._proposed(asked_question)
        predicted = self._words(proposed.start, proposed.end) if proposed is not None else ""
        gold = [self._words(*offsets) for offsets in asked_question.question.answers]
        return scores([gold], [predicted])["answer_exact_match"] == 1

    def _words(self, start: int, end: int) -> str:
        return " ".join(self.session.shown_doc.document.text[start:end].split())

    def _describe(self, proposed: ShownAnswer | None) -> str:
        if proposed is None:
            return ""
        return self._words(proposed.start, proposed.end) or NO_ANSWER

    def choose_question(self, id: int) -> None:
        self.update(asked=id)

    def choose_question_text(self, text: str) -> None:
        """Make the question with this text the current one, if there is one."""
        id = next((q.id for q in self.questions if q.question.text == text), None)
        if id is not None:
            self.choose_question(id)

    def step_question(self, way: int) -> None:
        """Go to the next (+1) or previous (-1) question; after the last comes the first."""
        every, current = self.questions, self.question
        if current is not None:
            self.choose_question(every[(every.index(current) + way) % len(every)].id)

    def add_question(self, text: str) -> bool:
        """Ask a question, which becomes the current one. Whether it was added."""
        layer = self.session.question_layer
        if layer is None or not self.session.can_edit or not text.strip():
            return False
        id = self.session.attempt(questions.add, self.session.shown_id, row_id(layer), text)
        if id is None:
            return False
        self.choose_question(id)
        return True

    def rename_question(self, text: str) -> None:
        if (asked_question := self.question) is not None and self.session.can_edit and text.strip():
            self.session.attempt(questions.rename, asked_question.id, text)

    def delete_question(self) -> None:
        """Delete the current question; the next one becomes current."""
        asked_question = self.question
        if asked_question is None or not self.session.can_edit:
            return
        every = self.questions
        at = every.index(asked_question)
        left = every[at + 1 :] + every[:at][::-1]
        self.session.attempt(questions.delete, asked_question.id)
        self.update(asked=left[0].id if left else None)

    def answer_question(self, start: int, end: int) -> None:
        """Add code points [start, end) to the answers of the current question."""
        if (asked_question := self.question) is not None and self.session.can_edit:
            self.session.attempt(questions.answer, asked_question.id, start, end)

    def toggle_null(self) -> None:
        """State that the text does not answer the current question, or take that back."""
        if (asked_question := self.question) is not None and self.session.can_edit:
            self.session.attempt(
                questions.set_null, asked_question.id, not asked_question.question.is_null
            )

    def remove_last_answer(self) -> None:
        """Remove the answer of the current question that was added last, or "no answer"."""
        asked_question = self.question
        if asked_question is None or not self.session.can_edit:
            return
        if asked_question.question.is_null:
            self.session.attempt(questions.set_null, asked_question.id, False)
        elif asked_question.question.answers:
            self.session.attempt(
                questions.remove_answer, asked_question.id, *asked_question.question.answers[-1]
            )

    def take_prediction(self) -> bool:
        """Make the predicted answer of the current question gold, in error review.

        False if no question is reviewed.
        """
        asked_question = self.question
        if (
            asked_question is None
            or not self.session.errors
            or asked_question.layer_id != self.session.run_layer
        ):
            return False
        proposed = self._proposed(asked_question)
        if proposed is not None and self.session.can_edit:
            offsets = (proposed.start, proposed.end) if proposed.start < proposed.end else None
            self.session.attempt(
                questions.accept, asked_question.id, offsets, self.session.shown_run.id
            )
        return True
