"""The Jobs dock: one row a job."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.jobs.state import JobsState
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.job_row import JobRow
from workbench.ui.widgets.layout import column, row, scrolled
from workbench.ui.widgets.words import words


class JobsView(View):
    def __init__(self, state: JobsState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._rows: dict[int, JobRow] = {}
        self._count = words("", "small", "muted")
        self.clear = Button(_("Clear ended"), "x", "quiet", small=True, on=state.clear)
        self._list = QWidget()
        self._lines = QVBoxLayout(self._list)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(0)
        self._lines.addStretch(1)
        self._filled = column(
            row(self._count, None, self.clear, margins=(12, 4, 8, 4)),
            (scrolled(self._list), 1),
            gap=0,
        )
        self._empty = EmptyState(
            "list-checks",
            _("No background work"),
            _("Training, predicting, importing and exporting are listed here while they run."),
        )
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._filled)
        self.setMinimumHeight(120)
        self.first = self.clear

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "jobs"):
            self._show_jobs()
        if (
            concerns(fields, "told")
            and self.state.told is not None
            and self.state.told.id in self._rows
        ):
            self._rows[self.state.told.id].show_job(self.state.told)
        active = sum(not job.over for job in self.state.jobs)
        self._count.setText(
            _("{n} under way or waiting").format(n=active) if active else _("All work is done")
        )
        self.clear.setEnabled(bool(self.state.ended))

    def _show_jobs(self) -> None:
        """Rows in the state's order; those that stay are kept, so that a button under the mouse stays too."""
        wanted = {job.id for job in self.state.jobs}
        for number in [one for one in self._rows if one not in wanted]:
            gone = self._rows.pop(number)
            self._lines.removeWidget(gone)
            gone.deleteLater()
        for place, job in enumerate(self.state.jobs):
            if job.id not in self._rows:
                self._rows[job.id] = JobRow(job)
                self._lines.insertWidget(place, self._rows[job.id])
            elif self._lines.indexOf(self._rows[job.id]) != place:
                self._lines.removeWidget(self._rows[job.id])
                self._lines.insertWidget(place, self._rows[job.id])
            self._rows[job.id].show_job(job)
        self._stack.setCurrentWidget(self._filled if self.state.jobs else self._empty)
