"""State of the dialog about a damaged project: what can be recovered; without widgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.jobs import threads
from workbench.project import recovery
from workbench.project.recovery import Recovered

if TYPE_CHECKING:
    from workbench.ui.app import App


class DamagedState(State):
    """found: what can be recovered, None while it is read or if there is nothing.

    title: of the operation that is running, "" for none; share: how much of it is done, in [0, 1].
    fault: of the last operation. over: whether the dialog is to close.
    """

    def __init__(self, app: App, path: Path):
        super().__init__()
        self.app, self.path = app, path
        self.found: Recovered | None = None
        self.title, self.share, self.fault = "", 0.0, ""
        self.over = False
        self._watch: Watch | None = None
        self._run(
            _("Reading what can be recovered…"),
            lambda watch: recovery.recoverable(path, watch=watch),
            lambda found: self.update(found=found),
        )

    @property
    def target(self) -> Path:
        """Where the recovered project will be written: beside the damaged one."""
        stem = _("{name} recovered").format(name=self.path.stem)
        return paths.free_name(self.path.parent, stem, paths.PROJECT_SUFFIX)

    def recover(self) -> None:
        """Write the new project and open it."""
        target = self.target

        def written(_found: Recovered | None) -> None:
            self.update(over=True)
            self.app.open_project(target)

        self._run(
            _("Recovering the project…"),
            lambda watch: recovery.recover(self.path, target, watch=watch),
            written,
        )

    def cancel(self) -> None:
        """Cancel the running operation; nothing was written then."""
        if self._watch is not None:
            self._watch.cancel()

    def _run(
        self,
        title: str,
        act: Callable[[Watch], Recovered | None],
        done: Callable[[Recovered | None], None],
    ) -> None:
        """Call `act(watch)` in a thread, then `done(result)`."""
        watch = Watch(lambda share: self.app.dispatch(lambda: self.update(share=share)))

        def ended(result: Recovered | None, error: Exception | None) -> None:
            self._watch = None
            self.update(title="")
            if error is None:
                done(result)
            elif isinstance(error, WorkbenchError):
                self.update(fault="" if isinstance(error, Cancelled) else str(error))
            else:
                self.app.fail(error)

        self._watch = watch
        self.update(title=title, share=0.0, fault="")
        threads.run(lambda: act(watch), ended, dispatch=self.app.dispatch)
