"""File ▸ Versions: save a version of the project, and view or restore an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QStackedLayout, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.text.columns import by_key
from workbench.ui.commands import MenuChoice
from workbench.ui.dialogs.versions_state import VersionsState, version_columns
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import RowMenu

if TYPE_CHECKING:
    from workbench.project.backup import Version
    from workbench.ui.application import Application


class Versions(Dialog):
    """The list of versions; a running operation disables it and can be cancelled."""

    def __init__(self, app: Application) -> None:
        hint = _(
            "A version is a copy of the project: documents, labels and history. One is saved "
            "automatically before large deletions and changes of the labels. The files of runs are "
            "not copied."
        )
        super().__init__(app.window, _("Versions"), hint, width=760)
        self.state = VersionsState(app)
        self.name = QLineEdit()
        self.name.setAccessibleName(_("Name of the version"))
        self.name.setPlaceholderText(_("Name, for example: first pass done"))
        self._save = Button(_("Save version"), "plus", "primary", on=self.save)
        self._save.setDefault(True)
        known = by_key(version_columns())
        columns = (
            Column(
                _("Version"),
                _title,
                icon=lambda row: ("history", "faint") if row.automatic else ("check", "good"),
                tip=lambda row: str(row.path),
            ),
            Column.of(known["at"], 150, tip=known["at"].value),
            Column.of(known["bytes"], 90),
        )
        self.table = Table(columns, name=_("Versions"), key=lambda row: row.path)
        self.table.setMinimumHeight(theme.px(240))
        self.table.opened.connect(self.state.view)
        self.table.chosen.connect(self._enable)
        self.table.removed.connect(self._delete_chosen)
        RowMenu(self.table, self._choices)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.table)
        self._stack.addWidget(EmptyState("history", _("No versions yet")))
        lists = QWidget()
        lists.setLayout(self._stack)
        self._running = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress"))
        self._cancel = Button(_("Cancel"), small=True, on=self.state.cancel)
        self._progress = row(self._running, (self._meter, 1), self._cancel, gap=12)
        self._view = Button(_("Open read-only"), on=self._view_chosen)
        self._restore = Button(_("Restore"), "undo-2", on=self._restore_chosen)
        self._folder = Button(_("Show folder"), "folder-open", on=self._show_folder)
        self.put(row((self.name, 1), self._save, gap=8), lists, self._progress)
        self.end(self._folder, None, self._view, self._restore, Button(_("Close"), on=self.reject))
        self.state.listen(self.state.changed, self.render)
        self.render(ALL)
        self.name.setFocus()

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "versions"):
            self.table.set_rows(state.versions)
            self._stack.setCurrentIndex(0 if state.versions else 1)
        self._running.setText(state.title)
        self._meter.set(state.share)
        self._progress.setVisible(bool(state.title))
        self.fault(state.fault)
        self._enable()
        if state.over:
            self.accept()

    def save(self) -> None:
        self.state.save(self.name.text())
        self.name.clear()

    def done(self, result: int) -> None:
        """Also called on Escape; cancels a running operation instead of closing."""
        if self.state.title:
            self.state.cancel()
            return
        self.state.close()
        super().done(result)

    # ---------------------------------------------------------------- the chosen version

    def _chosen(self) -> Version | None:
        rows = self.table.chosen_rows()
        return rows[0] if rows else None

    def _choices(self) -> tuple[MenuChoice, ...]:
        can = not self.state.title
        return (
            MenuChoice(_("Open read-only"), self._view_chosen, can, key=_("Enter")),
            MenuChoice(_("Restore"), self._restore_chosen, can),
            MenuChoice(_("Delete"), self._delete_chosen, can, key=_("Del")),
        )

    def _enable(self) -> None:
        idle = not self.state.title
        version = self._chosen()
        whole = version is not None and not version.damaged
        for button in (self._view, self._restore):
            button.setEnabled(idle and whole)
        for part in (self._save, self.name, self.table):
            part.setEnabled(idle)
        self._folder.setEnabled(self.state.folder is not None)

    def _view_chosen(self) -> None:
        if version := self._chosen():
            self.state.view(version)

    def _restore_chosen(self) -> None:
        version = self._chosen()
        if version is not None and VersionQuestion(self, version).exec():
            self.state.restore(version)

    def _delete_chosen(self) -> None:
        version = self._chosen()
        if version is not None and VersionQuestion(self, version, delete=True).exec():
            self.state.delete(version)

    def _show_folder(self) -> None:
        if self.state.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(self.state.folder))


class VersionQuestion(Dialog):
    """Whether to restore or delete a version. Cancel is the default."""

    def __init__(self, parent: QWidget, version: Version, *, delete: bool = False) -> None:
        message = {"name": _title(version), "time": formats.when_iso(version.at)}
        if delete:
            title = _("Delete the version?")
            effect = _("“{name}”, {time}. This cannot be undone.", **message)
            act = Button(_("Delete"), "trash-2", "danger", on=self.accept)
        else:
            title = _("Restore the version?")
            effect = _(
                "“{name}”, {time}. The project then has the documents, labels and history of "
                "this version. Its current state is saved as a version first. Runs trained later "
                "are no longer listed, but their files are kept.",
                **message,
            )
            act = Button(_("Restore"), "undo-2", "primary", on=self.accept)
        super().__init__(parent, title, width=460)
        self.put(words(effect, wrap=True))
        cancel = Button(_("Cancel"), on=self.reject)
        cancel.setDefault(True)
        self.end(None, cancel, act)
        cancel.setFocus()


def _title(version: Version) -> str:
    if not version.automatic:
        return version.name or _("Without a name")
    reason = _("Automatic, {reason}", reason=term(version.reason))
    return f"{reason} ({version.name})" if version.name else reason
