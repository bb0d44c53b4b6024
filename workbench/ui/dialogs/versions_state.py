"""State of the Versions dialog: the backups of the open project; without widgets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.project import backup
from workbench.project.backup import Version
from workbench.ui.dialogs.project_file_state import OperationState

if TYPE_CHECKING:
    from workbench.ui.application import Application

version_columns = backup.columns


class VersionsState(OperationState):
    """Raises RuntimeError without an open project. versions: newest first."""

    def __init__(self, app: Application):
        super().__init__(app)
        if app.project is None:
            raise RuntimeError("versions belong to an open project")
        self.path = app.project.path
        self.versions: tuple[Version, ...] = ()
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
            self.run(
                _("Saving a version…"),
                partial(backup.save_version, project, name.strip()),
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
        self.run(
            _("Restoring the version…"),
            partial(backup.restore, self.path, version.path),
            lambda _version: self._restored(),
            self._reopen,
        )

    def _restored(self) -> None:
        self._reopen()
        self.app.note(
            _("The version was restored. The previous state is listed under File ▸ Versions.")
        )
        self.update(over=True)

    def _reopen(self) -> None:
        self.app.open_project(self.path, ask=False)
        self.refresh()
