"""History: every step that can be undone, newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.history.state import HistoryState
    from workbench.ui.panels.history.view import HistoryView


class HistoryPanel(Panel):
    state: HistoryState
    view: HistoryView

    def build(self, context: PanelContext) -> tuple[HistoryState, Callable[[], HistoryView]]:
        from workbench.ui.panels.history.state import HistoryState
        from workbench.ui.panels.history.view import HistoryView

        state = HistoryState(context)
        return state, lambda: HistoryView(state)
