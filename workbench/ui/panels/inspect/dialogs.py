"""Pick a document: search and a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.state import InspectState


class PickDocument(Dialog):
    """`picked` is the id of the selected document, None if the dialog was cancelled."""

    def __init__(self, parent: QWidget, state: InspectState) -> None:
        super().__init__(
            parent,
            _("Pick a document"),
            _("Lists the first documents that contain the search words."),
            width=680,
        )
        self._state, self.picked = state, None
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search"))
        self._search.textChanged.connect(lambda _text: self._find())
        self._search.returnPressed.connect(self._take)
        columns = [
            Column(_("Key"), lambda row: row.key, 110),
            Column(_("Text"), lambda row: " ".join(row.text.split()), None),
            Column(_("Split"), lambda row: term(row.split) if row.split else "–", 70),
        ]
        self._table = Table(
            columns, name=_("Documents to pick"), key=lambda row: row.id, sortable=True
        )
        self._table.setMinimumHeight(theme.px(320))
        self._pick: Button
        self._table.opened.connect(lambda _row: self._take())
        self._table.chosen.connect(lambda: self._pick.setEnabled(bool(self._table.chosen_rows())))
        self._pick = Button(_("Inspect document"), kind="primary", on=self._take)
        self.put(TitledField(_("Search"), self._search, name=_("Search documents")), self._table)
        self.end(None, Button(_("Go back"), on=self.reject), self._pick)
        self._find()
        self._search.setFocus()

    def _find(self) -> None:
        rows = self._state.find(self._search.text())
        self._table.rows_model.set_rows(rows)
        if rows:
            self._table.selectRow(0)
        self._pick.setEnabled(bool(rows))

    def _take(self) -> None:
        rows = self._table.chosen_rows()
        if rows:
            self.picked = rows[0].id
            self.accept()
