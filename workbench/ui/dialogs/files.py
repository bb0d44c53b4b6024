"""Choose what to open and where to import, and open the sample project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.base import paths
from workbench.base.i18n import _, ngettext
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.ui.application import Application


class DataTarget(Dialog):
    """Asks whether files are imported into the open project, or, with `new`, into another one."""

    def __init__(self, parent: QWidget, project: Path, data: Sequence[Path]) -> None:
        title = (
            _("Import {name}", name=data[0].name)
            if len(data) == 1
            else ngettext("Import {n} file", "Import {n} files", len(data))
        )
        super().__init__(parent, title, width=460)
        self.new = False
        message = _(
            "The project “{name}” is open. Import into this project, or create a new project?",
            name=project.stem,
        )
        self.put(words(message, wrap=True))
        self._into = Button(_("Import into this project"), "download", "primary", on=self.accept)
        self._into.setDefault(True)
        new = Button(_("New project…"), "file-plus-2", on=self._choose_new)
        self.end(Button(_("Cancel"), on=self.reject), None, new, self._into)
        self._into.setFocus()

    def _choose_new(self) -> None:
        self.new = True
        self.accept()


def folder_of(app: Application) -> Path:
    """Initial folder of project dialogs: the user's choice, else the documents folder."""
    return (
        Path(app.settings.documents_folder).expanduser()
        if app.settings.documents_folder
        else paths.documents_folder()
    )


def choose_to_open(app: Application) -> None:
    """Open a project; import data files into the open project, or into a new one."""
    from workbench.operations.transfer import import_choice

    suffix = f"*{paths.PROJECT_SUFFIX}"
    both, projects = _("Projects and data ({patterns})"), _("Projects ({patterns})")
    kinds = ";;".join(
        (
            both.format(patterns=" ".join((suffix, *import_choice.patterns()))),
            projects.format(patterns=suffix),
            _("All files (*)"),
        )
    )
    folder = folder_of(app)
    start = str(folder if folder.exists() else Path.home())
    files, _kind = QFileDialog.getOpenFileNames(app.window, _("Open"), start, kinds)
    if files:
        app.open_files(files)


def open_sample(app: Application) -> None:
    """Open the copy of the sample project in the documents folder; create it if there is none."""
    from workbench.operations.application import sample

    copy = sample.existing(folder_of(app))
    if copy is None:
        copy_sample(app)
    elif app.open_project(copy, page="annotate"):
        app.note(
            _("This is your existing copy of the sample: {name}.", name=copy.name),
            lambda: copy_sample(app),
            action=_("Make a new copy"),
        )


def copy_sample(app: Application) -> None:
    """Copy the sample project to an unused name in the documents folder and open it."""
    from workbench.base.errors import WorkbenchError
    from workbench.operations.application import sample

    if not app.may_leave():  # before anything is created
        return
    try:
        folder = folder_of(app)
        folder.mkdir(parents=True, exist_ok=True)
        path = sample.create_sample(folder)
    except WorkbenchError as error:
        app.fail(error, other_file=True)
    except OSError as error:
        app.fail(
            WorkbenchError(
                _(
                    "The sample cannot be written to {folder}: {why}.",
                    folder=folder,
                    why=error.strerror or error,
                )
            )
        )
    else:
        app.open_project(path, page="annotate", ask=False)
