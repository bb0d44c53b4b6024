"""The menu of further columns of the table: notes, flags, scores, dates, metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.i18n import N_, _
from workbench.ui.panels.data.selection import DocumentSelection
from workbench.ui.style import escaping, formats
from workbench.ui.widgets.tables.document_rows import Extra

TITLES = {
    "assigned": N_("Assigned to"),
    "flags": N_("Flags"),
    "note": N_("Note"),
    "labels": N_("Labels"),
    "score": N_("Lowest score"),
    "number": N_("Number"),
    "date": N_("Changed"),
    "file": N_("File"),
}
_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "labels": formats.count,
    "score": partial(formats.decimal, digits=2),
    "number": formats.significant,
    "date": partial(formats.when_iso, brief=True),
}


def title(column: str) -> str:
    """The name of a further column, for display."""
    known = TITLES.get(column)
    return _(known) if known else column.partition(".")[2]


def extras(columns: Sequence[str]) -> tuple[Extra, ...]:
    """The columns as the table takes them."""
    return tuple(Extra(name, title(name), _SHOWN.get(name)) for name in columns)


class ColumnMenu(QMenu):
    """Each entry shows or hides a column. `button`: where the menu opens."""

    def __init__(self, selection: DocumentSelection, parent: QWidget) -> None:
        super().__init__(parent)
        self._selection = selection
        self.button: QWidget = parent
        self.setAccessibleName(_("Columns"))
        self.aboutToShow.connect(self.fill)

    def ask(self) -> None:
        self._selection.filters.query.read_names()
        self.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def fill(self) -> None:
        self.clear()
        separated = False
        for name in self._selection.column_choices:
            if self._selection.is_field(name) and not separated:
                self.addSeparator()
                separated = True
            action = self.addAction(escaping.menu_text(title(name)))
            action.setCheckable(True)
            action.setChecked(name in self._selection.columns)
            action.toggled.connect(partial(self._turn, name))

    def _turn(self, name: str, on: bool) -> None:
        self._selection.show_column(name, on=on)
