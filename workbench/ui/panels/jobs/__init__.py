"""Jobs: all background work of this session, with stop and cancel."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel


class JobsPanel(Panel):
    """A dock; the work goes on whether it is shown or not."""

    needs_project = False
    commands = (
        Command(
            "jobs.clear",
            _("Clear &ended jobs"),
            lambda panel: panel.state.clear(),
            "Run",
            enabled=lambda panel: bool(panel and panel.state.ended),
            anywhere=True,
        ),
    )

    def build(self, context):
        from workbench.ui.panels.jobs.state import JobsState
        from workbench.ui.panels.jobs.view import JobsView

        state = JobsState(context.queue)
        return state, JobsView(state)
