"""Inspect: how a model reads a text, and what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.deprecation import former_modules
from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.text.document import Document
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.inspect.state import InspectState
    from workbench.ui.panels.inspect.view import InspectView

former_modules(__name__, shown="workbench.ui.panels.inspect.inspector_state")

MAP = "document_map"  # the view that shows selected documents among all others


def _document(panel: InspectPanel) -> bool:
    return panel.state.document_id is not None


class InspectPanel(Panel):
    """The model stays loaded in its own process until another is selected or the project closes."""

    state: InspectState
    view: InspectView

    shows_predictions = True
    commands = (
        Command(
            "inspect.ask",
            _("&Run model"),
            lambda panel: panel.state.ask(),
            "Run",
            "F5",
            enabled=lambda panel: panel.state.can_ask,
        ),
        Command(
            "inspect.text",
            _("&Edit text"),
            lambda panel: panel.view.edit_text(),
            "Run",
            "Ctrl+L",
            enabled=lambda panel: panel.view.can_edit_text,
        ),
        Command(
            "inspect.pane",
            _("Other p&ane"),
            lambda panel: panel.view.change_pane(),
            "Run",
            "F6",
            enabled=lambda panel: panel.state.has_two,
        ),
        Command(
            "inspect.beside",
            _("Open view &beside"),
            menu="Run",
            keys="Ctrl+Return",
            shown_only=True,
        ),
        Command(
            "inspect.pick",
            _("Pick &document…"),
            lambda panel: panel.view.pick(),
            "Run",
            "Ctrl+D",
            enabled=lambda panel: panel.context.app.any_documents(),
        ),
        Command(
            "inspect.next",
            _("&Next document"),
            lambda panel: panel.state.step(1),
            "Run",
            "Ctrl+Right",
            enabled=_document,
        ),
        Command(
            "inspect.previous",
            _("&Previous document"),
            lambda panel: panel.state.step(-1),
            "Run",
            "Ctrl+Left",
            enabled=_document,
        ),
        Command(
            "inspect.correct",
            _("&Fix gold labels"),
            lambda panel: panel.state.correct(),
            "Run",
            "Ctrl+E",
            enabled=_document,
        ),
    )

    def build(self, context: PanelContext) -> tuple[InspectState, Callable[[], InspectView]]:
        from workbench.ui.panels.inspect.state import InspectState
        from workbench.ui.panels.inspect.view import InspectView

        state = InspectState(context)
        return state, lambda: InspectView(state)

    def shown(
        self,
        *,
        run: int | None = None,
        model: str = "",
        text: str = "",
        document: int | None = None,
        documents: tuple[int, ...] = (),
        place: tuple[str, Document | None, int | None] | None = None,
        **_args: Any,
    ) -> None:
        self.state.refresh()
        if place is not None:
            self._return_to(*place)
        elif run is not None:
            self.state.choose_run(run)
        elif model:
            self.state.choose_model(model)
        if document is not None:
            self.state.pick(document)
        elif text:
            self.state.type_text(text)
        elif run is None and not model and place is None:
            self.state.corpus.follow()
        if documents:
            self.state.corpus.choose(documents)
            self.state.show(MAP)

    def place(self) -> dict[str, Any]:
        state = self.state
        key = state.choice.key if state.choice is not None else ""
        return {"place": (key, state.document, state.document_id)}

    def _return_to(self, key: str, document: Document | None, document_id: int | None) -> None:
        """Show a model and a text again, without asking again for those that are shown."""
        state = self.state
        state.choose(key)
        if document_id is not None and document_id != state.document_id:
            state.pick(document_id)
        elif document_id is None and document is not None and document != state.document:
            state.take(document, None)
