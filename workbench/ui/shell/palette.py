"""The command palette: type part of a title and press Enter to run the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from workbench.base.i18n import _
from workbench.ui.shell.keys import shown
from workbench.ui.shell.menus import Entry
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.ui.application import Application


class Palette(Dialog):
    """Enabled commands, best match first."""

    def __init__(self, app: Application) -> None:
        super().__init__(app.window, _("Find a command"), width=600)
        self._app, self._pages = (
            app,
            {contribution.id: _(contribution.title) for contribution in app.registry.all("panel")},
        )
        menus = app.menus
        known = [
            entry
            for entry in menus.entries
            if not (entry.command.shown_only or entry.command.choices)
        ]
        self._entries = [entry for entry in known if menus.can_act(entry)]
        self._unavailable = [entry for entry in known if entry not in self._entries]
        self._search = QLineEdit()
        self._search.setAccessibleName(_("Find a command"))
        self._search.setPlaceholderText(_("Type the name of a command"))
        self._search.textChanged.connect(lambda _text: self._fill())
        self._search.installEventFilter(self)
        columns = (
            Column(_("Command"), self._title),
            Column(_("Page"), lambda item: self._pages.get(item.page, _(item.command.menu)), 110),
            Column(_("Key"), lambda item: shown(item.command, app.settings), 140),
        )
        self._table = Table(columns, name=_("Commands"), key=lambda item: item.command.id)
        self._table.setMinimumHeight(360)
        self._table.opened.connect(self._do)
        self.put(self._search, self._table)
        self._fill()
        self._search.setFocus()

    def _title(self, entry: Entry) -> str:
        target = entry.target()
        return entry.command.plain(target) if target is not None else entry.command.lasting()

    def _fill(self) -> None:
        entries = self._found(self._entries)
        self._table.set_rows(entries)
        self._table.selectRow(0)
        self.fault("" if entries else self._why_none(), "accent")

    def _found(self, entries: list[Entry]) -> list[Entry]:
        search = self._search.text().casefold().strip()
        ranked = sorted(
            (
                (rank(search, self._title(entry).casefold()), number, entry)
                for number, entry in enumerate(entries)
            ),
            key=lambda item: item[:2],
        )
        return [entry for place, _number, entry in ranked if place < NO_MATCH]

    def _why_none(self) -> str:
        if unavailable := self._found(self._unavailable):
            return _("“{command}” is not available here now.", command=self._title(unavailable[0]))
        return _("No command with these letters.")

    def _do(self, entry: Entry) -> None:
        self.accept()
        self._app.menus.act(entry)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == event.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self._table.selectRow(
                    min(
                        max(self._table.currentIndex().row() + step, 0), len(self._table.rows()) - 1
                    )
                )
                return True
            chosen = self._table.current_row()
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and chosen is not None:
                self._do(chosen)
                return True
        return super().eventFilter(watched, event)


NO_MATCH = 9


def rank(typed: str, title: str) -> int:
    """Rank a match; lower is better.

    0: the title starts with it, 1: a word does, 2: contained, 3: its letters occur in order, else
    NO_MATCH.
    """
    if title.startswith(typed):
        return 0
    if any(word.startswith(typed) for word in title.split()):
        return 1
    if typed in title:
        return 2
    letters = iter(title)
    return 3 if all(letter in letters for letter in typed if letter != " ") else NO_MATCH
