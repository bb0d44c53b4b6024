"""Welcome: open, recent, the sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.welcome.state import WelcomeState
    from workbench.ui.panels.welcome.view import WelcomeView


class WelcomePanel(Panel):
    """The start page; available without a project."""

    state: WelcomeState
    view: WelcomeView

    needs_project = False

    def build(self, context: PanelContext) -> tuple[WelcomeState, Callable[[], WelcomeView]]:
        from workbench.ui.panels.welcome.state import WelcomeState
        from workbench.ui.panels.welcome.view import WelcomeView

        state = WelcomeState(context)
        return state, lambda: WelcomeView(state)

    def shown(self, **_args: Any) -> None:
        self.state.refresh()
