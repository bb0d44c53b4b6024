"""State of the Versions dialog: the backups of the open project; without widgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.jobs import threads
from workbench.project import backup
from workbench.project.backup import Version

if TYPE_CHECKING:
    from workbench.ui.app import App


class VersionsState(State):
    """Raises RuntimeError without an open project.

    versions: newest first. title: of the operation that is running, "" for none; share: how much of
    it is done, in [0, 1]. fault: of the last operation. over: whether the dialog is to close.
    """

    def __init__(self, app: App):
        super().__init__()
        if app.project is None:
            raise RuntimeError("versions belong to an open project")
        self.app, self.path = app, app.project.path
        self.versions: tuple[Version, ...] = ()
        self.title, self.share, self.fault = "", 0.0, ""
        self.over = False
        self._watch: Watch | None = None
        self.refresh()

    def refresh(self) -> None:
        self.update(versions=backup.versions(self.path))

    @property
    def folder(self) -> Path | None:
        """Where the versions are; None without any."""
        return self.versions[0].path.parent if self.versions else None

    # ---------------------------------------------------------------- actions

    def save(self, name: str) -> None:
        project = self.app.project
        if project is not None:
            self._run(
                _("Saving a version…"),
                lambda watch: backup.save_version(project, name.strip(), watch=watch),
                lambda _saved: self.refresh(),
            )

    def delete(self, version: Version) -> None:
        try:
            backup.delete(version)
        except WorkbenchError as error:
            self.update(fault=str(error))
        self.refresh()

    def view(self, version: Version) -> None:
        """Open a version read-only instead of the project."""
        if self.app.open_project(version.path, read_only=True):
            self.update(over=True)

    def restore(self, version: Version) -> None:
        """Close the project, restore the version and open the project again."""
        if not self.app.may_leave():
            return
        self.app.close_project()
        self._run(
            _("Restoring the version…"),
            lambda watch: backup.restore(self.path, version.path, watch=watch),
            lambda _kept: self._restored(),
            self._reopen,
        )

    def cancel(self) -> None:
        """Cancel the running operation; nothing has changed then."""
        if self._watch is not None:
            self._watch.cancel()

    def _restored(self) -> None:
        self._reopen()
        self.app.note(
            _("The version was restored. The previous state is listed under File ▸ Versions.")
        )
        self.update(over=True)

    def _reopen(self) -> None:
        self.app.open_project(self.path, ask=False)
        self.refresh()

    # ---------------------------------------------------------------- running

    def _run(
        self,
        title: str,
        act: Callable[[Watch], Any],
        done: Callable[[Any], None],
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """Call `act(watch)` in a thread, then `done(result)` or `failed()`."""
        watch = Watch(lambda share: self.app.dispatch(lambda: self.update(share=share)))

        def ended(result: Any, error: Exception | None) -> None:
            self._watch = None
            self.update(title="")
            if error is None:
                done(result)
                return
            failed()
            if isinstance(error, WorkbenchError):
                self.update(fault=str(error))
            elif not isinstance(error, Cancelled):
                self.app.fail(error)

        self._watch = watch
        self.update(title=title, share=0.0, fault="")
        threads.run(lambda: act(watch), ended, dispatch=self.app.dispatch)
