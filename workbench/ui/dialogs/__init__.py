"""Dialogs, and the actions of the window.

Each module is imported when its dialog is first opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from workbench.base.errors import ProjectDamaged
    from workbench.ui.application import Application


def new_project(app: Application, data: Sequence[Path] = ()) -> None:
    """Open the New project dialog; if `data` is given, its import follows."""
    from workbench.ui.dialogs.new_project import NewProject

    NewProject(app, data).exec()


def import_data(app: Application, data: Sequence[Path]) -> None:
    """Import files into the open project or into a new one; asks which if one is open."""
    project = app.project
    if project is None or project.read_only:
        new_project(app, data)
        return
    from workbench.ui.dialogs.files import DataTarget

    question = DataTarget(app.window, project.path, data)
    if not question.exec():
        return
    if question.new:
        new_project(app, data)
    else:
        app.go("data", files=data)


def open_project(app: Application) -> None:
    from workbench.ui.dialogs.files import choose_to_open

    choose_to_open(app)


def sample(app: Application) -> None:
    """Copy the sample project into the user's documents folder and open it."""
    from workbench.ui.dialogs.files import open_sample

    open_sample(app)


def settings(app: Application) -> None:
    from workbench.ui.dialogs.settings import SettingsDialog

    SettingsDialog(app).exec()


def plugins(app: Application) -> None:
    """Open Settings with the page of plugins."""
    from workbench.ui.dialogs.settings import SettingsDialog

    dialog = SettingsDialog(app)
    dialog.show_plugins()
    dialog.exec()


def palette(app: Application) -> None:
    from workbench.ui.shell.palette import Palette

    Palette(app).exec()


def keys(app: Application) -> None:
    from workbench.ui.dialogs.key_sheet import KeySheet

    KeySheet(app).exec()


def log(app: Application) -> None:
    from workbench.ui.dialogs.about import open_log

    open_log(app)


def diagnostics(app: Application) -> None:
    from workbench.ui.dialogs.about import copy_diagnostics

    copy_diagnostics(app)


def system_check(app: Application) -> None:
    from workbench.ui.dialogs.system_check import SystemCheckDialog

    SystemCheckDialog(app).exec()


def changes(app: Application) -> None:
    from workbench.ui.dialogs.about import ChangesDialog

    ChangesDialog(app.window).exec()


def damaged(app: Application, path: Path, error: ProjectDamaged) -> None:
    """Offer to recover a project that could not be opened."""
    from workbench.ui.dialogs.project_file import Damaged

    dialog = Damaged(app, path, error)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def file_moved(app: Application) -> None:
    """Offer to save a copy of the open project, whose file is no longer at its path."""
    from workbench.ui.dialogs.project_file import Moved

    if app.project is None or app.window.findChild(Moved) is not None:
        return
    dialog = Moved(app, app.project)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def merge(app: Application) -> None:
    from workbench.ui.dialogs.merge import Merge

    Merge(app).exec()


def assign(app: Application) -> None:
    from workbench.ui.dialogs.assign import Assign

    if app.project is not None and not app.project.read_only:
        Assign(app).exec()


def people(app: Application) -> None:
    from workbench.ui.dialogs.people import People

    People(app).exec()


def versions(app: Application) -> None:
    from workbench.ui.dialogs.versions import Versions

    Versions(app).exec()


def about(app: Application) -> None:
    from workbench.ui.dialogs.about import About

    About(app).exec()


ACTS: dict[str, Callable[..., None]] = {
    "new": new_project,
    "open": open_project,
    "sample": sample,
    "settings": settings,
    "plugins": plugins,
    "palette": palette,
    "keys": keys,
    "log": log,
    "diagnostics": diagnostics,
    "system-check": system_check,
    "about": about,
    "changes": changes,
    "damaged": damaged,
    "file-moved": file_moved,
    "assign": assign,
    "merge": merge,
    "people": people,
    "versions": versions,
}
