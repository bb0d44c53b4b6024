"""A table whose cells have a ground by a value from 0 to 1, and a short text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from workbench.ui.widgets.charts.heat import hatch
from workbench.ui.widgets.charts.matrix import set_up_matrix

CELL = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()  # parent of all cells
CELL_HEIGHT = 26  # pixels at 100%
NAMES_WIDTH = 120  # pixels at 100% that names of rows may always take
NAMES_SHARE = 0.4  # of the table: the most that names of rows take
PADDING, NAME_PADDING = 12, 14  # pixels beside the text of a cell; with columns of own widths


class HeatCell(NamedTuple):
    """share: the darkness of the ground, 0 to 1; in a table of signed numbers -1 to 1.

    marked: framed, as one that was chosen. blank: nothing is there, so nothing is painted. barred:
    nothing can be there, so it is hatched, without its text.
    """

    text: str
    share: float
    marked: bool = False
    blank: bool = False
    barred: bool = False


class HeatStyle(NamedTuple):
    """least, most: widths of cells in pixels at 100%, which follow the names of columns and the
    texts of cells.

    widest: the longest text; all of them are not read, which takes time for long texts. each: every
    column has its own width, `most` does not apply. signed: numbers below 0 have another colour.
    """

    least: int = 44
    most: int = 120
    widest: str = ""
    each: bool = False
    signed: bool = False


class HeatTable(QTableView):
    """`moved(row, column)` is emitted when another cell becomes current.

    axes: what rows and columns are, as a sentence for screen readers.
    """

    moved = Signal(int, int)

    def __init__(self, name: str, axes: str, style: HeatStyle | None = None):
        super().__init__()
        self._style = style or HeatStyle()
        self._cells = _Cells(self)
        self.setModel(self._cells)
        self.setAccessibleName(name)
        self.setProperty("part", "matrix")
        set_up_matrix(self, axes)
        self.setItemDelegate(_HeatPainter(self, signed=self._style.signed))
        self.setFrameShape(self.Shape.NoFrame)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
            header.setTextElideMode(Qt.TextElideMode.ElideRight)
            header.setMinimumSectionSize(
                min(theme.px(self._style.least), header.minimumSectionSize())
            )
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.verticalHeader().setDefaultAlignment(right)
        drop = theme.changed.connect(self._fit)
        self.destroyed.connect(lambda *_: drop())

    def set_cells(
        self,
        down: Sequence[str],
        across: Sequence[str],
        cell: Callable[[int, int], HeatCell],
        tip: Callable[[int, int], str],
    ) -> None:
        """Replace all cells; the current one stays if it still exists.

        cell(row, column), tip(row, column): a cell, and its whole content as a sentence.
        """
        at = self.currentIndex()
        place = at.row(), at.column()
        self._cells.set(down, across, cell, tip)
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
        head, style = self.horizontalHeader(), self._style
        padding = NAME_PADDING if style.each else PADDING
        least = max(theme.px(style.least), metrics.horizontalAdvance(style.widest) + padding)
        self.verticalHeader().setDefaultSectionSize(theme.px(CELL_HEIGHT))
        names = self._cells.across
        if style.each:  # Qt would ask for the contents of every cell
            for column, name in enumerate(names):
                head.resizeSection(column, max(least, metrics.horizontalAdvance(name) + padding))
            return
        texts = names if style.widest else [*names, *self._cells.texts()]
        longest = max(map(metrics.horizontalAdvance, texts), default=0) + padding
        head.setDefaultSectionSize(min(max(longest, least), theme.px(style.most)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        most = max(theme.px(NAMES_WIDTH), int(NAMES_SHARE * self.width()))
        self.verticalHeader().setMaximumWidth(most)
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
        self.across: Sequence[str] = ()
        self._down: Sequence[str] = ()
        self._cell: Callable[[int, int], HeatCell]
        self._tip: Callable[[int, int], str]

    def set(
        self,
        down: Sequence[str],
        across: Sequence[str],
        cell: Callable[[int, int], HeatCell],
        tip: Callable[[int, int], str],
    ) -> None:
        self.beginResetModel()
        self._down, self.across, self._cell, self._tip = down, across, cell, tip
        self.endResetModel()

    def texts(self) -> Iterator[str]:
        for row in range(len(self._down)):
            for column in range(len(self.across)):
                yield self._cell(row, column).text

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._down)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.across)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        at = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(*at).text
        if role == CELL:
            return self._cell(*at)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._tip(*at)
        return escaping.tip(self._tip(*at)) if role == Qt.ItemDataRole.ToolTipRole else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        names = self.across if orientation == Qt.Orientation.Horizontal else self._down
        if section >= len(names):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return names[section]
        return escaping.tip(names[section]) if role == Qt.ItemDataRole.ToolTipRole else None


class _HeatPainter(QStyledItemDelegate):
    def __init__(self, parent: HeatTable, *, signed: bool):
        super().__init__(parent)
        self._shade = theme.diverging if signed else theme.sequential

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell, table = cast(HeatCell, index.data(CELL)), cast(QTableView, self.parent())
        ground = theme.colour("sunken") if cell.barred else self._shade(cell.share)
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
        if cell.barred:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(hatch())
            painter.drawRoundedRect(area, 3, 3)
        painter.setPen(QColor(theme.readable(ground, "text", "surface")))
        font = theme.font("caption")
        painter.setFont(font)
        room = area.adjusted(3, 0, -3, 0)
        text = QFontMetrics(font).elidedText(
            "" if cell.barred else cell.text, Qt.TextElideMode.ElideRight, int(room.width())
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()
