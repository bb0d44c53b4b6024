"""State of the dialog about a project whose file is no longer at its path or was overwritten;
without widgets.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.i18n import _
from workbench.project import backup
from workbench.ui.dialogs.operation_state import OperationState

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.ui.application import Application


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
