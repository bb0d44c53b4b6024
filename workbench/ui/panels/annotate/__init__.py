"""Annotate: the text with its spans; labels by key and mouse; suggestions to accept or reject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.ui.panel import Panel
from workbench.ui.panels.annotate.commands import COMMANDS

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.annotate.state import Desk
    from workbench.ui.panels.annotate.view import AnnotateView


class AnnotatePanel(Panel):
    state: Desk
    view: AnnotateView

    commands = COMMANDS

    def build(self, context: PanelContext) -> tuple[Desk, Callable[[], AnnotateView]]:
        from workbench.ui.panels.annotate.state import Desk
        from workbench.ui.panels.annotate.view import AnnotateView

        state = Desk(context)
        return state, lambda: AnnotateView(state)

    @property
    def can_find(self) -> bool:
        return self.state.session.doc is not None and not self.state.adjudication.is_shown

    def find(self) -> None:
        self.view.find()

    def shown(
        self,
        *,
        document: int | None = None,
        span: int | None = None,
        at: tuple[str, int, int] | None = None,
        run: int | None = None,
        errors: Sequence[int] = (),
        question: str = "",
        suggestions: bool = False,
        adjudicate: Sequence[int] = (),
        layers: Sequence[int] = (),
        **_args: Any,
    ) -> None:
        adjudication = self.state.adjudication
        if adjudicate:
            adjudication.start_with(adjudicate, layers, document)
            return
        if adjudication.is_on and (document is not None or run is not None):
            adjudication.leave()
        if run is not None and errors:
            self.state.review.show_errors(run, errors, document)
            self.state.session.choose(("gold", span) if span is not None else None)
        elif suggestions:
            self.state.queue.show_suggestions(run)
        elif document is not None:
            if self.state.session.errors:
                self.state.session.leave_review()
            self.state.session.open(document, ("gold", span) if span is not None else None)
        else:
            self.state.session.follow()
        if question:
            self.state.questions.choose_question_text(question)
        if at is not None:
            self.view.show_text(*at)

    def place(self) -> dict[str, Any]:
        state = self.state
        if state.adjudication.is_on:
            return state.adjudication.place_in_history()
        place: dict[str, Any] = {"document": state.session.document_id}
        if state.session.errors and state.session.run is not None:
            place.update(run=state.session.run.id, errors=state.session.errors)
        if state.session.chosen is not None and state.session.chosen[0] == "gold":
            place.update(span=state.session.chosen[1])
        return place
