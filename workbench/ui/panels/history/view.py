"""The History dock."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedLayout, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.history.state import HistoryState, StepRow
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import Elided


class HistoryView(View):
    def __init__(self, state: HistoryState):
        super().__init__(state)
        columns = (
            Column(_("Step"), lambda one: one.title, icon=_icon, tip=lambda one: one.title),
            Column(
                _("Rows"),
                lambda one: f"{one.rows:,}",
                84,
                right=True,
                hint=_("Rows of the project file that the step changed"),
            ),
            Column(_("When"), lambda one: one.when, 150),
            Column("", lambda one: _("undone") if one.undone else "", 90),
        )
        self.table = self.first = Table(
            columns, name=_("History"), key=lambda one: (one.id, one.undone)
        )
        self.table.opened.connect(state.go_to)
        self.table.chosen.connect(self._enable)
        self._back = Button("", "undo-2", small=True, on=self._go)
        self._told = Elided("", "small", "muted")
        self._stack = QStackedLayout()
        self._stack.addWidget(self.table)
        self._stack.addWidget(EmptyState("history", _("Nothing has been changed yet")))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._stack, 1)
        layout.addWidget(
            column(row((self._told, 1), self._back), margins=(12, 4, 8, 4), part="bar")
        )
        self.setMinimumHeight(150)

    def render(self, fields: frozenset[str]) -> None:
        self.table.set_rows(self.state.steps)
        self._stack.setCurrentIndex(0 if self.state.steps else 1)
        self._told.setText(self.state.end)
        self._enable()

    def _enable(self) -> None:
        rows = self.table.chosen_rows()
        step = rows[0] if rows else None
        words = _("Redo up to here") if step and step.undone else _("Undo back to here")
        self._back.set_text(words)
        self._back.setEnabled(step is not None and self.state.editable)

    def _go(self) -> None:
        if rows := self.table.chosen_rows():
            self.state.go_to(rows[0])

    def showEvent(self, event) -> None:
        self.state.look_again()
        super().showEvent(event)

    def _state_changed(self, fields: frozenset[str]) -> None:
        if "stale" in fields and self.isVisible():
            self.state.look_again()
        super()._state_changed(fields)


def _icon(step: StepRow) -> tuple[str, str]:
    return ("redo-2", "faint") if step.undone else ("check", "good")
