"""State of a dialog that runs an operation in a thread, with progress; without widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.watch import Watch
from workbench.jobs import threads

if TYPE_CHECKING:
    from workbench.ui.app import App

T = TypeVar("T")


class OperationState(State):
    """title: of the operation that is running, "" for none; share: how much of it is done, in
    [0, 1]. fault: of the last operation. over: whether the dialog is to close.
    """

    def __init__(self, app: App):
        super().__init__()
        self.app = app
        self.title, self.share, self.fault = "", 0.0, ""
        self.over = False
        self._watch: Watch | None = None

    def cancel(self) -> None:
        """Cancel the running operation; nothing has changed then."""
        if self._watch is not None:
            self._watch.cancel()

    def run(
        self,
        title: str,
        act: Callable[[Watch], T],
        done: Callable[[T], None],
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """Call `act(watch)` in a thread, then `done(result)` or `failed()`."""
        watch = Watch(lambda share: self.app.dispatch(lambda: self.update(share=share)))

        def ended(result: T, error: Exception | None) -> None:
            self._watch = None
            self.update(title="")
            if error is None:
                done(result)
                return
            failed()
            if isinstance(error, WorkbenchError):
                self.update(fault="" if isinstance(error, Cancelled) else str(error))
            else:
                self.app.fail(error)

        self._watch = watch
        self.update(title=title, share=0.0, fault="")
        threads.run(lambda: act(watch), ended, dispatch=self.app.dispatch)
