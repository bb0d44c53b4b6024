"""The mark of the current row of a list that has the keyboard focus."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRect
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView

from workbench.ui.style import theme

MARK = 3  # width of the mark, pixels


def mark_current(view: QAbstractItemView) -> None:
    """Paint the mark at the side where rows begin, over what `paintEvent` has painted.

    The ground of selected rows alone differs too little from that of others.
    """
    index = view.currentIndex()
    if view.hasFocus() and index.isValid():
        row = view.visualRect(index.siblingAtColumn(_first_column(view)))
        bar = QRect(_side(view), row.top(), MARK, row.height())
        QPainter(view.viewport()).fillRect(bar, theme.qcolour("accent"))


def _side(view: QAbstractItemView) -> int:
    return view.viewport().width() - MARK if view.isRightToLeft() else 0


def _first_column(view: QAbstractItemView) -> int:
    """The first visible column: hidden ones have no place."""
    if not isinstance(view, QTableView):
        return 0
    columns = range(view.horizontalHeader().count())
    return next((column for column in columns if not view.isColumnHidden(column)), 0)


class MarkedTable(QTableView):
    """A table that marks its current row while it has the keyboard focus."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        mark_current(self)

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        viewport = self.viewport()
        viewport.update(_side(self), 0, MARK, viewport.height())
