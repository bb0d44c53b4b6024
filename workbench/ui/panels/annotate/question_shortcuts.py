"""Keys for questions that need the text and the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.view import AnnotateView


class QuestionShortcuts:
    """`view`: the Annotate page."""

    def __init__(self, view: AnnotateView) -> None:
        self._view = view
        view.right.questions.left.connect(lambda: view.document_pane.focus_text())
        view.right.questions.answered.connect(self._answer_by_mouse)

    def _answer_by_mouse(self) -> None:
        if not self.answer():
            self._view.state.context.note(_("Select the answer in the text first."))
        self._view.document_pane.focus_text()

    def answer(self) -> bool:
        """Make the selected text an answer of the current question; whether text was selected."""
        text, state = self._view.document_pane.text, self._view.state
        if not text.selection or text.target is None or state.questions.question is None:
            return False
        state.questions.answer_question(*text.target)
        text.select(text.caret, text.caret, show=False)
        return True

    def ask(self) -> None:
        """Type a new question."""
        self._open_list()
        self._view.right.questions.ask()

    def edit(self) -> None:
        """Change the current question."""
        self._open_list()
        self._view.right.questions.edit()

    def _open_list(self) -> None:
        if self._view.folded("right"):
            self._view.fold("right")
