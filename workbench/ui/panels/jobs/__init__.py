"""Jobs: all background work of this session, with stop and cancel."""

from __future__ import annotations

from workbench.ui.panel import Panel


class JobsPanel(Panel):
    """A dock. Jobs continue whether it is shown or not."""

    needs_project = False

    def build(self, context):
        from workbench.ui.panels.jobs.state import JobsState
        from workbench.ui.panels.jobs.view import JobsView

        state = JobsState(context.queue)
        return state, lambda: JobsView(state)
