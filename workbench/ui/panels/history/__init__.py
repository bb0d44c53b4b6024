"""History: every step that can be undone, newest first."""

from __future__ import annotations

from workbench.ui.panel import Panel


class HistoryPanel(Panel):
    def build(self, context):
        from workbench.ui.panels.history.state import HistoryState
        from workbench.ui.panels.history.view import HistoryView

        state = HistoryState(context)
        return state, lambda: HistoryView(state)
