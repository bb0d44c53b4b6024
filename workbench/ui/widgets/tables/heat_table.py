"""A table whose cells have a ground by a value from 0 to 1, and a short text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts.matrix import set_up_matrix

CELL = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()  # parent of all cells
MIN_CELL_WIDTH, MAX_CELL_WIDTH, CELL_HEIGHT = (
    44,
    120,
    26,
)  # width and height of a cell, pixels at 100%


class HeatCell(NamedTuple):
    """share: 0 to 1, the darkness of the ground. tip: the whole content as a sentence.

    marked: framed, as one that was chosen. blank: nothing is there, so nothing is painted.
    """

    text: str
    share: float
    tip: str
    marked: bool = False
    blank: bool = False


class HeatTable(QTableView):
    """`moved(row, column)` is emitted when another cell becomes current.

    axes: what rows and columns are, as a sentence for screen readers. most: maximum width of a
    cell, pixels at 100%.
    """

    moved = Signal(int, int)

    def __init__(self, name: str, axes: str, *, most: int = MAX_CELL_WIDTH):
        super().__init__()
        self._most = most
        self._cells = _Cells(self)
        self.setModel(self._cells)
        self.setAccessibleName(name)
        self.setProperty("part", "matrix")
        set_up_matrix(self, axes)
        self.setItemDelegate(HeatPainter(self))
        self.setFrameShape(self.Shape.NoFrame)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.verticalHeader().setDefaultAlignment(right)
        drop = theme.changed.connect(self._fit)
        self.destroyed.connect(lambda *_: drop())

    def set_cells(
        self, down: Sequence[str], across: Sequence[str], cells: Sequence[Sequence[HeatCell]]
    ) -> None:
        """Replace all cells; the current one stays if it still exists."""
        at = self.currentIndex()
        place = at.row(), at.column()
        self._cells.set(down, across, cells)
        self._fit()
        if 0 <= place[0] < len(down) and 0 <= place[1] < len(across):
            self.choose(*place)

    def choose(self, row: int, column: int) -> None:
        """Make a cell current and scroll to it."""
        self.updateGeometries()  # else the scroll bars have the ranges before `set_cells`
        self.setCurrentIndex(self._cells.index(row, column))

    def sizeHint(self) -> QSize:
        across, down = self.horizontalHeader(), self.verticalHeader()
        wide = down.sizeHint().width() + across.length() + 4
        return QSize(wide, across.sizeHint().height() + down.length() + 4)

    def _fit(self) -> None:
        metrics = QFontMetrics(theme.font("caption", 600))
        longest = max(map(metrics.horizontalAdvance, self._cells.texts()), default=0) + 12
        wide = min(max(longest, theme.px(MIN_CELL_WIDTH)), theme.px(self._most))
        self.horizontalHeader().setDefaultSectionSize(wide)
        self.verticalHeader().setDefaultSectionSize(theme.px(CELL_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self.moved.emit(current.row(), current.column())


class _Cells(QAbstractTableModel):
    def __init__(self, parent: HeatTable):
        super().__init__(parent)
        self._down: Sequence[str] = ()
        self._across: Sequence[str] = ()
        self._cells: Sequence[Sequence[HeatCell]] = ()

    def set(
        self, down: Sequence[str], across: Sequence[str], cells: Sequence[Sequence[HeatCell]]
    ) -> None:
        self.beginResetModel()
        self._down, self._across, self._cells = down, across, cells
        self.endResetModel()

    def texts(self) -> list[str]:
        return [*self._across, *(cell.text for cells in self._cells for cell in cells)]

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._down)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._across)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        cell = self._cells[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == CELL:
            return cell
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return cell.tip
        return escaping.tip(cell.tip) if role == Qt.ItemDataRole.ToolTipRole else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        names = self._across if orientation == Qt.Orientation.Horizontal else self._down
        if role == Qt.ItemDataRole.DisplayRole and section < len(names):
            return names[section]
        return None


class HeatPainter(QStyledItemDelegate):
    """Paints the cells of a table whose model has a `HeatCell` for the role CELL."""

    def __init__(self, parent: QTableView):
        super().__init__(parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell, table = cast(HeatCell, index.data(CELL)), cast(QTableView, self.parent())
        ground = theme.sequential(min(1.0, max(0.0, cell.share)))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(1, 1, -1, -1)
        chosen = table.currentIndex() == index
        tone = "accent" if table.hasFocus() else "text"
        if cell.blank and not chosen:
            painter.restore()
            return
        framed = QPen(theme.qcolour("good"), 2) if cell.marked else Qt.PenStyle.NoPen
        painter.setPen(QPen(theme.qcolour(tone), 2) if chosen else framed)
        painter.setBrush(Qt.BrushStyle.NoBrush if cell.blank else QColor(ground))
        painter.drawRoundedRect(area, 3, 3)
        painter.setPen(QColor(theme.readable(ground, "text", "surface")))
        font = theme.font("caption")
        painter.setFont(font)
        room = area.adjusted(3, 0, -3, 0)
        text = QFontMetrics(font).elidedText(
            cell.text, Qt.TextElideMode.ElideRight, int(room.width())
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()
