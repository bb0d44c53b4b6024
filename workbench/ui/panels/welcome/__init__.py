"""Welcome: open, recent, the sample."""

from __future__ import annotations

from workbench.ui.panel import Panel


class WelcomePanel(Panel):
    """The start page; available without a project."""

    needs_project = False

    def build(self, context):
        from workbench.ui.panels.welcome.state import WelcomeState
        from workbench.ui.panels.welcome.view import WelcomeView

        state = WelcomeState(context)
        return state, lambda: WelcomeView(state)

    def shown(self, **_args) -> None:
        self.state.look()
