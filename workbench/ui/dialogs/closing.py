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
        title = (
            _("A run is under way")
            if len(jobs) == 1
            else _("{count} jobs are under way").format(count=len(jobs))
        )
        super().__init__(app.window, title, names, width=460)
        self._app = app
        self._words = words(
            _("Stopping keeps the best checkpoint so far. What waits is taken off the list."),
            wrap=True,
        )
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


def ask_to_cancel(app) -> bool:
    """Whether the window may close while a long act on the project is under way: True after it was taken back or has ended."""
    return bool(CancelQuestion(app).exec())


class CancelQuestion(Dialog):
    """Cancel the act, or go back; Escape goes back. Ends by itself with the act."""

    def __init__(self, app):
        super().__init__(app.window, _("A change is being written"), app.work.title, width=460)
        self._app = app
        self._words = words(_("Cancelled, everything is put back as it was before it."), wrap=True)
        self.put(self._words)
        self._back = Button(_("Go back"), kind="primary", on=self.reject)
        self._cancel = Button(_("Cancel it, then close"), on=self._call_off)
        self.end(None, self._cancel, self._back)
        self._drop = app.work.changed.connect(self._look)
        self._back.setFocus()

    def _call_off(self) -> None:
        self._cancel.setEnabled(False)
        self._words.setText(_("Putting everything back …"))
        self._app.work.cancel()

    def _look(self) -> None:
        if not self._app.working:
            self.accept()

    def done(self, result: int) -> None:
        self._drop()
        super().done(result)
