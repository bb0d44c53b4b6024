"""The question when the window or the project is closed while jobs run."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from workbench.base.i18n import _
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.meter import Meter
from workbench.ui.widgets.words import words

LOOK_MS = 100


def ask(app) -> bool:
    """Whether the window may close: True after all jobs have stopped and kept what they have, False to go back."""
    return bool(ClosingQuestion(app).exec())


class ClosingQuestion(Dialog):
    """Stop and keep, or go back; Escape goes back."""

    def __init__(self, app):
        jobs = app.active_jobs()
        names = ", ".join(job.spec.title or job.spec.target for job in jobs[:3])
        title = _("A run is under way") if len(jobs) == 1 else _("{count} jobs are under way").format(count=len(jobs))
        super().__init__(app.window, title, names, width=460)
        self._app = app
        self._words = words(_("Stopping keeps the best checkpoint so far. What waits is taken off the list."), wrap=True)
        self._meter = Meter(None, name=_("Stopping"))
        self._meter.hide()
        self.put(self._words, self._meter)
        self._back = Button(_("Go back"), kind="primary", on=self.reject)
        self._stop = Button(_("Stop and keep, then close"), "square", on=self._stop_all)
        self.end(None, self._stop, self._back)
        self._clock = QTimer(self)
        self._clock.setInterval(LOOK_MS)
        self._clock.timeout.connect(self._look)
        self._back.setFocus()

    def _stop_all(self) -> None:
        self._stop.setEnabled(False)
        self._words.setText(_("Stopping. The best checkpoint is being saved …"))
        self._meter.show()
        self._app.stop_jobs()
        self._clock.start()

    def _look(self) -> None:
        QApplication.processEvents()
        if not self._app.active_jobs():
            self._clock.stop()
            self.accept()
