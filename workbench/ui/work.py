"""The single long operation on the project: off the main thread, with progress and cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from workbench.base.errors import Cancelled, ProjectBusy
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.jobs import threads
from workbench.ui.widgets.work_line import WorkLine

if TYPE_CHECKING:
    from workbench.ui.app import App

SHOWN_AFTER = 300  # milliseconds before a progress bar appears


class Work:
    """`changed` is emitted when an operation starts and ends; `active` is true between.

    Use on the main thread.
    """

    def __init__(self, app: App):
        self.changed = Signal("work.changed")
        self.title = ""
        self._app = app
        self._watch: Watch | None = None
        self.line = WorkLine(cast(QWidget, app.window.note_line.parentWidget()))
        self.line.cancelled.connect(self.cancel)
        self._delay = QTimer(self.line)
        self._delay.setSingleShot(True)
        self._delay.setInterval(SHOWN_AFTER)
        self._delay.timeout.connect(self._show)

    @property
    def active(self) -> bool:
        return self._watch is not None

    def start(self, title: str, act: Callable[[Watch], Any], done: Callable[[Any], None]) -> None:
        """Call `act(watch)` in a thread, then `done(result)`; errors and cancellation are shown.

        One at a time: while another one runs, an error is shown.
        """
        if self._watch is not None:
            self._app.fail(
                ProjectBusy(
                    _("“{title}” is still running.").format(title=self.title),
                    hint=_("Wait until it has finished, or cancel it."),
                )
            )
            return
        watch = Watch(lambda share: self._app.dispatch(lambda: self._report(watch, share)))
        self.title, self._watch = title, watch
        self._delay.start()
        self.changed.emit()
        threads.run(
            lambda: act(watch),
            lambda result, error: self._ended(result, error, done),
            dispatch=self._app.dispatch,
        )

    def cancel(self) -> None:
        """Roll everything back; the operation ends a moment later."""
        if self._watch is not None:
            self._watch.cancel()

    def _show(self) -> None:
        if self._watch is not None:
            self._app.window.note_line.hide()
            self.line.begin(self.title, self._watch.share)

    def _report(self, watch: Watch, share: float) -> None:
        if watch is self._watch and self.line.isVisible():
            self.line.set(share)

    def _ended(self, result: Any, error: Exception | None, done: Callable[[Any], None]) -> None:
        title, self._watch = self.title, None
        self._delay.stop()
        self.line.end()
        self.changed.emit()
        if error is None:
            done(result)
        elif isinstance(error, Cancelled):
            self._app.note(_("{title}: cancelled. No changes were made.").format(title=title))
        else:
            self._app.fail(error)
