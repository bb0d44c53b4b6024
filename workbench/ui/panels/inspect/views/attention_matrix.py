"""The weights of one attention head as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)

from workbench.base.i18n import _
from workbench.ui.panels.inspect.views.attention_rows import MIN_SIDE, PAD, TokenRows
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts import heat

if TYPE_CHECKING:
    from workbench.inspection.attention.info import Attention

MAX_SIDE = 30  # maximum side of a cell, pixels at 100%
SLANT = 60  # angle of the column names


class HeadMatrix(TokenRows):
    """Rows: queries.

    Columns: keys. Arrow keys move the current cell, which `hovered` reports too.
    """

    def __init__(self) -> None:
        super().__init__(_("Attention matrix"))
        self._picture: QImage | None = None

    def set(self, result: Attention | None) -> None:
        self._picture = None
        super().set(result)

    def restyle(self) -> None:
        self._picture = None
        super().restyle()

    def whole(self) -> QPixmap:
        """An image of all cells, including those outside the viewport."""
        matrix = HeadMatrix()
        matrix.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        matrix.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        matrix.set(self.result)
        side = self.count * self.cell + 2 * PAD
        matrix.resize(int(self.label * 1.5 + side), int(self.above + side))
        matrix.choose(self.row)
        picture = matrix.grab()
        matrix.deleteLater()
        return picture

    def measure(self) -> None:
        if not self.count:
            return
        self.label = self.widest()
        self.above = self.label * 0.87 + theme.px(12)  # sine of the slant, and the last letter
        room = self.viewport()
        wide = (room.width() - self.label - PAD - self.label / 2) / self.count
        high = (room.height() - self.above - PAD) / self.count
        self.cell = float(int(min(max(min(wide, high), theme.px(MIN_SIDE)), theme.px(MAX_SIDE))))
        bar = self.horizontalScrollBar()
        whole = self.label + PAD + self.count * self.cell + self.label / 2
        bar.setRange(0, max(0, int(whole - room.width())))
        bar.setPageStep(room.width())
        bar.setSingleStep(int(self.cell))
        self.scroll_down()

    @property
    def left(self) -> float:
        return self.label + PAD - self.horizontalScrollBar().value()

    # ---------------------------------------------------------------- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.result is None or not self.count:
            return
        painter = QPainter(self.viewport())
        room = QRectF(self.viewport().rect())
        side = self.count * self.cell
        whole = QRectF(self.left, self.top, side, side)
        painter.save()
        painter.setClipRect(room.adjusted(self.label + PAD, self.above, 0, 0))
        painter.drawImage(whole, self._image())
        self._paint_masked(painter)
        self._paint_grid(painter, whole)
        self._paint_chosen(painter, whole)
        painter.restore()
        self._paint_names(painter, room)

    def _image(self) -> QImage:
        if self._picture is None:
            self._picture = heat.image(self.head.weights, self.head.masked)
        return self._picture

    def _paint_masked(self, painter: QPainter) -> None:
        """Hatch runs of masked cells in the visible rows."""
        if not self.head.masked.any():
            return
        brush = heat.hatch()
        for row in self.seen():
            line: np.ndarray = np.pad(self.head.masked[row], 1)
            (edges,) = np.nonzero(line[1:] != line[:-1])
            for start, end in edges.reshape(-1, 2):
                left, top = self.left + start * self.cell, self.top + row * self.cell
                painter.fillRect(QRectF(left, top, (end - start) * self.cell, self.cell), brush)

    def _paint_grid(self, painter: QPainter, whole: QRectF) -> None:
        painter.setPen(QPen(theme.qcolour("surface"), 1))
        for number in range(self.count + 1):
            step = number * self.cell
            across, down = whole.top() + step, whole.left() + step
            painter.drawLine(QPointF(whole.left(), across), QPointF(whole.right(), across))
            painter.drawLine(QPointF(down, whole.top()), QPointF(down, whole.bottom()))

    def _paint_chosen(self, painter: QPainter, whole: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.row >= 0:
            painter.setPen(QPen(theme.qcolour("accent"), 2))
            top = self.top + self.row * self.cell
            painter.drawRect(QRectF(whole.left(), top, whole.width(), self.cell))
        if self.row >= 0 and self.column >= 0 and self.hasFocus():
            painter.setPen(QPen(theme.qcolour("text"), 2))
            left = self.left + self.column * self.cell
            painter.drawRect(QRectF(left, self.top + self.row * self.cell, self.cell, self.cell))

    def _paint_names(self, painter: QPainter, room: QRectF) -> None:
        right = Qt.AlignmentFlag.AlignRight
        painter.save()
        painter.setClipRect(room.adjusted(0, self.above, 0, 0))
        for row in self.seen():
            area = QRectF(0, self.top + row * self.cell, self.label, self.cell)
            self.write(painter, area, row, row == self.row, right)
        painter.restore()
        painter.setClipRect(room.adjusted(self.label + PAD, 0, 0, 0))
        for column in range(self.count):
            middle = self.left + (column + 0.5) * self.cell
            if -self.label < middle < room.width() + self.label:
                painter.save()
                painter.translate(middle, self.above - 4)
                painter.rotate(-SLANT)
                area = QRectF(0, -theme.px(8), self.label, theme.px(16))
                left = Qt.AlignmentFlag.AlignLeft
                self.write(painter, area, column, column == self.column, left)
                painter.restore()

    # ---------------------------------------------------------------- mouse and keys

    def cell_at(self, point: QPointF | QPoint) -> tuple[int, int]:
        """(row, column) at a point of the viewport, (-1, -1) outside the matrix."""
        row, column = self.row_at(point.y()), int((point.x() - self.left) // self.cell)
        inside = row >= 0 and 0 <= column < self.count and point.x() >= self.label + PAD
        return (row, column) if inside else (-1, -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(*self.cell_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row, column = self.cell_at(event.position())
        row = row if row >= 0 else self.row_at(event.position().y())
        if row >= 0:
            self.column = column
            self.take(row)
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self.count or event.modifiers():
            super().keyPressEvent(event)
            return
        last = self.count - 1
        self.column = min(max(max(self.column, 0) + step[1], 0), last)
        bar, edge = self.horizontalScrollBar(), int(self.column * self.cell)
        low = int(edge + self.cell + self.label + PAD - self.viewport().width())
        bar.setValue(min(max(bar.value(), low), edge))
        self.take(min(max(max(self.row, 0) + step[0], 0), last))
        self.hovered.emit(self.row, self.column)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            row, column = self.cell_at(cast(QHelpEvent, event).pos())
            message = ""
            if row >= 0:
                message = cell_words(self.head, row, column)
            escaping.set_tip(self.viewport(), message)
        return super().viewportEvent(event)


def cell_words(result: Attention, row: int, column: int) -> str:
    """Describe a cell: both tokens and the weight."""
    query, key = result.tokens[row].shown, result.tokens[column].shown
    if result.masked[row, column]:
        return _("{query} → {key}: masked", query=query, key=key)
    weight = float(result.weights[row, column])
    return _("{query} → {key}: {weight:.3f}", query=query, key=key, weight=weight)
