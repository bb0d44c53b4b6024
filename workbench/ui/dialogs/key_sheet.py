"""Keyboard shortcuts: every command with its keys, by page; keys can be changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit

from workbench.base.i18n import _
from workbench.operations.schema import labels
from workbench.operations.schema.label_keys import PAGE_OF_KEYS
from workbench.ui.commands import Command
from workbench.ui.shell.keys import PORTABLE, bare_name, conflicts, keys_of, remap, shown
from workbench.ui.widgets.controls import key_cap
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import call
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.ui.application import Application


@dataclass(frozen=True)
class KeyLine:
    place: str
    title: str
    keys: str
    command: Command


class KeySheet(Dialog):
    def __init__(self, app: Application) -> None:
        super().__init__(app.window, _("Keys"), _("Keyboard shortcuts"), width=860)
        self._app = app
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Filter"))
        self._search.setClearButtonEnabled(True)
        call(self._search, _("Filter shortcuts"))
        self._search.textChanged.connect(lambda _text: self._fill())
        columns = (
            Column(_("Page"), lambda line: line.place, 120),
            Column(_("Command"), lambda line: line.title, tip=lambda line: line.title),
            Column(_("Key"), lambda line: line.keys, 190),
        )
        self._table = Table(
            columns, name=_("Shortcut list"), key=lambda line: line.command.id, sortable=True
        )
        self._table.setMinimumHeight(420)
        self._table.opened.connect(lambda line: self._change(line))
        self.put(self._search, self._table)
        close = Button(_("Close"), kind="primary", on=self.accept)
        self._change_button = Button(
            _("Change shortcut…"), "keyboard", on=lambda: self._change(self._table.current_row())
        )
        self.end(
            self._change_button,
            Button(_("Restore defaults"), kind="quiet", on=self._reset),
            None,
            close,
        )
        self._fill()
        self._search.setFocus()

    def lines(self) -> list[KeyLine]:
        """Every command that has a key or a menu entry."""
        pages, lines = (
            {
                contribution.id: _(contribution.title)
                for contribution in self._app.registry.all("panel")
            },
            [],
        )
        for entry in self._app.menus.entries:
            command = entry.command
            keys = shown(command, self._app.settings)
            if not command.choices and (keys or command.menu):
                title = command.lasting().rstrip("…")
                lines.append(KeyLine(pages.get(entry.page, _("All pages")), title, keys, command))
        return lines

    def _fill(self) -> None:
        search = self._search.text().casefold()
        self._table.set_rows(
            [
                line
                for line in self.lines()
                if search in f"{line.place} {line.title} {line.keys}".casefold()
            ]
        )

    def _change(self, line: KeyLine | None) -> None:
        if line is None:
            return
        if line.command.shown_only and not line.command.bare:
            self.fault(_("The shortcut of {title} cannot be changed.", title=line.title))
            return
        self.fault("")
        if KeyDialog(self, self._app, line).exec():
            self._changed()

    def _reset(self) -> None:
        self._app.settings.window["keys"] = {}
        self._app.settings.save()
        self._changed()

    def _changed(self) -> None:
        self._app.menus.rekey()
        key_cap.changed(self._app.window)
        self._fill()


class KeyDialog(Dialog):
    """Records the new key. Keys of other commands are rejected with the name of the command."""

    def __init__(self, parent: KeySheet, app: Application, line: KeyLine) -> None:
        super().__init__(
            parent,
            line.title,
            _("Press the new key. Press Backspace to remove the shortcut."),
            width=380,
        )
        self._app, self._line = app, line
        self._edit = QKeySequenceEdit(
            QKeySequence(
                keys_of(line.command, app.settings)[0]
                if keys_of(line.command, app.settings)
                else ""
            )
        )
        self._edit.setMaximumSequenceLength(1)
        self._edit.setClearButtonEnabled(True)
        self._field = TitledField(_("Key"), self._edit)
        self.put(self._field)
        self.end(
            None,
            Button(_("Cancel"), on=self.reject),
            Button(_("Assign key"), kind="primary", on=self._use),
        )

    def _use(self) -> None:
        pressed = self._edit.keySequence()
        chosen = bare_name(pressed) if self._line.command.bare else pressed.toString(PORTABLE)
        on_labels = self._line.command.id.startswith(PAGE_OF_KEYS)
        if self._line.command.bare and on_labels and (label := _label_with(self._app, chosen)):
            self._field.set_error(
                _(
                    "{key} is the key of the label “{name}”. Change it on the Labels page.",
                    key=chosen,
                    name=label,
                )
            )
            return
        before = list(keys_of(self._line.command, self._app.settings))
        remap(self._line.command, [chosen] if chosen else [], self._app.settings)
        entries = [(entry.command, entry.page) for entry in self._app.menus.entries]
        taken = [
            pair
            for key, *pair in conflicts(entries, self._app.settings)
            if self._line.command in pair and key == chosen
        ]
        if taken:
            other = next(command for command in taken[0] if command is not self._line.command)
            remap(self._line.command, before, self._app.settings)
            name = other.lasting()
            self._field.set_error(
                _("{key} is already assigned to “{name}”.", key=chosen, name=name)
            )
            return
        self.accept()


def _label_with(app: Application, key: str) -> str:
    """The label of the open project that has the key, "" for none."""
    if app.project is None or not key:
        return ""
    names = (
        label.name
        for layer in labels.layers(app.project)
        for label in layer.labels
        if label.key == key.lower()
    )
    return next(names, "")
