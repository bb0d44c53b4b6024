"""Annotate: the text with its spans; labels by key and mouse; suggestions to accept or reject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel
from workbench.ui.panels.annotate.commands import (
    BARE_COMMANDS,
    LINK_COMMANDS,
    QUEUE_COMMANDS,
    UNIT_COMMANDS,
    has_document,
    has_queue,
)

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.annotate.desk import Desk
    from workbench.ui.panels.annotate.view import AnnotateView


def _can_edit(panel: AnnotatePanel) -> bool:
    return panel.state.session.can_edit


def _has_labels(panel: AnnotatePanel) -> bool:
    return panel.state.session.has_labels


def _can_step(panel: AnnotatePanel) -> bool:
    return panel.state.session.doc is not None and len(panel.state.queue.ids) > 1


def _has_found(panel: AnnotatePanel) -> bool:
    return panel.state.session.doc is not None and panel.state.finder.count > 0


def _has_panes(panel: AnnotatePanel) -> bool:
    return len(panel.view.panes()) > 1


def _has_errors(panel: AnnotatePanel) -> bool:
    return bool(panel.state.session.errors)


def _narrowed(panel: AnnotatePanel) -> bool:
    return has_queue(panel) and not panel.state.queue.narrowed.empty


def _can_take(panel: AnnotatePanel) -> bool:
    return _has_errors(panel) and panel.state.session.can_edit


class AnnotatePanel(Panel):
    state: Desk
    view: AnnotateView

    commands = (
        Command(
            "annotate.find-next",
            _("Find &next"),
            lambda p: p.view.find_step(1),
            "Edit",
            "F3",
            enabled=_has_found,
            group="find",
        ),
        Command(
            "annotate.find-previous",
            _("Find pre&vious"),
            lambda p: p.view.find_step(-1),
            "Edit",
            "Shift+F3",
            enabled=_has_found,
            group="find",
        ),
        Command(
            "annotate.submit",
            _("&Submit and open next"),
            lambda p: p.state.submission.submit(),
            "Labels",
            ("Ctrl+Return", "Ctrl+Enter"),
            enabled=_can_edit,
            group="done",
        ),
        Command(
            "annotate.discard",
            _("&Discard document"),
            lambda p: p.state.submission.discard(),
            "Labels",
            "Ctrl+Backspace",
            enabled=_can_edit,
            group="done",
        ),
        Command(
            "annotate.skip",
            _("S&kip document"),
            lambda p: p.state.queue.skip(),
            "Labels",
            enabled=has_document,
            group="done",
        ),
        Command(
            "annotate.note",
            _("No&te…"),
            lambda p: p.view.remarks.ask_note(),
            "Labels",
            "Ctrl+T",
            enabled=_can_edit,
            group="done",
        ),
        Command(
            "annotate.flag",
            _("Fla&g…"),
            lambda p: p.view.remarks.ask_flag(),
            "Labels",
            "Ctrl+K",
            enabled=_can_edit,
            group="done",
        ),
        Command(
            "annotate.next",
            _("&Next document"),
            lambda p: p.state.queue.step(1),
            "Labels",
            "Ctrl+Right",
            enabled=_can_step,
            group="walk",
        ),
        Command(
            "annotate.previous",
            _("&Previous document"),
            lambda p: p.state.queue.step(-1),
            "Labels",
            "Ctrl+Left",
            enabled=_can_step,
            group="walk",
        ),
        Command(
            "annotate.unlabelled",
            _("Next &unlabelled document"),
            lambda p: p.view.go_unlabelled(),
            "Labels",
            "Ctrl+Down",
            enabled=has_document,
            group="walk",
        ),
        Command(
            "annotate.only-unlabelled",
            _("Show &unlabelled documents only"),
            lambda p: p.state.queue.toggle_unlabelled(),
            "Labels",
            "Ctrl+Shift+U",
            enabled=has_queue,
            checked=lambda p: p.state.queue.only_unlabelled,
            group="queue",
        ),
        Command(
            "annotate.only-suggested",
            _("Show &documents with suggestions only"),
            lambda p: p.state.queue.narrow(suggested=not p.state.queue.narrowed.suggested),
            "Labels",
            enabled=has_queue,
            checked=lambda p: p.state.queue.narrowed.suggested,
            group="queue",
        ),
        *UNIT_COMMANDS,
        *QUEUE_COMMANDS,
        Command(
            "annotate.clear-filters",
            _("&Clear queue filters"),
            lambda p: p.state.queue.clear_filters(),
            "Labels",
            "Ctrl+Shift+F",
            enabled=_narrowed,
            group="queue",
        ),
        Command(
            "annotate.error",
            _("Next &error"),
            lambda p: p.state.queue.next_error(1),
            "Labels",
            "F8",
            enabled=_has_errors,
            group="errors",
        ),
        Command(
            "annotate.error-back",
            _("Previous e&rror"),
            lambda p: p.state.queue.next_error(-1),
            "Labels",
            "Shift+F8",
            enabled=_has_errors,
            group="errors",
        ),
        Command(
            "annotate.accept-answer",
            _("&Accept prediction as gold"),
            lambda p: p.state.review.accept_answer(),
            "Labels",
            enabled=_can_take,
            group="errors",
        ),
        Command(
            "annotate.occurrences",
            _("Label all &occurrences…"),
            lambda p: p.view.occurrences.open(),
            "Labels",
            "Ctrl+M",
            enabled=_can_edit,
            group="suggestions",
        ),
        Command(
            "annotate.patterns",
            _("&Patterns…"),
            lambda p: p.view.show_patterns(),
            "Labels",
            "Ctrl+Shift+M",
            enabled=_has_labels,
            group="suggestions",
        ),
        Command(
            "annotate.accept-all",
            _("&Accept all confident suggestions"),
            lambda p: p.state.suggested.accept_all(),
            "Labels",
            "Ctrl+Shift+A",
            enabled=lambda p: p.state.session.can_edit and bool(p.state.suggested.sure_suggestions),
            group="suggestions",
        ),
        Command(
            "annotate.reject-all",
            _("Re&ject all suggestions"),
            lambda p: p.state.suggested.reject_all(),
            "Labels",
            "Ctrl+Shift+X",
            enabled=lambda p: p.state.session.can_edit and bool(p.state.session.suggestions),
            group="suggestions",
        ),
        *LINK_COMMANDS,
        Command(
            "annotate.guideline",
            _("&Guideline"),
            lambda p: p.view.toggle_guideline(),
            "View",
            "Ctrl+G",
            enabled=has_document,
            checked=lambda p: p.view.guideline_shown,
            group="annotate",
        ),
        Command(
            "annotate.left",
            _("Collapse &queue"),
            lambda p: p.view.fold("left"),
            "View",
            "F9",
            enabled=has_document,
            checked=lambda p: p.view.folded("left"),
            group="annotate",
        ),
        Command(
            "annotate.right",
            _("Collapse s&uggestions and spans"),
            lambda p: p.view.fold("right"),
            "View",
            "Shift+F9",
            enabled=has_document,
            checked=lambda p: p.view.folded("right"),
            group="annotate",
        ),
        Command(
            "annotate.pane",
            _("Next p&ane"),
            lambda p: p.view.next_pane(1),
            "View",
            "F6",
            enabled=_has_panes,
            group="annotate",
        ),
        Command(
            "annotate.pane-back",
            _("Previous pa&ne"),
            lambda p: p.view.next_pane(-1),
            "View",
            "Shift+F6",
            enabled=_has_panes,
            group="annotate",
        ),
        Command(
            "annotate.zoom-in",
            _("Lar&ger reading text"),
            lambda p: p.view.zoom(1),
            "View",
            ("Alt++", "Alt+="),
            enabled=has_document,
            group="annotate",
        ),
        Command(
            "annotate.zoom-out",
            _("S&maller reading text"),
            lambda p: p.view.zoom(-1),
            "View",
            "Alt+-",
            enabled=has_document,
            group="annotate",
        ),
        Command(
            "annotate.zoom-usual",
            _("Reset reading text si&ze"),
            lambda p: p.view.zoom(0),
            "View",
            "Alt+0",
            enabled=lambda p: has_document(p) and p.view.zoomed_by != 100,
            group="annotate",
        ),
        *BARE_COMMANDS,
    )

    def build(self, context: PanelContext) -> tuple[Desk, Callable[[], AnnotateView]]:
        from workbench.ui.panels.annotate.desk import Desk
        from workbench.ui.panels.annotate.view import AnnotateView

        state = Desk(context)
        return state, lambda: AnnotateView(state)

    @property
    def can_find(self) -> bool:
        return self.state.session.doc is not None

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
        **_args: Any,
    ) -> None:
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
        place: dict[str, Any] = {"document": state.session.document_id}
        if state.session.errors and state.session.run is not None:
            place.update(run=state.session.run.id, errors=state.session.errors)
        if state.session.chosen is not None and state.session.chosen[0] == "gold":
            place.update(span=state.session.chosen[1])
        return place
