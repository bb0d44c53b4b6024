"""Text written by a model, without documents or labels."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.panels.prompts.free_text_state import FreeTextState
from workbench.ui.panels.prompts.parts import Tab
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import fill as fill_with


class FreeTextTab(Tab):
    def __init__(self, state: FreeTextState):
        super().__init__()
        self.state, self.states = state, (state,)
        hint = _("Continue a text or chat with the model, without documents or labels.")
        fill_with(self, EmptyState("message-square-quote", _("No text yet"), hint))

    def render_part(self, fields: frozenset[str]) -> None:
        pass
