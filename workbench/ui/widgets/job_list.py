"""A list of jobs, one row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.ui.widgets.job_row import JobRow


class JobList(QWidget):
    """`make_row(job)` builds a row; rows are kept while their job stays in the list.

    So a button under the mouse does not move when another job starts or ends.
    """

    def __init__(self, make_row: Callable[[Any], JobRow] = JobRow):
        super().__init__()
        self._make_row = make_row
        self.rows: dict[int, JobRow] = {}
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(0)
        self._lines.addStretch(1)

    def set_jobs(self, jobs: Sequence[Any]) -> None:
        """Show these jobs in this order."""
        ids = {job.id for job in jobs}
        for number in [row for row in self.rows if row not in ids]:
            gone = self.rows.pop(number)
            self._lines.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for place, job in enumerate(jobs):
            if job.id not in self.rows:
                self.rows[job.id] = self._make_row(job)
                self._lines.insertWidget(place, self.rows[job.id])
            elif self._lines.indexOf(self.rows[job.id]) != place:
                self._lines.removeWidget(self.rows[job.id])
                self._lines.insertWidget(place, self.rows[job.id])
            self.rows[job.id].show_job(job)

    def show_job(self, job: Any) -> None:
        """Update the row of one job, if listed."""
        if job is not None and job.id in self.rows:
            self.rows[job.id].show_job(job)
