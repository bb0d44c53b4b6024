"""Settings and files of a run."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.panels.results.runs.facts import fingerprints
from workbench.ui.panels.results.selection import RunSelection
from workbench.ui.style.formats import size
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column, Table


class SettingsView(QFrame):
    """All settings and facts of the run, and the command line that repeats it."""

    def __init__(self, selection: RunSelection):
        super().__init__()
        self._selection = selection
        columns = (
            Column(_("Setting"), lambda row: row[0], 240, most=340, tip=lambda row: row[0]),
            Column(_("Value"), lambda row: row[1], tip=self._tip),
        )
        self._table = Table(
            columns, name=_("Settings of the run"), key=lambda row: row, sortable=True
        )
        self._command = QLineEdit()
        self._command.setReadOnly(True)
        self._command.setProperty("kind", "mono")
        copy = icon_button("copy", _("Copy command"), self._copy)
        self._line = TitledField(_("Repeats the run on the command line"), self._command)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        self._map = Button(
            _("Model map…"),
            on=self._show_map,
            tip=_("Frozen, trained and new parts of the model in this run"),
        )
        self._template = QPlainTextEdit()
        self._template.setReadOnly(True)
        self._template.setProperty("kind", "mono")
        self._template.setTabChangesFocus(True)
        self._prompt = TitledField(_("Template of the prompt"), self._template)
        self._below = row((self._line, 1), column(None, copy), column(None, self._map))
        layout.addWidget(self._table, 3)
        layout.addWidget(self._prompt, 2)
        layout.addWidget(self._below)

    def render_part(self, _fields: frozenset[str]) -> None:
        self._table.set_rows(self._selection.settings_rows())
        template = self._selection.template
        if template != self._template.toPlainText():
            self._template.setPlainText(template)
        self._prompt.setVisible(bool(template))
        self._command.setText(self._selection.command())
        self._command.setCursorPosition(0)
        self._below.setVisible(bool(self._command.text()))
        self._map.setVisible(self._selection.has_map)

    def _tip(self, setting: tuple[str, str]) -> str:
        """The whole value, and the fingerprints of what it names."""
        name, value = setting
        run = self._selection.run
        known = fingerprints(run) if run is not None else {}
        return "\n".join(filter(None, (value, known.get(name))))

    def _show_map(self) -> None:
        from workbench.ui.widgets.tables.run_map import RunMapDialog

        dialog = RunMapDialog(
            self.window(), self._selection.shown_run.name, self._selection.ask_map
        )
        dialog.exec()
        dialog.deleteLater()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._command.text())
        self._selection.context.note(_("Command copied to the clipboard."))


class FilesView(QFrame):
    """The files in the run's folder."""

    def __init__(self, selection: RunSelection):
        super().__init__()
        self._selection = selection
        columns = (
            Column(_("File"), lambda row: row[0], tip=lambda row: row[0]),
            Column(_("Size"), lambda row: size(row[1]), 110, right=True, sort=lambda row: row[1]),
        )
        self._table = Table(
            columns, name=_("Files of the run"), key=lambda row: row[0], sortable=True
        )
        self._place = words("", "small", "muted", wrap=True, select=True)
        opens = Button(_("Open folder"), "folder-open", small=True, on=self._open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(row((self._place, 1), opens))
        layout.addWidget(self._table, 1)

    def render_part(self, _fields: frozenset[str]) -> None:
        files = self._selection.files()
        self._table.set_rows(files)
        self._place.setText(
            f"{self._selection.folder} · {size(sum(count for _name, count in files))}"
            if self._selection.run
            else ""
        )

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._selection.folder)))
