"""A list of jobs: title, progress, time left, stop and cancel of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import N_, _
from workbench.base.terms import term
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.style import formats
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import Part, row
from workbench.ui.widgets.tables.delegates import RUN_TONES
from workbench.ui.widgets.text.context_menu import ContextMenu
from workbench.ui.widgets.wait_line import first_button, waiting_for

# requested by the user, until the worker has ended
ENDING_WORDS = {"stop": N_("stopping"), "cancel": N_("cancelling"), "pause": N_("pausing")}


def progress_of(job: Any) -> tuple[float | None, str]:
    """(progress in [0, 1] or None, time left as text) of a running job, from its last message.

    A target sends `step` of `total`, or `done` of `total`, and may send `seconds_left`.
    """
    last = _last(job)
    total, step = last.get("total"), last.get("step", last.get("done"))
    share = step / total if total and isinstance(step, int | float) else None
    left = last.get("seconds_left")
    return share, _("{time} left", time=formats.duration(left)) if isinstance(
        left, int | float
    ) else ""


def status_words(status: str, ending: str = "") -> str:
    """A status as displayed; `ending` ("stop", "cancel") while the worker is still running."""
    return _(ENDING_WORDS[ending]) if ending in ENDING_WORDS else term(status)


def _last(job: Any) -> dict[str, Any]:
    last = getattr(job, "progress", None)
    return dict(last) if isinstance(last, Mapping) else {}


class JobRow(QFrame):
    """One job; call `show_job(job)` after each event.

    `stacked` places the buttons on a row of their own, for narrow layouts; `action` is an extra
    one.
    """

    def __init__(self, job: Any, *, stacked: bool = False, action: QWidget | None = None):
        super().__init__()
        self.job = job
        self._title = Elided("", weight=600, mode=Qt.TextElideMode.ElideMiddle)
        self._chip = Chip("")
        self._left = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress"))
        self._stop = Button(_("Stop and keep best"), small=True, on=lambda: self.job.stop())
        self._cancel = Button(_("Cancel"), kind="danger", small=True, on=lambda: self.job.cancel())
        self._first = first_button(lambda: self.job.run_first())
        self._message = words("", "small", "bad", wrap=True, select=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(6)
        head: list[Part] = [(self._title, 1), self._left, self._chip]
        acts = [*([action] if action is not None else []), self._first, self._stop, self._cancel]
        layout.addWidget(row(*head) if stacked else row(*head, *acts))
        layout.addWidget(self._meter)
        layout.addWidget(self._message)
        if stacked:
            layout.addWidget(row(*acts, None))
        ContextMenu(self, lambda _point: self._choices())
        self.show_job(job)

    def _choices(self) -> tuple[MenuChoice | None, ...]:
        job = self.job
        active, log = job.status in ("waiting", "running"), job.log_file
        keeps = job.status == "running" and job.spec.stoppable
        return (
            MenuChoice(_("&Run first"), job.run_first, job.can_run_first),
            MenuChoice(_("&Stop and keep best"), job.stop, keeps and not job.ending),
            MenuChoice(_("&Cancel"), job.cancel, active and job.ending != "cancel"),
            SEPARATOR,
            MenuChoice(_("Open &log file"), lambda: _open(log), log.is_file()),
            MenuChoice(_("Copy &message"), lambda: _copy(self._describe()), bool(self._describe())),
            SEPARATOR,
            MenuChoice(_("&Remove from list"), job.forget, job.over),
        )

    def _describe(self) -> str:
        """The message of a finished job, and its hint."""
        parts = (getattr(self.job, "message", ""), getattr(self.job, "hint", ""))
        return " ".join(part for part in parts if part)

    def show_job(self, job: Any) -> None:
        self.job = job
        share, left = progress_of(job)
        active = job.status in ("waiting", "running")
        self._title.setText(job.spec.title or job.spec.target)
        text = status_words(job.status, job.ending if active else "")
        self._chip.set(text, tone=RUN_TONES.get(job.status, ""))
        waits = waiting_for(getattr(job, "behind", "")) if job.status == "waiting" else ""
        self._left.setText(left if job.status == "running" else waits)
        self._first.setVisible(job.status == "waiting" and getattr(job, "can_run_first", False))
        self._meter.set(share if job.status == "running" else 0.0)
        self._meter.setVisible(active)
        self._stop.setVisible(job.status == "running" and job.spec.stoppable)
        self._stop.setEnabled(not job.ending)
        self._cancel.setVisible(active)
        message = self._describe()
        self._message.setText(message if not active else "")
        self._message.setVisible(bool(message) and not active)


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
        for number in [number for number in self.rows if number not in ids]:
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


def _open(file: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
