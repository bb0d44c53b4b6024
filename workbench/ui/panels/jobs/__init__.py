"""Jobs: all background work of this session, with stop and cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.jobs.state import JobsState
    from workbench.ui.panels.jobs.view import JobsView


class JobsPanel(Panel):
    """A dock. Jobs continue whether it is shown or not."""

    state: JobsState
    view: JobsView

    needs_project = False

    def build(self, context: PanelContext) -> tuple[JobsState, Callable[[], JobsView]]:
        from workbench.ui.panels.jobs.state import JobsState
        from workbench.ui.panels.jobs.view import JobsView

        state = JobsState(context)
        return state, lambda: JobsView(state)
