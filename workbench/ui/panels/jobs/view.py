"""The Jobs dock: one row per job."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panel import View
from workbench.ui.panels.jobs.state import JobsState
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.job_row import JobList
from workbench.ui.widgets.layout import column, row, scrolled
from workbench.ui.widgets.pages import PageLayout


class JobsView(View):
    state: JobsState

    def __init__(self, state: JobsState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._count = words("", "small", "muted")
        self.clear = Button(_("Clear finished"), "x", "quiet", small=True, on=state.clear)
        self.list = JobList()
        self._filled = column(
            row(self._count, None, self.clear, margins=(12, 4, 8, 4)),
            (scrolled(self.list), 1),
            gap=0,
        )
        self._empty = EmptyState(
            "list-checks",
            _("No background work"),
            _("Training, predicting, importing and exporting are listed here while they run."),
        )
        self._stack = PageLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._filled)
        self.setMinimumHeight(120)
        self.first = self.clear

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "jobs"):
            self.list.set_jobs(self.state.jobs)
            self._stack.setCurrentWidget(self._filled if self.state.jobs else self._empty)
        if concerns(fields, "latest"):
            self.list.show_job(self.state.latest)
        active = sum(not job.over for job in self.state.jobs)
        self._count.setText(
            ngettext("{n} job running or queued", "{n} jobs running or queued", active)
            if active
            else _("No jobs are running")
        )
        self.clear.setEnabled(bool(self.state.ended))
