"""The answers of prompt runs, text by text."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.panels.prompts.answers_state import AnswersState
from workbench.ui.panels.prompts.parts import Tab
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import fill as fill_with


class AnswersTab(Tab):
    def __init__(self, state: AnswersState):
        super().__init__()
        self.state, self.states = state, (state,)
        hint = _("Run a prompt on dev to see its answers text by text.")
        fill_with(self, EmptyState("message-square-quote", _("No answers yet"), hint))

    def render_part(self, fields: frozenset[str]) -> None:
        pass
