"""States of the dialogs about a project file that is damaged, or not at its path any more; without
widgets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.base import paths
from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.project import backup, recovery
from workbench.project.recovery import Recovered

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.ui.application import Application


T = TypeVar("T")
OPERATION = "operation"  # key of the task


class OperationState(State):
    """An operation in a thread, with progress.

    title: of the operation that is running, "" for none; share: how much of it is done, in
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


class DamagedState(OperationState):
    """recovered: what can be recovered, None while it is read or if there is nothing."""

    def __init__(self, app: Application, path: Path):
        super().__init__(app)
        self.path = path
        self.recovered: Recovered | None = None
        self.run(
            _("Reading what can be recovered…"),
            partial(recovery.recoverable, path),
            lambda recovered: self.update(recovered=recovered),
        )

    @property
    def target(self) -> Path:
        """Where the recovered project will be written: beside the damaged one."""
        stem = _("{name} recovered", name=self.path.stem)
        return paths.free_name(self.path.parent, stem, paths.PROJECT_SUFFIX)

    def recover(self) -> None:
        """Write the new project and open it."""
        target = self.target

        def written(_recovered: Recovered | None) -> None:
            self.update(over=True)
            self.app.open_project(target)

        self.run(
            _("Recovering the project…"),
            partial(recovery.recover, self.path, target),
            written,
        )


class MovedState(OperationState):
    """closing: whether the project is about to be closed; a copy is then not opened."""

    def __init__(self, app: Application, project: Project, *, closing: bool):
        super().__init__(app)
        self.project, self.closing = project, closing
        self.gone = not project.path.exists()
        self.overwritten = project.overwritten

    @property
    def suggested(self) -> Path:
        """Where to save the copy: in place of a file that is gone, else beside the other file."""
        path = self.project.path
        if not path.parent.is_dir():
            return paths.free_name(paths.documents_folder(), path.stem, paths.PROJECT_SUFFIX)
        stem = path.stem if self.gone else _("{name} copy", name=path.stem)
        return paths.free_name(path.parent, stem, paths.PROJECT_SUFFIX) if path.exists() else path

    def look_again(self) -> None:
        """Close the dialog if the file was moved back."""
        if not (self.title or self.project.closed or self.project.moved):
            self.update(over=True)

    def save(self, target: Path) -> None:
        """Write the whole project to a new file, and open it unless the project is closing."""
        self.run(
            _("Saving a copy…"),
            partial(backup.save_copy, self.project, target),
            self._saved,
        )

    def _saved(self, target: Path) -> None:
        self.update(over=True)
        if self.closing:
            self.app.settings.remember_project(target)
        elif self.app.open_project(target):
            self.app.note(_("The copy was saved and is open now: {name}", name=target.name))
