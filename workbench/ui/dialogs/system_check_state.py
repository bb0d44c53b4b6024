"""State of the system check: the results so far, and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import Signal
from workbench.base.system_check import OK, Check
from workbench.operations.application import system_check

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project


class SystemCheckState:
    """`changed` is emitted when a result or the current step has changed."""

    def __init__(self, queue: Queue):
        self.changed = Signal("system_check.shown")
        self._queue = queue
        self._check = system_check.SystemCheck(queue)

    def begin(self, project: Project | None) -> None:
        """Run all checks from the start, with the folder of the open project."""
        folder = str(project.path.parent) if project is not None else ""
        self._check.changed.disconnect(self.changed.emit)
        self._check = system_check.SystemCheck(self._queue, project=folder)
        self._check.changed.connect(self.changed.emit)
        self._check.start()

    def close(self) -> None:
        """Cancel the checks that are not finished."""
        self._check.changed.disconnect(self.changed.emit)
        self._check.cancel()

    @property
    def running(self) -> bool:
        return self._check.running

    @property
    def doing(self) -> str:
        """The current step, "" between steps."""
        return self._check.doing

    @property
    def worst(self) -> str:
        """The most severe state so far."""
        return self._check.state

    @property
    def checks(self) -> tuple[Check, ...]:
        return self._check.checks

    @property
    def failed(self) -> list[Check]:
        """Warnings and problems, once all checks are finished."""
        return [] if self.running else [check for check in self.checks if check.state != OK]

    def summary(self) -> str:
        return system_check.summary(self.checks)

    def report(self) -> str:
        """The text to be copied."""
        return system_check.as_text(self.checks)
