"""The grid of prompts, models and numbers of examples."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.panels.prompts.grid_state import GridState
from workbench.ui.panels.prompts.parts import Tab
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import fill as fill_with


class GridTab(Tab):
    def __init__(self, state: GridState):
        super().__init__()
        self.state, self.states = state, (state,)
        hint = _(
            "A grid compares the scores of prompts with several models and numbers of examples."
        )
        fill_with(self, EmptyState("message-square-quote", _("No grid yet"), hint))

    def render_part(self, fields: frozenset[str]) -> None:
        pass
