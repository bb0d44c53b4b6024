"""The Annotate page without its widgets: the session of a document, and the tools. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.text.labels import ARCS, CHOICES, CLASSES, NUMBER, QUESTIONS, TEXT, TOKENS, WRITING
from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool
from workbench.ui.panels.annotate.choices.choices import ChoiceTool
from workbench.ui.panels.annotate.classes.classes import ClassTool
from workbench.ui.panels.annotate.find.finder import FindTool
from workbench.ui.panels.annotate.guideline.guideline import GuidelineTool
from workbench.ui.panels.annotate.instant.instant import InstantTool
from workbench.ui.panels.annotate.patterns.occurrences import OccurrenceTool
from workbench.ui.panels.annotate.prefetch.prefetch import PrefetchTool
from workbench.ui.panels.annotate.questions.questions import QuestionTool
from workbench.ui.panels.annotate.queue.queue import QueueTool
from workbench.ui.panels.annotate.relations.relations import RelationTool
from workbench.ui.panels.annotate.remarks.remarks import RemarkTool
from workbench.ui.panels.annotate.review.review import ReviewTool
from workbench.ui.panels.annotate.session import DocumentSession
from workbench.ui.panels.annotate.spans.spans import SpanTool
from workbench.ui.panels.annotate.submission.submission import SubmissionTool
from workbench.ui.panels.annotate.suggestions.suggestions import SuggestionTool
from workbench.ui.panels.annotate.tokens.tokens import TokenTool
from workbench.ui.panels.annotate.values.values import ValueTool

if TYPE_CHECKING:
    from workbench.base.errors import WorkbenchError
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.annotate.tool import Tool
    from workbench.ui.project.unsaved import UnsavedText

# `LayerKind.editor` → the tool of the desk that edits such layers; a kind of a plugin names one
EDITORS: Mapping[str, str] = {
    TEXT: "spans",
    CLASSES: "classes",
    TOKENS: "tokens",
    CHOICES: "choices",
    QUESTIONS: "questions",
    NUMBER: "values",
    WRITING: "values",
    ARCS: "relations",
}


class Desk(State):
    """Makes the tools, and passes on what is meant for whatever is selected.

    Emits the changes of the session as its own.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.session = session = DocumentSession(context)
        self.context, self.project = context, session.project
        self.review, self.queue = ReviewTool(session), QueueTool(session)
        self.prefetch, self.instant = PrefetchTool(session), InstantTool(session)
        self.relations, self.spans, self.tokens = (
            RelationTool(session), SpanTool(session), TokenTool(session),
        )  # fmt: skip
        self.suggested, self.classes = SuggestionTool(session), ClassTool(session)
        self.choices, self.values = ChoiceTool(session), ValueTool(session)
        self.questions, self.remarks = QuestionTool(session), RemarkTool(session)
        self.finder, self.submission = FindTool(session), SubmissionTool(session)
        self.occurrences, self.adjudication = OccurrenceTool(session), AdjudicationTool(session)
        self.guideline = GuidelineTool(session)
        self.tools: tuple[Tool, ...] = (
            self.review, self.queue, self.prefetch, self.instant, self.relations, self.spans,
            self.tokens, self.suggested, self.classes, self.choices, self.values, self.questions,
            self.remarks, self.finder, self.submission, self.occurrences, self.adjudication,
            self.guideline,
        )  # fmt: skip
        session.editors = {editor: getattr(self, name) for editor, name in EDITORS.items()}
        self.listen(session.changed, self.changed.emit)
        self.queue.start()
        self.instant.resume()

    def close(self) -> None:
        super().close()
        for tool in self.tools:
            tool.close()
        self.session.close()

    def unsaved_texts(self) -> tuple[UnsavedText, ...]:
        """See `ui.project.unsaved`."""
        return self.values.unsaved_texts()

    def store_texts(self) -> WorkbenchError | None:
        """See `ui.project.unsaved`."""
        return self.values.store_texts()

    # ------------------------------------------------------------ what depends on the mode

    def submit(self) -> None:
        """Submit the document and open the next one; in adjudication, as gold."""
        if self.adjudication.is_shown:
            self.adjudication.submit()
        else:
            self.submission.submit()

    @property
    def can_submit(self) -> bool:
        return self.adjudication.can_submit or self.session.can_edit

    def step(self, way: int) -> None:
        """Go to the next (1) or previous (-1) document of the queue."""
        if self.adjudication.is_shown:
            self.adjudication.step_document(way)
        else:
            self.queue.step(way)

    @property
    def can_step(self) -> bool:
        if self.adjudication.is_on:
            return self.adjudication.is_shown and len(self.adjudication.ids) > 1
        return self.session.doc is not None and len(self.queue.ids) > 1

    # ------------------------------------------------------------ what is selected

    def delete_chosen(self) -> None:
        """Delete the selected span or relation or reject the selected suggestion, else clear the
        number.
        """
        if self.session.can_edit:
            any(tool.delete_chosen() for tool in self.tools)

    def accept(self) -> None:
        """Accept the selected suggestion, else the first; then select the next.

        In error review, the prediction becomes gold and the next error is opened.
        """
        if self.session.errors:
            self.review.accept_answer()
        else:
            self.suggested.accept()

    def reject(self) -> None:
        """Reject the suggestion, chosen as in `accept`.

        In error review, keep gold and open the next.
        """
        if self.session.errors:
            self.queue.next_error()
        else:
            self.suggested.reject()
