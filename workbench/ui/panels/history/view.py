"""The History dock."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.commands import MenuChoice
from workbench.ui.panel import View
from workbench.ui.panels.history.state import HistoryState, StepRow
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import Elided
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table, ValueKind
from workbench.ui.widgets.text.context_menu import RowMenu

ROWS = 2  # this column is hidden if the dock is narrow
MIN_WIDTH, NARROW_WIDTH = 300, 460  # pixels at 100%


class HistoryView(View):
    state: HistoryState

    def __init__(self, state: HistoryState):
        super().__init__(state)
        self._current = 0  # the row of the current step
        columns = (
            Column(
                _("Step"),
                lambda row: row.title,
                icon=_icon,
                tip=lambda row: row.title,
                prose=True,
            ),
            Column("", _state, 96, chip=_chip),
            Column(
                _("Rows"),
                lambda row: row.rows,
                64,
                kind=ValueKind.COUNT,
                hint=_("Rows of the project file that the step changed"),
            ),
            Column(_("When"), lambda row: row.when, 104, tip=lambda row: row.moment),
        )
        self.table = self.first = Table(
            columns, name=_("History"), key=lambda row: (row.id, row.undone)
        )
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names are at the end
        RowMenu(self.table, self._choices)
        self.table.opened.connect(state.go_to)
        self.table.chosen.connect(self._enable)
        self._back = Button("", "undo-2", small=True, on=self._go)
        self._message = Elided("", "small", "muted")
        self._stack = PageLayout()
        self._stack.addWidget(self.table)
        self._stack.addWidget(EmptyState("history", _("No changes yet")))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._stack, 1)
        layout.addWidget(
            column(row((self._message, 1), self._back), margins=(12, 4, 8, 4), part="bar")
        )
        self.setMinimumHeight(150)
        self.setMinimumWidth(theme.px(MIN_WIDTH))

    def render(self, fields: frozenset[str]) -> None:
        self.table.set_rows(self.state.steps)
        self._stack.setCurrentIndex(0 if self.state.steps else 1)
        self._message.setText(self.state.end)
        self._show_current()
        self._enable()

    def _show_current(self) -> None:
        """Scroll to the current step, with a step that can be redone above it."""
        place = next((n for n, step in enumerate(self.state.steps) if step.current), 0)
        if place != self._current:
            self._current = place
            for near in (place - 1, place):
                self.table.scrollTo(self.table.model().index(near, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.setColumnHidden(ROWS, self.width() < theme.px(NARROW_WIDTH))

    def _choices(self) -> tuple[MenuChoice, ...]:
        (step,) = self.table.chosen_rows()
        return (MenuChoice(_words(step), self._go, self.state.editable, key=_("Enter")),)

    def _enable(self) -> None:
        rows = self.table.chosen_rows()
        step = rows[0] if rows else None
        self._back.set_text(_words(step))
        self._back.setEnabled(step is not None and self.state.editable)

    def _go(self) -> None:
        if rows := self.table.chosen_rows():
            self.state.go_to(rows[0])

    def showEvent(self, event: QShowEvent) -> None:
        self.state.look_again()
        super().showEvent(event)

    def _state_changed(self, fields: frozenset[str]) -> None:
        if "stale" in fields and self.isVisible():
            self.state.look_again()
        super()._state_changed(fields)


def _words(step: StepRow | None) -> str:
    return _("Redo up to here") if step and step.undone else _("Undo back to here")


def _icon(step: StepRow) -> tuple[str, str]:
    if step.undone:
        return "redo-2", "faint"
    return ("circle-dot", "accent") if step.current else ("check", "good")


def _state(step: StepRow) -> str:
    return _("undone") if step.undone else _("current") if step.current else ""


def _chip(step: StepRow) -> tuple[str, None, str] | None:
    return (_state(step), None, "accent" if step.current else "") if _state(step) else None
