"""Confusion matrix: share of the row as shade, count as number, diagonal outlined.

The names stay visible while the cells scroll. Names are never shortened in favour of cells: if not
all columns fit, they scroll.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.savable import SavableTable

ROWS, COLUMNS = "rows", "columns"  # what percentages are of
COUNT, SHARE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
LEAST_CELL, MOST_CELL = 22, 56  # pixels at 100%
MOST_NAME = 310  # maximum length of a name, pixels at 100%, for rows and rotated columns
MOST_HEIGHT = 600  # maximum height in pixels unless `set_most_height` is called
ROOT = QModelIndex()  # parent of all cells
MARGIN = 18  # for the vertical scroll bar and the frame


def set_up_matrix(table: QTableView, axes: str) -> None:
    """Cells that are selected singly and not edited; `axes` says what rows and columns are."""
    table.setShowGrid(False)
    table.setCornerButtonEnabled(False)
    corner = cast(QAbstractButton, table.findChild(QAbstractButton))
    corner.setAccessibleName(axes)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setTabKeyNavigation(False)


class Matrix(SavableTable):
    """Rows: gold. Columns: predicted.

    `opened(row, column)` is emitted on Enter, Space, or a click on a nonzero cell.
    """

    opened = Signal(int, int)
    named_rows = True

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setProperty("part", "matrix")
        self._counts = _Counts(self)
        self._wanted, self._most_height = QSize(260, 260), MOST_HEIGHT
        self.hovered = QModelIndex()
        self.across = _Names(Qt.Orientation.Horizontal, self)
        self.down = _Names(Qt.Orientation.Vertical, self)
        self.setHorizontalHeader(self.across)
        self.setVerticalHeader(self.down)
        self.setModel(self._counts)
        set_up_matrix(self, _("Rows: gold. Columns: predicted."))
        self.setMouseTracking(True)
        self.setItemDelegate(_Cell(self))
        self.setFrameShape(self.Shape.NoFrame)
        self.clicked.connect(self._open)

    def set_counts(
        self, names: Sequence[str], counts: Sequence[Sequence[int]], *, unmatched: str = ""
    ) -> None:
        """`counts[gold][predicted]`, rows and columns in the order of `names`; the last names may
        have no row.

        unmatched: the name for no counterpart; its row is shown as spurious, its column as missed.
        """
        self.hovered = QModelIndex()
        self._counts.set(names, counts, unmatched)
        self._fit()

    def set_sides(self, rows: str, columns: str) -> None:
        """What rows and columns are, instead of gold and predicted."""
        self._counts.sides = rows, columns

    def show_shares(self, of: str) -> None:
        """Show percentages of the ROWS or COLUMNS; "" shows counts, shaded by row."""
        self._counts.shares_of = of
        self.viewport().update()

    @property
    def as_shares(self) -> bool:
        return bool(self._counts.shares_of)

    def choose(self, row: int, column: int) -> None:
        """Make a cell current and scroll to it."""
        self.setCurrentIndex(self._counts.index(row, column))

    def set_most_height(self, pixels: int) -> None:
        """Maximum height; further rows scroll."""
        if pixels != self._most_height:
            self._most_height = pixels
            self._fit()

    def sizeHint(self) -> QSize:
        return self._wanted

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        self._repaint_names()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.indexAt(event.position().toPoint()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(QModelIndex())
        super().leaveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _hover(self, index: QModelIndex) -> None:
        if index != self.hovered:
            self.hovered = index
            self._repaint_names()

    def _repaint_names(self) -> None:
        self.across.viewport().update()
        self.down.viewport().update()

    def _fit(self) -> None:
        """Names in full (up to MOST_NAME), cells as large as the space allows."""
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        sides = [
            [self._counts.title(at, side) for at in range(len(self._counts.names))]
            for side in (across, down)
        ]
        names = [max(pair, key=len) for pair in zip(*sides, strict=True)]
        if not names:
            return
        metrics, most = QFontMetrics(theme.font("caption")), theme.px(MOST_NAME)
        longest = max(map(metrics.horizontalAdvance, names))
        least = max(theme.px(LEAST_CELL), metrics.horizontalAdvance(self._counts.widest) + 8)
        largest = max(least, theme.px(MOST_CELL))
        left = min(longest + 18, most, max(theme.px(60), self.width() * 2 // 5))
        wide = min(max((self.width() - left - MARGIN) // len(names), least), largest)
        self.across.turned = longest > wide - 2
        above = min(longest + 12, most) if self.across.turned else theme.px(26)
        count = max(1, self._counts.rowCount())
        high = min(above + least * count + 8, max(260, self._most_height))
        above = min(above, max(theme.px(60), high * 11 // 20))
        self._want(QSize(left + wide * len(names) + MARGIN, above + wide * count + 10), high)
        rows = (self.height() - above - 6) // count
        cell = min(wide, max(rows, least))
        self.down.setFixedWidth(left)
        self.across.setFixedHeight(above)
        self.across.setDefaultSectionSize(cell)
        self.down.setDefaultSectionSize(cell)
        self.updateGeometries()
        self._repaint_names()

    def _want(self, size: QSize, high: int) -> None:
        """The useful height at this width, between `high` and the maximum."""
        size.setHeight(min(size.height(), max(high, self._most_height)))
        self.setMinimumHeight(max(260, high))
        if size != self._wanted:
            self._wanted = size
            self.updateGeometry()

    def _open(self, index: QModelIndex) -> None:
        if index.isValid() and index.data(COUNT):
            self.opened.emit(index.row(), index.column())


class _Counts(QAbstractTableModel):
    """Model of counts and row percentages; items are created only when painted."""

    def __init__(self, parent: Matrix):
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.shares_of = ""
        self.unmatched = ""
        self.sides: tuple[str, str] | None = None
        self.widest = "100"  # the longest number of a cell
        self._counts: tuple[Sequence[int], ...] = ()
        self._totals: tuple[int, ...] = ()  # of rows
        self._below: tuple[int, ...] = ()  # of columns

    def set(
        self, names: Sequence[str], counts: Sequence[Sequence[int]], unmatched: str = ""
    ) -> None:
        self.beginResetModel()
        self.names, self._counts, self.unmatched = tuple(names), tuple(counts), unmatched
        self._totals = tuple(sum(row) or 1 for row in counts)
        self._below = tuple(sum(column) or 1 for column in zip(*counts, strict=True))
        largest = max((max(row, default=0) for row in counts), default=0)
        self.widest = max("100", str(largest), key=len)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self._counts)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self.names)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        count = self._counts[index.row()][index.column()]
        if role == COUNT:
            return count
        if role == SHARE:
            of_column = self.shares_of == COLUMNS
            return count / (self._below[index.column()] if of_column else self._totals[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return str(count)
        if role == Qt.ItemDataRole.ToolTipRole:
            text = _("gold {gold}, predicted {predicted}: {count}")
            if self.sides is not None:
                text = _("{first}: {gold}, {second}: {predicted}: {count}")
            gold = self.title(index.row(), Qt.Orientation.Vertical)
            predicted = self.title(index.column(), Qt.Orientation.Horizontal)
            first, second = self.sides or ("", "")
            values = {"first": first, "second": second, "gold": gold, "predicted": predicted}
            return escaping.tip(text.format(**values, count=count))
        return None

    def title(self, section: int, orientation: Qt.Orientation) -> str:
        """The name of a row or column."""
        name = self.names[section]
        if not self.unmatched or name != self.unmatched:
            return name
        return _("spurious") if orientation == Qt.Orientation.Vertical else _("missed")

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        name = self.title(section, orientation)
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        return escaping.tip(name) if role == Qt.ItemDataRole.ToolTipRole else None


class _Names(QHeaderView):
    """Names of rows or columns; those of the current and hovered cells are highlighted.

    Column names wider than their column are rotated (`turned`), to be read from below.
    """

    def __init__(self, orientation: Qt.Orientation, parent: Matrix):
        super().__init__(orientation, parent)
        self.turned = False
        self.setSectionResizeMode(self.ResizeMode.Fixed)
        self.setMinimumSectionSize(LEAST_CELL // 2)
        self.setHighlightSections(False)
        self.setSectionsClickable(False)

    def room(self) -> int:
        """Maximum length of a name in pixels."""
        if self.orientation() == Qt.Orientation.Vertical:
            return self.width() - 12
        return self.height() - 8 if self.turned else self.defaultSectionSize() - 2

    def shown_name(self, section: int) -> str:
        """The name, elided in the middle if necessary."""
        name = self.model().headerData(section, self.orientation())
        metrics = QFontMetrics(theme.font("caption", 600 if self._stands_out(section) else 400))
        return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, self.room())

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        out = self._stands_out(section)
        painter.setFont(theme.font("caption", 600 if out else 400))
        painter.setPen(theme.qcolour("text" if out else "muted"))
        text = self.shown_name(section)
        if self.orientation() == Qt.Orientation.Vertical:
            area, where = rect.adjusted(0, 0, -8, 0), Qt.AlignmentFlag.AlignRight
            painter.drawText(area, where | Qt.AlignmentFlag.AlignVCenter, text)
        elif self.turned:
            painter.translate(rect.left(), rect.bottom() - 4)
            painter.rotate(-90)
            area = QRect(QPoint(0, 0), QSize(rect.height() - 4, rect.width()))
            where = Qt.AlignmentFlag.AlignLeft
            painter.drawText(area, where | Qt.AlignmentFlag.AlignVCenter, text)
        else:
            area, where = rect.adjusted(0, 0, 0, -3), Qt.AlignmentFlag.AlignHCenter
            painter.drawText(area, where | Qt.AlignmentFlag.AlignBottom, text)
        painter.restore()

    def _stands_out(self, section: int) -> bool:
        view = cast(Matrix, self.parent())
        indexes = [view.hovered, view.currentIndex()] if view.hasFocus() else [view.hovered]
        if self.orientation() == Qt.Orientation.Vertical:
            return any(index.isValid() and index.row() == section for index in indexes)
        return any(index.isValid() and index.column() == section for index in indexes)


def cell_colours(count: int, share: float) -> tuple[str, str]:
    """(background, text) colours of a cell, as #RRGGBB. `share` of its row, in [0, 1]."""
    ground = _mix("surface", "accent", 0.05 + 0.95 * share if count else 0.03)
    number = theme.readable(ground, "text", "on_accent") if count else theme.colour("muted")
    return ground, number


def cell_text(count: int, share: float, *, as_shares: bool) -> str:
    """A count, or its percentage of the row."""
    return formats.points(share, 0) if as_shares else formats.count(count)


class _Cell(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        count, share = index.data(COUNT), index.data(SHARE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(1.5, 1.5, -1.5, -1.5)
        view = cast(Matrix, self.parent())
        focused = view.hasFocus() and view.currentIndex() == index
        pen = QPen(theme.qcolour("accent"), 2.4) if focused else QPen(theme.qcolour("text"), 1.2)
        painter.setPen(pen if focused or index.row() == index.column() else Qt.PenStyle.NoPen)
        ground, number = cell_colours(count, share)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(area, 4, 4)
        painter.setPen(QColor(number))
        painter.setFont(theme.font("caption"))
        text = cell_text(count, share, as_shares=view.as_shares)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()


def _mix(text: str, other: str, share: float) -> str:
    first, second = (
        (at.redF(), at.greenF(), at.blueF()) for at in map(theme.qcolour, (text, other))
    )
    parts = (a + (b - a) * share for a, b in zip(first, second, strict=True))
    return QColor.fromRgbF(*parts).name().upper()
