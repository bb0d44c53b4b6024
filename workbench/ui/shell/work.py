"""The tasks of all pages that have a title or write, at the bottom of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from workbench.base.errors import ProjectBusy
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.ui.widgets.work_line import WorkLine

if TYPE_CHECKING:
    from workbench.ui.tasks import RunningTask
    from workbench.ui.widgets.note_line import NoteLine

SHOWN_AFTER = 300  # milliseconds before a progress bar appears


class Work:
    """`active` is true while a task writes to the project; `changed` is emitted when that begins
    and ends. `title` is its title.

    A task is shown once it has taken 300 ms: the one that writes, else the oldest. Use on the main
    thread.
    """

    def __init__(self, note_line: NoteLine):
        self.changed = Signal("work.changed")
        self._note_line = note_line
        self._tasks: dict[
            RunningTask, QTimer
        ] = {}  # in the order begun; the timer runs until shown
        self._writing: RunningTask | None = None
        self._shown: RunningTask | None = None
        self.line = WorkLine(cast(QWidget, note_line.parentWidget()))
        self.line.cancelled.connect(self._cancel_shown)

    @property
    def active(self) -> bool:
        return self._writing is not None

    @property
    def title(self) -> str:
        return self._writing.title if self._writing is not None else ""

    def begin(self, task: RunningTask) -> None:
        """Raises ProjectBusy if the task writes and another one does."""
        if task.writes and self._writing is not None:
            raise ProjectBusy(
                _("“{title}” is still running.", title=self._writing.title),
                hint=_("Wait until it has finished, or cancel it."),
            )
        delay = self._tasks[task] = QTimer(self.line)
        delay.setSingleShot(True)
        delay.timeout.connect(self._show)
        delay.start(SHOWN_AFTER)
        if task.writes:
            self._writing = task
            self.changed.emit()

    def report(self, task: RunningTask) -> None:
        """Show how far a task is."""
        if task is self._shown and task.watch is not None:
            self.line.set(task.watch.share)

    def end(self, task: RunningTask) -> None:
        if (delay := self._tasks.pop(task, None)) is None:
            return
        delay.stop()
        delay.deleteLater()
        if task is self._shown:
            self._shown = None
            self.line.end()
            self._show()
        if task is self._writing:
            self._writing = None
            self.changed.emit()

    def cancel(self) -> None:
        """Roll back what is being written; the task ends a moment later."""
        if self._writing is not None:
            self._writing.cancel()

    def wait(self) -> None:
        """Return when nothing is being written any more; events other than input are handled."""
        if self._writing is None:
            return
        loop = QEventLoop()
        drop = self.changed.connect(loop.quit)
        loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        drop()

    def _show(self) -> None:
        due = [task for task, delay in self._tasks.items() if not delay.isActive()]
        task = next((task for task in due if task.writes), next(iter(due), None))
        if task is None or task is self._shown:
            return
        self._shown = task
        self._note_line.hide()
        share = task.watch.share if task.watch is not None else None
        self.line.begin(task.title, share, rolls_back=task.writes)

    def _cancel_shown(self) -> None:
        if self._shown is not None:
            self._shown.cancel()
