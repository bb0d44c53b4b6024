"""State of a dialog that runs an operation in a thread, with progress; without widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State

if TYPE_CHECKING:
    from workbench.ui.application import Application

T = TypeVar("T")
OPERATION = "operation"  # key of the task


class OperationState(State):
    """title: of the operation that is running, "" for none; share: how much of it is done, in
    [0, 1]. fault: of the last operation. over: whether the dialog is to close.
    """

    def __init__(self, app: Application):
        super().__init__()
        self.app = app
        self.title, self.share, self.fault = "", 0.0, ""
        self.over = False
        self._tasks = app.new_tasks()

    def cancel(self) -> None:
        """Cancel the running operation; nothing has changed then."""
        self._tasks.cancel(OPERATION)

    def close(self) -> None:
        self._tasks.close()
        super().close()

    def run(
        self,
        title: str,
        act: Callable[..., T],
        done: Callable[[T], None],
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """Call `act(watch=…)` in a thread, then `done(result)` or `failed()`."""

        def ended(result: T) -> None:
            self.update(title="")
            done(result)

        def not_done(error: Exception) -> None:
            self.update(title="")
            failed()
            if isinstance(error, WorkbenchError):
                self.update(fault="" if isinstance(error, Cancelled) else str(error))
            else:
                self.app.fail(error)

        self.update(title=title, share=0.0, fault="")
        self._tasks.start(
            OPERATION,
            act,
            ended,
            failed=not_done,
            progress=lambda watch: self.update(share=watch.share),
        )
