"""State of the system check: the results so far, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.system_check import OK, Check, worst
from workbench.operations.application import system_check

if TYPE_CHECKING:
    from workbench.ui.application import Application

CHECK = "check"  # key of the task


class SystemCheckState(State):
    """`checks`: the results so far, in the order of the report; `stage`: the current step, "" for
    none.
    """

    def __init__(self, app: Application):
        super().__init__()
        self._app, self._tasks = app, app.new_tasks()
        self.checks: tuple[Check, ...] = ()
        self.stage = ""

    def begin(self) -> None:
        """Run all checks from the start, with the folder of the open project."""
        project = self._app.project
        folder = str(project.path.parent) if project is not None else ""
        self.update(checks=(), stage="")
        self._tasks.start(
            CHECK,
            partial(system_check.check, self._app.queue, project=folder),
            self._ended,
            failed=self._failed,
            on_event=self._take,
        )

    def close(self) -> None:
        """Cancel the checks that are not finished."""
        self._tasks.close()
        super().close()

    @property
    def running(self) -> bool:
        return self._tasks.waiting(CHECK)

    @property
    def worst(self) -> str:
        """The most severe state so far."""
        return worst(self.checks)

    @property
    def failed(self) -> list[Check]:
        """Warnings and problems, once all checks are finished."""
        return [] if self.running else [check for check in self.checks if check.state != OK]

    def summary(self) -> str:
        return system_check.summary(self.checks)

    def report(self) -> str:
        """The text to be copied."""
        return system_check.as_text(self.checks)

    def _take(self, payload: Mapping[str, Any]) -> None:
        """Keep what a worker reports."""
        if payload.get("kind") == "stage":
            self.update(stage=str(payload["text"]))
        elif payload.get("kind") == "check":
            check = Check.from_event(payload)
            self.update(checks=system_check.in_order((*self.checks, check)))

    def _ended(self, checks: tuple[Check, ...]) -> None:
        self.update(checks=checks, stage="")

    def _failed(self, error: Exception) -> None:
        self.changed.emit(frozenset({"running"}))
        self._app.fail(error)
