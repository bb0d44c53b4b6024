"""One attention head: a matrix of queries and keys, and lines between them.

Both show tokens in rows of equal height.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts import heat
from workbench.ui.widgets.focus_ring import FocusRing

if TYPE_CHECKING:
    from workbench.inspection.attention.info import Attention

MIN_SIDE = 12  # minimum height of a row, pixels at 100%
MOST_LABEL = 92  # maximum width of a token, pixels at 100%
PAD = 6
MAX_SIDE = 30  # maximum side of a cell, pixels at 100%
SLANT = 60  # angle of the column names
FAINT = 0.04  # smaller weights are not drawn as lines


def token_font(chosen: bool = False) -> QFont:
    """Font of the tokens beside a matrix."""
    font = theme.font("mono", 700 if chosen else 400)
    font.setPixelSize(theme.size("caption"))
    return font


class TokenRows(QAbstractScrollArea):
    """Base class of matrix and lines: tokens in rows of equal height, one of them selected.

    `taken(row)` is emitted when the user selects a query token, `hovered(row, column)` when the
    mouse is over a cell or row; -1 for none.
    """

    taken = Signal(int)
    hovered = Signal(int, int)

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.viewport().setMouseTracking(True)
        self.result: Attention | None = None
        self.row, self.column = -1, -1
        self.cell, self.above, self.label = float(MIN_SIDE), 60.0, 60.0
        drop = theme.changed.connect(self.restyle)
        self.destroyed.connect(lambda *_: drop())

    def set(self, result: Attention | None) -> None:
        """Show a head, or nothing."""
        before = self.result
        if before is None or result is None or before.tokens != result.tokens:
            self.row = self.column = -1
        self.result = result
        self.restyle()

    @property
    def head(self) -> Attention:
        """The head that is shown. Raises RuntimeError if there is none."""
        if self.result is None:
            raise RuntimeError("no head is shown")
        return self.result

    def choose(self, row: int) -> None:
        """Select a query token; emits nothing."""
        if row != self.row:
            self.row = row
            if row >= 0:
                self.see(row)
            self.viewport().update()

    def restyle(self) -> None:
        """Compute sizes from the tokens, the text size and the available space."""
        self.measure()
        self.viewport().update()

    def measure(self) -> None:
        raise NotImplementedError

    @property
    def count(self) -> int:
        return len(self.result.tokens) if self.result is not None else 0

    @property
    def top(self) -> float:
        return self.above - self.verticalScrollBar().value()

    def widest(self) -> float:
        metrics = QFontMetricsF(token_font(True))
        names = (token.shown for token in self.head.tokens)
        longest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        return min(longest + PAD, theme.px(MOST_LABEL))

    def scroll_down(self) -> None:
        """Set up the vertical scroll bar."""
        bar, room = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(0, int(self.above + self.count * self.cell + PAD - room)))
        bar.setPageStep(max(1, int(room - self.above)))
        bar.setSingleStep(int(self.cell))

    def see(self, row: int) -> None:
        """Scroll a row into view."""
        bar = self.verticalScrollBar()
        low = int((row + 1) * self.cell + self.above - self.viewport().height() + PAD)
        bar.setValue(min(max(bar.value(), low), int(row * self.cell)))

    def seen(self) -> range:
        """Range of visible rows."""
        first = int(self.verticalScrollBar().value() // self.cell)
        last = int((self.verticalScrollBar().value() + self.viewport().height()) // self.cell) + 1
        return range(max(0, first), min(self.count, last))

    def row_at(self, y: float) -> int:
        row = int((y - self.top) // self.cell)
        return row if 0 <= row < self.count and y >= self.above else -1

    def write(
        self, painter: QPainter, area: QRectF, number: int, chosen: bool, side: Qt.AlignmentFlag
    ) -> None:
        """Draw a token in its row."""
        token, font = self.head.tokens[number], token_font(chosen)
        painter.setFont(font)
        painter.setPen(theme.qcolour("text" if chosen else "faint" if token.special else "muted"))
        elided = QFontMetricsF(font).elidedText(
            token.shown, Qt.TextElideMode.ElideRight, area.width()
        )
        painter.drawText(area, side | Qt.AlignmentFlag.AlignVCenter, elided)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.measure()

    def scrollContentsBy(self, _across: int, _down: int) -> None:
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit(-1, -1)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.row < 0 and self.count:
            self.take(0)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def take(self, row: int) -> None:
        """Select a query token on behalf of the user."""
        self.choose(row)
        self.taken.emit(row)


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


class HeadLines(TokenRows):
    """Queries left, keys right, a line for each weight; those of the selected query are
    highlighted.
    """

    def __init__(self) -> None:
        super().__init__(_("Attention lines"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._over = -1

    def measure(self) -> None:
        if not self.count:
            return
        self.label = min(self.widest(), self.viewport().width() * 0.3)
        self.above = float(theme.px(22))
        room = (self.viewport().height() - self.above - PAD) / self.count
        self.cell = float(int(min(max(room, theme.px(MIN_SIDE) + 3), theme.px(24))))
        self.scroll_down()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.result is None or not self.count:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = self.viewport().rect()
        self._paint_heads(painter, room)
        painter.setClipRect(room.adjusted(0, int(self.above), 0, 0))
        self._paint_lines(painter, room.width())
        chosen = self._over if self._over >= 0 else self.row
        keys = self._strong(chosen)
        for row in self.seen():
            top = self.top + row * self.cell
            left = QRectF(0, top, self.label, self.cell)
            right = QRectF(room.width() - self.label, top, self.label, self.cell)
            self.write(painter, left, row, row == chosen, Qt.AlignmentFlag.AlignRight)
            self.write(painter, right, row, row in keys, Qt.AlignmentFlag.AlignLeft)

    def _paint_heads(self, painter: QPainter, room: QRect) -> None:
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        high, middle = int(self.above) - 4, Qt.AlignmentFlag.AlignVCenter
        wide = max(int(self.label), theme.px(44))
        left, right = QRect(0, 0, wide, high), QRect(room.width() - wide, 0, wide, high)
        painter.drawText(left, middle | Qt.AlignmentFlag.AlignRight, _("Query"))
        painter.drawText(right, middle | Qt.AlignmentFlag.AlignLeft, _("Key"))

    def _strong(self, row: int) -> set[int]:
        """The keys that receive most of the weight of a query."""
        if row < 0:
            return set()
        weights = self.head.weights[row]
        return set(np.flatnonzero(weights > max(0.25, float(weights.max()) * 0.75)).tolist())

    def _paint_lines(self, painter: QPainter, width: int) -> None:
        chosen = self._over if self._over >= 0 else self.row
        for row in self.seen():
            if row != chosen:
                self._paint_row(painter, row, width, "strong_line", 0.25 if chosen >= 0 else 0.7)
        if chosen >= 0:
            self._paint_row(painter, chosen, width, "accent", 1.0)

    def _paint_row(
        self, painter: QPainter, row: int, width: int, colour: str, depth: float
    ) -> None:
        weights, start, end = self.head.weights[row], self.label + PAD, width - self.label - PAD
        middle, half = (start + end) / 2, self.cell / 2
        for column in np.flatnonzero(weights >= FAINT).tolist():
            weight = float(weights[column])
            ink = theme.qcolour(colour, min(1.0, 1.3 * depth * weight**0.6))
            painter.setPen(QPen(ink, 0.8 + 3.2 * weight))
            y, to = self.top + row * self.cell + half, self.top + column * self.cell + half
            path = QPainterPath(QPointF(start, y))
            path.cubicTo(QPointF(middle, y), QPointF(middle, to), QPointF(end, to))
            painter.drawPath(path)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().y())
        if row != self._over:
            self._over = row
            self.hovered.emit(row, -1)
            self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self._over = -1
        self.viewport().update()
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (row := self.row_at(event.position().y())) >= 0:
            self.take(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and self.count and not event.modifiers():
            self.take(min(max(self.row + step, 0), self.count - 1))
            return
        super().keyPressEvent(event)
